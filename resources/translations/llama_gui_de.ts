<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
<context>
    <name>Actions</name>
    <message>
        <source>Tools of this chat…</source>
        <translation>Werkzeuge dieses Chats…</translation>
    </message>
    <message>
        <source>Tool servers…</source>
        <translation>Werkzeugserver…</translation>
    </message>
    <message>
        <source>Show or hide the sources of the last answer</source>
        <translation>Quellen der letzten Antwort zeigen oder verbergen</translation>
    </message>
    <message>
        <source>Think before the answers, or not</source>
        <translation>Vor den Antworten nachdenken oder nicht</translation>
    </message>
    <message>
        <source>Documents of a folder…</source>
        <translation>Dokumente eines Ordners…</translation>
    </message>
    <message>
        <source>Attach files…</source>
        <translation>Dateien anhängen…</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>Neuer Chat</translation>
    </message>
    <message>
        <source>Close tab</source>
        <translation>Tab schließen</translation>
    </message>
    <message>
        <source>Reopen closed tab</source>
        <translation>Geschlossenen Tab wieder öffnen</translation>
    </message>
    <message>
        <source>Next tab</source>
        <translation>Nächster Tab</translation>
    </message>
    <message>
        <source>Previous tab</source>
        <translation>Voriger Tab</translation>
    </message>
    <message>
        <source>Go to tab {}</source>
        <translation>Zu Tab {} wechseln</translation>
    </message>
    <message>
        <source>Go to the last tab</source>
        <translation>Zum letzten Tab wechseln</translation>
    </message>
    <message>
        <source>Stop this answer</source>
        <translation>Diese Antwort anhalten</translation>
    </message>
    <message>
        <source>Answer again</source>
        <translation>Noch einmal antworten</translation>
    </message>
    <message>
        <source>Edit last message</source>
        <translation>Letzte Nachricht bearbeiten</translation>
    </message>
    <message>
        <source>Previous version</source>
        <translation>Vorige Fassung</translation>
    </message>
    <message>
        <source>Next version</source>
        <translation>Nächste Fassung</translation>
    </message>
    <message>
        <source>Go on with the last answer</source>
        <translation>Letzte Antwort fortsetzen</translation>
    </message>
    <message>
        <source>Edit the last answer</source>
        <translation>Letzte Antwort bearbeiten</translation>
    </message>
    <message>
        <source>Answer again with another model…</source>
        <translation>Mit anderem Modell noch einmal antworten…</translation>
    </message>
    <message>
        <source>Run the last answer again</source>
        <translation>Letzte Antwort genau wiederholen</translation>
    </message>
    <message>
        <source>Fork this chat into a new tab</source>
        <translation>Diesen Chat in einen neuen Tab abzweigen</translation>
    </message>
    <message>
        <source>Copy last answer</source>
        <translation>Letzte Antwort kopieren</translation>
    </message>
    <message>
        <source>Show branches</source>
        <translation>Zweige zeigen</translation>
    </message>
    <message>
        <source>Show or hide the reasoning</source>
        <translation>Gedankengang ein- oder ausblenden</translation>
    </message>
    <message>
        <source>Find in this chat</source>
        <translation>In diesem Chat suchen</translation>
    </message>
    <message>
        <source>Find next</source>
        <translation>Weitersuchen</translation>
    </message>
    <message>
        <source>Find previous</source>
        <translation>Rückwärts suchen</translation>
    </message>
    <message>
        <source>Write a message</source>
        <translation>Nachricht schreiben</translation>
    </message>
    <message>
        <source>Choose a model</source>
        <translation>Modell wählen</translation>
    </message>
    <message>
        <source>Choose or save a preset</source>
        <translation>Vorlage wählen oder speichern</translation>
    </message>
    <message>
        <source>Find and download models</source>
        <translation>Modelle finden und herunterladen</translation>
    </message>
    <message>
        <source>Manage models</source>
        <translation>Modelle verwalten</translation>
    </message>
    <message>
        <source>Open model folder…</source>
        <translation>Modellordner öffnen…</translation>
    </message>
    <message>
        <source>Open GGUF file…</source>
        <translation>GGUF-Datei öffnen…</translation>
    </message>
    <message>
        <source>Remote servers…</source>
        <translation>Entfernte Server…</translation>
    </message>
    <message>
        <source>Let other programs use the models…</source>
        <translation>Andere Programme die Modelle nutzen lassen…</translation>
    </message>
    <message>
        <source>Rename this chat</source>
        <translation>Diesen Chat umbenennen</translation>
    </message>
    <message>
        <source>Pin or unpin this chat</source>
        <translation>Diesen Chat anheften oder lösen</translation>
    </message>
    <message>
        <source>Move this chat to a folder…</source>
        <translation>Diesen Chat in einen Ordner legen…</translation>
    </message>
    <message>
        <source>Archive this chat</source>
        <translation>Diesen Chat archivieren</translation>
    </message>
    <message>
        <source>Delete this chat</source>
        <translation>Diesen Chat löschen</translation>
    </message>
    <message>
        <source>Import chats…</source>
        <translation>Chats importieren…</translation>
    </message>
    <message>
        <source>Import a folder of chats…</source>
        <translation>Einen Ordner mit Chats importieren…</translation>
    </message>
    <message>
        <source>Export this chat…</source>
        <translation>Diesen Chat exportieren…</translation>
    </message>
    <message>
        <source>Save this chat as PDF…</source>
        <translation>Diesen Chat als PDF sichern…</translation>
    </message>
    <message>
        <source>Export all chats…</source>
        <translation>Alle Chats exportieren…</translation>
    </message>
    <message>
        <source>Open the bin</source>
        <translation>Papierkorb öffnen</translation>
    </message>
    <message>
        <source>Show or hide the chat list</source>
        <translation>Chatliste ein- oder ausblenden</translation>
    </message>
    <message>
        <source>Show or hide the settings</source>
        <translation>Chat-Einstellungen ein- oder ausblenden</translation>
    </message>
    <message>
        <source>Search in all chats</source>
        <translation>In allen Chats suchen</translation>
    </message>
    <message>
        <source>Larger text</source>
        <translation>Größere Schrift</translation>
    </message>
    <message>
        <source>Smaller text</source>
        <translation>Kleinere Schrift</translation>
    </message>
    <message>
        <source>Normal text size</source>
        <translation>Normale Schriftgröße</translation>
    </message>
    <message>
        <source>Colours: as the system</source>
        <translation>Farben: wie das System</translation>
    </message>
    <message>
        <source>Colours: light</source>
        <translation>Farben: hell</translation>
    </message>
    <message>
        <source>Colours: dark</source>
        <translation>Farben: dunkel</translation>
    </message>
    <message>
        <source>Preferences</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>All actions</source>
        <translation>Alle Aktionen</translation>
    </message>
    <message>
        <source>Add to the applications menu</source>
        <translation>In das Anwendungsmenü aufnehmen</translation>
    </message>
    <message>
        <source>Remove from the applications menu</source>
        <translation>Aus dem Anwendungsmenü entfernen</translation>
    </message>
    <message>
        <source>Keys and help</source>
        <translation>Tasten und Hilfe</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>Beenden</translation>
    </message>
    <message>
        <source>Tabs</source>
        <translation>Tabs</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>Hilfe</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>Chat</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Chats</source>
        <translation>Chats</translation>
    </message>
    <message>
        <source>View</source>
        <translation>Ansicht</translation>
    </message>
    <message>
        <source>Look at the words of the last answer</source>
        <translation>Die Wörter der letzten Antwort ansehen</translation>
    </message>
    <message>
        <source>Context length, precision and threads…</source>
        <translation>Kontextlänge, Genauigkeit und Threads…</translation>
    </message>
    <message>
        <source>Full screen on or off</source>
        <translation>Vollbild ein oder aus</translation>
    </message>
    <message>
        <source>Two chats side by side, or one again</source>
        <translation>Zwei Chats nebeneinander, oder wieder einer</translation>
    </message>
    <message>
        <source>Go to the chat beside</source>
        <translation>Zum Chat daneben</translation>
    </message>
</context>
<context>
    <name>BackupOffer</name>
    <message>
        <source>Your chats were damaged. A backup of {} holds more than could be read: {} chats, {} messages.</source>
        <translation>Deine Chats waren beschädigt. Eine Sicherung vom {} enthält mehr, als gelesen werden konnte: {} Chats, {} Nachrichten.</translation>
    </message>
    <message>
        <source>Restore the backup of {}, {} chats</source>
        <translation>Sicherung vom {} zurückholen, {} Chats</translation>
    </message>
    <message>
        <source>The backup stays here: {}</source>
        <translation>Die Sicherung bleibt hier: {}</translation>
    </message>
    <message>
        <source>From the backup: {} messages in {} chats.</source>
        <translation>Aus der Sicherung: {} Nachrichten in {} Chats.</translation>
    </message>
</context>
<context>
    <name>BinDialog</name>
    <message>
        <source>Bin</source>
        <translation>Papierkorb</translation>
    </message>
    <message>
        <source>Deleted chats and messages</source>
        <translation>Gelöschte Chats und Nachrichten</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>Wiederherstellen</translation>
    </message>
    <message>
        <source>Empty the bin…</source>
        <translation>Papierkorb leeren…</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Messages of “{}”: {}</source>
        <translation>Nachrichten aus „{}“: {}</translation>
    </message>
    <message>
        <source>The bin is empty.</source>
        <translation>Der Papierkorb ist leer.</translation>
    </message>
    <message>
        <source>What you delete stays here for 30 days, and is then gone for ever.</source>
        <translation>Was du löschst, bleibt 30 Tage lang hier und ist dann für immer fort.</translation>
    </message>
    <message>
        <source>Delete all of this for ever?</source>
        <translation>All das für immer löschen?</translation>
    </message>
    <message>
        <source>It cannot be undone.</source>
        <translation>Das lässt sich nicht rückgängig machen.</translation>
    </message>
    <message>
        <source>Delete for ever</source>
        <translation>Für immer löschen</translation>
    </message>
</context>
<context>
    <name>BranchMap</name>
    <message>
        <source>Branches of this chat</source>
        <translation>Zweige dieses Chats</translation>
    </message>
    <message>
        <source>{} messages, no branches yet</source>
        <translation>{} Nachrichten, noch keine Zweige</translation>
    </message>
    <message>
        <source>{} messages in {} branches</source>
        <translation>{} Nachrichten in {} Zweigen</translation>
    </message>
</context>
<context>
    <name>Catalog</name>
    <message>
        <source>The smallest that holds a conversation; quick on any computer.</source>
        <translation>Das kleinste, das ein Gespräch führt; schnell auf jedem Rechner.</translation>
    </message>
    <message>
        <source>Small and quick, for short texts and simple questions.</source>
        <translation>Klein und schnell, für kurze Texte und einfache Fragen.</translation>
    </message>
    <message>
        <source>Small, in many languages, with a long context; for summaries and short answers.</source>
        <translation>Klein, in vielen Sprachen, mit langem Kontext; für Zusammenfassungen und kurze Antworten.</translation>
    </message>
    <message>
        <source>The smallest that can think before it answers; many languages.</source>
        <translation>Das kleinste, das vor der Antwort nachdenken kann; viele Sprachen.</translation>
    </message>
    <message>
        <source>An older open model with a short context.</source>
        <translation>Ein älteres offenes Modell mit kurzem Kontext.</translation>
    </message>
    <message>
        <source>Good for its size at code, sums and tables; many languages.</source>
        <translation>Gut für seine Größe bei Code, Rechnen und Tabellen; viele Sprachen.</translation>
    </message>
    <message>
        <source>Open weights and good answers in English, between Llama 3.2 1B and 3B in size.</source>
        <translation>Offene Gewichte und gute Antworten auf Englisch, in der Größe zwischen Llama 3.2 1B und 3B.</translation>
    </message>
    <message>
        <source>Thinks first, if you wish: sums, code, puzzles; many languages.</source>
        <translation>Denkt auf Wunsch erst nach: Rechnen, Code, Rätsel; viele Sprachen.</translation>
    </message>
    <message>
        <source>Code, sums and structured text; many languages.</source>
        <translation>Code, Rechnen und gegliederter Text; viele Sprachen.</translation>
    </message>
    <message>
        <source>The best answers below 8B where there is time to think; many languages.</source>
        <translation>Die besten Antworten unter 8B, wo Zeit zum Nachdenken ist; viele Sprachen.</translation>
    </message>
    <message>
        <source>A base model: it continues texts and holds no conversation. Its licence must be accepted on the hub.</source>
        <translation>Ein Basismodell: Es setzt Texte fort und führt kein Gespräch. Seine Lizenz muss auf dem Hub angenommen werden.</translation>
    </message>
    <message>
        <source>A good first choice for most computers: conversation, summaries, rewriting.</source>
        <translation>Eine gute erste Wahl für die meisten Rechner: Gespräche, Zusammenfassungen, Umschreiben.</translation>
    </message>
    <message>
        <source>Good prose for its size, above all in English; quick on most computers.</source>
        <translation>Schreibt für seine Größe gut, vor allem Englisch; auf den meisten Rechnern flott.</translation>
    </message>
    <message>
        <source>Conversation and writing in many languages, with a long context; reads no pictures here.</source>
        <translation>Gespräche und Texte in vielen Sprachen, mit langem Kontext; Bilder liest es hier nicht.</translation>
    </message>
    <message>
        <source>Summaries of long texts, questions on them; 12 languages.</source>
        <translation>Zusammenfassungen langer Texte, Fragen dazu; 12 Sprachen.</translation>
    </message>
    <message>
        <source>Thinks first, if you wish; 6 languages.</source>
        <translation>Denkt auf Wunsch erst nach; 6 Sprachen.</translation>
    </message>
    <message>
        <source>Sums, code and clear answers at once; long texts.</source>
        <translation>Rechnen, Code, klare Antworten ohne Umschweife; lange Texte.</translation>
    </message>
    <message>
        <source>Clearly better answers, at about a third of the speed of 1B.</source>
        <translation>Deutlich bessere Antworten bei etwa einem Drittel des Tempos von 1B.</translation>
    </message>
    <message>
        <source>For computers with plenty of memory or a graphics card; long texts.</source>
        <translation>Für Rechner mit viel Speicher oder einer Grafikkarte; lange Texte.</translation>
    </message>
    <message>
        <source>The older 8B, with a shorter context.</source>
        <translation>Das ältere 8B, mit kürzerem Kontext.</translation>
    </message>
</context>
<context>
    <name>CatalogPage</name>
    <message>
        <source>Recommended models</source>
        <translation>Empfohlene Modelle</translation>
    </message>
    <message>
        <source>Open models that run here, from the smallest to the largest.</source>
        <translation>Offene Modelle, die hier laufen, vom kleinsten zum größten.</translation>
    </message>
    <message>
        <source>A good first choice for this computer.</source>
        <translation>Eine gute erste Wahl für diesen Rechner.</translation>
    </message>
    <message>
        <source>Reading…</source>
        <translation>Wird gelesen…</translation>
    </message>
    <message>
        <source>Read its card</source>
        <translation>Modellkarte lesen</translation>
    </message>
</context>
<context>
    <name>ChatCard</name>
    <message>
        <source>This chat could not be read. {}</source>
        <translation>Dieser Chat ließ sich nicht lesen. {}</translation>
    </message>
    <message>
        <source>The new name was not saved. {}</source>
        <translation>Der neue Name wurde nicht gespeichert. {}</translation>
    </message>
</context>
<context>
    <name>ChatDelegate</name>
    <message>
        <source>Name of the chat</source>
        <translation>Name des Chats</translation>
    </message>
</context>
<context>
    <name>ChatKeeping</name>
    <message>
        <source>“{}” is in the bin.</source>
        <translation>„{}“ liegt im Papierkorb.</translation>
    </message>
    <message>
        <source>“{}” is in the archive.</source>
        <translation>„{}“ liegt im Archiv.</translation>
    </message>
    <message>
        <source>“{}” is back in the list.</source>
        <translation>„{}“ steht wieder in der Liste.</translation>
    </message>
    <message>
        <source>New folder</source>
        <translation>Neuer Ordner</translation>
    </message>
    <message>
        <source>Name of the folder:</source>
        <translation>Name des Ordners:</translation>
    </message>
    <message>
        <source>Rename folder</source>
        <translation>Ordner umbenennen</translation>
    </message>
    <message>
        <source>The folder “{}” is dissolved; its chats are in the list.</source>
        <translation>Der Ordner „{}“ ist aufgelöst; seine Chats stehen in der Liste.</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>Umbenennen</translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation>Loslösen</translation>
    </message>
    <message>
        <source>Pin</source>
        <translation>Anheften</translation>
    </message>
    <message>
        <source>Take out of the archive</source>
        <translation>Aus dem Archiv holen</translation>
    </message>
    <message>
        <source>Archive</source>
        <translation>Archivieren</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>Exportieren…</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>Move to folder</source>
        <translation>In Ordner verschieben</translation>
    </message>
    <message>
        <source>No folder</source>
        <translation>Kein Ordner</translation>
    </message>
    <message>
        <source>New folder…</source>
        <translation>Neuer Ordner…</translation>
    </message>
    <message>
        <source>Rename folder…</source>
        <translation>Ordner umbenennen…</translation>
    </message>
    <message>
        <source>Dissolve folder</source>
        <translation>Ordner auflösen</translation>
    </message>
    <message>
        <source>Import chats…</source>
        <translation>Chats importieren…</translation>
    </message>
    <message>
        <source>Export all chats…</source>
        <translation>Alle Chats exportieren…</translation>
    </message>
    <message>
        <source>Show the archive</source>
        <translation>Archiv zeigen</translation>
    </message>
    <message>
        <source>Bin…</source>
        <translation>Papierkorb…</translation>
    </message>
    <message>
        <source>Import a folder of chats…</source>
        <translation>Einen Ordner mit Chats importieren…</translation>
    </message>
    <message>
        <source>Show beside</source>
        <translation>Daneben zeigen</translation>
    </message>
</context>
<context>
    <name>ChatListItemModel</name>
    <message>
        <source>Pinned</source>
        <translation>Angeheftet</translation>
    </message>
    <message>
        <source>Archive</source>
        <translation>Archiv</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>Heute</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>Gestern</translation>
    </message>
    <message>
        <source>Last 7 days</source>
        <translation>Letzte 7 Tage</translation>
    </message>
    <message>
        <source>Last 30 days</source>
        <translation>Letzte 30 Tage</translation>
    </message>
</context>
<context>
    <name>ChatListView</name>
    <message>
        <source>Chats</source>
        <translation>Chats</translation>
    </message>
</context>
<context>
    <name>ChatSession</name>
    <message>
        <source>There is nothing to answer yet. Write a message first.</source>
        <translation>Es gibt noch nichts zu beantworten. Schreib zuerst eine Nachricht.</translation>
    </message>
</context>
<context>
    <name>ChatTab</name>
    <message>
        <source>Copied to the clipboard.</source>
        <translation>In die Zwischenablage kopiert.</translation>
    </message>
    <message>
        <source>Message {} …</source>
        <translation>Nachricht an {} …</translation>
    </message>
    <message>
        <source>Message …</source>
        <translation>Nachricht …</translation>
    </message>
</context>
<context>
    <name>ChatTurn</name>
    <message>
        <source>The model has called tools {} times for one question. Answer again lets it go on.</source>
        <translation>Das Modell hat für eine Frage {}-mal Werkzeuge aufgerufen. Noch einmal antworten lässt es weitermachen.</translation>
    </message>
    <message>
        <source>An answer is still being written. Stop it, or wait for its end.</source>
        <translation>Noch wird eine Antwort geschrieben. Halte sie an, oder warte auf ihr Ende.</translation>
    </message>
    <message>
        <source>The message is empty. Write something first.</source>
        <translation>Die Nachricht ist leer. Schreib zuerst etwas.</translation>
    </message>
</context>
<context>
    <name>Chip</name>
    <message>
        <source>reading …</source>
        <translation>wird gelesen …</translation>
    </message>
    <message>
        <source>Remove {}</source>
        <translation>{} entfernen</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>{} · {} tokens</source>
        <translation>{} · {} Token</translation>
    </message>
    <message>
        <source>Click to put the text back into the field.</source>
        <translation>Anklicken, um den Text zurück in das Feld zu holen.</translation>
    </message>
</context>
<context>
    <name>ChoiceList</name>
    <message>
        <source>What the model might have written here</source>
        <translation>Was das Modell hier auch hätte schreiben können</translation>
    </message>
</context>
<context>
    <name>ChoiceRow</name>
    <message>
        <source>{} · Default</source>
        <translation>{} · Standard</translation>
    </message>
    <message>
        <source>Reset {} to the default</source>
        <translation>{} auf den Standard zurücksetzen</translation>
    </message>
    <message>
        <source>Back to the default</source>
        <translation>Zurück zum Standard</translation>
    </message>
</context>
<context>
    <name>Choices</name>
    <message>
        <source>all others together: {}</source>
        <translation>alle anderen zusammen: {}</translation>
    </message>
    <message>
        <source>chosen by you</source>
        <translation>von dir gewählt</translation>
    </message>
    <message>
        <source>not among the likeliest</source>
        <translation>nicht unter den wahrscheinlichsten</translation>
    </message>
    <message>
        <source>place {}</source>
        <translation>Platz {}</translation>
    </message>
    <message>
        <source>part {} of {}</source>
        <translation>Teil {} von {}</translation>
    </message>
    <message>
        <source>the likeliest</source>
        <translation>das wahrscheinlichste</translation>
    </message>
    <message>
        <source>written · {}</source>
        <translation>geschrieben · {}</translation>
    </message>
    <message>
        <source>{}, {}, as it is written</source>
        <translation>{}, {}, wie es da steht</translation>
    </message>
    <message>
        <source>{}, {}, go on from here with this</source>
        <translation>{}, {}, von hier an damit weiterschreiben</translation>
    </message>
</context>
<context>
    <name>CommandPalette</name>
    <message>
        <source>All actions</source>
        <translation>Alle Aktionen</translation>
    </message>
    <message>
        <source>No action has this name.</source>
        <translation>Keine Aktion heißt so.</translation>
    </message>
    <message>
        <source>Type to find an action</source>
        <translation>Tippen, um eine Aktion zu finden</translation>
    </message>
    <message>
        <source>Find an action</source>
        <translation>Aktion finden</translation>
    </message>
    <message>
        <source>Found actions</source>
        <translation>Gefundene Aktionen</translation>
    </message>
</context>
<context>
    <name>Composer</name>
    <message>
        <source>Attach files</source>
        <translation>Dateien anhängen</translation>
    </message>
    <message>
        <source>Attach files: PDF, Word, texts and others. They can be dropped here, too.</source>
        <translation>Dateien anhängen: PDF, Word, Texte und andere. Sie lassen sich auch hierher ziehen.</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>Einreihen</translation>
    </message>
    <message>
        <source>Send when the answer has ended  Enter</source>
        <translation>Senden, wenn die Antwort zu Ende ist  Enter</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>Senden</translation>
    </message>
    <message>
        <source>Esc</source>
        <translation>Esc</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Stop this answer  Esc</source>
        <translation>Diese Antwort anhalten  Esc</translation>
    </message>
    <message>
        <source>Send  Enter</source>
        <translation>Senden  Enter</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>Save  Enter</source>
        <translation>Speichern  Enter</translation>
    </message>
    <message>
        <source>Shift+Enter for a new line</source>
        <translation>Umschalt+Enter für eine neue Zeile</translation>
    </message>
</context>
<context>
    <name>ContextMeter</name>
    <message>
        <source>The files are longer than the model reads: those of their passages go along that fit the question.</source>
        <translation>Die Dateien sind länger, als das Modell liest: Mitgeschickt werden die Abschnitte, die zur Frage passen.</translation>
    </message>
    <message>
        <source> · passages of the files</source>
        <translation> · Abschnitte der Dateien</translation>
    </message>
    <message>
        <source>{} / {} context</source>
        <translation>{} / {} Kontext</translation>
    </message>
    <message>
        <source> · too long</source>
        <translation> · zu lang</translation>
    </message>
    <message>
        <source> · the oldest left out</source>
        <translation> · die älteste fehlt</translation>
    </message>
    <message>
        <source> · oldest {} left out</source>
        <translation> · die ältesten {} fehlen</translation>
    </message>
    <message>
        <source>{} of {} tokens are used by the conversation, this draft and its files ({} %).</source>
        <translation>{} von {} Token belegen das Gespräch, dieser Entwurf und seine Dateien ({} %).</translation>
    </message>
    <message>
        <source>The model cannot read this. Make the message shorter, or remove a file.</source>
        <translation>Das kann das Modell nicht lesen. Kürze die Nachricht, oder entferne eine Datei.</translation>
    </message>
    <message>
        <source>All of it would not fit: the oldest {} messages are not sent. They stay in the chat.</source>
        <translation>Alles passt nicht hinein: Die ältesten {} Nachrichten werden nicht gesendet. Im Chat bleiben sie.</translation>
    </message>
    <message>
        <source>When it is full, the oldest messages are left out; they stay in the chat.</source>
        <translation>Ist er voll, bleiben die ältesten Nachrichten weg; im Chat bleiben sie.</translation>
    </message>
    <message>
        <source>A click changes how much the model reads.</source>
        <translation>Ein Klick ändert, wie viel das Modell liest.</translation>
    </message>
</context>
<context>
    <name>DetailPane</name>
    <message>
        <source>Back to the list</source>
        <translation>Zurück zur Liste</translation>
    </message>
    <message>
        <source>About this model</source>
        <translation>Über dieses Modell</translation>
    </message>
    <message>
        <source>From its card</source>
        <translation>Aus der Modellkarte</translation>
    </message>
    <message>
        <source>On this computer</source>
        <translation>Auf diesem Rechner</translation>
    </message>
    <message>
        <source>Counted with one chat of {} tokens.</source>
        <translation>Gerechnet mit einem Chat von {} Token.</translation>
    </message>
    <message>
        <source>{} tok/s</source>
        <translation>{} Tok/s</translation>
    </message>
    <message>
        <source>just fits</source>
        <translation>passt knapp</translation>
    </message>
    <message>
        <source>too large</source>
        <translation>zu groß</translation>
    </message>
    <message>
        <source>the best choice</source>
        <translation>die beste Wahl</translation>
    </message>
    <message>
        <source>Which file</source>
        <translation>Welche Datei</translation>
    </message>
    <message>
        <source>This is chosen in the model’s menu, under “Context length, precision”.</source>
        <translation>Das wird im Menü des Modells unter „Kontextlänge, Genauigkeit“ gewählt.</translation>
    </message>
</context>
<context>
    <name>DownloadHost</name>
    <message>
        <source>llama-gui is closing.</source>
        <translation>llama-gui wird gerade geschlossen.</translation>
    </message>
</context>
<context>
    <name>DownloadLine</name>
    <message>
        <source>Show the downloads</source>
        <translation>Downloads zeigen</translation>
    </message>
    <message>
        <source>A download has stopped</source>
        <translation>Ein Download ist stehen geblieben</translation>
    </message>
    <message>
        <source>Downloading, {} %</source>
        <translation>Lädt herunter, {} %</translation>
    </message>
    <message>
        <source>Downloading {} models, {} %</source>
        <translation>Lädt {} Modelle herunter, {} %</translation>
    </message>
</context>
<context>
    <name>DownloadList</name>
    <message>
        <source>Downloads</source>
        <translation>Downloads</translation>
    </message>
</context>
<context>
    <name>DownloadRow</name>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Sign in…</source>
        <translation>Anmelden…</translation>
    </message>
    <message>
        <source>Open its page…</source>
        <translation>Seite öffnen…</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Noch einmal versuchen</translation>
    </message>
    <message>
        <source>Pause the download of {}</source>
        <translation>Download von {} unterbrechen</translation>
    </message>
    <message>
        <source>Go on with the download of {}</source>
        <translation>Download von {} fortsetzen</translation>
    </message>
    <message>
        <source>Cancel the download of {}</source>
        <translation>Download von {} abbrechen</translation>
    </message>
    <message>
        <source>Open {}</source>
        <translation>{} öffnen</translation>
    </message>
    <message>
        <source>Try to download {} again</source>
        <translation>Noch einmal versuchen, {} herunterzuladen</translation>
    </message>
    <message>
        <source>Open the page of {} in the browser</source>
        <translation>Seite von {} im Browser öffnen</translation>
    </message>
    <message>
        <source>Sign in for {}</source>
        <translation>Für {} anmelden</translation>
    </message>
    <message>
        <source>Take it off this list; the model stays</source>
        <translation>Von dieser Liste nehmen; das Modell bleibt</translation>
    </message>
</context>
<context>
    <name>EndpointsDialog</name>
    <message>
        <source>Remote servers</source>
        <translation>Entfernte Server</translation>
    </message>
    <message>
        <source>Add…</source>
        <translation>Hinzufügen…</translation>
    </message>
    <message>
        <source>Change…</source>
        <translation>Ändern…</translation>
    </message>
    <message>
        <source>Ask for its models</source>
        <translation>Nach Modellen fragen</translation>
    </message>
    <message>
        <source>Remove…</source>
        <translation>Entfernen…</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Asking {}…</source>
        <translation>{} wird gefragt…</translation>
    </message>
    <message>
        <source>Forget {}?</source>
        <translation>{} vergessen?</translation>
    </message>
    <message>
        <source>Its address and its key are deleted here. Your chats stay.</source>
        <translation>Adresse und Schlüssel werden hier gelöscht. Deine Chats bleiben.</translation>
    </message>
    <message>
        <source>Forget it</source>
        <translation>Vergessen</translation>
    </message>
    <message>
        <source>Add a server by its address. Its models come into the model menu.</source>
        <translation>Füge einen Server mit seiner Adresse hinzu. Seine Modelle erscheinen im Modellmenü.</translation>
    </message>
    <message>
        <source>Servers that speak OpenAI’s protocol answer in the same tabs: vLLM, SGLang, llama.cpp, Ollama…</source>
        <translation>Server, die das Protokoll von OpenAI sprechen, antworten in denselben Tabs: vLLM, SGLang, llama.cpp, Ollama…</translation>
    </message>
    <message>
        <source>{} has {} models; they are in the model menu now.</source>
        <translation>{} hat {} Modelle; sie stehen jetzt im Modellmenü.</translation>
    </message>
</context>
<context>
    <name>EngineHost</name>
    <message>
        <source>The loading of its model was cancelled.</source>
        <translation>Das Laden des Modells wurde abgebrochen.</translation>
    </message>
    <message>
        <source>llama-gui is closing.</source>
        <translation>llama-gui wird gerade geschlossen.</translation>
    </message>
    <message>
        <source>No model is open.</source>
        <translation>Kein Modell ist geöffnet.</translation>
    </message>
</context>
<context>
    <name>Exchange</name>
    <message>
        <source>The application was closed before this was finished.</source>
        <translation>Die Anwendung wurde geschlossen, bevor das fertig war.</translation>
    </message>
</context>
<context>
    <name>ExchangeDialogs</name>
    <message>
        <source>Chats</source>
        <translation>Chats</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>Exportieren</translation>
    </message>
    <message>
        <source>Markdown, the shown messages</source>
        <translation>Markdown, die gezeigten Nachrichten</translation>
    </message>
    <message>
        <source>Web page, the shown messages</source>
        <translation>Webseite, die gezeigten Nachrichten</translation>
    </message>
    <message>
        <source>JSON with all branches, to import again</source>
        <translation>JSON mit allen Zweigen, zum Wiedereinlesen</translation>
    </message>
    <message>
        <source>{} was not written: an export ends in .md, .html or .json, of one chat also in .pdf.</source>
        <translation>{} wurde nicht geschrieben: Ein Export endet auf .md, .html oder .json, der eines Chats auch auf .pdf.</translation>
    </message>
    <message>
        <source>PDF, the shown messages</source>
        <translation>PDF, die gezeigten Nachrichten</translation>
    </message>
    <message>
        <source>Writing {}…</source>
        <translation>{} wird geschrieben…</translation>
    </message>
    <message>
        <source>Chats written to {}: {}</source>
        <translation>Chats geschrieben in {}: {}</translation>
    </message>
    <message>
        <source>Exports of chats</source>
        <translation>Exportierte Chats</translation>
    </message>
    <message>
        <source>All files</source>
        <translation>Alle Dateien</translation>
    </message>
    <message>
        <source>Import a folder of conversations</source>
        <translation>Einen Ordner mit Gesprächen importieren</translation>
    </message>
    <message>
        <source>Reading {}…</source>
        <translation>{} wird gelesen…</translation>
    </message>
    <message>
        <source>Import</source>
        <translation>Importieren</translation>
    </message>
    <message>
        <source>Import chats of ChatGPT, Open WebUI, LM Studio, Jan or llama-gui</source>
        <translation>Chats aus ChatGPT, Open WebUI, LM Studio, Jan oder llama-gui importieren</translation>
    </message>
</context>
<context>
    <name>Faults</name>
    <message>
        <source>Something went wrong inside llama-gui ({}). Please report this.</source>
        <translation>In llama-gui ist etwas schiefgegangen ({}). Bitte melde das.</translation>
    </message>
    <message>
        <source>Something went wrong inside llama-gui ({}). Your chats are safe. Please report this.</source>
        <translation>In llama-gui ist etwas schiefgegangen ({}). Deine Chats sind sicher. Bitte melde das.</translation>
    </message>
</context>
<context>
    <name>FindBar</name>
    <message>
        <source>Find in this chat</source>
        <translation>In diesem Chat suchen</translation>
    </message>
    <message>
        <source>Nothing found</source>
        <translation>Nichts gefunden</translation>
    </message>
    <message>
        <source>Previous</source>
        <translation>Vorige Stelle</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>Nächste Stelle</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>{} found</source>
        <translation>{} gefunden</translation>
    </message>
    <message>
        <source>{} of {}</source>
        <translation>{} von {}</translation>
    </message>
</context>
<context>
    <name>FoldGroup</name>
    <message>
        <source>shown</source>
        <translation>sichtbar</translation>
    </message>
    <message>
        <source>folded away</source>
        <translation>eingeklappt</translation>
    </message>
    <message>
        <source>{} changed</source>
        <translation>{} geändert</translation>
    </message>
</context>
<context>
    <name>HoverBar</name>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>Bearbeiten</translation>
    </message>
    <message>
        <source>Answer again</source>
        <translation>Noch einmal antworten</translation>
    </message>
    <message>
        <source>Answer again with another model</source>
        <translation>Mit einem anderen Modell noch einmal antworten</translation>
    </message>
    <message>
        <source>Go on where it ends</source>
        <translation>Fortsetzen, wo sie endet</translation>
    </message>
    <message>
        <source>Run again with the same seed and settings</source>
        <translation>Mit demselben Seed und denselben Einstellungen wiederholen</translation>
    </message>
    <message>
        <source>Fork into a new tab</source>
        <translation>In einen neuen Tab abzweigen</translation>
    </message>
    <message>
        <source>Delete this and what follows</source>
        <translation>Dies und alles danach löschen</translation>
    </message>
    <message>
        <source>Look at the words: how sure the model was, and what else was likely</source>
        <translation>Die Wörter ansehen: wie sicher das Modell war, und was sonst wahrscheinlich war</translation>
    </message>
    <message>
        <source>Only of answers that a model has written here is it known which tokens they are made of.</source>
        <translation>Nur von Antworten, die ein Modell hier geschrieben hat, ist bekannt, aus welchen Token sie bestehen.</translation>
    </message>
    <message>
        <source>The words can be looked at once the answer has ended.</source>
        <translation>Die Wörter kann man ansehen, sobald die Antwort zu Ende ist.</translation>
    </message>
    <message>
        <source>{} runs on another server, which does not tell how sure it was.</source>
        <translation>{} läuft auf einem anderen Server, und der sagt nicht, wie sicher es war.</translation>
    </message>
</context>
<context>
    <name>InfoBar</name>
    <message>
        <source>Dismiss this message</source>
        <translation>Diese Meldung schließen</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Schließen</translation>
    </message>
</context>
<context>
    <name>JumpButton</name>
    <message>
        <source>Jump to the end</source>
        <translation>Zum Ende springen</translation>
    </message>
</context>
<context>
    <name>KeysDialog</name>
    <message>
        <source>Send the message</source>
        <translation>Nachricht senden</translation>
    </message>
    <message>
        <source>Enter</source>
        <translation>Enter</translation>
    </message>
    <message>
        <source>Start a new line</source>
        <translation>Neue Zeile beginnen</translation>
    </message>
    <message>
        <source>Shift+Enter</source>
        <translation>Umschalt+Enter</translation>
    </message>
    <message>
        <source>Go to tab 1 … 8</source>
        <translation>Zu Tab 1 … 8 wechseln</translation>
    </message>
    <message>
        <source>Ctrl+1 … Ctrl+8</source>
        <translation>Strg+1 … Strg+8</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>Tasten</translation>
    </message>
</context>
<context>
    <name>LastQuestion</name>
    <message>
        <source>What you have written is not saved.</source>
        <translation>Was du geschrieben hast, ist nicht gespeichert.</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Noch einmal versuchen</translation>
    </message>
    <message>
        <source>Close without it</source>
        <translation>Ohne es schließen</translation>
    </message>
</context>
<context>
    <name>LinkQuestion</name>
    <message>
        <source>Open this link?</source>
        <translation>Diesen Link öffnen?</translation>
    </message>
    <message>
        <source>It opens in your browser:</source>
        <translation>Er öffnet sich im Browser:</translation>
    </message>
</context>
<context>
    <name>LoadDialog</name>
    <message>
        <source>Apply</source>
        <translation>Anwenden</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>Automatisch</translation>
    </message>
    <message>
        <source>Back to the defaults</source>
        <translation>Zurück zum Standard</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Gerät</translation>
    </message>
    <message>
        <source>How {} runs</source>
        <translation>Wie {} läuft</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>Genauigkeit</translation>
    </message>
    <message>
        <source>The weights take {} of memory. A chat that fills the context takes {} more, piece by piece as it grows; all chats together may take {} now.</source>
        <translation>Die Gewichte brauchen {} Speicher. Ein Chat, der den Kontext füllt, braucht {} mehr, Stück für Stück, wie er wächst; alle Chats zusammen dürfen jetzt {} brauchen.</translation>
    </message>
    <message>
        <source>The weights take {} of memory. A chat that fills the context would take {} more, but with what is free now it can be about {} tokens long.</source>
        <translation>Die Gewichte brauchen {} Speicher. Ein Chat, der den Kontext füllt, bräuchte {} mehr, aber mit dem, was jetzt frei ist, kann er etwa {} Token lang sein.</translation>
    </message>
    <message>
        <source>Guess ahead from the text</source>
        <translation>Aus dem Text vorausraten</translation>
    </message>
    <message>
        <source>Where an answer repeats what stands before it, as in mended code, it comes two to three times as fast. The words stay the same.</source>
        <translation>Wo eine Antwort wiederholt, was vor ihr steht, wie bei verbessertem Code, kommt sie zwei- bis dreimal so schnell. Die Worte bleiben dieselben.</translation>
    </message>
</context>
<context>
    <name>LoadedModels</name>
    <message>
        <source>The model was closed before the answer was finished.</source>
        <translation>Das Modell wurde geschlossen, bevor die Antwort fertig war.</translation>
    </message>
</context>
<context>
    <name>LoadNews</name>
    <message>
        <source>{} needs {}, and {} are free. It waits until another answer has ended.</source>
        <translation>{} braucht {}, und {} sind frei. Es wartet, bis eine andere Antwort zu Ende ist.</translation>
    </message>
    <message>
        <source>Loading {}…</source>
        <translation>{} wird geladen…</translation>
    </message>
    <message>
        <source>Starting the engine and loading {}…</source>
        <translation>Die Engine startet, und {} wird geladen…</translation>
    </message>
    <message>
        <source>Loading {}… {} %</source>
        <translation>{} wird geladen… {} %</translation>
    </message>
    <message>
        <source> · {} of {}</source>
        <translation> · {} von {}</translation>
    </message>
    <message>
        <source>Waiting for the model…</source>
        <translation>Warten auf das Modell…</translation>
    </message>
    <message>
        <source>The model could not be loaded.</source>
        <translation>Das Modell ließ sich nicht laden.</translation>
    </message>
</context>
<context>
    <name>LongAnswers</name>
    <message>
        <source>It waits for your word: may it run {}?</source>
        <translation>Der Chat wartet auf dein Wort: Darf er {} ausführen?</translation>
    </message>
    <message>
        <source>The answer is finished.</source>
        <translation>Die Antwort ist fertig.</translation>
    </message>
</context>
<context>
    <name>MapCanvas</name>
    <message>
        <source>Tool</source>
        <translation>Werkzeug</translation>
    </message>
    <message>
        <source>Branches of this chat</source>
        <translation>Zweige dieses Chats</translation>
    </message>
    <message>
        <source>You</source>
        <translation>Du</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>Antwort</translation>
    </message>
</context>
<context>
    <name>MessageActions</name>
    <message>
        <source>{} (fork)</source>
        <translation>{} (Abzweig)</translation>
    </message>
    <message>
        <source>your message</source>
        <translation>deine Nachricht</translation>
    </message>
    <message>
        <source>the answer</source>
        <translation>die Antwort</translation>
    </message>
    <message>
        <source>Editing {}. Enter keeps it as a new version.</source>
        <translation>Du bearbeitest {}. Enter behält sie als neue Fassung.</translation>
    </message>
    <message>
        <source>Leave</source>
        <translation>Verlassen</translation>
    </message>
    <message>
        <source>The message is on the clipboard.</source>
        <translation>Die Nachricht liegt in der Zwischenablage.</translation>
    </message>
    <message>
        <source>An answer is still being written. Stop it, or wait for its end.</source>
        <translation>Noch wird eine Antwort geschrieben. Halte sie an, oder warte auf ihr Ende.</translation>
    </message>
    <message>
        <source>The message and what follows it are in the bin.</source>
        <translation>Die Nachricht und was ihr folgt liegen im Papierkorb.</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Run again: the same text, letter for letter.</source>
        <translation>Wiederholt: derselbe Text, Buchstabe für Buchstabe.</translation>
    </message>
    <message>
        <source>Run again: the text differs. Model, dtype or an earlier message is another.</source>
        <translation>Wiederholt: Der Text ist anders. Modell, Datentyp oder eine frühere Nachricht ist nicht dieselbe.</translation>
    </message>
</context>
<context>
    <name>MessageEdit</name>
    <message>
        <source>Message</source>
        <translation>Nachricht</translation>
    </message>
</context>
<context>
    <name>ModelLoader</name>
    <message>
        <source>{} was not loaded. {}</source>
        <translation>{} wurde nicht geladen. {}</translation>
    </message>
    <message>
        <source>There is no server {} any more. Choose another model.</source>
        <translation>Den Server {} gibt es nicht mehr. Wähle ein anderes Modell.</translation>
    </message>
</context>
<context>
    <name>ModelMenu</name>
    <message>
        <source>Type to filter</source>
        <translation>Tippen zum Filtern</translation>
    </message>
    <message>
        <source>On this machine</source>
        <translation>Auf diesem Rechner</translation>
    </message>
    <message>
        <source>No model has this name: {}</source>
        <translation>Kein Modell heißt so: {}</translation>
    </message>
</context>
<context>
    <name>ModelPicker</name>
    <message>
        <source>No model</source>
        <translation>Kein Modell</translation>
    </message>
    <message>
        <source>Model: {}</source>
        <translation>Modell: {}</translation>
    </message>
    <message>
        <source>Loading. Esc cancels.</source>
        <translation>Lädt. Esc bricht ab.</translation>
    </message>
    <message>
        <source>Cancel loading</source>
        <translation>Laden abbrechen</translation>
    </message>
    <message>
        <source>Open model folder…</source>
        <translation>Modellordner öffnen…</translation>
    </message>
    <message>
        <source>Open GGUF file…</source>
        <translation>GGUF-Datei öffnen…</translation>
    </message>
    <message>
        <source>Find and download models…</source>
        <translation>Modelle finden und herunterladen…</translation>
    </message>
    <message>
        <source>Manage models…</source>
        <translation>Modelle verwalten…</translation>
    </message>
    <message>
        <source>Unload</source>
        <translation>Entladen</translation>
    </message>
    <message>
        <source>Unload {}</source>
        <translation>{} entladen</translation>
    </message>
    <message>
        <source>  ·  ends its answers: {}</source>
        <translation>  ·  beendet seine Antworten: {}</translation>
    </message>
    <message>
        <source>Context length, precision…</source>
        <translation>Kontextlänge, Genauigkeit…</translation>
    </message>
</context>
<context>
    <name>ModelStates</name>
    <message>
        <source>asking the hub…</source>
        <translation>Hub wird gefragt…</translation>
    </message>
    <message>
        <source>waits</source>
        <translation>wartet</translation>
    </message>
    <message>
        <source>paused</source>
        <translation>unterbrochen</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>stehen geblieben</translation>
    </message>
    <message>
        <source>on this computer</source>
        <translation>auf diesem Rechner</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Asking the hub…</source>
        <translation>Der Hub wird gefragt…</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Unterbrechen</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Noch einmal versuchen</translation>
    </message>
    <message>
        <source>Download, {}</source>
        <translation>Herunterladen, {}</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Herunterladen</translation>
    </message>
</context>
<context>
    <name>Models</name>
    <message>
        <source>Download</source>
        <translation>Download</translation>
    </message>
    <message>
        <source>Licence</source>
        <translation>Lizenz</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>Parameter</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>Kontext</translation>
    </message>
    <message>
        <source>licence to accept</source>
        <translation>Lizenz anzunehmen</translation>
    </message>
    <message>
        <source>{} downloads</source>
        <translation>{} Downloads</translation>
    </message>
    <message>
        <source>Reading…</source>
        <translation>Wird gelesen…</translation>
    </message>
    <message>
        <source>not named</source>
        <translation>nicht genannt</translation>
    </message>
    <message>
        <source>On the hub</source>
        <translation>Auf dem Hub</translation>
    </message>
    <message>
        <source>An estimate from the number of parameters.</source>
        <translation>Geschätzt aus der Zahl der Parameter.</translation>
    </message>
    <message>
        <source>comes with llama-gui</source>
        <translation>gehört zu llama-gui</translation>
    </message>
    <message>
        <source>last used {}</source>
        <translation>zuletzt genutzt {}</translation>
    </message>
    <message>
        <source>open</source>
        <translation>offen</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Last used</source>
        <translation>Zuletzt genutzt</translation>
    </message>
    <message>
        <source>never</source>
        <translation>nie</translation>
    </message>
    <message>
        <source>Place</source>
        <translation>Ort</translation>
    </message>
    <message>
        <source>The small model that comes with llama-gui, to try it with.</source>
        <translation>Das kleine Modell, das zu llama-gui gehört, zum Ausprobieren.</translation>
    </message>
    <message>
        <source>An estimate from the size of the file.</source>
        <translation>Geschätzt aus der Größe der Datei.</translation>
    </message>
    <message>
        <source>runs</source>
        <translation>läuft</translation>
    </message>
    <message>
        <source>just fits</source>
        <translation>passt knapp</translation>
    </message>
    <message>
        <source>too large</source>
        <translation>zu groß</translation>
    </message>
    <message>
        <source>{} as {}: {} of memory</source>
        <translation>{} als {}: {} Speicher</translation>
    </message>
    <message>
        <source>{} likes</source>
        <translation>{} Likes</translation>
    </message>
    <message>
        <source>changed {}</source>
        <translation>geändert {}</translation>
    </message>
    <message>
        <source>{}, to be accepted on its page</source>
        <translation>{}, auf der Seite des Modells anzunehmen</translation>
    </message>
    <message>
        <source>Its makers want its licence accepted first: open its page, sign in, agree; then sign in here too.</source>
        <translation>Seine Macher verlangen, dass man zuerst die Lizenz annimmt: Öffne die Seite, melde dich an, stimme zu; dann melde dich auch hier an.</translation>
    </message>
    <message>
        <source>{} tokens</source>
        <translation>{} Token</translation>
    </message>
    <message>
        <source>{} s left</source>
        <translation>noch {} s</translation>
    </message>
    <message>
        <source>{} min left</source>
        <translation>noch {} min</translation>
    </message>
    <message>
        <source>{} h {} min left</source>
        <translation>noch {} h {} min</translation>
    </message>
    <message>
        <source>needs {} of {} free</source>
        <translation>braucht {} von {} freien</translation>
    </message>
    <message>
        <source>needs {}, {} are free</source>
        <translation>braucht {}, frei sind {}</translation>
    </message>
    <message>
        <source>Too large for this computer now: {}</source>
        <translation>Gerade zu groß für diesen Rechner: {}</translation>
    </message>
    <message>
        <source>Runs well</source>
        <translation>Läuft gut</translation>
    </message>
    <message>
        <source>Just fits; close other programs first</source>
        <translation>Passt knapp; schließe zuerst andere Programme</translation>
    </message>
    <message>
        <source>Runs slowly</source>
        <translation>Läuft langsam</translation>
    </message>
    <message>
        <source>Too large</source>
        <translation>Zu groß</translation>
    </message>
    <message>
        <source>Just fits</source>
        <translation>Passt knapp</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>Läuft</translation>
    </message>
    <message>
        <source>smallest, clearly less exact</source>
        <translation>am kleinsten, deutlich ungenauer</translation>
    </message>
    <message>
        <source>small, a little less exact</source>
        <translation>klein, etwas ungenauer</translation>
    </message>
    <message>
        <source>balanced</source>
        <translation>ausgewogen</translation>
    </message>
    <message>
        <source>nearly as exact as the original</source>
        <translation>fast so genau wie das Original</translation>
    </message>
    <message>
        <source>as exact as the original</source>
        <translation>so genau wie das Original</translation>
    </message>
    <message>
        <source>{} of {}</source>
        <translation>{} von {}</translation>
    </message>
    <message>
        <source>Finished, {}</source>
        <translation>Fertig, {}</translation>
    </message>
    <message>
        <source>Paused at {}</source>
        <translation>Unterbrochen bei {}</translation>
    </message>
    <message>
        <source>Waits for its turn, {}</source>
        <translation>Wartet, bis es an der Reihe ist, {}</translation>
    </message>
    <message>
        <source>Beginning…</source>
        <translation>Beginnt…</translation>
    </message>
    <message>
        <source>Checking what is there: {}</source>
        <translation>Prüft, was schon da ist: {}</translation>
    </message>
    <message>
        <source>less than 1 tok/s</source>
        <translation>weniger als 1 Tok/s</translation>
    </message>
    <message>
        <source>about {} tok/s</source>
        <translation>etwa {} Tok/s</translation>
    </message>
    <message>
        <source>Kept by</source>
        <translation>Liegt bei</translation>
    </message>
    <message>
        <source>Comes from</source>
        <translation>Kommt von</translation>
    </message>
    <message>
        <source>Original weights</source>
        <translation>Ursprüngliche Gewichte</translation>
    </message>
</context>
<context>
    <name>ModelsWindow</name>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Sign in…</source>
        <translation>Anmelden…</translation>
    </message>
    <message>
        <source>Options</source>
        <translation>Optionen</translation>
    </message>
    <message>
        <source>Recommended</source>
        <translation>Empfohlen</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>On this computer</source>
        <translation>Auf diesem Rechner</translation>
    </message>
    <message>
        <source>Sign in to the hub</source>
        <translation>Am Hub anmelden</translation>
    </message>
    <message>
        <source>Options for models</source>
        <translation>Optionen für Modelle</translation>
    </message>
    <message>
        <source>Cancel the download of {}?</source>
        <translation>Download von {} abbrechen?</translation>
    </message>
    <message>
        <source>What was fetched of it is deleted. To keep it for later, pause instead.</source>
        <translation>Was schon geladen ist, wird gelöscht. Um es für später zu behalten, unterbrich den Download stattdessen.</translation>
    </message>
    <message>
        <source>Cancel the download</source>
        <translation>Download abbrechen</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>Weiterladen</translation>
    </message>
    <message>
        <source>Signed in</source>
        <translation>Angemeldet</translation>
    </message>
</context>
<context>
    <name>Notice</name>
    <message>
        <source>Dismiss this message</source>
        <translation>Diese Meldung schließen</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Schließen</translation>
    </message>
</context>
<context>
    <name>Numbers</name>
    <message>
        <source>,</source>
        <translation>.</translation>
    </message>
    <message>
        <source>.</source>
        <translation>,</translation>
    </message>
</context>
<context>
    <name>OptionsDialog</name>
    <message>
        <source>always</source>
        <translation>immer</translation>
    </message>
    <message>
        <source>Options for models</source>
        <translation>Optionen für Modelle</translation>
    </message>
    <message>
        <source>Offline mode</source>
        <translation>Offline-Modus</translation>
    </message>
    <message>
        <source>Speed of downloads</source>
        <translation>Tempo der Downloads</translation>
    </message>
    <message>
        <source>Folders where models are looked for</source>
        <translation>Ordner, in denen nach Modellen gesucht wird</translation>
    </message>
    <message>
        <source>Add folder…</source>
        <translation>Ordner hinzufügen…</translation>
    </message>
    <message>
        <source>Take off the list</source>
        <translation>Von der Liste nehmen</translation>
    </message>
    <message>
        <source>As fast as it goes</source>
        <translation>So schnell es geht</translation>
    </message>
    <message>
        <source>At most {} MB a second</source>
        <translation>Höchstens {} MB in der Sekunde</translation>
    </message>
    <message>
        <source>Nothing is asked of the hub and nothing is downloaded until this is off again.</source>
        <translation>Solange das an ist, wird der Hub nichts gefragt und nichts heruntergeladen.</translation>
    </message>
    <message>
        <source>HF_HUB_OFFLINE is set on this computer. Unset it to be able to search and download.</source>
        <translation>HF_HUB_OFFLINE ist auf diesem Rechner gesetzt. Ohne diese Variable lässt sich suchen und herunterladen.</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Where models are looked for</source>
        <translation>Wo nach Modellen gesucht wird</translation>
    </message>
    <message>
        <source>A folder with models</source>
        <translation>Ein Ordner mit Modellen</translation>
    </message>
    <message>
        <source>Downloads go to the cache that all Hugging Face tools share. What LM Studio, Jan and GPT4All keep here is found as well. Add folders in which you keep models yourself; taking one off the list deletes nothing.</source>
        <translation>Downloads landen in dem Cache, den sich alle Werkzeuge von Hugging Face teilen. Was LM Studio, Jan und GPT4All hier haben, wird auch gefunden. Füge Ordner hinzu, in denen du selbst Modelle hast; einen von der Liste zu nehmen löscht nichts.</translation>
    </message>
</context>
<context>
    <name>PaneHeader</name>
    <message>
        <source>Hide this chat. It stays open in its tab.</source>
        <translation>Diesen Chat ausblenden. In seinem Tab bleibt er offen.</translation>
    </message>
    <message>
        <source>Hide {}</source>
        <translation>{} ausblenden</translation>
    </message>
</context>
<context>
    <name>ParameterRow</name>
    <message>
        <source>{}; empty is the default</source>
        <translation>{}; leer ist der Standard</translation>
    </message>
    <message>
        <source>Reset {} to the default</source>
        <translation>{} auf den Standard zurücksetzen</translation>
    </message>
    <message>
        <source>Back to the default</source>
        <translation>Zurück zum Standard</translation>
    </message>
    <message>
        <source>{} · Default</source>
        <translation>{} · Standard</translation>
    </message>
    <message>
        <source>Default</source>
        <translation>Standard</translation>
    </message>
</context>
<context>
    <name>Parameters</name>
    <message>
        <source>a whole number above {}, up to {}</source>
        <translation>eine ganze Zahl über {} und bis {}</translation>
    </message>
    <message>
        <source>a number above {}, up to {}</source>
        <translation>eine Zahl über {} und bis {}</translation>
    </message>
    <message>
        <source>a whole number from {} to {}</source>
        <translation>eine ganze Zahl von {} bis {}</translation>
    </message>
    <message>
        <source>a number from {} to {}</source>
        <translation>eine Zahl von {} bis {}</translation>
    </message>
    <message>
        <source>a whole number of at least {}</source>
        <translation>eine ganze Zahl ab {}</translation>
    </message>
    <message>
        <source>a number of at least {}</source>
        <translation>eine Zahl ab {}</translation>
    </message>
    <message>
        <source>{} is “{}”, but it must be {}.</source>
        <translation>{} ist „{}“, muss aber {} sein.</translation>
    </message>
    <message>
        <source>Basics</source>
        <translation>Grundlagen</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>Temperatur</translation>
    </message>
    <message>
        <source>How daring the choice of words is; 0 always takes the likeliest.</source>
        <translation>Wie gewagt die Wortwahl ist; 0 nimmt stets das wahrscheinlichste.</translation>
    </message>
    <message>
        <source>Top-p</source>
        <translation>Top-p</translation>
    </message>
    <message>
        <source>Only the likeliest words that together reach this probability; 1 is off.</source>
        <translation>Nur die wahrscheinlichsten Wörter, die zusammen diese Wahrscheinlichkeit erreichen; 1 ist aus.</translation>
    </message>
    <message>
        <source>Top-k</source>
        <translation>Top-k</translation>
    </message>
    <message>
        <source>Only this many of the likeliest words; 0 is off.</source>
        <translation>Nur so viele der wahrscheinlichsten Wörter; 0 ist aus.</translation>
    </message>
    <message>
        <source>Min-p</source>
        <translation>Min-p</translation>
    </message>
    <message>
        <source>Only words at least this probable beside the likeliest; 0 is off.</source>
        <translation>Nur Wörter, die neben dem wahrscheinlichsten mindestens so wahrscheinlich sind; 0 ist aus.</translation>
    </message>
    <message>
        <source>Max tokens</source>
        <translation>Max. Token</translation>
    </message>
    <message>
        <source>How long an answer may become; a word is one or two tokens.</source>
        <translation>Wie lang eine Antwort werden darf; ein Wort ist ein oder zwei Token.</translation>
    </message>
    <message>
        <source>no limit</source>
        <translation>ohne Grenze</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Seed</translation>
    </message>
    <message>
        <source>The same seed and settings give the same answer.</source>
        <translation>Derselbe Seed und dieselben Einstellungen ergeben dieselbe Antwort.</translation>
    </message>
    <message>
        <source>random</source>
        <translation>zufällig</translation>
    </message>
    <message>
        <source>Penalties</source>
        <translation>Strafen</translation>
    </message>
    <message>
        <source>Repetition penalty</source>
        <translation>Wiederholungsstrafe</translation>
    </message>
    <message>
        <source>Above 1 makes words that were used less likely; 1 is off.</source>
        <translation>Über 1 werden schon benutzte Wörter unwahrscheinlicher; 1 ist aus.</translation>
    </message>
    <message>
        <source>Frequency penalty</source>
        <translation>Häufigkeitsstrafe</translation>
    </message>
    <message>
        <source>Lowers a word a little more each time it is used; 0 is off.</source>
        <translation>Senkt ein Wort mit jedem Gebrauch etwas mehr; 0 ist aus.</translation>
    </message>
    <message>
        <source>Presence penalty</source>
        <translation>Präsenzstrafe</translation>
    </message>
    <message>
        <source>Lowers every word that was used, however often; 0 is off.</source>
        <translation>Senkt jedes benutzte Wort, gleich wie oft; 0 ist aus.</translation>
    </message>
    <message>
        <source>Penalty window</source>
        <translation>Fenster der Strafen</translation>
    </message>
    <message>
        <source>How many of the last tokens the penalties see; -1 is all of them.</source>
        <translation>Wie viele der letzten Token die Strafen sehen; -1 sind alle.</translation>
    </message>
    <message>
        <source>Advanced</source>
        <translation>Für Fortgeschrittene</translation>
    </message>
    <message>
        <source>Typical-p</source>
        <translation>Typical-p</translation>
    </message>
    <message>
        <source>Only words about as surprising as usual; 1 is off.</source>
        <translation>Nur Wörter, die etwa so überraschen wie gewohnt; 1 ist aus.</translation>
    </message>
    <message>
        <source>XTC probability</source>
        <translation>XTC-Häufigkeit</translation>
    </message>
    <message>
        <source>How often the likeliest words are left out, for variety; 0 is off.</source>
        <translation>Wie oft die wahrscheinlichsten Wörter wegbleiben, der Vielfalt zuliebe; 0 ist aus.</translation>
    </message>
    <message>
        <source>XTC threshold</source>
        <translation>XTC-Schwelle</translation>
    </message>
    <message>
        <source>How probable a word must be to be left out by XTC.</source>
        <translation>Wie wahrscheinlich ein Wort sein muss, damit XTC es weglässt.</translation>
    </message>
    <message>
        <source>DRY strength</source>
        <translation>DRY-Stärke</translation>
    </message>
    <message>
        <source>How much repeating whole phrases costs; 0 is off.</source>
        <translation>Wie viel es kostet, ganze Wendungen zu wiederholen; 0 ist aus.</translation>
    </message>
    <message>
        <source>DRY base</source>
        <translation>DRY-Basis</translation>
    </message>
    <message>
        <source>How fast that cost grows with the length of the phrase.</source>
        <translation>Wie schnell diese Kosten mit der Länge der Wendung wachsen.</translation>
    </message>
    <message>
        <source>DRY allowed length</source>
        <translation>DRY-Freilänge</translation>
    </message>
    <message>
        <source>Phrases of up to this many tokens may be repeated freely.</source>
        <translation>Wendungen bis zu so vielen Token dürfen sich frei wiederholen.</translation>
    </message>
    <message>
        <source>Min tokens</source>
        <translation>Min. Token</translation>
    </message>
    <message>
        <source>The answer does not end before this many tokens.</source>
        <translation>Die Antwort endet nicht vor so vielen Token.</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keine</translation>
    </message>
    <message>
        <source>When the context is full</source>
        <translation>Wenn der Kontext voll ist</translation>
    </message>
    <message>
        <source>What happens when the conversation is longer than the model reads.</source>
        <translation>Was geschieht, wenn das Gespräch länger ist, als das Modell liest.</translation>
    </message>
    <message>
        <source>Leave out the oldest</source>
        <translation>Älteste weglassen</translation>
    </message>
    <message>
        <source>Refuse the message</source>
        <translation>Nachricht ablehnen</translation>
    </message>
    <message>
        <source>As many as there are cores is fastest; fewer leave some to other programs.</source>
        <translation>So viele wie Kerne sind am schnellsten; weniger lassen anderen Programmen welche.</translation>
    </message>
    <message>
        <source>CPU threads</source>
        <translation>CPU-Threads</translation>
    </message>
    <message>
        <source>Context length</source>
        <translation>Kontextlänge</translation>
    </message>
    <message>
        <source>How many tokens of a chat and its answer the model reads at once.</source>
        <translation>Wie viele Token eines Chats und seiner Antwort das Modell auf einmal liest.</translation>
    </message>
</context>
<context>
    <name>PreferencesDialog</name>
    <message>
        <source>Preferences</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Counts from the next start.</source>
        <translation>Gilt ab dem nächsten Start.</translation>
    </message>
    <message>
        <source>As the system</source>
        <translation>Wie das System</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Hell</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Dunkel</translation>
    </message>
    <message>
        <source>As the language</source>
        <translation>Wie die Sprache</translation>
    </message>
    <message>
        <source>From left to right</source>
        <translation>Von links nach rechts</translation>
    </message>
    <message>
        <source>From right to left</source>
        <translation>Von rechts nach links</translation>
    </message>
    <message>
        <source>Looks</source>
        <translation>Aussehen</translation>
    </message>
    <message>
        <source>Colours</source>
        <translation>Farben</translation>
    </message>
    <message>
        <source>Text size</source>
        <translation>Schriftgröße</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Sprache</translation>
    </message>
    <message>
        <source>Direction</source>
        <translation>Richtung</translation>
    </message>
    <message>
        <source>Answers</source>
        <translation>Antworten</translation>
    </message>
    <message>
        <source>Tell me when a long answer is finished</source>
        <translation>Melden, wenn eine lange Antwort fertig ist</translation>
    </message>
    <message>
        <source>With a message of the desktop, when this window is behind others.</source>
        <translation>Mit einer Meldung des Desktops, wenn dieses Fenster hinter anderen liegt.</translation>
    </message>
    <message>
        <source>Name chats by what they are about</source>
        <translation>Chats nach ihrem Thema benennen</translation>
    </message>
    <message>
        <source>The model does it when it has nothing else to do. A name that you gave stays.</source>
        <translation>Das Modell tut es, wenn es nichts anderes zu tun hat. Ein von dir vergebener Name bleibt.</translation>
    </message>
    <message>
        <source>Together</source>
        <translation>Gemeinsam</translation>
    </message>
    <message>
        <source>In turns</source>
        <translation>Abwechselnd</translation>
    </message>
    <message>
        <source>One after the other</source>
        <translation>Nacheinander</translation>
    </message>
    <message>
        <source>After {} minutes</source>
        <translation>Nach {} Minuten</translation>
    </message>
    <message>
        <source>Unload idle models</source>
        <translation>Ruhende Modelle entladen</translation>
    </message>
    <message>
        <source>Never</source>
        <translation>Nie</translation>
    </message>
    <message>
        <source>Frees the memory of large models. The next message loads them again.</source>
        <translation>Gibt den Speicher großer Modelle frei. Die nächste Nachricht lädt sie wieder.</translation>
    </message>
    <message>
        <source>Several chats answer</source>
        <translation>Mehrere Chats antworten</translation>
    </message>
    <message>
        <source>Together is fastest. Counts from the next model that is loaded after a start.</source>
        <translation>Gemeinsam ist am schnellsten. Gilt ab dem nächsten Modell, das nach einem Start geladen wird.</translation>
    </message>
    <message>
        <source>Your data</source>
        <translation>Deine Daten</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>Ordner öffnen</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <source>Chats, backups, settings and the log. Nothing of it leaves this computer.</source>
        <translation>Chats, Sicherungen, Einstellungen und das Protokoll. Nichts davon verlässt diesen Rechner.</translation>
    </message>
</context>
<context>
    <name>PresetPicker</name>
    <message>
        <source>System prompt</source>
        <translation>Systemprompt</translation>
    </message>
    <message>
        <source>Stop strings</source>
        <translation>Stopptexte</translation>
    </message>
    <message>
        <source>The model&apos;s defaults</source>
        <translation>Standard des Modells</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Keine</translation>
    </message>
    <message>
        <source>{} changed</source>
        <translation>{} geändert</translation>
    </message>
    <message>
        <source>Not as in “{}”: {}</source>
        <translation>Anders als in „{}“: {}</translation>
    </message>
    <message>
        <source>Preset: {}</source>
        <translation>Vorlage: {}</translation>
    </message>
    <message>
        <source>  ·  for new chats</source>
        <translation>  ·  für neue Chats</translation>
    </message>
    <message>
        <source>Save as a preset…</source>
        <translation>Als Vorlage speichern…</translation>
    </message>
    <message>
        <source>Keep the changes in “{}”</source>
        <translation>Änderungen in „{}“ behalten</translation>
    </message>
    <message>
        <source>Rename “{}”…</source>
        <translation>„{}“ umbenennen…</translation>
    </message>
    <message>
        <source>Delete “{}”</source>
        <translation>„{}“ löschen</translation>
    </message>
    <message>
        <source>New chats begin with “{}”</source>
        <translation>Neue Chats beginnen mit „{}“</translation>
    </message>
    <message>
        <source>Save as a preset</source>
        <translation>Als Vorlage speichern</translation>
    </message>
    <message>
        <source>Rename the preset</source>
        <translation>Vorlage umbenennen</translation>
    </message>
    <message>
        <source>Name; a preset that has it already is replaced, which can be undone:</source>
        <translation>Name; eine Vorlage, die schon so heißt, wird ersetzt, was sich rückgängig machen lässt:</translation>
    </message>
</context>
<context>
    <name>QueueList</name>
    <message>
        <source>Send now</source>
        <translation>Jetzt senden</translation>
    </message>
    <message>
        <source>and {} more</source>
        <translation>und {} weitere</translation>
    </message>
    <message>
        <source>Not sent yet: the queue is paused</source>
        <translation>Noch nicht gesendet: Die Warteschlange ruht</translation>
    </message>
    <message>
        <source>Sent when the answer ends</source>
        <translation>Wird gesendet, wenn die Antwort endet</translation>
    </message>
    <message>
        <source>Sent one by one when the answers end</source>
        <translation>Werden nacheinander gesendet, wenn die Antworten enden</translation>
    </message>
    <message>
        <source>Send after this answer</source>
        <translation>Nach dieser Antwort senden</translation>
    </message>
    <message>
        <source>Edit this message</source>
        <translation>Diese Nachricht bearbeiten</translation>
    </message>
    <message>
        <source>Remove this message</source>
        <translation>Diese Nachricht entfernen</translation>
    </message>
</context>
<context>
    <name>SearchPage</name>
    <message>
        <source>Found models</source>
        <translation>Gefundene Modelle</translation>
    </message>
    <message>
        <source>Search the Hugging Face hub</source>
        <translation>Im Hub von Hugging Face suchen</translation>
    </message>
    <message>
        <source>Search the Hugging Face hub for models</source>
        <translation>Im Hub von Hugging Face nach Modellen suchen</translation>
    </message>
    <message>
        <source>Sort by</source>
        <translation>Sortieren nach</translation>
    </message>
    <message>
        <source>Most downloads</source>
        <translation>Meiste Downloads</translation>
    </message>
    <message>
        <source>Trending</source>
        <translation>Im Trend</translation>
    </message>
    <message>
        <source>Most likes</source>
        <translation>Meiste Likes</translation>
    </message>
    <message>
        <source>Changed last</source>
        <translation>Zuletzt geändert</translation>
    </message>
    <message>
        <source>Newest</source>
        <translation>Neueste</translation>
    </message>
    <message>
        <source>Form of the files</source>
        <translation>Form der Dateien</translation>
    </message>
    <message>
        <source>Safetensors</source>
        <translation>Safetensors</translation>
    </message>
    <message>
        <source>GGUF</source>
        <translation>GGUF</translation>
    </message>
    <message>
        <source>Offline mode is on, so the hub is not asked. Turn it off under “Options” to search.</source>
        <translation>Der Offline-Modus ist an, darum wird der Hub nicht gefragt. Schalte ihn unter „Optionen“ aus, um zu suchen.</translation>
    </message>
    <message>
        <source>Type a name, or look at what others download. Only then is the hub asked.</source>
        <translation>Tippe einen Namen, oder sieh dir an, was andere herunterladen. Erst dann wird der Hub gefragt.</translation>
    </message>
    <message>
        <source>Show popular models</source>
        <translation>Beliebte Modelle zeigen</translation>
    </message>
    <message>
        <source>asking the hub…</source>
        <translation>Hub wird gefragt…</translation>
    </message>
    <message>
        <source>Asking the hub…</source>
        <translation>Der Hub wird gefragt…</translation>
    </message>
    <message>
        <source>{} shown</source>
        <translation>{} gezeigt</translation>
    </message>
    <message>
        <source>No model that runs here is called “{}”.</source>
        <translation>Kein Modell, das hier läuft, heißt „{}“.</translation>
    </message>
    <message>
        <source>Nothing found.</source>
        <translation>Nichts gefunden.</translation>
    </message>
    <message>
        <source>Look for GGUF files</source>
        <translation>Nach GGUF-Dateien suchen</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Noch einmal versuchen</translation>
    </message>
</context>
<context>
    <name>ServerDialog</name>
    <message>
        <source>Other programs</source>
        <translation>Andere Programme</translation>
    </message>
    <message>
        <source>Let other programs on this computer use the loaded models</source>
        <translation>Andere Programme auf diesem Rechner die geladenen Modelle nutzen lassen</translation>
    </message>
    <message>
        <source>Port</source>
        <translation>Port</translation>
    </message>
    <message>
        <source>Also let other devices in this network in</source>
        <translation>Auch andere Geräte in diesem Netz zulassen</translation>
    </message>
    <message>
        <source>For other devices</source>
        <translation>Für andere Geräte</translation>
    </message>
    <message>
        <source>Programs that speak OpenAI’s protocol ask at this address and bring this key. They share the engine with your chats, which go on beside them.</source>
        <translation>Programme, die das Protokoll von OpenAI sprechen, fragen unter dieser Adresse und bringen diesen Schlüssel mit. Sie teilen sich die Engine mit deinen Chats, die daneben weitergehen.</translation>
    </message>
    <message>
        <source>For a phone or another computer, which needs the key, too. The connection is not encrypted: others in the network may read along. Only for networks that you trust, such as your own at home. While this is off, nothing outside this computer can connect.</source>
        <translation>Für ein Telefon oder einen anderen Rechner; auch sie brauchen den Schlüssel. Die Verbindung ist nicht verschlüsselt: Andere im Netz können mitlesen. Nur für Netze, denen du vertraust, wie dein eigenes zu Hause. Solange dies aus ist, kann sich von außerhalb dieses Rechners niemand verbinden.</translation>
    </message>
    <message>
        <source>Copy the address for other devices</source>
        <translation>Adresse für andere Geräte kopieren</translation>
    </message>
    <message>
        <source>This computer is in no network</source>
        <translation>Dieser Rechner ist in keinem Netz</translation>
    </message>
    <message>
        <source>or {}</source>
        <translation>oder {}</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Copy the address</source>
        <translation>Adresse kopieren</translation>
    </message>
    <message>
        <source>Copy the key</source>
        <translation>Schlüssel kopieren</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>Zeigen</translation>
    </message>
    <message>
        <source>Show or hide the key</source>
        <translation>Schlüssel zeigen oder verbergen</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>Adresse</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>Aus</translation>
    </message>
    <message>
        <source>Hide</source>
        <translation>Verbergen</translation>
    </message>
</context>
<context>
    <name>ServerFormDialog</name>
    <message>
        <source>Change server</source>
        <translation>Server ändern</translation>
    </message>
    <message>
        <source>Add a server</source>
        <translation>Server hinzufügen</translation>
    </message>
    <message>
        <source>as you want to call it</source>
        <translation>wie er heißen soll</translation>
    </message>
    <message>
        <source>as it is kept</source>
        <translation>wie gespeichert</translation>
    </message>
    <message>
        <source>if it needs one</source>
        <translation>falls er einen braucht</translation>
    </message>
    <message>
        <source>Allow a connection that is not encrypted</source>
        <translation>Eine unverschlüsselte Verbindung erlauben</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>Adresse</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <source>What you write in a chat with one of its models goes to this server. The key goes to no other.</source>
        <translation>Was du in einem Chat mit einem seiner Modelle schreibst, geht an diesen Server. Der Schlüssel geht an keinen anderen.</translation>
    </message>
    <message>
        <source>Save and connect</source>
        <translation>Speichern und verbinden</translation>
    </message>
    <message>
        <source>Give the server a name.</source>
        <translation>Gib dem Server einen Namen.</translation>
    </message>
    <message>
        <source>Another server has this name already. Give this one another.</source>
        <translation>Ein anderer Server heißt schon so. Gib diesem einen anderen Namen.</translation>
    </message>
    <message>
        <source>This is no address of a server. It is like https://server.example/v1, or like 127.0.0.1:8000 for a program on this computer; it holds no user name, question mark or hash.</source>
        <translation>Das ist keine Adresse eines Servers. Sie sieht aus wie https://server.example/v1, oder wie 127.0.0.1:8000 für ein Programm auf diesem Rechner; sie enthält keinen Benutzernamen, kein Fragezeichen und keine Raute.</translation>
    </message>
    <message>
        <source>A key has no spaces and no letters with accents. Copy it again.</source>
        <translation>Ein Schlüssel hat keine Leerzeichen und keine Umlaute. Kopiere ihn noch einmal.</translation>
    </message>
    <message>
        <source>On the way to this address others can read along, because http:// is not encrypted. Use https://, or tick this if you trust the network, as at home.</source>
        <translation>Auf dem Weg zu dieser Adresse können andere mitlesen, denn http:// ist nicht verschlüsselt. Nimm https://, oder kreuze dies an, wenn du dem Netz vertraust, wie zu Hause.</translation>
    </message>
</context>
<context>
    <name>ServerHost</name>
    <message>
        <source>Another program uses port {} already. Enter another number.</source>
        <translation>Ein anderes Programm benutzt den Port {} schon. Gib eine andere Nummer ein.</translation>
    </message>
    <message>
        <source>Port {} needs an administrator. Enter a number above 1023.</source>
        <translation>Port {} braucht einen Administrator. Gib eine Nummer über 1023 ein.</translation>
    </message>
</context>
<context>
    <name>SettingsPanel</name>
    <message>
        <source>System prompt</source>
        <translation>Systemprompt</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Keiner</translation>
    </message>
    <message>
        <source>Stop strings</source>
        <translation>Stopptexte</translation>
    </message>
    <message>
        <source>One on each line; \n is a line break</source>
        <translation>Einer je Zeile; \n ist ein Zeilenumbruch</translation>
    </message>
    <message>
        <source>The answer ends before one of these texts.</source>
        <translation>Die Antwort endet vor einem dieser Texte.</translation>
    </message>
    <message>
        <source>The answer ends before one of these texts; one on each line.</source>
        <translation>Die Antwort endet vor einem dieser Texte; einer je Zeile.</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>What the model is told before the conversation; for this chat only.</source>
        <translation>Was dem Modell vor dem Gespräch gesagt wird; nur in diesem Chat.</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>Vorlage</translation>
    </message>
    <message>
        <source>All of these settings under a name, for other chats too.</source>
        <translation>All diese Einstellungen unter einem Namen, auch für andere Chats.</translation>
    </message>
    <message>
        <source>Changes apply from the next answer.</source>
        <translation>Änderungen gelten ab der nächsten Antwort.</translation>
    </message>
    <message>
        <source>the server’s default</source>
        <translation>Vorgabe des Servers</translation>
    </message>
</context>
<context>
    <name>Sheet</name>
    <message>
        <source>Conversation</source>
        <translation>Gespräch</translation>
    </message>
</context>
<context>
    <name>ShelfPage</name>
    <message>
        <source>Models on this machine</source>
        <translation>Modelle auf diesem Rechner</translation>
    </message>
    <message>
        <source>Looking for models…</source>
        <translation>Modelle werden gesucht…</translation>
    </message>
    <message>
        <source>Models: {}, together {}</source>
        <translation>Modelle: {}, zusammen {}</translation>
    </message>
    <message>
        <source>There is no model on this machine. Download one from “Recommended”.</source>
        <translation>Auf diesem Rechner ist kein Modell. Lade eines von „Empfohlen“ herunter.</translation>
    </message>
    <message>
        <source>Open now</source>
        <translation>Jetzt offen</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Stop checking</source>
        <translation>Prüfung anhalten</translation>
    </message>
    <message>
        <source>Check its files</source>
        <translation>Dateien prüfen</translation>
    </message>
    <message>
        <source>Rename…</source>
        <translation>Umbenennen…</translation>
    </message>
    <message>
        <source>Delete…</source>
        <translation>Löschen…</translation>
    </message>
    <message>
        <source>Show folder</source>
        <translation>Ordner zeigen</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>Umbenennen</translation>
    </message>
    <message>
        <source>What shall it be called? Empty: its own name again.</source>
        <translation>Wie soll es heißen? Leer: wieder sein eigener Name.</translation>
    </message>
    <message>
        <source>Delete {}?</source>
        <translation>{} löschen?</translation>
    </message>
    <message>
        <source>Its files are deleted from {}, and {} are free again. This cannot be undone.</source>
        <translation>Seine Dateien werden aus {} gelöscht, und {} sind wieder frei. Das lässt sich nicht rückgängig machen.</translation>
    </message>
    <message>
        <source>It is open now, and answers until another model is opened.</source>
        <translation>Es ist gerade offen und antwortet, bis ein anderes Modell geöffnet wird.</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>{} is deleted; {} are free again.</source>
        <translation>{} ist gelöscht; {} sind wieder frei.</translation>
    </message>
    <message>
        <source>Left in {}, because it is no part of the model: {}</source>
        <translation>In {} geblieben, weil es nicht zum Modell gehört: {}</translation>
    </message>
    <message>
        <source>Checking: {} %</source>
        <translation>Prüft: {} %</translation>
    </message>
    <message>
        <source>The check was stopped.</source>
        <translation>Die Prüfung wurde angehalten.</translation>
    </message>
    <message>
        <source>All is well: {} files are what the hub promised.</source>
        <translation>Alles in Ordnung: {} Dateien sind so, wie der Hub sie verspricht.</translation>
    </message>
    <message>
        <source>All is well as far as can be told: nobody knows the checksums of these files.</source>
        <translation>Alles in Ordnung, soweit man das sagen kann: Die Prüfsummen dieser Dateien kennt niemand.</translation>
    </message>
</context>
<context>
    <name>Sidebar</name>
    <message>
        <source>Search chats</source>
        <translation>Chats durchsuchen</translation>
    </message>
    <message>
        <source>Search titles and messages of all chats</source>
        <translation>Titel und Nachrichten aller Chats durchsuchen</translation>
    </message>
    <message>
        <source>Found messages</source>
        <translation>Gefundene Nachrichten</translation>
    </message>
    <message>
        <source>More about all chats</source>
        <translation>Mehr zu allen Chats</translation>
    </message>
    <message>
        <source>Import, export, bin</source>
        <translation>Import, Export, Papierkorb</translation>
    </message>
    <message>
        <source>Your chats appear here.</source>
        <translation>Hier erscheinen deine Chats.</translation>
    </message>
    <message>
        <source>No chat has “{}”.</source>
        <translation>In keinem Chat steht „{}“.</translation>
    </message>
</context>
<context>
    <name>SignInDialog</name>
    <message>
        <source>Sign in to the hub</source>
        <translation>Am Hub anmelden</translation>
    </message>
    <message>
        <source>Some models are only for those who have accepted their licence. Make a token of type “Read” on the hub&apos;s page of tokens, and paste it here. It is sent to the hub and to nobody else.</source>
        <translation>Manche Modelle sind nur für die, die ihre Lizenz angenommen haben. Lege auf der Token-Seite des Hubs ein Token vom Typ „Read“ an und füge es hier ein. Es geht an den Hub und an niemanden sonst.</translation>
    </message>
    <message>
        <source>Token</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>Page of tokens…</source>
        <translation>Token-Seite…</translation>
    </message>
    <message>
        <source>Sign out</source>
        <translation>Abmelden</translation>
    </message>
    <message>
        <source>Sign in</source>
        <translation>Anmelden</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>The token comes from the environment variable HF_TOKEN.</source>
        <translation>Das Token kommt aus der Umgebungsvariablen HF_TOKEN.</translation>
    </message>
    <message>
        <source>The token is kept in this system&apos;s safe for passwords.</source>
        <translation>Das Token liegt im Passwortspeicher dieses Systems.</translation>
    </message>
    <message>
        <source>Nobody is signed in.</source>
        <translation>Niemand ist angemeldet.</translation>
    </message>
</context>
<context>
    <name>StatusLine</name>
    <message>
        <source>Open to the network</source>
        <translation>Offen für das Netz</translation>
    </message>
    <message>
        <source>Other devices can use the models at {}</source>
        <translation>Andere Geräte können die Modelle nutzen unter {}</translation>
    </message>
    <message>
        <source>for other programs</source>
        <translation>für andere Programme</translation>
    </message>
    <message>
        <source>{} answering</source>
        <translation>{} in Arbeit</translation>
    </message>
    <message>
        <source>not in memory</source>
        <translation>nicht im Speicher</translation>
    </message>
    <message>
        <source>not available</source>
        <translation>nicht verfügbar</translation>
    </message>
    <message>
        <source>weights {}</source>
        <translation>Gewichte {}</translation>
    </message>
    <message>
        <source>cache {}</source>
        <translation>Cache {}</translation>
    </message>
    <message>
        <source>1 thread</source>
        <translation>1 Thread</translation>
    </message>
    <message>
        <source>{} threads</source>
        <translation>{} Threads</translation>
    </message>
    <message>
        <source>{} waiting for memory</source>
        <translation>{} warten auf Speicher</translation>
    </message>
    <message>
        <source>batch {}</source>
        <translation>Batch {}</translation>
    </message>
    <message>
        <source>{} tok/s</source>
        <translation>{} Tok/s</translation>
    </message>
</context>
<context>
    <name>StoreLane</name>
    <message>
        <source>The chat store is not open.</source>
        <translation>Die Ablage der Chats ist nicht geöffnet.</translation>
    </message>
</context>
<context>
    <name>TabBar</name>
    <message>
        <source>Open chats</source>
        <translation>Offene Chats</translation>
    </message>
    <message>
        <source>Close tab</source>
        <translation>Tab schließen</translation>
    </message>
    <message>
        <source>Shown beside</source>
        <translation>Daneben gezeigt</translation>
    </message>
</context>
<context>
    <name>TabDeck</name>
    <message>
        <source>New chat</source>
        <translation>Neuer Chat</translation>
    </message>
</context>
<context>
    <name>TabDrafts</name>
    <message>
        <source>The message and its files come to {} tokens, but the model reads {} at most. Remove a file, attach a part of it, or choose a model with a larger context.</source>
        <translation>Die Nachricht und ihre Dateien haben zusammen {} Token, aber das Modell liest höchstens {}. Entferne eine Datei, hänge einen Teil davon an oder wähle ein Modell mit größerem Kontext.</translation>
    </message>
    <message>
        <source>The message was removed from the queue.</source>
        <translation>Die Nachricht wurde aus der Warteschlange genommen.</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
</context>
<context>
    <name>TabFiles</name>
    <message>
        <source>Attach files</source>
        <translation>Dateien anhängen</translation>
    </message>
    <message>
        <source>Documents and texts</source>
        <translation>Dokumente und Texte</translation>
    </message>
    <message>
        <source>All files</source>
        <translation>Alle Dateien</translation>
    </message>
    <message>
        <source>A file is still being read. Send when it is there, or remove it.</source>
        <translation>Eine Datei wird noch gelesen. Sende, wenn sie da ist, oder entferne sie.</translation>
    </message>
    <message>
        <source>No file can go along with an answer.</source>
        <translation>Zu einer Antwort kann keine Datei mitgegeben werden.</translation>
    </message>
    <message>
        <source>At most {} files can go along with one message.</source>
        <translation>Höchstens {} Dateien können mit einer Nachricht gehen.</translation>
    </message>
</context>
<context>
    <name>TabNews</name>
    <message>
        <source>Waiting for the tools to start…</source>
        <translation>Wartet darauf, dass die Werkzeuge starten…</translation>
    </message>
    <message>
        <source>The model wants to run a tool: {} ({}). Shift+Tab leads to the question.</source>
        <translation>Das Modell möchte ein Werkzeug ausführen: {} ({}). Umschalt+Tab führt zu der Frage.</translation>
    </message>
    <message>
        <source>Waiting for the model…</source>
        <translation>Warten auf das Modell…</translation>
    </message>
    <message>
        <source>The answer is finished.</source>
        <translation>Die Antwort ist fertig.</translation>
    </message>
    <message>
        <source>Waiting for its turn: other chats use the memory…</source>
        <translation>Wartet, bis es an der Reihe ist: andere Chats nutzen den Speicher…</translation>
    </message>
    <message>
        <source>Reading the prompt… {} of {} tokens</source>
        <translation>Prompt wird gelesen… {} von {} Token</translation>
    </message>
    <message>
        <source> · about {:.0f} s</source>
        <translation> · etwa {:.0f} s</translation>
    </message>
    <message>
        <source>The conversation is longer than this model can read: the oldest {} messages were not sent.</source>
        <translation>Das Gespräch ist länger, als dieses Modell lesen kann: Die ältesten {} Nachrichten wurden nicht gesendet.</translation>
    </message>
</context>
<context>
    <name>TabPages</name>
    <message>
        <source>An answer is still being written. Stop it, or wait for its end.</source>
        <translation>Noch wird eine Antwort geschrieben. Halte sie an, oder warte auf ihr Ende.</translation>
    </message>
</context>
<context>
    <name>TabStrip</name>
    <message>
        <source>All tabs</source>
        <translation>Alle Tabs</translation>
    </message>
</context>
<context>
    <name>TabVerbs</name>
    <message>
        <source>This model has no switch for thinking.</source>
        <translation>Bei diesem Modell lässt sich das Nachdenken nicht wählen.</translation>
    </message>
    <message>
        <source>The last answer is on the clipboard.</source>
        <translation>Die letzte Antwort liegt in der Zwischenablage.</translation>
    </message>
</context>
<context>
    <name>Transcript</name>
    <message>
        <source>waiting …</source>
        <translation>wartet …</translation>
    </message>
    <message>
        <source>Tool</source>
        <translation>Werkzeug</translation>
    </message>
    <message>
        <source>Reply</source>
        <translation>Antwort</translation>
    </message>
    <message>
        <source>It went wrong</source>
        <translation>Fehlgeschlagen</translation>
    </message>
    <message>
        <source>Declined</source>
        <translation>Abgelehnt</translation>
    </message>
    <message>
        <source>Not made</source>
        <translation>Nicht ausgeführt</translation>
    </message>
    <message>
        <source>{}, slides {}</source>
        <translation>{}, Folien {}</translation>
    </message>
    <message>
        <source>{}, slide {}</source>
        <translation>{}, Folie {}</translation>
    </message>
    <message>
        <source>{}, pages {}</source>
        <translation>{}, Seiten {}</translation>
    </message>
    <message>
        <source>{}, page {}</source>
        <translation>{}, Seite {}</translation>
    </message>
    <message>
        <source>{} passages</source>
        <translation>{} Abschnitte</translation>
    </message>
    <message>
        <source>{} passage</source>
        <translation>{} Abschnitt</translation>
    </message>
    <message>
        <source>{} of {} passages</source>
        <translation>{} von {} Abschnitten</translation>
    </message>
    <message>
        <source>names of {} of {} files</source>
        <translation>Namen von {} der {} Dateien</translation>
    </message>
    <message>
        <source>{}, {} files</source>
        <translation>{}, {} Dateien</translation>
    </message>
    <message>
        <source>Nothing that was read of the folder has the words of this question.</source>
        <translation>Nichts, was vom Ordner gelesen wurde, enthält die Wörter dieser Frage.</translation>
    </message>
    <message>
        <source>{} more</source>
        <translation>{} weitere</translation>
    </message>
    <message>
        <source>{} of {} passages, those that fit the question</source>
        <translation>{} von {} Abschnitten, die zur Frage passen</translation>
    </message>
    <message>
        <source>Show the rest: {} more characters</source>
        <translation>Den Rest zeigen: noch {} Zeichen</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>[image: {}]</source>
        <translation>[Bild: {}]</translation>
    </message>
    <message>
        <source>Thinking… {} words</source>
        <translation>Denkt nach… {} Wörter</translation>
    </message>
    <message>
        <source>Thinking…</source>
        <translation>Denkt nach…</translation>
    </message>
    <message>
        <source>Thought for {} words</source>
        <translation>{} Wörter lang nachgedacht</translation>
    </message>
    <message>
        <source>{} token</source>
        <translation>{} Token</translation>
    </message>
    <message>
        <source>{} tokens</source>
        <translation>{} Token</translation>
    </message>
    <message>
        <source>{} tok/s</source>
        <translation>{} Tok/s</translation>
    </message>
    <message>
        <source>seed {}</source>
        <translation>Seed {}</translation>
    </message>
    <message>
        <source>The answer failed.</source>
        <translation>Die Antwort ist gescheitert.</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>angehalten</translation>
    </message>
    <message>
        <source>interrupted when the application closed</source>
        <translation>beim Schließen der Anwendung abgebrochen</translation>
    </message>
    <message>
        <source>reached max tokens</source>
        <translation>Max. Token erreicht</translation>
    </message>
    <message>
        <source>context is full</source>
        <translation>Kontext ist voll</translation>
    </message>
    <message>
        <source>This message was not answered.</source>
        <translation>Diese Nachricht wurde nicht beantwortet.</translation>
    </message>
    <message>
        <source>Assistant</source>
        <translation>Assistent</translation>
    </message>
    <message>
        <source>Again</source>
        <translation>Noch einmal</translation>
    </message>
    <message>
        <source>Show {} earlier messages</source>
        <translation>{} frühere Nachrichten zeigen</translation>
    </message>
    <message>
        <source>Show {} messages in between</source>
        <translation>{} Nachrichten dazwischen zeigen</translation>
    </message>
</context>
<context>
    <name>Welcome</name>
    <message>
        <source>Find and download a model…</source>
        <translation>Ein Modell finden und herunterladen…</translation>
    </message>
    <message>
        <source>Explain in simple words why the sky is blue.</source>
        <translation>Erkläre in einfachen Worten, warum der Himmel blau ist.</translation>
    </message>
    <message>
        <source>Write a short poem about the sea.</source>
        <translation>Schreibe ein kurzes Gedicht über das Meer.</translation>
    </message>
    <message>
        <source>Summarise the story of Romeo and Juliet in five sentences.</source>
        <translation>Fasse die Geschichte von Romeo und Julia in fünf Sätzen zusammen.</translation>
    </message>
    <message>
        <source>Hello.</source>
        <translation>Hallo.</translation>
    </message>
    <message>
        <source>No model is open yet.</source>
        <translation>Noch ist kein Modell geöffnet.</translation>
    </message>
    <message>
        <source>Write your first message; it is answered as soon as the model is ready.</source>
        <translation>Schreib deine erste Nachricht; sie wird beantwortet, sobald das Modell bereit ist.</translation>
    </message>
    <message>
        <source>I am the small starter model that comes with llama-gui. Ask me how it works.</source>
        <translation>Ich bin das kleine Startmodell, das zu llama-gui gehört. Ich kann nur Englisch; frag mich, wie das hier funktioniert.</translation>
    </message>
    <message>
        <source>{} is ready. What shall we talk about?</source>
        <translation>{} ist bereit. Worüber wollen wir sprechen?</translation>
    </message>
    <message>
        <source>For real conversations take a larger model. One that you have already opens with {}.</source>
        <translation>Für richtige Gespräche nimm ein größeres Modell. Eines, das du schon hast, öffnest du mit {}.</translation>
    </message>
</context>
<context>
    <name>WindowConnections</name>
    <message>
        <source>Other devices in this network can use the models at {}.</source>
        <translation>Andere Geräte in diesem Netz können die Modelle unter {} nutzen.</translation>
    </message>
    <message>
        <source>Other programs can use the models at {}.</source>
        <translation>Andere Programme können die Modelle unter {} nutzen.</translation>
    </message>
</context>
<context>
    <name>WindowLibrary</name>
    <message>
        <source>{} is here. Open it with the model picker.</source>
        <translation>{} ist da. Öffne es mit der Modellauswahl.</translation>
    </message>
    <message>
        <source>The download is finished.</source>
        <translation>Der Download ist fertig.</translation>
    </message>
    <message>
        <source>Looking at {}…</source>
        <translation>{} wird angesehen…</translation>
    </message>
    <message>
        <source>Open {}?</source>
        <translation>{} öffnen?</translation>
    </message>
    <message>
        <source>{} with {}. It stays where it lies, and is listed with your models from now on.</source>
        <translation>{}, {} groß. Es bleibt, wo es liegt, und steht von nun an bei deinen Modellen.</translation>
    </message>
</context>
<context>
    <name>WindowLoading</name>
    <message>
        <source>How {} runs is up to its server.</source>
        <translation>Wie {} läuft, bestimmt sein Server.</translation>
    </message>
    <message>
        <source>There is no model yet. Choose one first.</source>
        <translation>Noch ist kein Modell da. Wähle zuerst eines.</translation>
    </message>
</context>
<context>
    <name>WindowMenuEntry</name>
    <message>
        <source>llama-gui is in the applications menu.</source>
        <translation>llama-gui steht im Anwendungsmenü.</translation>
    </message>
    <message>
        <source>llama-gui is no longer in the applications menu.</source>
        <translation>llama-gui steht nicht mehr im Anwendungsmenü.</translation>
    </message>
</context>
<context>
    <name>WindowModels</name>
    <message>
        <source>This chat is still being read. Choose its model again in a moment.</source>
        <translation>Dieser Chat wird noch gelesen. Wähle sein Modell gleich noch einmal.</translation>
    </message>
    <message>
        <source>Open model folder</source>
        <translation>Modellordner öffnen</translation>
    </message>
    <message>
        <source>Open GGUF file</source>
        <translation>GGUF-Datei öffnen</translation>
    </message>
    <message>
        <source>GGUF models (*.gguf)</source>
        <translation>GGUF-Modelle (*.gguf)</translation>
    </message>
    <message>
        <source>{} is not available. {}</source>
        <translation>{} ist nicht verfügbar. {}</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Noch einmal versuchen</translation>
    </message>
</context>
<context>
    <name>WindowPresets</name>
    <message>
        <source>“{}” was deleted.</source>
        <translation>„{}“ wurde gelöscht.</translation>
    </message>
    <message>
        <source>“{}” was replaced.</source>
        <translation>„{}“ wurde ersetzt.</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
</context>
<context>
    <name>WindowSplit</name>
    <message>
        <source>Close tab</source>
        <translation>Tab schließen</translation>
    </message>
    <message>
        <source>Show alone</source>
        <translation>Allein zeigen</translation>
    </message>
    <message>
        <source>Show beside</source>
        <translation>Daneben zeigen</translation>
    </message>
    <message>
        <source>There is no room for two chats side by side.</source>
        <translation>Für zwei Chats nebeneinander ist kein Platz.</translation>
    </message>
</context>
<context>
    <name>WordDialog</name>
    <message>
        <source>An answer is still being written. Stop it, or wait for its end.</source>
        <translation>Noch wird eine Antwort geschrieben. Halte sie an, oder warte auf ihr Ende.</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>How sure {} was of each word. Choose another, and a new version goes on from there; this one stays.</source>
        <translation>Wie sicher {} bei jedem Wort war. Wähle ein anderes, und eine neue Fassung geht von dort an weiter; diese bleibt.</translation>
    </message>
    <message>
        <source>Loading {}, which wrote this answer…</source>
        <translation>{} wird geladen, das diese Antwort geschrieben hat…</translation>
    </message>
    <message>
        <source>A message before it or the system prompt is another now, and so are these numbers.</source>
        <translation>Eine Nachricht davor oder der Systemprompt ist inzwischen anders, und damit auch diese Zahlen.</translation>
    </message>
    <message>
        <source>Reading the answer…</source>
        <translation>Die Antwort wird gelesen…</translation>
    </message>
    <message>
        <source>The probabilities of the model itself: at temperature 1, before penalties and whatever else the settings of the answer did to them.</source>
        <translation>Die Wahrscheinlichkeiten des Modells selbst: bei Temperatur 1, vor Strafen und allem, was die Einstellungen der Antwort sonst aus ihnen gemacht haben.</translation>
    </message>
    <message>
        <source>The words of this answer</source>
        <translation>Die Wörter dieser Antwort</translation>
    </message>
    <message>
        <source>the model</source>
        <translation>das Modell</translation>
    </message>
    <message>
        <source>{} tokens, {} of them unsure. Ctrl with an arrow key goes from one of those to the next.</source>
        <translation>{} Token, davon {} unsicher. Strg mit einer Pfeiltaste geht von einem davon zum nächsten.</translation>
    </message>
</context>
<context>
    <name>WordReader</name>
    <message>
        <source>The model that wrote this answer, {}, is not on this machine any more.</source>
        <translation>Das Modell, das diese Antwort geschrieben hat, {}, ist nicht mehr auf diesem Rechner.</translation>
    </message>
    <message>
        <source>The tokens of this answer are not known, because somebody has edited it.</source>
        <translation>Die Token dieser Antwort sind nicht bekannt, weil jemand sie bearbeitet hat.</translation>
    </message>
</context>
<context>
    <name>WordSheet</name>
    <message>
        <source>The words of the answer</source>
        <translation>Die Wörter der Antwort</translation>
    </message>
</context>
<context>
    <name>Words</name>
    <message>
        <source>end</source>
        <translation>Ende</translation>
    </message>
    <message>
        <source>end of the answer</source>
        <translation>Ende der Antwort</translation>
    </message>
    <message>
        <source>less</source>
        <translation>weniger</translation>
    </message>
    <message>
        <source>over {} %</source>
        <translation>über {} %</translation>
    </message>
    <message>
        <source>part of a character</source>
        <translation>Teil eines Zeichens</translation>
    </message>
    <message>
        <source>under {} %</source>
        <translation>unter {} %</translation>
    </message>
    <message>
        <source>{} %</source>
        <translation>{} %</translation>
    </message>
    <message>
        <source>{} % and more</source>
        <translation>{} % und mehr</translation>
    </message>
</context>
<context>
    <name>_Warning</name>
    <message>
        <source>Open its page…</source>
        <translation>Seite öffnen…</translation>
    </message>
    <message>
        <source>Open the page of this model in the browser</source>
        <translation>Seite dieses Modells im Browser öffnen</translation>
    </message>
</context>
<context>
    <name>ThinkButton</name>
    <message>
        <source>Think</source>
        <translation>Nachdenken</translation>
    </message>
    <message>
        <source>Think before the answer</source>
        <translation>Vor der Antwort nachdenken</translation>
    </message>
    <message>
        <source>The model thinks before it answers: later, but better where a question is hard.</source>
        <translation>Das Modell denkt nach, bevor es antwortet: später, aber besser bei schwierigen Fragen.</translation>
    </message>
</context>
<context>
    <name>FolderDialog</name>
    <message>
        <source>Read: {}. It was stopped there; “Look for changes now” goes on.</source>
        <translation>Gelesen: {}. Da wurde angehalten; „Jetzt nach Änderungen sehen“ liest weiter.</translation>
    </message>
    <message>
        <source>{} of {} files are read.</source>
        <translation>{} von {} Dateien sind gelesen.</translation>
    </message>
    <message>
        <source>The folder is not there now. What was read of it before is used until it is back; choose another one if it has moved.</source>
        <translation>Der Ordner ist gerade nicht da. Bis er zurück ist, wird benutzt, was vorher gelesen wurde; wähle einen anderen, wenn er umgezogen ist.</translation>
    </message>
    <message>
        <source>Read: {}.</source>
        <translation>Gelesen: {}.</translation>
    </message>
    <message>
        <source>Not read: {}.</source>
        <translation>Nicht gelesen: {}.</translation>
    </message>
    <message>
        <source>Only the first {} files of a folder are read.</source>
        <translation>Nur die ersten {} Dateien eines Ordners werden gelesen.</translation>
    </message>
    <message>
        <source>Looking for what has changed …</source>
        <translation>Es wird nachgesehen, was sich geändert hat …</translation>
    </message>
    <message>
        <source>Left out: {}, as they are pictures, recordings, archives or programs.</source>
        <translation>Ausgelassen: {}, denn es sind Bilder, Aufnahmen, Archive oder Programme.</translation>
    </message>
    <message>
        <source>Folder of documents</source>
        <translation>Ordner mit Dokumenten</translation>
    </message>
    <message>
        <source>Files that could not be read</source>
        <translation>Dateien, die nicht gelesen werden konnten</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>And {} more.</source>
        <translation>Und {} weitere.</translation>
    </message>
</context>
<context>
    <name>TabFolder</name>
    <message>
        <source>, stopped</source>
        <translation>, angehalten</translation>
    </message>
    <message>
        <source>Stop reading</source>
        <translation>Nicht weiterlesen</translation>
    </message>
    <message>
        <source>{} of {} read</source>
        <translation>{} von {} gelesen</translation>
    </message>
    <message>
        <source>{} files</source>
        <translation>{} Dateien</translation>
    </message>
    <message>
        <source>{} file</source>
        <translation>{} Datei</translation>
    </message>
    <message>
        <source>reading …</source>
        <translation>wird gelesen …</translation>
    </message>
    <message>
        <source>passages go to {}</source>
        <translation>Abschnitte gehen an {}</translation>
    </message>
    <message>
        <source>not found</source>
        <translation>nicht gefunden</translation>
    </message>
    <message>
        <source>cannot be read</source>
        <translation>nicht lesbar</translation>
    </message>
    <message>
        <source>What was read…</source>
        <translation>Was gelesen wurde…</translation>
    </message>
    <message>
        <source>Use this folder no longer</source>
        <translation>Diesen Ordner nicht mehr benutzen</translation>
    </message>
    <message>
        <source>They stay on this machine.</source>
        <translation>Sie bleiben auf diesem Rechner.</translation>
    </message>
    <message>
        <source>They are sent to {}, as the rest of this chat is.</source>
        <translation>Sie werden an {} geschickt, wie der Rest dieses Chats.</translation>
    </message>
    <message>
        <source>Of its documents the passages that fit a question, by its words, go along with it.</source>
        <translation>Von seinen Dokumenten gehen die Abschnitte, die nach ihren Wörtern zu einer Frage passen, mit ihr mit.</translation>
    </message>
    <message>
        <source>Look for changes now</source>
        <translation>Jetzt nach Änderungen sehen</translation>
    </message>
    <message>
        <source>Folder of documents: {}</source>
        <translation>Ordner mit Dokumenten: {}</translation>
    </message>
    <message>
        <source>Documents of a folder: what fits a question goes along with it</source>
        <translation>Dokumente eines Ordners: Was zu einer Frage passt, geht mit ihr mit</translation>
    </message>
    <message>
        <source>Choose a folder of documents</source>
        <translation>Einen Ordner mit Dokumenten wählen</translation>
    </message>
    <message>
        <source>Another folder…</source>
        <translation>Anderer Ordner…</translation>
    </message>
    <message>
        <source>, {} not read</source>
        <translation>, {} nicht gelesen</translation>
    </message>
</context>
<context>
    <name>PasteDialog</name>
    <message>
        <source>Servers as JSON</source>
        <translation>Server als JSON</translation>
    </message>
    <message>
        <source>Paste tool servers</source>
        <translation>Werkzeugserver einfügen</translation>
    </message>
    <message>
        <source>Claude Desktop, LM Studio, Jan and others keep their servers in this form, and the instructions of most servers show it. Nothing of it is started yet.</source>
        <translation>Claude Desktop, LM Studio, Jan und andere bewahren ihre Server in dieser Form auf, und die Anleitungen der meisten Server zeigen sie. Noch wird nichts davon gestartet.</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>Hinzufügen</translation>
    </message>
</context>
<context>
    <name>ServerPane</name>
    <message>
        <source>Try it</source>
        <translation>Ausprobieren</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Stopp</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>It runs, and offers {}:</source>
        <translation>Er läuft und bietet {}:</translation>
    </message>
    <message>
        <source>It is starting…</source>
        <translation>Er startet…</translation>
    </message>
    <message>
        <source>It is off, and starts when a chat uses it.</source>
        <translation>Er ist aus und startet, wenn ein Chat ihn benutzt.</translation>
    </message>
    <message>
        <source>It could not be started:</source>
        <translation>Er konnte nicht gestartet werden:</translation>
    </message>
    <message>
        <source>Change…</source>
        <translation>Ändern…</translation>
    </message>
</context>
<context>
    <name>TabTools</name>
    <message>
        <source>{}: starts with the next answer</source>
        <translation>{}: startet mit der nächsten Antwort</translation>
    </message>
    <message>
        <source>Tools: none of the servers is used in this chat</source>
        <translation>Werkzeuge: Dieser Chat benutzt keinen der Server</translation>
    </message>
    <message>
        <source>Tools that the model may ask for</source>
        <translation>Werkzeuge, um die das Modell bitten darf</translation>
    </message>
    <message>
        <source>Tools</source>
        <translation>Werkzeuge</translation>
    </message>
    <message>
        <source>The model of this chat cannot use tools.</source>
        <translation>Das Modell dieses Chats kann keine Werkzeuge benutzen.</translation>
    </message>
</context>
<context>
    <name>ToolQuestionBar</name>
    <message>
        <source>… and {} more characters</source>
        <translation>… und noch {} Zeichen</translation>
    </message>
    <message>
        <source>{} wants to run a tool of “{}”:</source>
        <translation>{} möchte ein Werkzeug von „{}“ ausführen:</translation>
    </message>
    <message>
        <source>What it is called with</source>
        <translation>Womit es aufgerufen wird</translation>
    </message>
    <message>
        <source>The model</source>
        <translation>Das Modell</translation>
    </message>
    <message>
        <source>Run once</source>
        <translation>Einmal ausführen</translation>
    </message>
    <message>
        <source>It may change things.</source>
        <translation>Es kann etwas verändern.</translation>
    </message>
    <message>
        <source>Decline</source>
        <translation>Ablehnen</translation>
    </message>
    <message>
        <source>Always in this chat</source>
        <translation>In diesem Chat immer</translation>
    </message>
</context>
<context>
    <name>ToolRow</name>
    <message>
        <source>It only reads.</source>
        <translation>Es liest nur.</translation>
    </message>
    <message>
        <source>It may change things.</source>
        <translation>Es kann etwas verändern.</translation>
    </message>
</context>
<context>
    <name>ToolServerForm</name>
    <message>
        <source>Allow a connection that is not encrypted</source>
        <translation>Eine unverschlüsselte Verbindung erlauben</translation>
    </message>
    <message>
        <source>On the way to this address others can read along, because http:// is not encrypted. Use https://, or tick this if you trust the network, as at home.</source>
        <translation>Auf dem Weg zu dieser Adresse können andere mitlesen, denn http:// ist nicht verschlüsselt. Nimm https://, oder kreuze dies an, wenn du dem Netz vertraust, wie zu Hause.</translation>
    </message>
    <message>
        <source>A header has a name and a value in plain letters, without accents. Copy it again.</source>
        <translation>Eine Kopfzeile hat einen Namen und einen Wert in einfachen Buchstaben, ohne Umlaute und Akzente. Kopiere sie noch einmal.</translation>
    </message>
    <message>
        <source>This is no address of a server. It is like https://server.example/mcp, without a password.</source>
        <translation>Das ist keine Adresse eines Servers. Sie sieht aus wie https://server.example/mcp, ohne Passwort.</translation>
    </message>
    <message>
        <source>“{}” is not of the form Name: value.</source>
        <translation>„{}“ hat nicht die Form Name: Wert.</translation>
    </message>
    <message>
        <source>“{}” is not of the form NAME=value.</source>
        <translation>„{}“ hat nicht die Form NAME=Wert.</translation>
    </message>
    <message>
        <source>as you want to call it</source>
        <translation>wie du ihn nennen willst</translation>
    </message>
    <message>
        <source>What the model passes to its tools goes to this address.</source>
        <translation>Was das Modell seinen Werkzeugen mitgibt, geht an diese Adresse.</translation>
    </message>
    <message>
        <source>What you type here is kept in a file as it is, keys too.</source>
        <translation>Was du hier eingibst, steht so in einer Datei, auch Schlüssel.</translation>
    </message>
    <message>
        <source>This is no command. Is a quotation mark not closed?</source>
        <translation>Das ist kein Befehl. Fehlt ein Anführungszeichen am Ende?</translation>
    </message>
    <message>
        <source>The program runs with your rights: it can do on this computer what you can.</source>
        <translation>Das Programm läuft mit deinen Rechten: Es kann auf diesem Rechner, was du kannst.</translation>
    </message>
    <message>
        <source>Save and try it</source>
        <translation>Speichern und ausprobieren</translation>
    </message>
    <message>
        <source>Name: value, one on each line</source>
        <translation>Name: Wert, in jeder Zeile einer</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>NAME=value, one on each line</source>
        <translation>NAME=Wert, in jeder Zeile einer</translation>
    </message>
    <message>
        <source>Headers</source>
        <translation>Kopfzeilen</translation>
    </message>
    <message>
        <source>Environment</source>
        <translation>Umgebung</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>Befehl</translation>
    </message>
    <message>
        <source>Change tool server</source>
        <translation>Werkzeugserver ändern</translation>
    </message>
    <message>
        <source>Another server has this name already. Give this one another.</source>
        <translation>Ein anderer Server heißt schon so. Gib diesem einen anderen Namen.</translation>
    </message>
    <message>
        <source>An address</source>
        <translation>Eine Adresse</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>Adresse</translation>
    </message>
    <message>
        <source>Add a tool server</source>
        <translation>Werkzeugserver hinzufügen</translation>
    </message>
    <message>
        <source>A program on this computer</source>
        <translation>Ein Programm auf diesem Rechner</translation>
    </message>
</context>
<context>
    <name>Tools</name>
    <message>
        <source>{} tools</source>
        <translation>{} Werkzeuge</translation>
    </message>
    <message>
        <source>starting…</source>
        <translation>startet…</translation>
    </message>
    <message>
        <source>off</source>
        <translation>aus</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>gescheitert</translation>
    </message>
    <message>
        <source>1 tool</source>
        <translation>1 Werkzeug</translation>
    </message>
</context>
<context>
    <name>ToolTurn</name>
    <message>
        <source>The tool of this call is not there. Is its server on in this chat?</source>
        <translation>Das Werkzeug dieses Aufrufs ist nicht da. Ist sein Server in diesem Chat eingeschaltet?</translation>
    </message>
</context>
<context>
    <name>ToolsDialog</name>
    <message>
        <source>“{}” is removed.</source>
        <translation>„{}“ ist entfernt.</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Tool servers let the model of a chat do things: read files, look at web pages, ask a database. Such programs run with your rights, and they see what the model sends them. Add only those that you trust.</source>
        <translation>Mit Werkzeugservern kann das Modell eines Chats etwas tun: Dateien lesen, Webseiten ansehen, eine Datenbank fragen. Solche Programme laufen mit deinen Rechten, und sie sehen, was das Modell ihnen schickt. Füge nur solche hinzu, denen du vertraust.</translation>
    </message>
    <message>
        <source>Tool servers</source>
        <translation>Werkzeugserver</translation>
    </message>
    <message>
        <source>There is none yet. One that works where uv is installed, and reads web pages:</source>
        <translation>Noch gibt es keinen. Dieser geht, wo uv installiert ist, und liest Webseiten:</translation>
    </message>
    <message>
        <source>Paste…</source>
        <translation>Einfügen…</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Add…</source>
        <translation>Hinzufügen…</translation>
    </message>
    <message>
        <source>Added: {}</source>
        <translation>Hinzugefügt: {}</translation>
    </message>
    <message>
        <source>Add this example…</source>
        <translation>Dieses Beispiel hinzufügen…</translation>
    </message>
</context>
<context>
    <name>ToolsMenu</name>
    <message>
        <source>Set up tool servers…</source>
        <translation>Werkzeugserver einrichten…</translation>
    </message>
    <message>
        <source>Ask again before each call</source>
        <translation>Wieder vor jedem Aufruf fragen</translation>
    </message>
</context>
<context>
    <name>Widgets</name>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
</context>
<context>
    <name>Divider</name>
    <message>
        <source>Line between the chats: the arrow keys move it, Enter makes halves</source>
        <translation>Linie zwischen den Chats: die Pfeiltasten verschieben sie, die Eingabetaste macht Hälften</translation>
    </message>
</context>
</TS>
