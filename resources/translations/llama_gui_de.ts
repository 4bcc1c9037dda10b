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
        <source>{} messages</source>
        <translation>{} Nachrichten</translation>
    </message>
    <message>
        <source>{} message</source>
        <translation>{} Nachricht</translation>
    </message>
    <message>
        <source>{} chats</source>
        <translation>{} Chats</translation>
    </message>
    <message>
        <source>{} chat</source>
        <translation>{} Chat</translation>
    </message>
    <message>
        <source>From the backup: {} in {}.</source>
        <translation>Aus der Sicherung: {} in {}.</translation>
    </message>
    <message>
        <source>Restore the backup of {}, {}</source>
        <translation>Sicherung vom {} zurückholen, {}</translation>
    </message>
    <message>
        <source>Your chats were damaged. A backup of {} holds more than could be read: {}, {}.</source>
        <translation>Deine Chats waren beschädigt. Eine Sicherung vom {} enthält mehr, als gelesen werden konnte: {}, {}.</translation>
    </message>
    <message>
        <source>The backup stays here: {}</source>
        <translation>Die Sicherung bleibt hier: {}</translation>
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
        <source>{} message, no branches yet</source>
        <translation>{} Nachricht, noch keine Zweige</translation>
    </message>
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
        <source>Conversation and writing in many languages, with a long context; reads images, too.</source>
        <translation>Gespräche und Texte in vielen Sprachen, mit langem Kontext; liest auch Bilder.</translation>
    </message>
    <message>
        <source>The smallest that holds a conversation; quick on any computer.</source>
        <translation>Das kleinste, das ein Gespräch führt; schnell auf jedem Rechner.</translation>
    </message>
    <message>
        <source>Small and quick, for short texts and simple questions.</source>
        <translation>Klein und schnell, für kurze Texte und einfache Fragen.</translation>
    </message>
    <message>
        <source>Reads images, and is quick at it: what is to be seen, what is written there. Short answers.</source>
        <translation>Liest Bilder, und das schnell: was zu sehen ist, was geschrieben steht. Kurze Antworten.</translation>
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
    <message>
        <source>For folders of documents: finds their passages by meaning, too. It does not chat.</source>
        <translation>Für Ordner mit Dokumenten: findet ihre Stellen auch nach dem Sinn. Es chattet nicht.</translation>
    </message>
    <message>
        <source>Reads images, and texts in them, in many languages; for most computers.</source>
        <translation>Liest Bilder, und Texte darin, in vielen Sprachen; für die meisten Rechner.</translation>
    </message>
    <message>
        <source>Small and new: many languages, long texts that take little memory; reads images, too.</source>
        <translation>Klein und neu: viele Sprachen, lange Texte in wenig Speicher; liest auch Bilder.</translation>
    </message>
    <message>
        <source>Quick for its size: short answers, facts out of texts, tools; 8 languages.</source>
        <translation>Schnell für seine Größe: kurze Antworten, Angaben aus Texten, Werkzeuge; 8 Sprachen.</translation>
    </message>
    <message>
        <source>Thinks first, if you wish. Good answers to hard questions, and images; slower than 8B.</source>
        <translation>Denkt auf Wunsch erst nach. Gute Antworten auf schwere Fragen, auch zu Bildern; langsamer als 8B.</translation>
    </message>
    <message>
        <source>As quick as a model of 1.5B: tools, summaries, code, facts out of texts; 12 languages.</source>
        <translation>So schnell wie ein Modell mit 1,5B: Werkzeuge, Zusammenfassungen, Code, Angaben aus Texten; 12 Sprachen.</translation>
    </message>
    <message>
        <source>As quick as a model of 1.5B, with the knowledge of a larger one; 8 languages.</source>
        <translation>So schnell wie ein Modell mit 1,5B, mit dem Wissen eines größeren; 8 Sprachen.</translation>
    </message>
    <message>
        <source>Thinks first, if you wish. Code, tools, long texts, images; many languages.</source>
        <translation>Denkt auf Wunsch erst nach. Code, Werkzeuge, lange Texte, Bilder; viele Sprachen.</translation>
    </message>
    <message>
        <source>Reads images: pages, tables, screenshots; many languages. Slower than 2B, and better.</source>
        <translation>Liest Bilder: Seiten, Tabellen, Bildschirmfotos; viele Sprachen. Langsamer als 2B, und besser.</translation>
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
        <source>Nothing has been said in this chat yet.</source>
        <translation>In diesem Chat wurde noch nichts gesagt.</translation>
    </message>
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
        <source>Name of the folder</source>
        <translation>Name des Ordners</translation>
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
    <message>
        <source>New chat in this folder</source>
        <translation>Neuer Chat in diesem Ordner</translation>
    </message>
    <message>
        <source>Unpin these chats</source>
        <translation>Diese Chats loslösen</translation>
    </message>
    <message>
        <source>Pin these chats</source>
        <translation>Diese Chats anheften</translation>
    </message>
    <message>
        <source>Create</source>
        <translation>Anlegen</translation>
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
    <message>
        <source>{} chat</source>
        <translation>{} Chat</translation>
    </message>
    <message>
        <source>{} chats</source>
        <translation>{} Chats</translation>
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
        <source>Pasted text {}.txt</source>
        <translation>Eingefügter Text {}.txt</translation>
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
        <source>Settings of this chat</source>
        <translation>Einstellungen dieses Chats</translation>
    </message>
    <message>
        <source>Find an action, a model or a chat</source>
        <translation>Aktion, Modell oder Chat finden</translation>
    </message>
    <message>
        <source>Finds</source>
        <translation>Treffer</translation>
    </message>
    <message>
        <source>Search all chats for “{}”</source>
        <translation>Alle Chats nach „{}“ durchsuchen</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>Chat</translation>
    </message>
</context>
<context>
    <name>Composer</name>
    <message>
        <source>Attach files: images, PDF, Word, texts and others. They can be dropped here, too.</source>
        <translation>Dateien anhängen: Bilder, PDF, Word, Texte und andere. Sie lassen sich auch hierher ziehen.</translation>
    </message>
    <message>
        <source>Attach files</source>
        <translation>Dateien anhängen</translation>
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
        <source>All of it would not fit: the oldest message is not sent. It stays in the chat.</source>
        <translation>Alles passt nicht hinein: Die älteste Nachricht wird nicht gesendet. Im Chat bleibt sie.</translation>
    </message>
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
        <source>{} has one model; this chat has it now.</source>
        <translation>{} hat ein Modell; dieser Chat hat es jetzt.</translation>
    </message>
    <message>
        <source>{} has one model; it is in the model menu now.</source>
        <translation>{} hat ein Modell; es steht jetzt im Modellmenü.</translation>
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
    <message>
        <source>Choose several in the list</source>
        <translation>In der Liste mehrere wählen</translation>
    </message>
    <message>
        <source>Delete what is chosen there</source>
        <translation>Dort Gewähltes löschen</translation>
    </message>
    <message>
        <source>Ctrl+Del</source>
        <translation>Strg+Entf</translation>
    </message>
    <message>
        <source>Menu of what has the keyboard</source>
        <translation>Menü dessen, was die Tastatur hat</translation>
    </message>
    <message>
        <source>Shift+F10</source>
        <translation>Umschalt+F10</translation>
    </message>
    <message>
        <source>Ctrl or Shift + click</source>
        <translation>Strg oder Umschalt + Klick</translation>
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
        <source>Keep chats in eight bits</source>
        <translation>Chats in acht Bit halten</translation>
    </message>
    <message>
        <source>What was said then takes about half the memory, and long chats are answered faster. Now and then a word comes out otherwise.</source>
        <translation>Was gesagt wurde, braucht dann etwa halb so viel Speicher, und lange Chats werden schneller beantwortet. Ab und zu fällt ein Wort anders aus.</translation>
    </message>
    <message>
        <source>Guess ahead from the text</source>
        <translation>Aus dem Text vorausraten</translation>
    </message>
    <message>
        <source>What an answer repeats comes sooner: mended code several times as fast, other texts by up to a half. The words stay the same. On CPUs only.</source>
        <translation>Was eine Antwort wiederholt, kommt früher: verbesserter Code mehrmals so schnell, andere Texte um bis zur Hälfte. Die Worte bleiben dieselben. Nur auf Prozessoren.</translation>
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
    <message>
        <source>{} (fork {})</source>
        <translation>{} (Abzweig {})</translation>
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
        <source>reads images</source>
        <translation>liest Bilder</translation>
    </message>
    <message>
        <source>Type to filter</source>
        <translation>Tippen zum Filtern</translation>
    </message>
    <message>
        <source>and {} more</source>
        <translation>und {} weitere</translation>
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
    <message>
        <source>Remote servers…</source>
        <translation>Entfernte Server…</translation>
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
        <source>{} like</source>
        <translation>{} Like</translation>
    </message>
    <message>
        <source>{} download</source>
        <translation>{} Download</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Download</translation>
    </message>
    <message>
        <source>Licence</source>
        <translation>Lizenz</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>does not run</source>
        <translation>läuft nicht</translation>
    </message>
    <message>
        <source>Its weights are quantised in a way that does not run here ({}). Choose the plain model, one in FP8, or a GGUF file.</source>
        <translation>Die Gewichte sind auf eine Art quantisiert, die hier nicht läuft ({}). Wähle das einfache Modell, eins in FP8 oder eine GGUF-Datei.</translation>
    </message>
    <message>
        <source>FP8: eight bits each, converted when it is loaded</source>
        <translation>FP8: acht Bit je Gewicht, beim Laden umgewandelt</translation>
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
        <source>needs {} of {} free on the graphics card</source>
        <translation>braucht {} von {} freien auf der Grafikkarte</translation>
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
    <message>
        <source>reads images</source>
        <translation>liest Bilder</translation>
    </message>
    <message>
        <source>for embeddings</source>
        <translation>für Embeddings</translation>
    </message>
    <message>
        <source>guesses for another model</source>
        <translation>rät für ein anderes Modell</translation>
    </message>
    <message>
        <source>It guesses what the model writes that it is named like, which makes that one faster. It is used by itself, and does not chat.</source>
        <translation>Es rät, was das Modell schreibt, nach dem es heißt, und macht es damit schneller. Es wird von selbst benutzt und chattet nicht.</translation>
    </message>
    <message>
        <source>It turns texts into vectors, by which other programs search. It does not chat.</source>
        <translation>Es macht aus Texten Vektoren, mit denen andere Programme suchen. Es chattet nicht.</translation>
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
    <name>PictureDialog</name>
    <message>
        <source>{} cannot be written: {}.</source>
        <translation>{} lässt sich nicht schreiben: {}.</translation>
    </message>
    <message>
        <source>Save image</source>
        <translation>Bild speichern</translation>
    </message>
    <message>
        <source>Save as…</source>
        <translation>Speichern unter…</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
</context>
<context>
    <name>PreferencesDialog</name>
    <message>
        <source>With {}</source>
        <translation>Mit {}</translation>
    </message>
    <message>
        <source>With the first model for embeddings</source>
        <translation>Mit dem ersten Modell für Embeddings</translation>
    </message>
    <message>
        <source>No, by words only</source>
        <translation>Nein, nur nach Wörtern</translation>
    </message>
    <message>
        <source>Of folders of documents, a model for embeddings reads the passages while nothing else is asked.</source>
        <translation>Von Ordnern mit Dokumenten liest ein Modell für Embeddings die Abschnitte, solange nichts anderes gefragt ist.</translation>
    </message>
    <message>
        <source>There is none yet; Qwen3 Embedding is one.</source>
        <translation>Noch ist keines da; Qwen3 Embedding ist eines.</translation>
    </message>
    <message>
        <source>Find by meaning, too</source>
        <translation>Auch nach Bedeutung finden</translation>
    </message>
    <message>
        <source>After {} minute</source>
        <translation>Nach {} Minute</translation>
    </message>
    <message>
        <source>Preferences</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Takes effect at the next start.</source>
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
        <source>Keep what was read</source>
        <translation>Gelesenes aufheben</translation>
    </message>
    <message>
        <source>Up to {} GB</source>
        <translation>Bis zu {} GB</translation>
    </message>
    <message>
        <source>Nothing</source>
        <translation>Nichts</translation>
    </message>
    <message>
        <source>What a model has read of a long chat stays on the disk for 30 days, so that it goes on at once after a restart. Emptying the bin deletes it. Takes effect at the next start.</source>
        <translation>Was ein Modell von einem langen Chat gelesen hat, bleibt 30 Tage auf der Festplatte, damit es nach einem Neustart sofort weitergeht. Den Papierkorb zu leeren löscht es. Gilt ab dem nächsten Start.</translation>
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
        <source>Together is fastest. Takes effect for models that are loaded after the next start.</source>
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
        <source>Name of the preset. One of the same name is replaced, which can be undone.</source>
        <translation>Name der Vorlage. Eine, die schon so heißt, wird ersetzt, was sich rückgängig machen lässt.</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>Umbenennen</translation>
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
        <source>Look for safetensors</source>
        <translation>Nach Safetensors suchen</translation>
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
        <source>Programs that speak OpenAI’s protocol ask at this address and bring this key. Those that speak Anthropic’s, as Claude Code does, take it without “/v1”. They share the engine with your chats, which go on beside them.</source>
        <translation>Programme, die das Protokoll von OpenAI sprechen, fragen unter dieser Adresse und bringen diesen Schlüssel mit. Solche, die das von Anthropic sprechen, wie Claude Code, bekommen sie ohne „/v1“. Sie teilen sich die Engine mit deinen Chats, die daneben weitergehen.</translation>
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
        <source>Another server has this name already. Give this one another.</source>
        <translation>Ein anderer Server heißt schon so. Gib diesem einen anderen Namen.</translation>
    </message>
    <message>
        <source>This means {}. With a slash at the end nothing is put behind it.</source>
        <translation>Das heißt {}. Mit einem Schrägstrich am Ende wird nichts angehängt.</translation>
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
    <message>
        <source>the model’s default</source>
        <translation>Vorgabe des Modells</translation>
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
        <source>No model on this machine has “{}” in its name or place.</source>
        <translation>Kein Modell auf diesem Rechner hat „{}“ im Namen oder Ort.</translation>
    </message>
    <message>
        <source>Show only models with these words in their name or place</source>
        <translation>Nur Modelle zeigen, die diese Wörter im Namen oder Ort haben</translation>
    </message>
    <message>
        <source>Filter by name or place</source>
        <translation>Nach Name oder Ort filtern</translation>
    </message>
    <message>
        <source>All is well: {} file is what the hub promised.</source>
        <translation>Alles in Ordnung: {} Datei ist so, wie der Hub sie verspricht.</translation>
    </message>
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
        <source>Already open</source>
        <translation>Schon offen</translation>
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
    <message>
        <source>Load for other programs</source>
        <translation>Für andere Programme laden</translation>
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
        <source>reading ahead</source>
        <translation>liest voraus</translation>
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
    <message>
        <source>not connected</source>
        <translation>nicht verbunden</translation>
    </message>
    <message>
        <source>A click chooses another model.</source>
        <translation>Ein Klick wählt ein anderes Modell.</translation>
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
        <source>{} has no text, but {} pages with pictures. The first {} go along as images.</source>
        <translation>{} hat keinen Text, aber {} Seiten mit Bildern. Die ersten {} gehen als Bilder mit.</translation>
    </message>
    <message>
        <source>Pasted image {}.{}</source>
        <translation>Eingefügtes Bild {}.{}</translation>
    </message>
    <message>
        <source>Documents, images and texts</source>
        <translation>Dokumente, Bilder und Texte</translation>
    </message>
    <message>
        <source>Attach files</source>
        <translation>Dateien anhängen</translation>
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
        <source>The conversation is longer than this model can read: the oldest message was not sent.</source>
        <translation>Das Gespräch ist länger, als dieses Modell lesen kann: Die älteste Nachricht wurde nicht gesendet.</translation>
    </message>
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
        <source>{} files</source>
        <translation>{} Dateien</translation>
    </message>
    <message>
        <source>{} file</source>
        <translation>{} Datei</translation>
    </message>
    <message>
        <source>Show {} message in between</source>
        <translation>{} Nachricht dazwischen zeigen</translation>
    </message>
    <message>
        <source>Show {} earlier message</source>
        <translation>{} frühere Nachricht zeigen</translation>
    </message>
    <message>
        <source>Thought for {} word</source>
        <translation>{} Wort lang nachgedacht</translation>
    </message>
    <message>
        <source>Thinking… {} word</source>
        <translation>Denkt nach… {} Wort</translation>
    </message>
    <message>
        <source>Ask again</source>
        <translation>Noch einmal fragen</translation>
    </message>
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
        <source>No reply</source>
        <translation>Keine Antwort</translation>
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
    <message>
        <source>Go on</source>
        <translation>Fortsetzen</translation>
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
        <source>Close the other tabs</source>
        <translation>Die anderen Tabs schließen</translation>
    </message>
    <message>
        <source>Reopen closed tab</source>
        <translation>Geschlossenen Tab wieder öffnen</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>Umbenennen</translation>
    </message>
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
        <source>{} tokens</source>
        <translation>{} Token</translation>
    </message>
    <message>
        <source>{} token</source>
        <translation>{} Token</translation>
    </message>
    <message>
        <source>{}, {} of them unsure. Ctrl with an arrow key goes from one of those to the next.</source>
        <translation>{}, davon {} unsicher. Strg mit einer Pfeiltaste geht von einem davon zum nächsten.</translation>
    </message>
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
        <source>No passages are found by meaning. {}</source>
        <translation>Nach Bedeutung wird nichts gefunden. {}</translation>
    </message>
    <message>
        <source>Found by meaning: {} of {} passages; then it failed. {}</source>
        <translation>Nach Bedeutung zu finden: {} von {} Abschnitten; dann ging es nicht weiter. {}</translation>
    </message>
    <message>
        <source>All passages are found by their meaning, too.</source>
        <translation>Alle Abschnitte werden auch nach ihrer Bedeutung gefunden.</translation>
    </message>
    <message>
        <source>Found by meaning so far: {} of {} passages.</source>
        <translation>Nach Bedeutung zu finden sind bisher {} von {} Abschnitten.</translation>
    </message>
    <message>
        <source>{} of {} file is read.</source>
        <translation>{} von {} Datei ist gelesen.</translation>
    </message>
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
        <source>not by meaning</source>
        <translation>nicht nach Bedeutung</translation>
    </message>
    <message>
        <source>meaning: {} of {}</source>
        <translation>Bedeutung: {} von {}</translation>
    </message>
    <message>
        <source>Of its documents the passages that fit a question, by words and meaning, go along with it.</source>
        <translation>Von seinen Dokumenten gehen die Abschnitte, die nach Wörtern und Bedeutung zu einer Frage passen, mit ihr mit.</translation>
    </message>
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
    <name>TabThinking</name>
    <message>
        <source>Answer at once</source>
        <translation>Gleich antworten</translation>
    </message>
    <message>
        <source>Think</source>
        <translation>Nachdenken</translation>
    </message>
    <message>
        <source>Think a little</source>
        <translation>Kurz nachdenken</translation>
    </message>
    <message>
        <source>Think much</source>
        <translation>Lange nachdenken</translation>
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
        <source>Give the server a name.</source>
        <translation>Gib dem Server einen Namen.</translation>
    </message>
    <message>
        <source>Type the command that starts the server.</source>
        <translation>Gib den Befehl ein, der den Server startet.</translation>
    </message>
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
<context>
    <name>Problems</name>
    <message>
        <source>{0} reads no images. Choose a model that does, or leave them out.</source>
        <translation>{0} liest keine Bilder. Wähle ein Modell, das es kann, oder lass sie weg.</translation>
    </message>
    <message>
        <source>{0}: {1} patches to a side cannot become {2} rows. Download the file again.</source>
        <translation>{0}: {1} Felder an jeder Seite können nicht {2} Zeilen werden. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: the mean and the deviation of colours are no three numbers. Download the file again.</source>
        <translation>{0}: Mittelwert und Abweichung der Farben sind nicht drei Zahlen. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: rows of {1} numbers cannot be {2} heads of {3}. Download the file again.</source>
        <translation>{0}: Zeilen mit {1} Zahlen können nicht {2} Köpfe mit {3} sein. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: images of {1} tokens do not fit into a window of {2}. Choose another model.</source>
        <translation>{0}: Bilder mit {1} Token passen nicht in ein Fenster von {2}. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>{0}: images of {1} pixels are larger than {2}. Download the file again.</source>
        <translation>{0}: Bilder mit {1} Pixeln sind größer als {2}. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}, as many as there are image tokens</source>
        <translation>{0}, so viele, wie es Stellen für Bilder gibt</translation>
    </message>
    <message>
        <source>{0} that are none</source>
        <translation>{0}, die keines sind</translation>
    </message>
    <message>
        <source>{0} is a picture. Of a folder only texts are read; attach the picture to a message.</source>
        <translation>{0} ist ein Bild. Von einem Ordner werden nur Texte gelesen; hänge das Bild an eine Nachricht an.</translation>
    </message>
    <message>
        <source>{0} is a picture of a kind that is not read here. Save it as PNG or JPEG, and attach that.</source>
        <translation>{0} ist ein Bild einer Art, die hier nicht gelesen wird. Speichere es als PNG oder JPEG und hänge das an.</translation>
    </message>
    <message>
        <source>{0} holds {1} that a network for images has no place for here. Move the file elsewhere to use the model for texts.</source>
        <translation>{0} enthält {1}, wofür ein Netz für Bilder hier keinen Platz hat. Lege die Datei anderswohin, um das Modell für Texte zu verwenden.</translation>
    </message>
    <message>
        <source>{0} given</source>
        <translation>{0}</translation>
    </message>
    <message>
        <source>{0} bytes at most</source>
        <translation>höchstens {0} Bytes</translation>
    </message>
    <message>
        <source>{0} bytes</source>
        <translation>{0} Bytes</translation>
    </message>
    <message>
        <source>whole, and a PNG, JPEG, WebP, GIF or BMP file</source>
        <translation>unversehrt und eine Datei in PNG, JPEG, WebP, GIF oder BMP</translation>
    </message>
    <message>
        <source>one of {0} pixels at most</source>
        <translation>eines mit höchstens {0} Pixeln</translation>
    </message>
    <message>
        <source>of {0} x {1} pixels</source>
        <translation>mit {0} x {1} Pixeln</translation>
    </message>
    <message>
        <source>of far more pixels</source>
        <translation>mit weit mehr Pixeln</translation>
    </message>
    <message>
        <source>damaged ({0})</source>
        <translation>beschädigt ({0})</translation>
    </message>
    <message>
        <source>a data: URL with the bytes of a PNG, JPEG, WebP, GIF or BMP file in base64: this server fetches nothing</source>
        <translation>eine data:-URL mit den Bytes einer Datei in PNG, JPEG, WebP, GIF oder BMP in Base64: dieser Server holt nichts</translation>
    </message>
    <message>
        <source>a PNG, JPEG, WebP, GIF or BMP file</source>
        <translation>eine Datei in PNG, JPEG, WebP, GIF oder BMP</translation>
    </message>
    <message>
        <source>What was noted in {0} cannot be read: {1}. Nothing was noted.</source>
        <translation>Was in {0} notiert wurde, lässt sich nicht lesen: {1}. Nichts wurde notiert.</translation>
    </message>
    <message>
        <source>The chat store {0} is damaged ({1}), and what can be read of it cannot be saved. {2} Then start again; nothing was changed.</source>
        <translation>Die Ablage der Chats {0} ist beschädigt ({1}), und was sich daraus lesen lässt, kann nicht gespeichert werden. {2} Starte dann noch einmal; nichts wurde verändert.</translation>
    </message>
    <message>
        <source>The chat store was damaged. It was set aside as {0}, and what could be read from it is here.</source>
        <translation>Die Ablage der Chats war beschädigt. Sie liegt jetzt beiseite als {0}, und was sich daraus lesen ließ, ist hier.</translation>
    </message>
    <message>
        <source>What is left of {0} cannot be deleted: {1} ({2}).</source>
        <translation>Was von {0} übrig ist, lässt sich nicht löschen: {1} ({2}).</translation>
    </message>
    <message>
        <source>The path {0} has letters that are no Unicode, and such files cannot be opened here. Rename the folder or the file.</source>
        <translation>Der Pfad {0} hat Buchstaben, die kein Unicode sind, und solche Dateien lassen sich hier nicht öffnen. Benenne den Ordner oder die Datei um.</translation>
    </message>
    <message>
        <source>The model was not loaded: it was cancelled.</source>
        <translation>Das Modell wurde nicht geladen: Das Laden wurde abgebrochen.</translation>
    </message>
    <message>
        <source>The model {0} was unloaded.</source>
        <translation>Das Modell {0} wurde entladen.</translation>
    </message>
    <message>
        <source>“{0}” is not running.</source>
        <translation>„{0}“ läuft nicht.</translation>
    </message>
    <message>
        <source>no place in the message</source>
        <translation>kein Platz in der Nachricht</translation>
    </message>
    <message>
        <source>{0} cannot be read: {1}. Check that it exists and that you may read it.</source>
        <translation>{0} lässt sich nicht lesen: {1}. Prüfe, ob die Datei da ist und du sie lesen darfst.</translation>
    </message>
    <message>
        <source>{0} is larger than {1} MB, which is more than a model can read. Attach a part.</source>
        <translation>{0} ist größer als {1} MB und damit größer, als ein Modell lesen kann. Hänge einen Teil davon an.</translation>
    </message>
    <message>
        <source>{0} is not a file. Attach the files in it one by one.</source>
        <translation>{0} ist keine Datei. Hänge die Dateien darin einzeln an.</translation>
    </message>
    <message>
        <source>Today's backup of your chats could not be made in {0} ({1}). The chats themselves are saved. Free some space, or check the folder's permissions; it is tried again at the next start.</source>
        <translation>Die heutige Sicherung deiner Chats konnte nicht in {0} angelegt werden ({1}). Die Chats selbst sind gespeichert. Schaffe Platz, oder prüfe die Rechte des Ordners; beim nächsten Start wird es noch einmal versucht.</translation>
    </message>
    <message>
        <source>Your chats are to be brought to a new format, but first a copy of {0} must be made, and that failed. {1} Then start again; nothing was changed.</source>
        <translation>Deine Chats sollen in ein neues Format gebracht werden, aber vorher muss eine Kopie von {0} angelegt werden, und das ist misslungen. {1} Starte dann noch einmal; nichts wurde verändert.</translation>
    </message>
    <message>
        <source>Documents cannot be read: {0}. Install llama-gui again.</source>
        <translation>Dokumente lassen sich nicht lesen: {0}. Installiere llama-gui noch einmal.</translation>
    </message>
    <message>
        <source>Reading {0} took longer than a minute, so it was given up. Save a simpler copy of it, or attach a part.</source>
        <translation>{0} zu lesen hat länger als eine Minute gedauert und wurde darum aufgegeben. Sichere eine einfachere Fassung davon, oder hänge einen Teil an.</translation>
    </message>
    <message>
        <source>{0} has more than {1} million characters of text, which is more than a model can read. Attach a part.</source>
        <translation>{0} enthält mehr als {1} Millionen Zeichen Text und damit mehr, als ein Modell lesen kann. Hänge einen Teil davon an.</translation>
    </message>
    <message>
        <source>{0}: images of {1} tokens are too large. Download the file again.</source>
        <translation>{0}: Bilder von {1} Tokens sind zu groß. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: {1} places are too few for images of {2} tokens. Download the file again.</source>
        <translation>{0}: {1} Plätze sind zu wenige für Bilder von {2} Tokens. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: images of {1} pixels in squares of {2} are too large. Download the file again.</source>
        <translation>{0}: Bilder von {1} Pixeln in Quadraten von {2} sind zu groß. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: squares of {1} pixels are not those of the network, {2}. Choose another model.</source>
        <translation>{0}: Quadrate von {1} Pixeln sind nicht die des Netzes, {2}. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>{0} has no text in it, only pictures of pages (a scan). Run text recognition (OCR) over it first, or attach it to a message for a model that reads images.</source>
        <translation>{0} enthält keinen Text, nur Bilder von Seiten (einen Scan). Lass zuerst eine Texterkennung (OCR) darüberlaufen, oder hänge es an eine Nachricht für ein Modell, das Bilder liest.</translation>
    </message>
    <message>
        <source>{0} has no text in it.</source>
        <translation>{0} enthält keinen Text.</translation>
    </message>
    <message>
        <source>{0} is copy-protected, so its text cannot be read. Attach a copy that is not.</source>
        <translation>{0} ist kopiergeschützt, darum lässt sich der Text nicht lesen. Hänge eine ungeschützte Kopie an.</translation>
    </message>
    <message>
        <source>{0} is damaged and cannot be read. Fetch it again, or save it again with the program that made it.</source>
        <translation>{0} ist beschädigt und lässt sich nicht lesen. Hole die Datei noch einmal, oder sichere sie noch einmal mit dem Programm, aus dem sie kommt.</translation>
    </message>
    <message>
        <source>{0} is in an old format of Office. Save it as DOCX, XLSX or PPTX, and attach that.</source>
        <translation>{0} hat ein altes Format von Office. Sichere die Datei als DOCX, XLSX oder PPTX, und hänge die an.</translation>
    </message>
    <message>
        <source>{0} is neither text nor a document that can be read. Copy its text, or save it as PDF or as text (UTF-8), and attach that.</source>
        <translation>{0} ist weder Text noch ein lesbares Dokument. Kopiere den Text daraus, oder sichere die Datei als PDF oder als Text (UTF-8), und hänge die an.</translation>
    </message>
    <message>
        <source>{0} is too large to be read. Attach a part of it.</source>
        <translation>{0} ist zu groß zum Lesen. Hänge einen Teil davon an.</translation>
    </message>
    <message>
        <source>{0} needs a password. Save a copy of it without one, and attach that.</source>
        <translation>{0} braucht ein Passwort. Sichere eine Kopie ohne Passwort, und hänge die an.</translation>
    </message>
    <message>
        <source>The export {0} could not be written: {1}. Check that its folder exists, has room and may be written, or choose another.</source>
        <translation>Der Export {0} konnte nicht geschrieben werden: {1}. Prüfe, ob es den Ordner gibt, ob er Platz hat und beschrieben werden darf, oder wähle einen anderen.</translation>
    </message>
    <message>
        <source>The folder {0} cannot be read: {1}.</source>
        <translation>Der Ordner {0} lässt sich nicht lesen: {1}.</translation>
    </message>
    <message>
        <source>What was read of the folder {0} cannot be used: {1}. Check that there is room on the disk and that {2} may be written, or delete that file: it is made anew.</source>
        <translation>Was vom Ordner {0} gelesen wurde, lässt sich nicht benutzen: {1}. Prüfe, ob auf der Platte Platz ist und {2} beschrieben werden darf, oder lösche diese Datei: Sie wird neu angelegt.</translation>
    </message>
    <message>
        <source>another version</source>
        <translation>eine andere Version</translation>
    </message>
    <message>
        <source>it has more than {0} messages</source>
        <translation>Es hat mehr als {0} Nachrichten</translation>
    </message>
    <message>
        <source>it has no messages with text</source>
        <translation>Es hat keine Nachrichten mit Text</translation>
    </message>
    <message>
        <source>without a title</source>
        <translation>ohne Titel</translation>
    </message>
    <message>
        <source>{0} × {1} was left out.</source>
        <translation>{0} × {1} wurde ausgelassen.</translation>
    </message>
    <message>
        <source>call of a tool</source>
        <translation>Aufruf eines Werkzeugs</translation>
    </message>
    <message>
        <source>message of a tool</source>
        <translation>Nachricht eines Werkzeugs</translation>
    </message>
    <message>
        <source>note of the model's reasoning</source>
        <translation>Notiz aus dem Gedankengang des Modells</translation>
    </message>
    <message>
        <source>part that is not text</source>
        <translation>Teil, der kein Text ist</translation>
    </message>
    <message>
        <source>picture</source>
        <translation>Bild</translation>
    </message>
    <message>
        <source>damaged line</source>
        <translation>beschädigte Zeile</translation>
    </message>
    <message>
        <source>file or picture</source>
        <translation>Datei oder Bild</translation>
    </message>
    <message>
        <source>This export has the format {0}; this llama-gui reads {1}. Please use the newer version. Nothing was imported.</source>
        <translation>Dieser Export hat das Format {0}; dieses llama-gui liest {1}. Nimm bitte die neuere Version. Nichts wurde importiert.</translation>
    </message>
    <message>
        <source>it has no messages</source>
        <translation>Es hat keine Nachrichten</translation>
    </message>
    <message>
        <source>Conversation {0} ({1}) was skipped: it is damaged.</source>
        <translation>Gespräch {0} ({1}) wurde übersprungen: Es ist beschädigt.</translation>
    </message>
    <message>
        <source>Conversation {0} ({1}) was skipped: it is in the file twice.</source>
        <translation>Gespräch {0} ({1}) wurde übersprungen: Es steht zweimal in der Datei.</translation>
    </message>
    <message>
        <source>Conversation {0} ({1}) was skipped: {2}.</source>
        <translation>Gespräch {0} ({1}) wurde übersprungen: {2}.</translation>
    </message>
    <message>
        <source>The archive {0} is damaged or locked ({1}). Download it again.</source>
        <translation>Das Archiv {0} ist beschädigt oder verschlossen ({1}). Lade es noch einmal herunter.</translation>
    </message>
    <message>
        <source>There are no chats in the folder {0}. An export of llama-gui, ChatGPT (conversations.json, or the whole .zip), Open WebUI, LM Studio and Jan (its threads) can be read.</source>
        <translation>Im Ordner {0} sind keine Chats. Gelesen werden können Exporte von llama-gui, ChatGPT (conversations.json oder die ganze .zip), Open WebUI, LM Studio und Jan (seine Threads).</translation>
    </message>
    <message>
        <source>There is no conversations.json in {0}. Nothing was imported.</source>
        <translation>In {0} ist keine conversations.json. Nichts wurde importiert.</translation>
    </message>
    <message>
        <source>{0} does not fit into memory. Close other programs and try again.</source>
        <translation>{0} passt nicht in den Speicher. Schließe andere Programme, und versuche es noch einmal.</translation>
    </message>
    <message>
        <source>{0} has {1} MB or more; up to {2} MB can be read, because all of it must be in memory at once. Export fewer chats into one file.</source>
        <translation>{0} hat {1} MB oder mehr; gelesen werden können bis zu {2} MB, weil alles auf einmal in den Speicher muss. Exportiere weniger Chats in eine Datei.</translation>
    </message>
    <message>
        <source>{0} holds no chats that llama-gui knows. An export of llama-gui, ChatGPT (conversations.json, or the whole .zip), Open WebUI, LM Studio and Jan (its threads) can be read. Nothing was imported.</source>
        <translation>{0} enthält keine Chats, die llama-gui kennt. Gelesen werden können Exporte von llama-gui, ChatGPT (conversations.json oder die ganze .zip), Open WebUI, LM Studio und Jan (seine Threads). Nichts wurde importiert.</translation>
    </message>
    <message>
        <source>{0} is nested so deeply that it is no export of chats. Nothing was imported.</source>
        <translation>{0} ist so tief verschachtelt, dass es kein Export von Chats ist. Nichts wurde importiert.</translation>
    </message>
    <message>
        <source>{0} is not a JSON file, or only a part of one ({1}). Export it again. Nothing was imported.</source>
        <translation>{0} ist keine JSON-Datei oder nur ein Teil davon ({1}). Exportiere noch einmal. Nichts wurde importiert.</translation>
    </message>
    <message>
        <source>{0} is not a file. Choose the file that was exported.</source>
        <translation>{0} ist keine Datei. Wähle die Datei, die exportiert wurde.</translation>
    </message>
    <message>
        <source>chats added: {0}</source>
        <translation>Chats hinzugefügt: {0}</translation>
    </message>
    <message>
        <source>here already</source>
        <translation>schon da</translation>
    </message>
    <message>
        <source>messages: {0}</source>
        <translation>Nachrichten: {0}</translation>
    </message>
    <message>
        <source>not taken over: {0}</source>
        <translation>nicht übernommen: {0}</translation>
    </message>
    <message>
        <source>with new messages</source>
        <translation>mit neuen Nachrichten</translation>
    </message>
    <message>
        <source>{0} Chats imported before that: {1}. Do it again for the rest.</source>
        <translation>{0} Davor importierte Chats: {1}. Wiederhole es für den Rest.</translation>
    </message>
    <message>
        <source>“{0}” lies in the bin. Take it out of there to see it.</source>
        <translation>„{0}“ liegt im Papierkorb. Hole den Chat von dort zurück, um ihn zu sehen.</translation>
    </message>
    <message>
        <source>Your chats were saved by a newer version of llama-gui (format {0}; this one knows up to {1}). Nothing was changed. Please use the newer version.</source>
        <translation>Deine Chats wurden von einer neueren Version von llama-gui gespeichert (Format {0}; diese hier kennt bis {1}). Nichts wurde verändert. Nimm bitte die neuere Version.</translation>
    </message>
    <message>
        <source>Nothing could be read from it, and an empty one was begun.</source>
        <translation>Aus ihr ließ sich nichts lesen, und eine leere wurde begonnen.</translation>
    </message>
    <message>
        <source>The backup {0} of {1} holds more: {2} messages in {3} chats.</source>
        <translation>Die Sicherung {0} vom {1} enthält mehr: {2} Nachrichten in {3} Chats.</translation>
    </message>
    <message>
        <source>The chat store was damaged ({0}). It was set aside as {1}.</source>
        <translation>Die Ablage der Chats war beschädigt ({0}). Sie liegt jetzt beiseite als {1}.</translation>
    </message>
    <message>
        <source>a folder lies in its place</source>
        <translation>an ihrer Stelle liegt ein Ordner</translation>
    </message>
    <message>
        <source>it is a database of another program</source>
        <translation>sie ist die Datenbank eines anderen Programms</translation>
    </message>
    <message>
        <source>its format number does not go with its content</source>
        <translation>die Nummer ihres Formats passt nicht zum Inhalt</translation>
    </message>
    <message>
        <source>{0} messages in {1} chats could be read from it and are here.</source>
        <translation>{0} Nachrichten in {1} Chats ließen sich aus ihr lesen und sind hier.</translation>
    </message>
    <message>
        <source>Another program is using the chat store {0}, so this is not saved. Close that program.</source>
        <translation>Ein anderes Programm benutzt die Ablage der Chats {0}, darum ist dies nicht gespeichert. Schließe dieses Programm.</translation>
    </message>
    <message>
        <source>A text in your chats is damaged, so this was not done. It was mended as far as possible; try again.</source>
        <translation>Ein Text in deinen Chats ist beschädigt, darum wurde das nicht getan. Er wurde so weit wie möglich in Ordnung gebracht; versuche es noch einmal.</translation>
    </message>
    <message>
        <source>The chat store {0} cannot be opened: {1}. Check the folder's permissions.</source>
        <translation>Die Ablage der Chats {0} lässt sich nicht öffnen: {1}. Prüfe die Rechte des Ordners.</translation>
    </message>
    <message>
        <source>The chat store {0} cannot be written. Check the permissions of the file and its folder.</source>
        <translation>Die Ablage der Chats {0} lässt sich nicht beschreiben. Prüfe die Rechte der Datei und ihres Ordners.</translation>
    </message>
    <message>
        <source>The log of the chat store was damaged, so what you did last, before the program ended, may be missing. A copy of the store and its log as they were is kept as {0}.</source>
        <translation>Das Protokoll der Ablage der Chats war beschädigt; was du zuletzt getan hast, bevor das Programm endete, fehlt vielleicht. Eine Kopie der Ablage und ihres Protokolls, wie sie waren, liegt als {0} bereit.</translation>
    </message>
    <message>
        <source>The log of the chat store {0} is damaged, and first a copy of both must be made, which failed. {1} Then start again; nothing was changed.</source>
        <translation>Das Protokoll der Ablage der Chats {0} ist beschädigt; vorher muss eine Kopie von beiden angelegt werden, und das ist misslungen. {1} Starte dann noch einmal; nichts wurde verändert.</translation>
    </message>
    <message>
        <source>The disk is full. Your chats can be read, but nothing new is saved until you free some space on the disk that holds {0}.</source>
        <translation>Der Datenträger ist voll. Deine Chats lassen sich lesen, aber Neues wird erst gespeichert, wenn du auf dem Datenträger mit {0} Platz schaffst.</translation>
    </message>
    <message>
        <source>The disk refused to write or read {0}. Your chats can be read, but what is new may not be saved. Check that the disk works and has room, and copy your chats to another one.</source>
        <translation>Der Datenträger konnte {0} nicht schreiben oder lesen. Deine Chats lassen sich lesen, aber Neues wird vielleicht nicht gespeichert. Prüfe, ob der Datenträger in Ordnung ist und Platz hat, und kopiere deine Chats auf einen anderen.</translation>
    </message>
    <message>
        <source>The chat store {0} is damaged. Close llama-gui, keep a copy of the file, and move it away to begin anew.</source>
        <translation>Die Ablage der Chats {0} ist beschädigt. Schließe llama-gui, hebe eine Kopie der Datei auf, und lege sie woandershin, um neu anzufangen.</translation>
    </message>
    <message>
        <source>The chat store {0} reports: {1}.</source>
        <translation>Die Ablage der Chats {0} meldet: {1}.</translation>
    </message>
    <message>
        <source>The disk is full, so this is not saved yet. Free some space on the disk that holds {0}.</source>
        <translation>Die Platte ist voll, darum ist dies noch nicht gespeichert. Schaffe Platz auf der Platte mit {0}.</translation>
    </message>
    <message>
        <source>The disk refused to write or read {0}. Check that it has room and works; this is not saved.</source>
        <translation>Die Platte konnte {0} nicht schreiben oder lesen. Prüfe, ob sie Platz hat und in Ordnung ist; dies ist nicht gespeichert.</translation>
    </message>
    <message>
        <source>A preset needs a name. Type one, then save it again.</source>
        <translation>Eine Vorlage braucht einen Namen. Gib einen ein, und speichere sie noch einmal.</translation>
    </message>
    <message>
        <source>The folder {0} cannot be written, and your chats are kept there. Allow it to be written, free some space, or keep them elsewhere: llama-gui --profile FOLDER.</source>
        <translation>Der Ordner {0} lässt sich nicht beschreiben, und dort liegen deine Chats. Erlaube das Schreiben, schaffe Platz, oder lege sie woandershin: llama-gui --profile ORDNER.</translation>
    </message>
    <message>
        <source>llama-gui is already open with the data in {0}. Use that window, or close it first.</source>
        <translation>llama-gui ist mit den Daten in {0} schon geöffnet. Nimm jenes Fenster, oder schließe es zuerst.</translation>
    </message>
    <message>
        <source>the folder {0} cannot be made: {1}.</source>
        <translation>Der Ordner {0} lässt sich nicht anlegen: {1}.</translation>
    </message>
    <message>
        <source>The model's chat template refuses this conversation: {0}</source>
        <translation>Die Chatvorlage des Modells lehnt dieses Gespräch ab: {0}</translation>
    </message>
    <message>
        <source>{0} cannot be read: {1}. Download the file again.</source>
        <translation>{0} lässt sich nicht lesen: {1}. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0} is empty. Download the file again, or delete it if the model has no chat template.</source>
        <translation>{0} ist leer. Lade die Datei noch einmal herunter, oder lösche sie, wenn das Modell keine Chatvorlage hat.</translation>
    </message>
    <message>
        <source>{0}, line {1}: the chat template is broken: {2}.</source>
        <translation>{0}, Zeile {1}: Die Chatvorlage ist fehlerhaft: {2}.</translation>
    </message>
    <message>
        <source>{0}: chat_template is {1}, but it must be a template or a list of named ones. Download the file again.</source>
        <translation>{0}: chat_template ist {1}, muss aber eine Vorlage oder eine Liste benannter Vorlagen sein. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: the chat template fails: {1}: {2}. Pick another model, or mend the template.</source>
        <translation>{0}: Die Chatvorlage scheitert: {1}: {2}. Wähle ein anderes Modell, oder bessere die Vorlage aus.</translation>
    </message>
    <message>
        <source>{0}: the chat template is broken: {1}.</source>
        <translation>{0}: Die Chatvorlage ist fehlerhaft: {1}.</translation>
    </message>
    <message>
        <source>{0}: the chat template was stopped: {1}. Pick another model or mend the template; if the conversation is extremely long, start a new one.</source>
        <translation>{0}: Die Chatvorlage wurde angehalten: {1}. Wähle ein anderes Modell, oder bessere die Vorlage aus; ist das Gespräch außerordentlich lang, beginne ein neues.</translation>
    </message>
    <message>
        <source>its header would be {0} bytes long</source>
        <translation>Ihr Kopf wäre {0} Bytes lang</translation>
    </message>
    <message>
        <source>{0} and {1} both hold {2}. Download the file again.</source>
        <translation>{0} und {1} enthalten beide {2}. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0} holds its weights as pickle files, which can run code: {1}. Use a version with *.safetensors files.</source>
        <translation>{0} enthält die Gewichte als Pickle-Dateien, die Code ausführen können: {1}. Nimm eine Fassung mit *.safetensors-Dateien.</translation>
    </message>
    <message>
        <source>{0} holds no *.safetensors file. The download may not have finished.</source>
        <translation>{0} enthält keine *.safetensors-Datei. Vielleicht ist der Download nicht fertig geworden.</translation>
    </message>
    <message>
        <source>{0} is damaged or cut off: {1}. Download the file again.</source>
        <translation>{0} ist beschädigt oder abgeschnitten: {1}. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0} is missing. Download the file again.</source>
        <translation>{0} fehlt. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0} names {1}, which is not a weight file of this folder. Download the file again.</source>
        <translation>{0} nennt {1}, aber das ist keine Gewichtsdatei in diesem Ordner. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: the weight files hold {1} that a network of this architecture has no place for, so its answers would be wrong.</source>
        <translation>{0}: Die Gewichtsdateien enthalten {1}, wofür ein Netz dieser Architektur keinen Platz hat; seine Antworten wären falsch.</translation>
    </message>
    <message>
        <source>{0}: weight_map is missing or empty. Download the file again.</source>
        <translation>{0}: weight_map fehlt oder ist leer. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: {1} cannot be read: {2}. Download the file again.</source>
        <translation>{0}: {1} lässt sich nicht lesen: {2}. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: {1} has the shape {2}, but config.json asks for {3}. The files belong to different models, or one of them is damaged.</source>
        <translation>{0}: {1} hat die Form {2}, aber config.json verlangt {3}. Die Dateien gehören zu verschiedenen Modellen, oder eine davon ist beschädigt.</translation>
    </message>
    <message>
        <source>{0}: {1} holds numbers that are not finite (NaN or infinity). Download the file again.</source>
        <translation>{0}: {1} enthält Zahlen, die nicht endlich sind (NaN oder unendlich). Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: {1} is stored as {2}. Supported: {3}.</source>
        <translation>{0}: {1} ist als {2} gespeichert. Unterstützt: {3}.</translation>
    </message>
    <message>
        <source>{0}: {1} missing from the weight files. Download the file again.</source>
        <translation>{0}: In den Gewichtsdateien nicht vorhanden: {1}. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>There is no model at {0}. Check the path, or pick another model.</source>
        <translation>In {0} ist kein Modell. Prüfe den Pfad, oder wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>There is no model folder at {0}. Check the path, or pick another model.</source>
        <translation>In {0} ist kein Modellordner. Prüfe den Pfad, oder wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>a divisor of num_attention_heads ({0})</source>
        <translation>ein Teiler von num_attention_heads ({0})</translation>
    </message>
    <message>
        <source>a list of {0} names, each {1}</source>
        <translation>eine Liste von {0} Namen, jeder {1}</translation>
    </message>
    <message>
        <source>a list of {0} names, each full_attention or linear_attention</source>
        <translation>eine Liste von {0} Namen, jeder full_attention oder linear_attention</translation>
    </message>
    <message>
        <source>a multiple of linear_num_key_heads ({0})</source>
        <translation>ein Vielfaches von linear_num_key_heads ({0})</translation>
    </message>
    <message>
        <source>a list of {0} names, each full_attention or conv</source>
        <translation>eine Liste von {0} Namen, jeder full_attention oder conv</translation>
    </message>
    <message>
        <source>a list of {0} numbers</source>
        <translation>eine Liste von {0} Zahlen</translation>
    </message>
    <message>
        <source>a list of one number and of zeros</source>
        <translation>eine Liste aus einer Zahl und aus Nullen</translation>
    </message>
    <message>
        <source>at least 2, the last tokens that are convolved</source>
        <translation>mindestens 2: die letzten Tokens, die gefaltet werden</translation>
    </message>
    <message>
        <source>such that one of them is full_attention</source>
        <translation>so, dass eine davon full_attention ist</translation>
    </message>
    <message>
        <source>a multiple of the {0} heads</source>
        <translation>ein Vielfaches der {0} Köpfe</translation>
    </message>
    <message>
        <source>below {0}, how many blocks there are</source>
        <translation>unter {0}, so viele Blöcke gibt es</translation>
    </message>
    <message>
        <source>{0} guesses are more than {1}</source>
        <translation>{0} geratene Tokens sind mehr als {1}</translation>
    </message>
    <message>
        <source>{0} rows are none that the last pass ran</source>
        <translation>{0} Zeilen hat der letzte Durchgang nicht gerechnet</translation>
    </message>
    <message>
        <source>a list of {0} numbers, each 0 or 1</source>
        <translation>eine Liste von {0} Zahlen, jede 0 oder 1</translation>
    </message>
    <message>
        <source>a list with the name of the network's architecture</source>
        <translation>eine Liste mit dem Namen der Architektur des Netzes</translation>
    </message>
    <message>
        <source>a whole number from 0 to {0}</source>
        <translation>eine ganze Zahl von 0 bis {0}</translation>
    </message>
    <message>
        <source>a whole number of at least 0</source>
        <translation>eine ganze Zahl ab 0</translation>
    </message>
    <message>
        <source>{0}: head_dim is {1}, but it must be an even number.</source>
        <translation>{0}: head_dim ist {1}, muss aber eine gerade Zahl sein.</translation>
    </message>
    <message>
        <source>{0}: the activation {1} is not supported.</source>
        <translation>{0}: Die Aktivierung {1} wird nicht unterstützt.</translation>
    </message>
    <message>
        <source>a multiple of mamba_n_groups ({0})</source>
        <translation>ein Vielfaches von mamba_n_groups ({0})</translation>
    </message>
    <message>
        <source>as many as heads of {0} are in {1}, mamba_expand * hidden_size</source>
        <translation>so viele, wie Heads mit {0} in {1} sind, mamba_expand * hidden_size</translation>
    </message>
    <message>
        <source>a list of {0} names, each full_attention or mamba</source>
        <translation>eine Liste von {0} Namen, jeder full_attention oder mamba</translation>
    </message>
    <message>
        <source>a name for each layer, each one of {0}</source>
        <translation>ein Name für jede Schicht, jeder einer von {0}</translation>
    </message>
    <message>
        <source>such that one of them is attention</source>
        <translation>so, dass eine davon attention ist</translation>
    </message>
    <message>
        <source>{0}: some layers are mlp and others moe, which is not supported. Choose another model.</source>
        <translation>{0}: Einige Schichten sind mlp und andere moe, und das wird nicht unterstützt. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>layer {0} is {1} and follows no attention or mamba</source>
        <translation>Schicht {0} ist {1} und folgt auf keine mit attention oder mamba</translation>
    </message>
    <message>
        <source>{0}: {1}, which is not supported. Choose another model.</source>
        <translation>{0}: {1}, und das wird nicht unterstützt. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>is_causal: false</source>
        <translation>is_causal: false</translation>
    </message>
    <message>
        <source>{0}: the architecture {1} is not supported. Supported: {2}. Choose another model.</source>
        <translation>{0}: Die Architektur {1} wird nicht unterstützt. Unterstützt: {2}. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>so small that the base stays at or below {0}, with heads of 4 and more</source>
        <translation>so klein, dass die Basis {0} nicht übersteigt, bei Köpfen ab 4</translation>
    </message>
    <message>
        <source>a whole number from 0 to {0}, as there are {1} layers</source>
        <translation>eine ganze Zahl von 0 bis {0}, da es {1} Schichten gibt</translation>
    </message>
    <message>
        <source>{0}: {1} is {2}, so some layers have no experts, which is not supported. Choose another model.</source>
        <translation>{0}: {1} ist {2}, also haben manche Schichten keine Experten, und das wird nicht unterstützt. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>{0}: the weights are stored quantised ({1}), which is not supported. Choose the model unquantised, in FP8, or as a GGUF file.</source>
        <translation>{0}: Die Gewichte sind quantisiert gespeichert ({1}), und das wird nicht unterstützt. Wähle das Modell unquantisiert, in FP8 oder als GGUF-Datei.</translation>
    </message>
    <message>
        <source>{0}: the weights are stored quantised ({1}), which is not supported here. Choose the model in MXFP4, as it was published, or as a GGUF file.</source>
        <translation>{0}: Die Gewichte sind quantisiert gespeichert ({1}), und das wird hier nicht unterstützt. Wähle das Modell in MXFP4, wie es veröffentlicht wurde, oder als GGUF-Datei.</translation>
    </message>
    <message>
        <source>two whole numbers above 0</source>
        <translation>zwei ganze Zahlen über 0</translation>
    </message>
    <message>
        <source>an object with an object for each way of storing weights</source>
        <translation>ein Objekt mit einem Objekt für jede Art, Gewichte zu speichern</translation>
    </message>
    <message>
        <source>{0}: {1} has the shape {2}, but for {3}, of the shape {4}, it must be one of {5}. The files belong to different models, or one of them is damaged.</source>
        <translation>{0}: {1} hat die Form {2}, aber für {3} von der Form {4} muss es eine von {5} sein. Die Dateien gehören zu verschiedenen Modellen, oder eine davon ist beschädigt.</translation>
    </message>
    <message>
        <source>{0}: {1} is stored as F8_E4M3, and its scale ({2}) is missing from the weight files. Download the file again.</source>
        <translation>{0}: {1} ist als F8_E4M3 gespeichert, und der Faktor dazu ({2}) fehlt in den Dateien mit den Gewichten. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: {1}, of the shape {2}, is stored as F8_E4M3, and only matrices are supported in it. Choose another model.</source>
        <translation>{0}: {1} von der Form {2} ist als F8_E4M3 gespeichert, und darin werden nur Matrizen unterstützt. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>{0}: its part for text is of the type {1}, which is not supported. Choose another model.</source>
        <translation>{0}: Sein Teil für Text ist von der Art {1}, die nicht unterstützt wird. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>{0}: {1} is not supported. Choose another model.</source>
        <translation>{0}: {1} wird nicht unterstützt. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>Choose another model for embeddings, such as Qwen3 Embedding.</source>
        <translation>Wähle ein anderes Modell für Embeddings, etwa Qwen3 Embedding.</translation>
    </message>
    <message>
        <source>The model computed a vector that is not finite. Its files may be damaged.</source>
        <translation>Das Modell hat einen Vektor berechnet, der nicht endlich ist. Vielleicht sind seine Dateien beschädigt.</translation>
    </message>
    <message>
        <source>{0} is no list of modules. Download the file again.</source>
        <translation>{0} ist keine Liste von Modulen. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: this model makes its vectors by the pooling {1}, and only that of the last token is supported. Choose another model for embeddings, such as Qwen3 Embedding.</source>
        <translation>{0}: Dieses Modell macht seine Vektoren mit dem Pooling {1}, und nur das des letzten Tokens wird unterstützt. Wähle ein anderes Modell für Embeddings, etwa Qwen3 Embedding.</translation>
    </message>
    <message>
        <source>{0}: vectors of this model go through {1}, which is not supported. Choose another model for embeddings, such as Qwen3 Embedding.</source>
        <translation>{0}: Die Vektoren dieses Modells gehen durch {1}, was nicht unterstützt wird. Wähle ein anderes Modell für Embeddings, etwa Qwen3 Embedding.</translation>
    </message>
    <message>
        <source>one that writes: this one turns texts into vectors for a search</source>
        <translation>eines, das schreibt: Dieses macht aus Texten Vektoren für eine Suche</translation>
    </message>
    <message>
        <source>one for embeddings, such as Qwen3 Embedding: this one writes texts</source>
        <translation>eines für Embeddings, etwa Qwen3 Embedding: Dieses schreibt Texte</translation>
    </message>
    <message>
        <source>{0}: {1} is {2}, and at most {3} is supported. Choose another model.</source>
        <translation>{0}: {1} ist {2}, und höchstens {3} wird unterstützt. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>{0}: {1} is {2}, and only {3} is supported. Choose another model.</source>
        <translation>{0}: {1} ist {2}, und nur {3} wird unterstützt. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>The weights come in FP8, in eight bits, and are converted to int8, which loses little beside what FP8 has lost. bfloat16 would take half as much memory again.</source>
        <translation>Die Gewichte kommen in FP8, in acht Bit, und werden zu int8, was neben dem, was FP8 verloren hat, wenig verliert. bfloat16 bräuchte anderthalbmal so viel Speicher.</translation>
    </message>
    <message>
        <source>The file holds the weights in eight bits or fewer: bfloat16 would take more memory and time, and bring next to nothing back.</source>
        <translation>Die Datei enthält die Gewichte in acht Bit oder weniger: bfloat16 bräuchte mehr Speicher und Zeit und brächte so gut wie nichts zurück.</translation>
    </message>
    <message>
        <source>The file holds the weights in four bits: more would take memory and time, and bring nothing back.</source>
        <translation>Die Datei enthält die Gewichte in vier Bit: Mehr würde Speicher und Zeit brauchen und nichts zurückbringen.</translation>
    </message>
    <message>
        <source>The weights are held in bfloat16, as models come, packed into three quarters of the memory with nothing lost. int8 takes two thirds of that and writes faster, at a small loss.</source>
        <translation>Die Gewichte liegen in bfloat16, wie Modelle kommen, auf drei Viertel des Speichers gepackt, ohne dass etwas verloren geht. int8 braucht zwei Drittel davon und schreibt schneller, mit kleinem Verlust.</translation>
    </message>
    <message>
        <source>This CPU does not multiply bfloat16 by itself, so float32 is faster and loses nothing. int8 takes a quarter of the memory, at a small loss.</source>
        <translation>Diese CPU multipliziert bfloat16 nicht von sich aus, darum ist float32 schneller und verliert nichts. int8 braucht ein Viertel des Speichers, mit kleinem Verlust.</translation>
    </message>
    <message>
        <source>This CPU multiplies bfloat16 by itself, which loses nothing that matters. int8 takes half the memory and writes faster, at a small loss.</source>
        <translation>Diese CPU multipliziert bfloat16 von sich aus, was nichts verliert, worauf es ankommt. int8 braucht halb so viel Speicher und schreibt schneller, mit kleinem Verlust.</translation>
    </message>
    <message>
        <source>This model does not fit into the memory of the graphics card, so the processor runs it.</source>
        <translation>Dieses Modell passt nicht in den Speicher der Grafikkarte, deshalb rechnet der Prozessor.</translation>
    </message>
    <message>
        <source>You chose {0}.</source>
        <translation>Du hast {0} gewählt.</translation>
    </message>
    <message>
        <source>dtype {0} runs on the CPU and CUDA only. Use auto.</source>
        <translation>Der Datentyp {0} läuft nur auf der CPU und CUDA. Nimm auto.</translation>
    </message>
    <message>
        <source>Keys and values in int8 (cache_dtype) need heads of at most 512 numbers, a multiple of eight, and those of this model have {0}. Use auto.</source>
        <translation>Chats in acht Bit (cache_dtype int8) brauchen Köpfe von höchstens 512 Zahlen, einem Vielfachen von acht, und die dieses Modells haben {0}. Nimm auto.</translation>
    </message>
    <message>
        <source>Keys and values in int8 (cache_dtype) need our own kernels, and this CPU uses torch's for dtype {0}. Use auto.</source>
        <translation>Chats in acht Bit (cache_dtype int8) brauchen unsere eigenen Kernels, und diese CPU benutzt beim Datentyp {0} die von torch. Nimm auto.</translation>
    </message>
    <message>
        <source>Keys and values in int8 (cache_dtype) need our own kernels, which are not compiled here, older than their sources, or not for this CPU. Install llama-gui again, or use auto.</source>
        <translation>Chats in acht Bit (cache_dtype int8) brauchen unsere eigenen Kernels. Hier sind sie nicht übersetzt, älter als ihr Quelltext oder nicht für diese CPU. Installiere llama-gui neu, oder nimm auto.</translation>
    </message>
    <message>
        <source>Keys and values in int8 (cache_dtype) run on the CPU only. Use auto.</source>
        <translation>Chats in acht Bit (cache_dtype int8) gibt es nur auf der CPU. Nimm auto.</translation>
    </message>
    <message>
        <source>dtype {0} runs on the CPU and, with Triton, on NVIDIA cards only. Use auto.</source>
        <translation>Der Datentyp {0} läuft nur auf der CPU und, mit Triton, auf Karten von NVIDIA. Nimm auto.</translation>
    </message>
    <message>
        <source>one of {0}</source>
        <translation>eines von {0}</translation>
    </message>
    <message>
        <source>one that this machine has: {0}</source>
        <translation>eines, das dieser Rechner hat: {0}</translation>
    </message>
    <message>
        <source>{0} is what {1} multiplies fastest without loss.</source>
        <translation>Mit {0} rechnet {1} ohne Verlust am schnellsten.</translation>
    </message>
    <message>
        <source>at most {0}, as there are experts</source>
        <translation>höchstens {0}, so viele Experten, wie da sind</translation>
    </message>
    <message>
        <source>{0}: decoder_sparse_step is {1}, so some layers have no experts, which is not supported. Choose another model.</source>
        <translation>{0}: decoder_sparse_step ist {1}, also haben manche Schichten keine Experten, und das wird nicht unterstützt. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>{0}: mlp_only_layers is {1}, so some layers have no experts, which is not supported. Choose another model.</source>
        <translation>{0}: mlp_only_layers ist {1}, also haben manche Schichten keine Experten, und das wird nicht unterstützt. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>Download the file again.</source>
        <translation>Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>a list of numbers above 0</source>
        <translation>eine Liste von Zahlen über 0</translation>
    </message>
    <message>
        <source>a number from {0} to {1}</source>
        <translation>eine Zahl von {0} bis {1}</translation>
    </message>
    <message>
        <source>a token id or a list of token ids</source>
        <translation>die Nummer eines Tokens oder eine Liste davon</translation>
    </message>
    <message>
        <source>an object with one for each layer that differs</source>
        <translation>ein Objekt mit einem für jede Schicht, die anders ist</translation>
    </message>
    <message>
        <source>so few that a layer of each kind keeps its own keys</source>
        <translation>so wenige, dass von jeder Art eine Schicht ihre eigenen Schlüssel behält</translation>
    </message>
    <message>
        <source>a list of {0} whole numbers above 0, one for each layer</source>
        <translation>eine Liste von {0} ganzen Zahlen über 0, eine je Schicht</translation>
    </message>
    <message>
        <source>{0}, as wide as its keys are</source>
        <translation>{0}, so breit wie die Schlüssel</translation>
    </message>
    <message>
        <source>{0} guesses for another model of Gemma 4 than this one: its rows or its keys have another size. Choose the assistant that is named like the model.</source>
        <translation>{0} rät für ein anderes Modell von Gemma 4 als dieses: Seine Zeilen oder seine Schlüssel sind anders groß. Nimm den Assistenten, der wie das Modell heißt.</translation>
    </message>
    <message>
        <source>{0} only guesses for another model of Gemma 4, the one that it is named like. Choose that one.</source>
        <translation>{0} rät nur für ein anderes Modell von Gemma 4, nämlich das, nach dem es heißt. Nimm dieses.</translation>
    </message>
    <message>
        <source>{0}, as it guesses for another network</source>
        <translation>{0}, weil es für ein anderes Netz rät</translation>
    </message>
    <message>
        <source>0 or {0}, the number of its layers</source>
        <translation>0 oder {0}, die Zahl seiner Schichten</translation>
    </message>
    <message>
        <source>{0}: {1}rope.scaling.type is not supported. Choose another model.</source>
        <translation>{0}: {1}rope.scaling.type wird nicht unterstützt. Nimm ein anderes Modell.</translation>
    </message>
    <message>
        <source>{0}: {1} is not the same for all layers of a kind, which is not supported. Choose another model.</source>
        <translation>{0}: {1} ist nicht für alle Schichten einer Art gleich. Das wird nicht unterstützt. Nimm ein anderes Modell.</translation>
    </message>
    <message>
        <source>{0}: rope_freqs.weight does not say which of the {1} pairs of a head are turned. Download the file again.</source>
        <translation>{0}: rope_freqs.weight sagt nicht, welche der {1} Paare eines Kopfes gedreht werden. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: per_layer_config has layers that differ in another way than those of Gemma 4, which is not supported. Choose another model.</source>
        <translation>{0}: In per_layer_config sind Schichten auf andere Art verschieden als bei Gemma 4. Das wird nicht unterstützt. Nimm ein anderes Modell.</translation>
    </message>
    <message>
        <source>{0}: {1} is stored as F8_E4M3, which is not supported of it. Choose another model.</source>
        <translation>{0}: {1} ist als F8_E4M3 gespeichert, was dafür nicht unterstützt wird. Nimm ein anderes Modell.</translation>
    </message>
    <message>
        <source>a whole number from 1 to {0}</source>
        <translation>eine ganze Zahl von 1 bis {0}</translation>
    </message>
    <message>
        <source>it gives {0} twice, with different values</source>
        <translation>Sie nennt {0} zweimal, mit verschiedenen Werten</translation>
    </message>
    <message>
        <source>it is nested more than {0} levels deep</source>
        <translation>Sie ist mehr als {0} Ebenen tief verschachtelt</translation>
    </message>
    <message>
        <source>it is not a regular file</source>
        <translation>Sie ist keine gewöhnliche Datei</translation>
    </message>
    <message>
        <source>it is too large, with {0} bytes</source>
        <translation>Sie ist mit {0} Bytes zu groß</translation>
    </message>
    <message>
        <source>true or false</source>
        <translation>true oder false</translation>
    </message>
    <message>
        <source>{0} and {1} more</source>
        <translation>{0} und {1} weitere</translation>
    </message>
    <message>
        <source>{0} does not exist. A model folder holds config.json, tokenizer.json and *.safetensors files.</source>
        <translation>{0} gibt es nicht. Zu einem Modellordner gehören config.json, tokenizer.json und *.safetensors-Dateien.</translation>
    </message>
    <message>
        <source>{0} holds a {1} instead of a JSON object. Download it again.</source>
        <translation>{0} enthält {1} statt eines JSON-Objekts. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: {1} is missing. The file may be damaged; download it again.</source>
        <translation>{0}: {1} fehlt. Vielleicht ist die Datei beschädigt; lade sie noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: {1} is {2}, but it must be {3}.</source>
        <translation>{0}: {1} ist {2}; möglich ist nur: {3}.</translation>
    </message>
    <message>
        <source>{0} and its other parts hold {1} tensors of {2}. Download the file again.</source>
        <translation>{0} und die anderen Teile enthalten zusammen {1} von {2} Tensoren. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0} calls itself part {1} of {2}. Give the file its first name again.</source>
        <translation>{0} nennt sich Teil {1} von {2}. Gib der Datei ihren ersten Namen zurück.</translation>
    </message>
    <message>
        <source>{0} has {1} tokens, but token_embd.weight only {2} rows. Download the file again.</source>
        <translation>{0} hat {1} Token, aber token_embd.weight nur {2} Zeilen. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0} is by its name part {1} of {2}, but says inside that it is part {3} (counted from 0) of {4}. Download all parts again.</source>
        <translation>{0} ist dem Namen nach Teil {1} von {2}, nennt sich innen aber Teil {3} (von 0 an gezählt) von {4}. Lade alle Teile noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0} is one of {1} parts, and {2} is not beside it. Download all parts into one folder.</source>
        <translation>{0} ist einer von {1} Teilen, und {2} liegt nicht daneben. Lade alle Teile in einen Ordner herunter.</translation>
    </message>
    <message>
        <source>{0}: tokenizer.chat_template is {1} instead of a text. Download the file again.</source>
        <translation>{0}: tokenizer.chat_template ist {1} statt eines Textes. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>a divisor of the {0} heads</source>
        <translation>ein Teiler der {0} Köpfe</translation>
    </message>
    <message>
        <source>a list of one flag for each layer</source>
        <translation>eine Liste mit einer Angabe je Schicht</translation>
    </message>
    <message>
        <source>a text</source>
        <translation>ein Text</translation>
    </message>
    <message>
        <source>at most {0}, as there are tensors</source>
        <translation>höchstens {0}, so viele Tensoren, wie da sind</translation>
    </message>
    <message>
        <source>at most {0}, the width of a head</source>
        <translation>höchstens {0}, die Breite eines Kopfes</translation>
    </message>
    <message>
        <source>{0}: rope_freqs.weight has the shape {1} beside heads of {2} and the rope type {3}. Download the file again.</source>
        <translation>{0}: rope_freqs.weight hat die Form {1} bei Köpfen von {2} und dem Rope-Typ {3}. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: rope_freqs.weight holds impossible numbers. Download the file again.</source>
        <translation>{0}: rope_freqs.weight enthält unmögliche Zahlen. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: token_embd.weight is missing or damaged. Download the file again.</source>
        <translation>{0}: token_embd.weight fehlt oder ist beschädigt. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: {1} is missing. Download the file again.</source>
        <translation>{0}: {1} fehlt. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: {1} is not the same for all layers, which is not supported. Choose another model.</source>
        <translation>{0}: {1} ist nicht in allen Schichten gleich, und das wird nicht unterstützt. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>{0}: {1} is {2} beside heads of {3}, which is not supported. Choose another model.</source>
        <translation>{0}: {1} ist {2} bei Köpfen von {3}, und das wird nicht unterstützt. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>{0}: {1} is {2}, which is not supported. Choose another model.</source>
        <translation>{0}: {1} ist {2}, und das wird nicht unterstützt. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>a text in its header would be {0} bytes long</source>
        <translation>Ein Text in ihrem Kopf wäre {0} Bytes lang</translation>
    </message>
    <message>
        <source>it aligns its tensors at {0} bytes</source>
        <translation>Sie richtet ihre Tensoren an {0} Bytes aus</translation>
    </message>
    <message>
        <source>it does not begin as GGUF files do</source>
        <translation>Sie beginnt nicht wie eine GGUF-Datei</translation>
    </message>
    <message>
        <source>it ends inside its header</source>
        <translation>Sie endet mitten in ihrem Kopf</translation>
    </message>
    <message>
        <source>it gives {0} twice</source>
        <translation>Sie nennt {0} zweimal</translation>
    </message>
    <message>
        <source>it has an endless header</source>
        <translation>Ihr Kopf hat kein Ende</translation>
    </message>
    <message>
        <source>it would hold {0} tensors and {1} fields</source>
        <translation>Sie enthielte {0} Tensoren und {1} Felder</translation>
    </message>
    <message>
        <source>two of its tensors have the same name</source>
        <translation>Zwei ihrer Tensoren haben denselben Namen</translation>
    </message>
    <message>
        <source>{0} begins at byte {1}, which is not aligned</source>
        <translation>{0} beginnt bei Byte {1}, und das ist nicht ausgerichtet</translation>
    </message>
    <message>
        <source>{0} does not exist. Check the path, or download the file again.</source>
        <translation>{0} gibt es nicht. Prüfe den Pfad, oder lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0} has the shape {1}, which {2} cannot have</source>
        <translation>{0} hat die Form {1}, die es bei {2} nicht gibt</translation>
    </message>
    <message>
        <source>{0} has the unknown type {1}</source>
        <translation>{0} hat den unbekannten Typ {1}</translation>
    </message>
    <message>
        <source>{0} has {1} dimensions</source>
        <translation>{0} hat {1} Dimensionen</translation>
    </message>
    <message>
        <source>{0} is a GGUF file of version {1}. Supported: {2}. Choose a newer file of the model.</source>
        <translation>{0} ist eine GGUF-Datei der Version {1}. Unterstützt: {2}. Wähle eine neuere Datei des Modells.</translation>
    </message>
    <message>
        <source>{0} is a list of the unknown type {1}</source>
        <translation>{0} ist eine Liste vom unbekannten Typ {1}</translation>
    </message>
    <message>
        <source>{0} is written for big-endian machines. Choose the little-endian file of the model.</source>
        <translation>{0} ist für Big-Endian-Rechner geschrieben. Wähle die Little-Endian-Datei des Modells.</translation>
    </message>
    <message>
        <source>{0} is {1} instead of true or false</source>
        <translation>{0} ist {1} statt true oder false</translation>
    </message>
    <message>
        <source>{0} overlaps another tensor</source>
        <translation>{0} überlappt einen anderen Tensor</translation>
    </message>
    <message>
        <source>{0} would be a list of {1} texts</source>
        <translation>{0} wäre eine Liste von {1} Texten</translation>
    </message>
    <message>
        <source>{0} would end at byte {1}, behind the end of the file</source>
        <translation>{0} würde bei Byte {1} enden, hinter dem Ende der Datei</translation>
    </message>
    <message>
        <source>{0}: {1} is stored in the unknown type {2}. Choose another file of the model.</source>
        <translation>{0}: {1} ist im unbekannten Typ {2} gespeichert. Wähle eine andere Datei des Modells.</translation>
    </message>
    <message>
        <source>a token id</source>
        <translation>die Nummer eines Tokens</translation>
    </message>
    <message>
        <source>{0}: the pre-tokenizer {1} is not supported. Supported: {2}. Choose another model.</source>
        <translation>{0}: Der Vor-Tokenizer {1} wird nicht unterstützt. Unterstützt: {2}. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>{0}: the tokenizer {1} is not supported. Supported: {2}. Choose another model.</source>
        <translation>{0}: Der Tokenizer {1} wird nicht unterstützt. Unterstützt: {2}. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>{0}: the tokens are far too long for their kind. Download the file again.</source>
        <translation>{0}: Die Token sind für ihre Art viel zu lang. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: tokenizer.ggml.merges is missing or no list of texts. Download it again.</source>
        <translation>{0}: tokenizer.ggml.merges fehlt oder ist keine Liste von Texten. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: tokenizer.ggml.scores is no list of {1} numbers. Download the file again.</source>
        <translation>{0}: tokenizer.ggml.scores ist keine Liste von {1} Zahlen. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: tokenizer.ggml.token_type is no list of {1} numbers. Download the file again.</source>
        <translation>{0}: tokenizer.ggml.token_type ist keine Liste von {1} Zahlen. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: tokenizer.ggml.tokens is missing or no list of texts. Download it again.</source>
        <translation>{0}: tokenizer.ggml.tokens fehlt oder ist keine Liste von Texten. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: {1} is no merge of two tokens. Download the file again.</source>
        <translation>{0}: {1} verbindet nicht zwei Token. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>it ended while it was read</source>
        <translation>Sie war zu Ende, während sie gelesen wurde</translation>
    </message>
    <message>
        <source>{0} cannot be opened: {1}. Download the file again.</source>
        <translation>{0} lässt sich nicht öffnen: {1}. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0} holds {1} that a network of this architecture has no place for, so its answers would be wrong. Choose another model.</source>
        <translation>{0} enthält {1}, wofür ein Netz dieser Architektur keinen Platz hat; seine Antworten wären falsch. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>{0}: {1} has the shape {2}, but the file's own fields ask for {3}. Download the file again.</source>
        <translation>{0}: {1} hat die Form {2}, aber die Felder der Datei selbst verlangen {3}. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: {1} is stored as {2}. Supported: {3}. Choose another file of the model, such as one of Q4_K_M.</source>
        <translation>{0}: {1} ist als {2} gespeichert. Unterstützt: {3}. Wähle eine andere Datei des Modells, etwa eine in Q4_K_M.</translation>
    </message>
    <message>
        <source>{0}: {1} missing. Download the file again.</source>
        <translation>{0}: Nicht vorhanden: {1}. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>This machine does not multiply int4 exactly. Use int8, bfloat16 or auto.</source>
        <translation>Dieser Rechner multipliziert int4 nicht genau. Nimm int8, bfloat16 oder auto.</translation>
    </message>
    <message>
        <source>int4 cannot be used on this machine ({0}). Use int8, bfloat16 or auto.</source>
        <translation>int4 geht auf diesem Rechner nicht ({0}). Nimm int8, bfloat16 oder auto.</translation>
    </message>
    <message>
        <source>This CPU does not multiply int8 exactly. Use bfloat16 or auto.</source>
        <translation>Diese CPU multipliziert int8 nicht genau. Nimm bfloat16 oder auto.</translation>
    </message>
    <message>
        <source>int8 cannot be used on this machine ({0}). Use bfloat16 or auto.</source>
        <translation>int8 geht auf diesem Rechner nicht ({0}). Nimm bfloat16 oder auto.</translation>
    </message>
    <message>
        <source>int8 cannot be used on {0} ({1}). Use auto.</source>
        <translation>int8 geht auf {0} nicht ({1}). Nimm auto.</translation>
    </message>
    <message>
        <source>Rows of this model have {0} numbers, and int8 and int4 add up {1} at most. Use bfloat16.</source>
        <translation>Die Zeilen dieses Modells haben {0} Zahlen, und int8 und int4 addieren höchstens {1}. Nimm bfloat16.</translation>
    </message>
    <message>
        <source>int8 is not multiplied exactly on {0}. Use auto.</source>
        <translation>int8 wird auf {0} nicht genau multipliziert. Nimm auto.</translation>
    </message>
    <message>
        <source>There is not enough memory for a conversation of {0} tokens: it needs {1} MB, and all conversations together may use {2} MB. Stop another answer, or start a new chat.</source>
        <translation>Für ein Gespräch von {0} Token reicht der Speicher nicht: Es braucht {1} MB, und alle Gespräche zusammen dürfen {2} MB brauchen. Halte eine andere Antwort an, oder beginne einen neuen Chat.</translation>
    </message>
    <message>
        <source>On Linux and Windows with an x86-64 CPU llama-gui's own kernels can do it: install llama-gui again, on Linux a C compiler (gcc) first.</source>
        <translation>Auf Linux und Windows mit einer x86-64-CPU können es die eigenen Kernel von llama-gui: Installiere llama-gui noch einmal, auf Linux vorher einen C-Compiler (gcc).</translation>
    </message>
    <message>
        <source>there are no kernels of our own</source>
        <translation>es gibt keine eigenen Kernel</translation>
    </message>
    <message>
        <source>{0} On Linux and Windows with an x86-64 CPU llama-gui's own kernels can do it: install llama-gui again, on Linux a C compiler (gcc) first.</source>
        <translation>{0} Auf Linux und Windows mit einer x86-64-CPU können es die eigenen Kernel von llama-gui: Installiere llama-gui noch einmal, auf Linux vorher einen C-Compiler (gcc).</translation>
    </message>
    <message>
        <source>There can be no model at {0} ({1}). Check the path, or pick another one.</source>
        <translation>In {0} kann kein Modell sein ({1}). Prüfe den Pfad, oder wähle ein anderes.</translation>
    </message>
    <message>
        <source>the path of a file</source>
        <translation>der Pfad einer Datei</translation>
    </message>
    <message>
        <source>the path of a folder</source>
        <translation>der Pfad eines Ordners</translation>
    </message>
    <message>
        <source>where a model folder or a GGUF file lies</source>
        <translation>wo ein Modellordner oder eine GGUF-Datei liegt</translation>
    </message>
    <message>
        <source>{0} holds {1} GGUF files. Choose one of them: {2}.</source>
        <translation>{0} enthält {1} GGUF-Dateien. Wähle eine davon: {2}.</translation>
    </message>
    <message>
        <source>The engine is closed. Load the model again.</source>
        <translation>Die Engine ist geschlossen. Lade das Modell noch einmal.</translation>
    </message>
    <message>
        <source>The pool was closed while the model was loaded.</source>
        <translation>Die Modelle wurden geschlossen, während dieses geladen wurde.</translation>
    </message>
    <message>
        <source>The pool was closed.</source>
        <translation>Die Modelle wurden geschlossen.</translation>
    </message>
    <message>
        <source>a number up to 1</source>
        <translation>eine Zahl bis 1</translation>
    </message>
    <message>
        <source>above low_freq_factor ({0})</source>
        <translation>größer als low_freq_factor ({0})</translation>
    </message>
    <message>
        <source>an object</source>
        <translation>ein Objekt</translation>
    </message>
    <message>
        <source>so small that the context stays at or below {0} tokens</source>
        <translation>so klein, dass der Kontext nicht über {0} Token hinausgeht</translation>
    </message>
    <message>
        <source>{0}: LongRoPE has {1} factors for {2} pairs of each head. Download the file again.</source>
        <translation>{0}: LongRoPE hat {1} Faktoren für {2} Paare jedes Kopfes. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: the rope type {1} is not supported. Supported: {2}.</source>
        <translation>{0}: Der Rope-Typ {1} wird nicht unterstützt. Unterstützt: {2}.</translation>
    </message>
    <message>
        <source>{0}: {1} numbers of each head would be rotated, but they must be pairs.</source>
        <translation>{0}: {1} Zahlen jedes Kopfes würden gedreht, aber es müssen Paare sein.</translation>
    </message>
    <message>
        <source>The engine was closed.</source>
        <translation>Die Engine wurde geschlossen.</translation>
    </message>
    <message>
        <source>The machine ran out of memory during this answer. Close other programs or chats.</source>
        <translation>Dem Rechner ging bei dieser Antwort der Speicher aus. Schließe andere Programme oder Chats.</translation>
    </message>
    <message>
        <source>This answer failed inside the engine: {0}: {1}</source>
        <translation>Diese Antwort ist in der Engine gescheitert: {0}: {1}</translation>
    </message>
    <message>
        <source>The model computed numbers that are not finite (NaN), so there is no next word. The weights may be damaged, or the dtype too narrow for this model.</source>
        <translation>Das Modell hat Zahlen berechnet, die nicht endlich sind (NaN), darum gibt es kein nächstes Wort. Vielleicht sind die Gewichte beschädigt, oder der Datentyp ist zu schmal für dieses Modell.</translation>
    </message>
    <message>
        <source>it adds up lists</source>
        <translation>Sie zählt Listen zusammen</translation>
    </message>
    <message>
        <source>it asks for a width or count of {0}</source>
        <translation>Sie verlangt eine Breite oder Anzahl von {0}</translation>
    </message>
    <message>
        <source>it formats a text of any width</source>
        <translation>Sie formatiert einen Text beliebiger Breite</translation>
    </message>
    <message>
        <source>it gives {0} characters to the filter {1}</source>
        <translation>Sie gibt {0} Zeichen an den Filter {1}</translation>
    </message>
    <message>
        <source>it makes a number without end</source>
        <translation>Sie macht eine Zahl ohne Ende</translation>
    </message>
    <message>
        <source>it makes a value of {0} characters</source>
        <translation>Sie macht einen Wert von {0} Zeichen</translation>
    </message>
    <message>
        <source>it makes more than {0} characters</source>
        <translation>Sie macht mehr als {0} Zeichen</translation>
    </message>
    <message>
        <source>it runs longer than {0} s, as if it had no end</source>
        <translation>Sie läuft länger als {0} s, als hätte sie kein Ende</translation>
    </message>
    <message>
        <source>it uses a namespace as a value</source>
        <translation>Sie benutzt einen Namensraum als Wert</translation>
    </message>
    <message>
        <source>a namespace may not hold the name {0}</source>
        <translation>Ein Namensraum darf den Namen {0} nicht enthalten</translation>
    </message>
    <message>
        <source>it has more than {0} characters</source>
        <translation>Sie hat mehr als {0} Zeichen</translation>
    </message>
    <message>
        <source>it gives the token {0} the id {1}</source>
        <translation>Sie gibt dem Token {0} die Nummer {1}</translation>
    </message>
    <message>
        <source>it holds no tokens</source>
        <translation>Sie enthält keine Token</translation>
    </message>
    <message>
        <source>the merge {0} lacks the prefix {1}</source>
        <translation>Der Verbindung {0} fehlt die Vorsilbe {1}</translation>
    </message>
    <message>
        <source>{0} cannot be used: {1}. Download the file again.</source>
        <translation>{0} ist nicht zu gebrauchen: {1}. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0} does not exist. A model needs its tokenizer; download the file again.</source>
        <translation>{0} gibt es nicht. Ein Modell braucht seinen Tokenizer; lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0} is damaged: {1}. Download the file again.</source>
        <translation>{0} ist beschädigt: {1}. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>The conversation is {0} tokens long, but this model reads at most {1} and needs room to answer. Shorten the message or start a new chat.</source>
        <translation>Das Gespräch ist {0} Token lang, aber dieses Modell liest höchstens {1} und braucht Platz zum Antworten. Kürze die Nachricht, oder beginne einen neuen Chat.</translation>
    </message>
    <message>
        <source>The conversation is {0} tokens long, but this model reads at most {1} and needs room to answer.</source>
        <translation>Das Gespräch ist {0} Token lang, aber dieses Modell liest höchstens {1} und braucht Platz zum Antworten.</translation>
    </message>
    <message>
        <source>Most of that was said earlier. Start a new chat, or let the oldest messages be left out: “When the context is full” in the settings of this chat.</source>
        <translation>Das meiste davon wurde früher gesagt. Beginne einen neuen Chat, oder lass die ältesten Nachrichten weg: „Wenn der Kontext voll ist“ in den Einstellungen dieses Chats.</translation>
    </message>
    <message>
        <source>Most of that is “{0}”. Take it out, or attach a part of it.</source>
        <translation>Das meiste davon ist „{0}“. Nimm es heraus, oder hänge einen Teil davon an.</translation>
    </message>
    <message>
        <source>Most of that is “{0}”. Attach a part of it, or let passages of it go along: “When the context is full” in the settings of this chat.</source>
        <translation>Das meiste davon ist „{0}“. Hänge einen Teil davon an, oder lass Abschnitte daraus mitgehen: „Wenn der Kontext voll ist“ in den Einstellungen dieses Chats.</translation>
    </message>
    <message>
        <source>Most of that is your message. Shorten it.</source>
        <translation>Das meiste davon ist deine Nachricht. Kürze sie.</translation>
    </message>
    <message>
        <source>Most of that is your message. Shorten it, or attach the long part as a file: then the passages of it go along that fit your question.</source>
        <translation>Das meiste davon ist deine Nachricht. Kürze sie, oder hänge den langen Teil als Datei an: Dann werden die Abschnitte daraus mitgeschickt, die zu deiner Frage passen.</translation>
    </message>
    <message>
        <source>Most of that is the answer so far. Start a new chat with what matters of it.</source>
        <translation>Das meiste davon ist die bisherige Antwort. Beginne einen neuen Chat mit dem, was davon wichtig ist.</translation>
    </message>
    <message>
        <source>Most of that is what tools have replied. Ask for less at once, or start a new chat.</source>
        <translation>Das meiste davon haben Werkzeuge geantwortet. Frage nach weniger auf einmal, oder beginne einen neuen Chat.</translation>
    </message>
    <message>
        <source>Most of that is the system prompt. Shorten it in the settings of this chat.</source>
        <translation>Das meiste davon ist der Systemprompt. Kürze ihn in den Einstellungen dieses Chats.</translation>
    </message>
    <message>
        <source>Most of that describes the tools of this chat. Choose fewer of them.</source>
        <translation>Das meiste davon beschreibt die Werkzeuge dieses Chats. Wähle weniger davon.</translation>
    </message>
    <message>
        <source>Most of that are images. Leave some of them out.</source>
        <translation>Das meiste davon sind Bilder. Lass einige davon weg.</translation>
    </message>
    <message>
        <source>Most of that are passages of documents. Start a new chat, or ask a shorter question about fewer of them.</source>
        <translation>Das meiste davon sind Abschnitte aus Dokumenten. Beginne einen neuen Chat, oder stelle eine kürzere Frage zu weniger davon.</translation>
    </message>
    <message>
        <source>These are {0} tokens, but this model reads at most {1} at once.</source>
        <translation>Das sind {0} Token, aber dieses Modell liest höchstens {1} auf einmal.</translation>
    </message>
    <message>
        <source>This model needs {0} GB of memory, and {1} GB are free. Close other programs or chats, or choose a smaller model or dtype.</source>
        <translation>Dieses Modell braucht {0} GB Speicher, und {1} GB sind frei. Schließe andere Programme oder Chats, oder wähle ein kleineres Modell oder einen kleineren Datentyp.</translation>
    </message>
    <message>
        <source>at most {0} tokens</source>
        <translation>höchstens {0} Token</translation>
    </message>
    <message>
        <source>{0} is {1}, but it must be {2}.</source>
        <translation>{0} ist {1}; möglich ist nur: {2}.</translation>
    </message>
    <message>
        <source>{0} is there already.</source>
        <translation>{0} ist schon da.</translation>
    </message>
    <message>
        <source>HF_ENDPOINT is {0}, but it must be an address like https://huggingface.co.</source>
        <translation>HF_ENDPOINT ist {0}, muss aber eine Adresse wie https://huggingface.co sein.</translation>
    </message>
    <message>
        <source>Offline mode is on, so the hub was not asked. Turn it off to search or download.</source>
        <translation>Der Offline-Modus ist an, darum wurde der Hub nicht gefragt. Schalte ihn aus, um zu suchen oder herunterzuladen.</translation>
    </message>
    <message>
        <source>{0} is not encrypted, so the token was not sent to {1}. Use an https address for HF_ENDPOINT, or sign out.</source>
        <translation>{0} ist nicht verschlüsselt, darum wurde das Token nicht an {1} geschickt. Gib HF_ENDPOINT eine Adresse mit https, oder melde dich ab.</translation>
    </message>
    <message>
        <source>The catalogue {0} cannot be read: {1}.</source>
        <translation>Der Katalog {0} lässt sich nicht lesen: {1}.</translation>
    </message>
    <message>
        <source>The catalogue {0} is damaged: entry {1} is not an object.</source>
        <translation>Der Katalog {0} ist beschädigt: Eintrag {1} ist kein Objekt.</translation>
    </message>
    <message>
        <source>The catalogue {0} is damaged: entry {1} needs a repo in the form owner/name, not {2}.</source>
        <translation>Der Katalog {0} ist beschädigt: Eintrag {1} braucht als repo die Form Besitzer/Name, nicht {2}.</translation>
    </message>
    <message>
        <source>The catalogue {0} is damaged: entry {1} needs a text as {2}, not {3}.</source>
        <translation>Der Katalog {0} ist beschädigt: Eintrag {1} braucht als {2} einen Text, nicht {3}.</translation>
    </message>
    <message>
        <source>The catalogue {0} is damaged: entry {1} needs a whole number above 0 as {2}, not {3}.</source>
        <translation>Der Katalog {0} ist beschädigt: Eintrag {1} braucht als {2} eine ganze Zahl über 0, nicht {3}.</translation>
    </message>
    <message>
        <source>The catalogue {0} is damaged: entry {1} needs an object as {2}, not {3}.</source>
        <translation>Der Katalog {0} ist beschädigt: Eintrag {1} braucht als {2} ein Objekt, nicht {3}.</translation>
    </message>
    <message>
        <source>The catalogue {0} is damaged: entry {1} needs an object as gguf, not {2}.</source>
        <translation>Der Katalog {0} ist beschädigt: Eintrag {1} braucht als gguf ein Objekt, nicht {2}.</translation>
    </message>
    <message>
        <source>The catalogue {0} is damaged: entry {1} needs an object as shape, not {2}.</source>
        <translation>Der Katalog {0} ist beschädigt: Eintrag {1} braucht als shape ein Objekt, nicht {2}.</translation>
    </message>
    <message>
        <source>The catalogue {0} is damaged: entry {1} needs true or false as {2}, not {3}.</source>
        <translation>Der Katalog {0} ist beschädigt: Eintrag {1} braucht als {2} true oder false, nicht {3}.</translation>
    </message>
    <message>
        <source>The catalogue {0} is damaged: it is not valid JSON ({1}).</source>
        <translation>Der Katalog {0} ist beschädigt: Er ist kein gültiges JSON ({1}).</translation>
    </message>
    <message>
        <source>The catalogue {0} is damaged: it must hold a list of models.</source>
        <translation>Der Katalog {0} ist beschädigt: Er muss eine Liste von Modellen enthalten.</translation>
    </message>
    <message>
        <source>The disk is full ({0}): {1} needs {2} more, and {3} are free. What is there is kept. Make room, then resume.</source>
        <translation>Die Platte ist voll ({0}): {1} braucht noch {2}, und {3} sind frei. Was da ist, bleibt. Schaffe Platz, und setze dann fort.</translation>
    </message>
    <message>
        <source>The disk of {0} cannot hold files as large as those of {1} (FAT32 ends at 4 GB). Set HF_HOME to a folder on another disk; then start the download again.</source>
        <translation>Die Platte von {0} kann keine so großen Dateien halten wie die von {1} (FAT32 endet bei 4 GB). Setze HF_HOME auf einen Ordner einer anderen Platte; starte dann den Download noch einmal.</translation>
    </message>
    <message>
        <source>another program is downloading {0}; waiting for it</source>
        <translation>ein anderes Programm lädt {0} herunter; es wird darauf gewartet</translation>
    </message>
    <message>
        <source>{0} cannot be written to {1}: {2}. What is there is kept. Check the disk and the rights of the folder, then resume.</source>
        <translation>{0} kann nicht nach {1} geschrieben werden: {2}. Was da ist, bleibt. Prüfe die Platte und die Rechte des Ordners, und setze dann fort.</translation>
    </message>
    <message>
        <source>{0} needs {1} more on the disk of {2}, and {3} are free. Make room, or set HF_HOME to a larger disk; then resume.</source>
        <translation>{0} braucht noch {1} auf der Platte von {2}, und {3} sind frei. Schaffe Platz, oder setze HF_HOME auf eine größere Platte; setze dann fort.</translation>
    </message>
    <message>
        <source>{0} of {1} arrived damaged, twice: its checksum is not the hub's. It was removed; the other files are kept. Try again later or from another network.</source>
        <translation>{0} von {1} kam beschädigt an, zweimal: Die Prüfsumme ist nicht die des Hubs. Die Datei wurde entfernt; die anderen bleiben. Versuche es später noch einmal oder aus einem anderen Netz.</translation>
    </message>
    <message>
        <source>{0} arrived as the hub has it, but it cannot be used. Choose another model. {1}</source>
        <translation>{0} kam an, wie der Hub es hat, lässt sich aber nicht verwenden. Wähle ein anderes Modell. {1}</translation>
    </message>
    <message>
        <source>{0} was damaged on its way and is fetched again</source>
        <translation>{0} wurde unterwegs beschädigt und wird noch einmal geholt</translation>
    </message>
    <message>
        <source>The list of downloads cannot be read ({0}) and was set aside as {1}. Start the downloads again: they go on.</source>
        <translation>Die Liste der Downloads lässt sich nicht lesen ({0}) und liegt jetzt beiseite als {1}. Starte die Downloads noch einmal: Sie gehen weiter.</translation>
    </message>
    <message>
        <source>The list of downloads cannot be written to {0}: {1}.</source>
        <translation>Die Liste der Downloads lässt sich nicht nach {0} schreiben: {1}.</translation>
    </message>
    <message>
        <source>The list of downloads is damaged and was set aside as {0}. Start the downloads again: they go on.</source>
        <translation>Die Liste der Downloads ist beschädigt und liegt jetzt beiseite als {0}. Starte die Downloads noch einmal: Sie gehen weiter.</translation>
    </message>
    <message>
        <source>The list of downloads {0} cannot be read ({1}), so nobody can tell what waits in the window. Name the model that is meant, or open the window once: it begins a new list and keeps of the old one what can be read.</source>
        <translation>Die Liste der Downloads {0} lässt sich nicht lesen ({1}), daher lässt sich nicht sagen, was im Fenster wartet. Nenne das gemeinte Modell, oder öffne einmal das Fenster: Es beginnt eine neue Liste und behält von der alten, was sich lesen lässt.</translation>
    </message>
    <message>
        <source>The list of downloads {0} is damaged, so nobody can tell what waits in the window. Name the model that is meant, or open the window once: it begins a new list and keeps of the old one what can be read.</source>
        <translation>Die Liste der Downloads {0} ist beschädigt, daher lässt sich nicht sagen, was im Fenster wartet. Nenne das gemeinte Modell, oder öffne einmal das Fenster: Es beginnt eine neue Liste und behält von der alten, was sich lesen lässt.</translation>
    </message>
    <message>
        <source>The list of downloads {0} cannot be read ({1}), and cannot be moved: {2}.</source>
        <translation>Die Liste der Downloads {0} lässt sich nicht lesen ({1}) und nicht beiseitelegen: {2}.</translation>
    </message>
    <message>
        <source>The list of downloads {0} is damaged, and cannot be moved: {1}.</source>
        <translation>Die Liste der Downloads {0} ist beschädigt und lässt sich nicht beiseitelegen: {1}.</translation>
    </message>
    <message>
        <source>an unknown state</source>
        <translation>ein unbekannter Zustand</translation>
    </message>
    <message>
        <source>{0} failed unexpectedly: {1}.</source>
        <translation>{0} ist unerwartet gescheitert: {1}.</translation>
    </message>
    <message>
        <source>The file {0} is called GGUF, but it is none.</source>
        <translation>Die Datei {0} heißt GGUF, ist aber keine.</translation>
    </message>
    <message>
        <source>The file {0} is damaged or cut off: its header cannot be read ({1}). Download it again.</source>
        <translation>Die Datei {0} ist beschädigt oder abgeschnitten: Ihr Kopf lässt sich nicht lesen ({1}). Lade sie noch einmal herunter.</translation>
    </message>
    <message>
        <source>The file {0} is not complete: it has {1} of {2}. Download it again.</source>
        <translation>Die Datei {0} ist nicht vollständig: Sie hat {1} von {2}. Lade sie noch einmal herunter.</translation>
    </message>
    <message>
        <source>a list of lists</source>
        <translation>eine Liste von Listen</translation>
    </message>
    <message>
        <source>a text longer than the file</source>
        <translation>ein Text, der länger als die Datei ist</translation>
    </message>
    <message>
        <source>a weight of too many dimensions</source>
        <translation>ein Gewicht mit zu vielen Dimensionen</translation>
    </message>
    <message>
        <source>an alignment that cannot be</source>
        <translation>eine Ausrichtung, die es nicht geben kann</translation>
    </message>
    <message>
        <source>version {0} with {1} weights</source>
        <translation>Version {0} mit {1} Gewichten</translation>
    </message>
    <message>
        <source>HF_HUB_OFFLINE is set, so the hub was not asked. Unset it to search.</source>
        <translation>HF_HUB_OFFLINE ist gesetzt, darum wurde der Hub nicht gefragt. Ohne diese Variable lässt sich suchen.</translation>
    </message>
    <message>
        <source>The hub names {0} as its next page, which is another server. It was not asked.</source>
        <translation>Der Hub nennt {0} als seine nächste Seite, und das ist ein anderer Server. Er wurde nicht gefragt.</translation>
    </message>
    <message>
        <source>The hub {0} answers {1}: it is asked too often; wait a few minutes.</source>
        <translation>Der Hub {0} antwortet {1}: Er wird zu oft gefragt; warte ein paar Minuten.</translation>
    </message>
    <message>
        <source>The hub {0} answers {1}: it does not give this out, for reasons of law.</source>
        <translation>Der Hub {0} antwortet {1}: Aus rechtlichen Gründen gibt er das nicht heraus.</translation>
    </message>
    <message>
        <source>The hub {0} answers {1}: try again later.</source>
        <translation>Der Hub {0} antwortet {1}: Versuche es später noch einmal.</translation>
    </message>
    <message>
        <source>The hub {0} cannot be reached ({1}). Check the network.</source>
        <translation>Der Hub {0} ist nicht zu erreichen ({1}). Prüfe das Netz.</translation>
    </message>
    <message>
        <source>The hub {0} does not know your token any more. Sign in with another.</source>
        <translation>Der Hub {0} kennt dein Token nicht mehr. Melde dich mit einem anderen an.</translation>
    </message>
    <message>
        <source>There is no model {0} on the hub, or it is private: then sign in with a token first.</source>
        <translation>Auf dem Hub gibt es kein Modell {0}, oder es ist privat: Dann melde dich zuerst mit einem Token an.</translation>
    </message>
    <message>
        <source>There is no model {0} on the hub, or your token may not see it. Check the name.</source>
        <translation>Auf dem Hub gibt es kein Modell {0}, oder dein Token darf es nicht sehen. Prüfe den Namen.</translation>
    </message>
    <message>
        <source>What {0} answers is not what a hub answers ({1}). Does this network want a sign-in?</source>
        <translation>Was {0} antwortet, antwortet kein Hub ({1}). Verlangt dieses Netz eine Anmeldung?</translation>
    </message>
    <message>
        <source>no list of models</source>
        <translation>keine Liste von Modellen</translation>
    </message>
    <message>
        <source>{0} has no revision {1}. Its page lists them: {2}</source>
        <translation>{0} hat keine Revision {1}. Auf der Seite des Modells stehen sie: {2}</translation>
    </message>
    <message>
        <source>{0} holds weights that are quantised already, in a way we do not run ({1}). Choose the plain version, one in FP8, or GGUF files.</source>
        <translation>{0} enthält Gewichte, die schon quantisiert sind, auf eine Art, die hier nicht läuft ({1}). Wähle die einfache Fassung, eine in FP8 oder GGUF-Dateien.</translation>
    </message>
    <message>
        <source>{0} is a {1}; we run {2}.</source>
        <translation>{0} ist ein {1}; hier laufen {2}.</translation>
    </message>
    <message>
        <source>{0} of {1} rows attend: that goes through one layer only</source>
        <translation>{0} von {1} Zeilen werden gefragt: das geht nur durch eine Schicht</translation>
    </message>
    <message>
        <source>config.json: num_experts_per_tok is {0}, but there are {1} experts.</source>
        <translation>config.json: num_experts_per_tok ist {0}, es gibt aber {1} Experten.</translation>
    </message>
    <message>
        <source>config.json: {0} is {1}, but it must be a whole number above 0.</source>
        <translation>config.json: {0} ist {1}, muss aber eine ganze Zahl über 0 sein.</translation>
    </message>
    <message>
        <source>{0} became shorter while it was read</source>
        <translation>{0} wurde kürzer, während die Datei gelesen wurde</translation>
    </message>
    <message>
        <source>The hub gives no checksum for {0}, so it cannot be checked. Nothing was done.</source>
        <translation>Der Hub nennt für {0} keine Prüfsumme, darum lässt sich die Datei nicht prüfen. Nichts wurde getan.</translation>
    </message>
    <message>
        <source>The hub gives no size for {0}, so it cannot be checked. Nothing was done.</source>
        <translation>Der Hub nennt für {0} keine Größe, darum lässt sich die Datei nicht prüfen. Nichts wurde getan.</translation>
    </message>
    <message>
        <source>The hub gives {0} as the commit of {1}. Nothing was done.</source>
        <translation>Der Hub nennt {0} als Commit von {1}. Nichts wurde getan.</translation>
    </message>
    <message>
        <source>The hub names a file {0}, which no model should have. Nothing was done.</source>
        <translation>Der Hub nennt eine Datei {0}, die kein Modell haben sollte. Nichts wurde getan.</translation>
    </message>
    <message>
        <source>a branch, a tag or a commit</source>
        <translation>ein Branch, ein Tag oder ein Commit</translation>
    </message>
    <message>
        <source>owner/name, as in HuggingFaceTB/SmolLM2-135M-Instruct</source>
        <translation>Besitzer/Name, wie in HuggingFaceTB/SmolLM2-135M-Instruct</translation>
    </message>
    <message>
        <source>{0} cannot be run: it has neither safetensors nor GGUF files.</source>
        <translation>{0} läuft hier nicht: Es hat weder Safetensors- noch GGUF-Dateien.</translation>
    </message>
    <message>
        <source>{0} cannot be run: it is an adapter, which works only on top of another model; choose a merged one.</source>
        <translation>{0} läuft hier nicht: Es ist ein Adapter, der nur zusammen mit einem anderen Modell geht; wähle ein verschmolzenes.</translation>
    </message>
    <message>
        <source>{0} cannot be run: its GGUF files come in parts, which we do not run; look for a version in one file.</source>
        <translation>{0} läuft hier nicht: Seine GGUF-Dateien kommen in Teilen, was hier nicht geht; suche eine Fassung in einer Datei.</translation>
    </message>
    <message>
        <source>{0} cannot be run: its weights are pickle files, which can run code; look for a version with safetensors.</source>
        <translation>{0} läuft hier nicht: Seine Gewichte sind Pickle-Dateien, die Code ausführen können; suche eine Fassung mit Safetensors.</translation>
    </message>
    <message>
        <source>{0} has files whose names differ only in case. Nothing was done.</source>
        <translation>{0} hat Dateien, deren Namen sich nur in Groß- und Kleinschreibung unterscheiden. Nichts wurde getan.</translation>
    </message>
    <message>
        <source>{0} holds no GGUF file {1}. There are: none.</source>
        <translation>{0} hat keine GGUF-Datei {1}. Es gibt: keine.</translation>
    </message>
    <message>
        <source>{0} holds no GGUF file {1}. There are: {2}.</source>
        <translation>{0} hat keine GGUF-Datei {1}. Es gibt: {2}.</translation>
    </message>
    <message>
        <source>{0} holds weights but no config.json, so nobody can tell how to run it.</source>
        <translation>{0} enthält Gewichte, aber keine config.json, darum weiß niemand, wie es läuft.</translation>
    </message>
    <message>
        <source>The file {0} is damaged or cut off: it has no header. Download it again.</source>
        <translation>Die Datei {0} ist beschädigt oder abgeschnitten: Sie hat keinen Kopf. Lade sie noch einmal herunter.</translation>
    </message>
    <message>
        <source>The file {0} is damaged: it does not hold a JSON object.</source>
        <translation>Die Datei {0} ist beschädigt: Sie enthält kein JSON-Objekt.</translation>
    </message>
    <message>
        <source>The file {0} is damaged: it does not say where the weights are.</source>
        <translation>Die Datei {0} ist beschädigt: Sie sagt nicht, wo die Gewichte sind.</translation>
    </message>
    <message>
        <source>The file {0} is damaged: it is larger than {1} MiB.</source>
        <translation>Die Datei {0} ist beschädigt: Sie ist größer als {1} MiB.</translation>
    </message>
    <message>
        <source>The file {0} is damaged: it is not valid JSON ({1}).</source>
        <translation>Die Datei {0} ist beschädigt: Sie ist kein gültiges JSON ({1}).</translation>
    </message>
    <message>
        <source>The file {0} is damaged: its header cannot be read. Download it again.</source>
        <translation>Die Datei {0} ist beschädigt: Ihr Kopf lässt sich nicht lesen. Lade sie noch einmal herunter.</translation>
    </message>
    <message>
        <source>The file {0} is one part of a model. Choose a version in one file.</source>
        <translation>Die Datei {0} ist ein Teil eines Modells. Wähle eine Fassung in einer Datei.</translation>
    </message>
    <message>
        <source>The file {0} reads pictures for another model. Choose the file of that one.</source>
        <translation>Die Datei {0} liest Bilder für ein anderes Modell. Wähle dessen Datei.</translation>
    </message>
    <message>
        <source>The folder {0} holds no config.json. Choose the folder of a model in Hugging Face layout.</source>
        <translation>Der Ordner {0} enthält keine config.json. Wähle den Ordner eines Modells, wie Hugging Face ihn anlegt.</translation>
    </message>
    <message>
        <source>The folder {0} holds no finished download of a model.</source>
        <translation>Der Ordner {0} enthält keinen fertigen Download eines Modells.</translation>
    </message>
    <message>
        <source>The folder {0} holds no safetensors file, so the model has no weights.</source>
        <translation>Der Ordner {0} enthält keine Safetensors-Datei, darum hat das Modell keine Gewichte.</translation>
    </message>
    <message>
        <source>The weights in the folder {0} are not complete; missing: {1}.</source>
        <translation>Die Gewichte im Ordner {0} sind nicht vollständig; es fehlen: {1}.</translation>
    </message>
    <message>
        <source>There is no folder {0}.</source>
        <translation>Es gibt keinen Ordner {0}.</translation>
    </message>
    <message>
        <source>The check was cancelled.</source>
        <translation>Die Prüfung wurde abgebrochen.</translation>
    </message>
    <message>
        <source>The file {0} is damaged: its bytes are not those of the hub. Delete the model and download it again.</source>
        <translation>Die Datei {0} ist beschädigt: Ihre Bytes sind nicht die des Hubs. Lösche das Modell, und lade es noch einmal herunter.</translation>
    </message>
    <message>
        <source>The starter model comes with llama-gui and cannot be deleted.</source>
        <translation>Das Startmodell gehört zu llama-gui und lässt sich nicht löschen.</translation>
    </message>
    <message>
        <source>{0} is kept by {1}. Delete it there.</source>
        <translation>{0} gehört zu {1}. Lösche es dort.</translation>
    </message>
    <message>
        <source>{0} cannot be deleted: {1} ({2}). What was deleted before that is gone; delete it again when the cause is mended.</source>
        <translation>{0} lässt sich nicht löschen: {1} ({2}). Was davor gelöscht wurde, ist fort; lösche es noch einmal, wenn die Ursache behoben ist.</translation>
    </message>
    <message>
        <source>{0} cannot be read: {1} ({2}).</source>
        <translation>{0} lässt sich nicht lesen: {1} ({2}).</translation>
    </message>
    <message>
        <source>{0} is being downloaded just now. Cancel the download first.</source>
        <translation>{0} wird gerade heruntergeladen. Brich zuerst den Download ab.</translation>
    </message>
    <message>
        <source>{0} is not on the shelf, so it was not deleted. Delete it with the system's own tools.</source>
        <translation>{0} gehört nicht zu den Modellen auf diesem Rechner und wurde darum nicht gelöscht. Lösche es mit den Mitteln des Systems.</translation>
    </message>
    <message>
        <source>What you noted cannot be written to {0}: {1}.</source>
        <translation>Deine Notizen lassen sich nicht nach {0} schreiben: {1}.</translation>
    </message>
    <message>
        <source>one line of at most {0} characters</source>
        <translation>eine Zeile mit höchstens {0} Zeichen</translation>
    </message>
    <message>
        <source>Nobody is signed in.</source>
        <translation>Niemand ist angemeldet.</translation>
    </message>
    <message>
        <source>The token cannot be kept in {0}: {1}.</source>
        <translation>Das Token lässt sich nicht in {0} aufbewahren: {1}.</translation>
    </message>
    <message>
        <source>The token comes from the environment variable HF_TOKEN.</source>
        <translation>Das Token kommt aus der Umgebungsvariablen HF_TOKEN.</translation>
    </message>
    <message>
        <source>The token in {0} cannot be removed: {1}.</source>
        <translation>Das Token in {0} lässt sich nicht entfernen: {1}.</translation>
    </message>
    <message>
        <source>The token is kept in the file {0}, which other Hugging Face tools read too.</source>
        <translation>Das Token liegt in der Datei {0}, die auch andere Werkzeuge von Hugging Face lesen.</translation>
    </message>
    <message>
        <source>The token is kept in this system's safe for passwords.</source>
        <translation>Das Token liegt im Passwortspeicher dieses Systems.</translation>
    </message>
    <message>
        <source>This system has no safe for passwords that can be used, so the token is kept in the file {0}, which only your own account can read.</source>
        <translation>Dieses System hat keinen brauchbaren Passwortspeicher, darum liegt das Token in der Datei {0}, die nur dein eigenes Konto lesen kann.</translation>
    </message>
    <message>
        <source>the text that the hub shows once, which begins with hf_</source>
        <translation>der Text, den der Hub ein einziges Mal zeigt und der mit hf_ beginnt</translation>
    </message>
    <message>
        <source>The address of the hub is no web address ({0}). Check HF_ENDPOINT.</source>
        <translation>Die Adresse des Hubs ist keine Webadresse ({0}). Prüfe HF_ENDPOINT.</translation>
    </message>
    <message>
        <source>The hub cannot be understood: {0}. Try again later.</source>
        <translation>Der Hub ist nicht zu verstehen: {0}. Versuche es später noch einmal.</translation>
    </message>
    <message>
        <source>a web page came instead of the file; maybe this network wants a sign-in</source>
        <translation>Statt der Datei kam eine Webseite; vielleicht verlangt dieses Netz eine Anmeldung</translation>
    </message>
    <message>
        <source>something between here and the server packs the bytes</source>
        <translation>Etwas zwischen hier und dem Server packt die Bytes</translation>
    </message>
    <message>
        <source>something of another size came; maybe this network wants a sign-in</source>
        <translation>Es kam etwas von anderer Größe; vielleicht verlangt dieses Netz eine Anmeldung</translation>
    </message>
    <message>
        <source>the connection broke ({0})</source>
        <translation>Die Verbindung brach ab ({0})</translation>
    </message>
    <message>
        <source>the connection ended early</source>
        <translation>Die Verbindung endete zu früh</translation>
    </message>
    <message>
        <source>the hub sends us round in circles</source>
        <translation>Der Hub schickt uns im Kreis herum</translation>
    </message>
    <message>
        <source>the server failed ({0})</source>
        <translation>Der Server ist gescheitert ({0})</translation>
    </message>
    <message>
        <source>the server has less of the file than we do, so it begins again</source>
        <translation>Der Server hat weniger von der Datei als wir, darum beginnt sie von vorn</translation>
    </message>
    <message>
        <source>the server is busy ({0})</source>
        <translation>Der Server ist beschäftigt ({0})</translation>
    </message>
    <message>
        <source>the server is silent</source>
        <translation>Der Server schweigt</translation>
    </message>
    <message>
        <source>the server sends another part of the file than was asked for</source>
        <translation>Der Server schickt einen anderen Teil der Datei als den verlangten</translation>
    </message>
    <message>
        <source>the server sends more than the file has</source>
        <translation>Der Server schickt mehr, als die Datei hat</translation>
    </message>
    <message>
        <source>{0} cannot prove who it is ({1}). Nothing was sent. Check the date of this computer and whether a proxy stands between.</source>
        <translation>{0} kann sich nicht ausweisen ({1}). Nichts wurde gesendet. Prüfe das Datum dieses Rechners, und ob ein Proxy dazwischensteht.</translation>
    </message>
    <message>
        <source>{0} could not be fetched from {1}: {2}. What is there is kept. Look after the network, then resume the download.</source>
        <translation>{0} ließ sich nicht von {1} holen: {2}. Was da ist, bleibt. Sieh nach dem Netz, und setze dann den Download fort.</translation>
    </message>
    <message>
        <source>{0} is not on the hub any more. Remove the download and start it again.</source>
        <translation>{0} ist nicht mehr auf dem Hub. Entferne den Download, und starte ihn noch einmal.</translation>
    </message>
    <message>
        <source>{0} is not the file any more that the hub promised when the download began. Remove the download and start it again.</source>
        <translation>{0} ist nicht mehr die Datei, die der Hub zu Beginn des Downloads versprochen hat. Entferne den Download, und starte ihn noch einmal.</translation>
    </message>
    <message>
        <source>{0} is only for those who are signed in. Open {1}, sign in, accept its licence there, make a token of type Read at {2}/settings/tokens, and sign in with it (in a terminal: set HF_TOKEN); then resume.</source>
        <translation>{0} ist nur für Angemeldete. Öffne {1}, melde dich an, nimm dort die Lizenz an, lege unter {2}/settings/tokens ein Token vom Typ Read an, und melde dich damit hier an (im Terminal: setze HF_TOKEN); setze dann fort.</translation>
    </message>
    <message>
        <source>{0} may not be fetched with this token. Open {1}, accept its licence there (the button below the licence text) with the account of your token, wait until it is granted, then resume.</source>
        <translation>{0} darf mit diesem Token nicht geholt werden. Öffne {1}, nimm dort die Lizenz an (der Knopf unter dem Lizenztext) mit dem Konto deines Tokens, warte auf die Freigabe, und setze dann fort.</translation>
    </message>
    <message>
        <source>{0} refuses ({1})</source>
        <translation>{0} lehnt ab ({1})</translation>
    </message>
    <message>
        <source>{0} is not given out by {1}, for reasons of law. Choose another.</source>
        <translation>{0} wird von {1} aus rechtlichen Gründen nicht herausgegeben. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>{0}: {1} answers {2}, which it never should. Try again later.</source>
        <translation>{0}: {1} antwortet {2}, was es nie sollte. Versuche es später noch einmal.</translation>
    </message>
    <message>
        <source>{0}: {1} leads to {2}, which is not safe. It was not followed.</source>
        <translation>{0}: {1} führt zu {2}, und das ist nicht sicher. Es wurde nicht verfolgt.</translation>
    </message>
    <message>
        <source>{0}; trying again in {1} s</source>
        <translation>{0}; nächster Versuch in {1} s</translation>
    </message>
    <message>
        <source>The menu cannot be written: {0}: {1}.</source>
        <translation>Das Menü lässt sich nicht schreiben: {0}: {1}.</translation>
    </message>
    <message>
        <source>Windows and macOS have no menu that llama-gui could enter itself into.</source>
        <translation>Windows und macOS haben kein Menü, in das llama-gui sich selbst eintragen könnte.</translation>
    </message>
    <message>
        <source>Others can read the server's key in {0}. Delete the file: a new one is made.</source>
        <translation>Andere können den Schlüssel des Servers in {0} lesen. Lösche die Datei: Ein neuer wird angelegt.</translation>
    </message>
    <message>
        <source>The server's key cannot be written to {0}: {1}.</source>
        <translation>Der Schlüssel des Servers lässt sich nicht nach {0} schreiben: {1}.</translation>
    </message>
    <message>
        <source>The server's key in {0} cannot be read: {1}.</source>
        <translation>Der Schlüssel des Servers in {0} lässt sich nicht lesen: {1}.</translation>
    </message>
    <message>
        <source>There is no key in {0}. Delete the file: a new one is made.</source>
        <translation>In {0} ist kein Schlüssel. Lösche die Datei: Ein neuer wird angelegt.</translation>
    </message>
    <message>
        <source>an address</source>
        <translation>eine Adresse</translation>
    </message>
    <message>
        <source>an address like https://server.example/v1</source>
        <translation>eine Adresse wie https://server.example/v1</translation>
    </message>
    <message>
        <source>an address like https://server.example/v1, without a name, a question mark or a hash</source>
        <translation>eine Adresse wie https://server.example/v1, ohne Benutzernamen, Fragezeichen oder Raute</translation>
    </message>
    <message>
        <source>https, unless plain http to another machine is allowed by you</source>
        <translation>https, solange du einfaches http zu einem anderen Rechner nicht erlaubst</translation>
    </message>
    <message>
        <source>visible ASCII letters without spaces</source>
        <translation>sichtbare ASCII-Zeichen ohne Leerzeichen</translation>
    </message>
    <message>
        <source>It has no key.</source>
        <translation>Er hat keinen Schlüssel.</translation>
    </message>
    <message>
        <source>Its key is kept in this system's safe for passwords.</source>
        <translation>Sein Schlüssel liegt im Passwortspeicher dieses Systems.</translation>
    </message>
    <message>
        <source>The remote servers cannot be written to {0}: {1}.</source>
        <translation>Die entfernten Server lassen sich nicht nach {0} schreiben: {1}.</translation>
    </message>
    <message>
        <source>The remote servers in {0} cannot be read: {1}.</source>
        <translation>Die entfernten Server in {0} lassen sich nicht lesen: {1}.</translation>
    </message>
    <message>
        <source>This system has no safe for passwords, so the key is in {0}, which only you can read.</source>
        <translation>Dieses System hat keinen Passwortspeicher, darum liegt der Schlüssel in {0}, was nur du lesen kannst.</translation>
    </message>
    <message>
        <source>one of none</source>
        <translation>eines von keinem</translation>
    </message>
    <message>
        <source>{0} does not hold a list of remote servers. Mend it, or move it away.</source>
        <translation>{0} enthält keine Liste entfernter Server. Bessere die Datei aus, oder lege sie beiseite.</translation>
    </message>
    <message>
        <source>The answer of {0} cannot be read: {1}.</source>
        <translation>Die Antwort von {0} lässt sich nicht lesen: {1}.</translation>
    </message>
    <message>
        <source>The connection to {0} was closed.</source>
        <translation>Die Verbindung zu {0} wurde geschlossen.</translation>
    </message>
    <message>
        <source>{0} does not answer as an OpenAI server does. Does its address end in /v1?</source>
        <translation>{0} antwortet nicht wie ein OpenAI-Server. Endet die Adresse auf /v1?</translation>
    </message>
    <message>
        <source>{0} has no model {1}. It has: none.</source>
        <translation>{0} hat kein Modell {1}. Es gibt: keines.</translation>
    </message>
    <message>
        <source>{0} has no model {1}. It has: {2}.</source>
        <translation>{0} hat kein Modell {1}. Es gibt: {2}.</translation>
    </message>
    <message>
        <source>{0} sends a list of models that has no end.</source>
        <translation>{0} schickt eine Liste von Modellen, die kein Ende hat.</translation>
    </message>
    <message>
        <source>The server broke the answer off.</source>
        <translation>Der Server hat die Antwort abgebrochen.</translation>
    </message>
    <message>
        <source>The server withheld the rest of the answer: its filter found something in it.</source>
        <translation>Der Server hat den Rest der Antwort zurückgehalten: Sein Filter hat etwas darin gefunden.</translation>
    </message>
    <message>
        <source>an error without words</source>
        <translation>ein Fehler ohne Worte</translation>
    </message>
    <message>
        <source>Nothing can be reached at {0}. Is the server of {1} running?</source>
        <translation>Unter {0} ist nichts zu erreichen. Läuft der Server von {1}?</translation>
    </message>
    <message>
        <source>The connection to {0} broke in the middle of the answer.</source>
        <translation>Die Verbindung zu {0} brach mitten in der Antwort ab.</translation>
    </message>
    <message>
        <source>{0} does not answer at {1}.</source>
        <translation>{0} antwortet nicht unter {1}.</translation>
    </message>
    <message>
        <source>{0} does not know this model, or its address does not end in /v1.</source>
        <translation>{0} kennt dieses Modell nicht, oder die Adresse endet nicht auf /v1.</translation>
    </message>
    <message>
        <source>{0} does not know this model, or its address does not end in /v1. It says: {1}</source>
        <translation>{0} kennt dieses Modell nicht, oder die Adresse endet nicht auf /v1. Der Server sagt: {1}</translation>
    </message>
    <message>
        <source>{0} does not take the key.</source>
        <translation>{0} nimmt den Schlüssel nicht an.</translation>
    </message>
    <message>
        <source>{0} does not take the key. It says: {1}</source>
        <translation>{0} nimmt den Schlüssel nicht an. Der Server sagt: {1}</translation>
    </message>
    <message>
        <source>{0} ended the connection without an answer.</source>
        <translation>{0} hat die Verbindung ohne eine Antwort beendet.</translation>
    </message>
    <message>
        <source>{0} has too much to do, or takes no more from you. {1}</source>
        <translation>{0} hat zu viel zu tun, oder nimmt von dir nichts mehr an. {1}</translation>
    </message>
    <message>
        <source>{0} cannot answer just now (status {1}). {2}</source>
        <translation>{0} kann gerade nicht antworten (Status {1}). {2}</translation>
    </message>
    <message>
        <source>Try again in {0} min.</source>
        <translation>Versuche es in {0} min noch einmal.</translation>
    </message>
    <message>
        <source>Try again in {0} s.</source>
        <translation>Versuche es in {0} s noch einmal.</translation>
    </message>
    <message>
        <source>Try again later, or choose another model.</source>
        <translation>Versuche es später noch einmal, oder wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>{0} cannot answer just now (status {1}). {2} It says: {3}</source>
        <translation>{0} kann gerade nicht antworten (Status {1}). {2} Der Server sagt: {3}</translation>
    </message>
    <message>
        <source>{0} has too much to do, or takes no more from you. {1} It says: {2}</source>
        <translation>{0} hat zu viel zu tun, oder nimmt von dir nichts mehr an. {1} Der Server sagt: {2}</translation>
    </message>
    <message>
        <source>{0} refuses the request with status {1}.</source>
        <translation>{0} lehnt die Anfrage mit dem Status {1} ab.</translation>
    </message>
    <message>
        <source>{0} refuses the request with status {1}. It says: {2}</source>
        <translation>{0} lehnt die Anfrage mit dem Status {1} ab. Der Server sagt: {2}</translation>
    </message>
    <message>
        <source>{0} sends to another address ({1}), and your key is not sent there. If you trust it, enter it yourself.</source>
        <translation>{0} schickt an eine andere Adresse ({1}), und dorthin wird dein Schlüssel nicht geschickt. Wenn du ihr traust, gib sie selbst ein.</translation>
    </message>
    <message>
        <source>{0} sends to another address ({1}). If you trust it, enter it yourself.</source>
        <translation>{0} schickt an eine andere Adresse ({1}). Wenn du ihr traust, gib sie selbst ein.</translation>
    </message>
    <message>
        <source>{0} wants a key.</source>
        <translation>{0} verlangt einen Schlüssel.</translation>
    </message>
    <message>
        <source>{0} wants a key. It says: {1}</source>
        <translation>{0} verlangt einen Schlüssel. Der Server sagt: {1}</translation>
    </message>
    <message>
        <source>{0} broke the answer off. It says: {1}</source>
        <translation>{0} hat die Antwort abgebrochen. Der Server sagt: {1}</translation>
    </message>
    <message>
        <source>{0} compresses its answers, which was not asked for.</source>
        <translation>{0} packt seine Antworten, was nicht verlangt war.</translation>
    </message>
    <message>
        <source>{0} does not end its answer: it was cut.</source>
        <translation>{0} bringt seine Antwort nicht zu Ende: Sie wurde abgeschnitten.</translation>
    </message>
    <message>
        <source>{0} ended the connection before the answer was finished.</source>
        <translation>{0} hat die Verbindung beendet, bevor die Antwort fertig war.</translation>
    </message>
    <message>
        <source>{0} ended the connection without an answer. Perhaps the conversation is too long for it.</source>
        <translation>{0} hat die Verbindung ohne eine Antwort beendet. Vielleicht ist ihm das Gespräch zu lang.</translation>
    </message>
    <message>
        <source>{0} has not begun to answer within {1} s.</source>
        <translation>{0} hat nach {1} s noch nicht zu antworten begonnen.</translation>
    </message>
    <message>
        <source>{0} has sent nothing for {1} s, in the middle of the answer.</source>
        <translation>{0} hat {1} s lang nichts geschickt, mitten in der Antwort.</translation>
    </message>
    <message>
        <source>{0} sent no answer. Does its address end in /v1?</source>
        <translation>{0} hat keine Antwort geschickt. Endet die Adresse auf /v1?</translation>
    </message>
    <message>
        <source>{0} sent something that cannot be read.</source>
        <translation>{0} hat etwas geschickt, was sich nicht lesen lässt.</translation>
    </message>
    <message>
        <source>a function</source>
        <translation>eine Funktion</translation>
    </message>
    <message>
        <source>at its default: this server does not know it</source>
        <translation>der Standard (dieser Server kennt es nicht)</translation>
    </message>
    <message>
        <source>left out</source>
        <translation>weglassen</translation>
    </message>
    <message>
        <source>left out when token_ids are given</source>
        <translation>weglassen, wenn token_ids angegeben sind</translation>
    </message>
    <message>
        <source>left out: give answer_text</source>
        <translation>weglassen (gib answer_text an)</translation>
    </message>
    <message>
        <source>left out: it cannot be sent</source>
        <translation>weglassen (es lässt sich nicht senden)</translation>
    </message>
    <message>
        <source>left out: ours alone tell it</source>
        <translation>weglassen (nur unsere eigenen sagen es)</translation>
    </message>
    <message>
        <source>left out: this server cannot go on with an answer</source>
        <translation>weglassen (dieser Server kann eine Antwort nicht fortsetzen)</translation>
    </message>
    <message>
        <source>left out: this server does not know it</source>
        <translation>weglassen (dieser Server kennt es nicht)</translation>
    </message>
    <message>
        <source>left out: this server follows JSON schemas only</source>
        <translation>weglassen (dieser Server befolgt nur JSON-Schemata)</translation>
    </message>
    <message>
        <source>left out: this server reads texts</source>
        <translation>weglassen (dieser Server liest Texte)</translation>
    </message>
    <message>
        <source>1 to 512 visible ASCII letters without spaces</source>
        <translation>1 bis 512 sichtbare ASCII-Zeichen ohne Leerzeichen</translation>
    </message>
    <message>
        <source>Another program listens on port {0} of {1} already. Choose another: --port {2}</source>
        <translation>Ein anderes Programm benutzt den Port {0} von {1} schon. Wähle einen anderen: --port {2}</translation>
    </message>
    <message>
        <source>Port {0} needs an administrator. Choose one above 1023: --port 8080</source>
        <translation>Port {0} braucht einen Administrator. Wähle einen über 1023: --port 8080</translation>
    </message>
    <message>
        <source>The server cannot listen on {0}, port {1}: {2}.</source>
        <translation>Der Server kann auf {0}, Port {1}, nicht lauschen: {2}.</translation>
    </message>
    <message>
        <source>The server could not start: {0}</source>
        <translation>Der Server konnte nicht starten: {0}</translation>
    </message>
    <message>
        <source>There is no address {0} on this machine: {1}.</source>
        <translation>Auf diesem Rechner gibt es keine Adresse {0}: {1}.</translation>
    </message>
    <message>
        <source>a whole number from 0 to 65535</source>
        <translation>eine ganze Zahl von 0 bis 65535</translation>
    </message>
    <message>
        <source>an address of this machine</source>
        <translation>eine Adresse dieses Rechners</translation>
    </message>
    <message>
        <source>api key</source>
        <translation>API-Schlüssel</translation>
    </message>
    <message>
        <source>of another form</source>
        <translation>von anderer Form</translation>
    </message>
    <message>
        <source>The server sent an event that is longer than any answer.</source>
        <translation>Der Server hat ein Ereignis geschickt, das länger als jede Antwort ist.</translation>
    </message>
    <message>
        <source>The settings cannot be written to {0}: {1}.</source>
        <translation>Die Einstellungen lassen sich nicht nach {0} schreiben: {1}.</translation>
    </message>
    <message>
        <source>The settings file was broken ({0}). It was set aside as {1}; what could be read is kept.</source>
        <translation>Die Datei der Einstellungen war fehlerhaft ({0}). Sie liegt jetzt beiseite als {1}; was sich lesen ließ, gilt weiter.</translation>
    </message>
    <message>
        <source>The settings file {0} cannot be read: {1}.</source>
        <translation>Die Datei der Einstellungen {0} lässt sich nicht lesen: {1}.</translation>
    </message>
    <message>
        <source>The settings file {0} is broken ({1}) and cannot be moved.</source>
        <translation>Die Datei der Einstellungen {0} ist fehlerhaft ({1}) und lässt sich nicht beiseitelegen.</translation>
    </message>
    <message>
        <source>it does not hold named values</source>
        <translation>sie enthält keine Werte mit Namen</translation>
    </message>
    <message>
        <source>it is not JSON</source>
        <translation>sie ist kein JSON</translation>
    </message>
    <message>
        <source>wrong value for {0}</source>
        <translation>falscher Wert für {0}</translation>
    </message>
    <message>
        <source>The tool servers cannot be written to {0}: {1}.</source>
        <translation>Die Werkzeugserver lassen sich nicht nach {0} schreiben: {1}.</translation>
    </message>
    <message>
        <source>The tool servers in {0} cannot be read: {1}.</source>
        <translation>Die Werkzeugserver in {0} lassen sich nicht lesen: {1}.</translation>
    </message>
    <message>
        <source>{0} does not hold a list of tool servers. Mend it, or move it away.</source>
        <translation>{0} enthält keine Liste von Werkzeugservern. Bessere die Datei aus, oder lege sie beiseite.</translation>
    </message>
    <message>
        <source>The server of this tool is not running.</source>
        <translation>Der Server dieses Werkzeugs läuft nicht.</translation>
    </message>
    <message>
        <source>“{0}” did not reply within {1} s; the call was cancelled.</source>
        <translation>„{0}“ hat in {1} s nicht geantwortet; der Aufruf wurde abgebrochen.</translation>
    </message>
    <message>
        <source>“{0}” has ended, and the call with it.</source>
        <translation>„{0}“ hat sich beendet, und damit auch den Aufruf.</translation>
    </message>
    <message>
        <source>“{0}” refuses the call, and does not say why.</source>
        <translation>„{0}“ lehnt den Aufruf ab und sagt nicht, warum.</translation>
    </message>
    <message>
        <source>“{0}” sent a reply that cannot be understood ({1}).</source>
        <translation>„{0}“ hat eine Antwort geschickt, die nicht zu verstehen ist ({1}).</translation>
    </message>
    <message>
        <source>“{0}” takes no more calls.</source>
        <translation>„{0}“ nimmt keine Aufrufe mehr an.</translation>
    </message>
    <message>
        <source>“{0}”: {1} cannot be used: what it sent cannot be understood.{2}</source>
        <translation>„{0}“: {1} lässt sich nicht benutzen: Was kam, ist nicht zu verstehen.{2}</translation>
    </message>
    <message>
        <source>“{0}”: {1} cannot be used: {2}.{3}</source>
        <translation>„{0}“: {1} lässt sich nicht benutzen: {2}.{3}</translation>
    </message>
    <message>
        <source>“{0}”: {1} did not answer within {2} s.{3}</source>
        <translation>„{0}“: {1} hat in {2} s nicht geantwortet.{3}</translation>
    </message>
    <message>
        <source>“{0}”: {1} refuses: {2}.{3}</source>
        <translation>„{0}“: {1} lehnt ab: {2}.{3}</translation>
    </message>
    <message>
        <source>JSON like {"mcpServers": {"name": {"command": ...}}}</source>
        <translation>JSON wie {"mcpServers": {"name": {"command": ...}}}</translation>
    </message>
    <message>
        <source>a server without a name</source>
        <translation>ein Server ohne Namen</translation>
    </message>
    <message>
        <source>an address like https://server.example/mcp</source>
        <translation>eine Adresse wie https://server.example/mcp</translation>
    </message>
    <message>
        <source>an address without a name, a password or a hash</source>
        <translation>eine Adresse ohne Benutzernamen, Passwort oder Raute</translation>
    </message>
    <message>
        <source>an object with a command or a url</source>
        <translation>ein Objekt mit command oder url</translation>
    </message>
    <message>
        <source>false, or left out</source>
        <translation>false, oder weglassen</translation>
    </message>
    <message>
        <source>https, unless its entry says "allow_plain_http": true; others can read plain http</source>
        <translation>https, wenn im Eintrag nicht "allow_plain_http": true steht; einfaches http können andere mitlesen</translation>
    </message>
    <message>
        <source>left out, because it is not supported</source>
        <translation>weglassen, denn es wird nicht unterstützt</translation>
    </message>
    <message>
        <source>like {"mcpServers": {"name": {"command": ...}}}</source>
        <translation>wie {"mcpServers": {"name": {"command": ...}}}</translation>
    </message>
    <message>
        <source>like {"name": {"command": ...}}</source>
        <translation>wie {"name": {"command": ...}}</translation>
    </message>
    <message>
        <source>names and values in visible ASCII letters</source>
        <translation>Namen und Werte in sichtbaren ASCII-Zeichen</translation>
    </message>
    <message>
        <source>stdio or http</source>
        <translation>stdio oder http</translation>
    </message>
    <message>
        <source>stdio or http; the older sse is not supported</source>
        <translation>stdio oder http; das ältere sse wird nicht unterstützt</translation>
    </message>
    <message>
        <source>the value itself; nothing is put in its place here</source>
        <translation>der Wert selbst; hier wird nichts an seine Stelle gesetzt</translation>
    </message>
    <message>
        <source>there, because its type is {0}</source>
        <translation>vorhanden, denn der Typ ist {0}</translation>
    </message>
    <message>
        <source>“{0}” does not answer at {1}.</source>
        <translation>„{0}“ antwortet nicht unter {1}.</translation>
    </message>
    <message>
        <source>“{0}”: nothing can be reached at {1}. Is it running? ({2})</source>
        <translation>„{0}“: Unter {1} ist nichts zu erreichen. Läuft der Server? ({2})</translation>
    </message>
    <message>
        <source>“{0}”: the connection to {1} broke.</source>
        <translation>„{0}“: Die Verbindung zu {1} brach ab.</translation>
    </message>
    <message>
        <source>“{0}”: {1} does not allow this (403). Check the key in the headers.</source>
        <translation>„{0}“: {1} erlaubt das nicht (403). Prüfe den Schlüssel in den Kopfzeilen.</translation>
    </message>
    <message>
        <source>“{0}”: {1} has no tool server at this path (404).</source>
        <translation>„{0}“: {1} hat unter diesem Pfad keinen Werkzeugserver (404).</translation>
    </message>
    <message>
        <source>“{0}”: {1} has no tool server of this kind at this path (405). The older one with SSE is not supported.</source>
        <translation>„{0}“: {1} hat unter diesem Pfad keinen Werkzeugserver dieser Art (405). Die ältere mit SSE wird nicht unterstützt.</translation>
    </message>
    <message>
        <source>“{0}”: {1} has too much to do (429). Try again later.</source>
        <translation>„{0}“: {1} hat zu viel zu tun (429). Versuche es später noch einmal.</translation>
    </message>
    <message>
        <source>“{0}”: {1} refuses with status {2}.</source>
        <translation>„{0}“: {1} lehnt mit dem Status {2} ab.</translation>
    </message>
    <message>
        <source>“{0}”: {1} sends to another address ({2}), which is not followed. Enter that one, if you trust it.</source>
        <translation>„{0}“: {1} schickt an eine andere Adresse ({2}), und der wird nicht gefolgt. Gib jene ein, wenn du ihr vertraust.</translation>
    </message>
    <message>
        <source>“{0}”: {1} wants to know who asks (401). Enter its key in the headers; signing in through a browser is not supported.</source>
        <translation>„{0}“: {1} will wissen, wer fragt (401). Trage den Schlüssel bei den Kopfzeilen ein; Anmelden durch einen Browser wird nicht unterstützt.</translation>
    </message>
    <message>
        <source>
It said last:
{0}</source>
        <translation>
Zuletzt schrieb er:
{0}</translation>
    </message>
    <message>
        <source>
It wrote something that is no message: {0}</source>
        <translation>
Er schrieb etwas, das keine Nachricht ist: {0}</translation>
    </message>
    <message>
        <source>“{0}”: the program {1} is not found. Is it installed? Looked for in {2}.</source>
        <translation>„{0}“: Das Programm {1} wurde nicht gefunden. Ist es installiert? Gesucht wurde in {2}.</translation>
    </message>
    <message>
        <source>“{0}”: {1} cannot be started: {2}.</source>
        <translation>„{0}“: {1} lässt sich nicht starten: {2}.</translation>
    </message>
    <message>
        <source>“{0}”: {1} closed its output.{2}</source>
        <translation>„{0}“: {1} hat seine Ausgabe geschlossen.{2}</translation>
    </message>
    <message>
        <source>“{0}”: {1} does not speak the Model Context Protocol.{2}</source>
        <translation>„{0}“: {1} spricht das Model Context Protocol nicht.{2}</translation>
    </message>
    <message>
        <source>“{0}”: {1} ended with exit code {2}.{3}</source>
        <translation>„{0}“: {1} hat sich mit dem Code {2} beendet.{3}</translation>
    </message>
    <message>
        <source>“{0}”: {1} wrote a line of more than {2} MiB.{3}</source>
        <translation>„{0}“: {1} schrieb eine Zeile von mehr als {2} MiB.{3}</translation>
    </message>
    <message>
        <source>a list of texts that are not empty</source>
        <translation>eine Liste von Texten, die nicht leer sind</translation>
    </message>
    <message>
        <source>a list of token ids: whole numbers of at least 0</source>
        <translation>eine Liste von Nummern von Token: ganze Zahlen ab 0</translation>
    </message>
    <message>
        <source>a number above {0}</source>
        <translation>eine Zahl über {0}</translation>
    </message>
    <message>
        <source>a number above {0}, up to {1}</source>
        <translation>eine Zahl über {0} und bis {1}</translation>
    </message>
    <message>
        <source>a number of at least {0}</source>
        <translation>eine Zahl ab {0}</translation>
    </message>
    <message>
        <source>a whole number above {0}</source>
        <translation>eine ganze Zahl über {0}</translation>
    </message>
    <message>
        <source>a whole number above {0}, up to {1}</source>
        <translation>eine ganze Zahl über {0} und bis {1}</translation>
    </message>
    <message>
        <source>a whole number from {0} to {1}</source>
        <translation>eine ganze Zahl von {0} bis {1}</translation>
    </message>
    <message>
        <source>a whole number of at least {0}</source>
        <translation>eine ganze Zahl ab {0}</translation>
    </message>
    <message>
        <source>nested at most {0} levels deep</source>
        <translation>höchstens {0} Ebenen tief verschachtelt</translation>
    </message>
    <message>
        <source>nested deeper</source>
        <translation>tiefer verschachtelt</translation>
    </message>
    <message>
        <source>a list of texts</source>
        <translation>eine Liste von Texten</translation>
    </message>
    <message>
        <source>a program to start, or else a url</source>
        <translation>ein Programm, das gestartet wird, oder sonst eine url</translation>
    </message>
    <message>
        <source>a text that is not empty</source>
        <translation>ein Text, der nicht leer ist</translation>
    </message>
    <message>
        <source>an address that begins with http:// or https://</source>
        <translation>eine Adresse, die mit http:// oder https:// beginnt</translation>
    </message>
    <message>
        <source>texts by name</source>
        <translation>Texte mit Namen</translation>
    </message>
    <message>
        <source>Address already in use</source>
        <translation>Adresse wird schon benutzt</translation>
    </message>
    <message>
        <source>All connection attempts failed</source>
        <translation>kein Versuch, sich zu verbinden, gelang</translation>
    </message>
    <message>
        <source>Cannot allocate memory</source>
        <translation>zu wenig Speicher</translation>
    </message>
    <message>
        <source>Connection refused</source>
        <translation>Verbindung abgelehnt</translation>
    </message>
    <message>
        <source>Connection reset by peer</source>
        <translation>Verbindung von der Gegenseite abgebrochen</translation>
    </message>
    <message>
        <source>Directory not empty</source>
        <translation>Ordner ist nicht leer</translation>
    </message>
    <message>
        <source>Disk quota exceeded</source>
        <translation>Kontingent der Platte ist überschritten</translation>
    </message>
    <message>
        <source>Error while deserializing header: {0}</source>
        <translation>Der Kopf ist nicht zu lesen: {0}</translation>
    </message>
    <message>
        <source>Exec format error</source>
        <translation>dieses Format kann das System nicht ausführen</translation>
    </message>
    <message>
        <source>Expecting ',' delimiter: line {0} column {1} (char {2})</source>
        <translation>Ein Komma fehlt: Zeile {0}, Spalte {1} (Zeichen {2})</translation>
    </message>
    <message>
        <source>Expecting property name enclosed in double quotes: line {0} column {1} (char {2})</source>
        <translation>Ein Name in Anführungszeichen fehlt: Zeile {0}, Spalte {1} (Zeichen {2})</translation>
    </message>
    <message>
        <source>Expecting value: line {0} column {1} (char {2})</source>
        <translation>Ein Wert fehlt: Zeile {0}, Spalte {1} (Zeichen {2})</translation>
    </message>
    <message>
        <source>Extra data: line {0} column {1} (char {2})</source>
        <translation>Überzählige Daten: Zeile {0}, Spalte {1} (Zeichen {2})</translation>
    </message>
    <message>
        <source>File exists</source>
        <translation>Datei gibt es schon</translation>
    </message>
    <message>
        <source>File name too long</source>
        <translation>Dateiname ist zu lang</translation>
    </message>
    <message>
        <source>Input/output error</source>
        <translation>Ein-/Ausgabefehler</translation>
    </message>
    <message>
        <source>Is a directory</source>
        <translation>ist ein Ordner</translation>
    </message>
    <message>
        <source>Name or service not known</source>
        <translation>Name unbekannt</translation>
    </message>
    <message>
        <source>Network is unreachable</source>
        <translation>Netz nicht erreichbar</translation>
    </message>
    <message>
        <source>No address associated with hostname</source>
        <translation>Name ohne Adresse</translation>
    </message>
    <message>
        <source>No route to host</source>
        <translation>kein Weg zu diesem Rechner</translation>
    </message>
    <message>
        <source>No space left on device</source>
        <translation>kein Platz mehr auf der Platte</translation>
    </message>
    <message>
        <source>No such device or address</source>
        <translation>kein solches Gerät</translation>
    </message>
    <message>
        <source>No such file or directory</source>
        <translation>Datei oder Ordner nicht gefunden</translation>
    </message>
    <message>
        <source>Not a directory</source>
        <translation>ist kein Ordner</translation>
    </message>
    <message>
        <source>Operation not permitted</source>
        <translation>nicht erlaubt</translation>
    </message>
    <message>
        <source>Permission denied</source>
        <translation>keine Berechtigung</translation>
    </message>
    <message>
        <source>Read-only file system</source>
        <translation>Platte ist nur lesbar</translation>
    </message>
    <message>
        <source>Temporary failure in name resolution</source>
        <translation>Name gerade nicht aufzulösen</translation>
    </message>
    <message>
        <source>The read operation timed out</source>
        <translation>keine Antwort in der erlaubten Zeit</translation>
    </message>
    <message>
        <source>Too many levels of symbolic links</source>
        <translation>zu viele Verknüpfungen hintereinander</translation>
    </message>
    <message>
        <source>Too many open files</source>
        <translation>zu viele offene Dateien</translation>
    </message>
    <message>
        <source>Unterminated string starting at: line {0} column {1} (char {2})</source>
        <translation>Ein Text ohne Ende: Zeile {0}, Spalte {1} (Zeichen {2})</translation>
    </message>
    <message>
        <source>[Errno {0}] {1}</source>
        <translation>[Errno {0}] {1}</translation>
    </message>
    <message>
        <source>database disk image is malformed</source>
        <translation>die Datenbank ist beschädigt</translation>
    </message>
    <message>
        <source>file is not a database</source>
        <translation>die Datei ist keine Datenbank</translation>
    </message>
    <message>
        <source>incomplete metadata, file not fully covered</source>
        <translation>die Angaben im Kopf sind unvollständig</translation>
    </message>
    <message>
        <source>timed out</source>
        <translation>keine Antwort in der erlaubten Zeit</translation>
    </message>
    <message>
        <source>{0} of {1}/{2}</source>
        <translation>{0} von {1}/{2}</translation>
    </message>
    <message>
        <source>“{0}”</source>
        <translation>„{0}“</translation>
    </message>
    <message>
        <source>“{0}”: {1}</source>
        <translation>„{0}“: {1}</translation>
    </message>
    <message>
        <source>{0}: the file has a vocabulary, but no weights. Take a GGUF file that has the whole model.</source>
        <translation>{0}: Die Datei hat ein Vokabular, aber keine Gewichte. Nimm eine GGUF-Datei, die das ganze Modell hat.</translation>
    </message>
    <message>
        <source>The hub {0} is not found. Is this computer online?</source>
        <translation>Der Hub {0} wird nicht gefunden. Ist dieser Rechner online?</translation>
    </message>
    <message>
        <source>a list of whole numbers from 0 to {0}</source>
        <translation>eine Liste ganzer Zahlen von 0 bis {0}</translation>
    </message>
    <message>
        <source>three whole numbers and 0</source>
        <translation>drei ganze Zahlen und 0</translation>
    </message>
    <message>
        <source>three whole numbers</source>
        <translation>drei ganze Zahlen</translation>
    </message>
    <message>
        <source>{0}: mrope_section is of {1} pairs of each head, which has {2}. Download the file again.</source>
        <translation>{0}: mrope_section ist für {1} Paare jedes Kopfes, der {2} hat. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: {1} is {2}, and only {3} is supported for images. Choose another model.</source>
        <translation>{0}: {1} ist {2}, und für Bilder wird nur {3} unterstützt. Wähle ein anderes Modell.</translation>
    </message>
    <message>
        <source>one whose longer side is at most {0} times as long as the other</source>
        <translation>eines, dessen längere Seite höchstens {0}-mal so lang ist wie die andere</translation>
    </message>
    <message>
        <source>{0}: images from {1} to {2} pixels cannot be cut into rows. Download the file again.</source>
        <translation>{0}: Bilder von {1} bis {2} Pixeln lassen sich nicht in Zeilen teilen. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: layers {1} cannot be those behind which rows are made. Download the file again.</source>
        <translation>{0}: Die Schichten {1} können nicht die sein, hinter denen Zeilen entstehen. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>{0}: windows of {1} pixels are not of whole rows. Download the file again.</source>
        <translation>{0}: Fenster von {1} Pixeln sind keine ganzen Zeilen. Lade die Datei noch einmal herunter.</translation>
    </message>
    <message>
        <source>a list of true and false</source>
        <translation>eine Liste aus true und false</translation>
    </message>
</context>
<context>
    <name>MessageMenu</name>
    <message>
        <source>Look at the words</source>
        <translation>Wörter ansehen</translation>
    </message>
    <message>
        <source>Copy the message</source>
        <translation>Nachricht kopieren</translation>
    </message>
    <message>
        <source>Select all</source>
        <translation>Alles auswählen</translation>
    </message>
    <message>
        <source>Copy the link</source>
        <translation>Link kopieren</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
</context>
<context>
    <name>SideFoot</name>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Preferences</source>
        <translation>Einstellungen</translation>
    </message>
</context>
<context>
    <name>GroupKeeping</name>
    <message>
        <source>Take these chats out of the archive</source>
        <translation>Diese Chats aus dem Archiv holen</translation>
    </message>
    <message>
        <source>Archive these chats</source>
        <translation>Diese Chats archivieren</translation>
    </message>
    <message>
        <source>Delete these chats</source>
        <translation>Diese Chats löschen</translation>
    </message>
    <message>
        <source>{} chat is in the archive.</source>
        <translation>{} Chat liegt im Archiv.</translation>
    </message>
    <message>
        <source>{} chats are in the archive.</source>
        <translation>{} Chats liegen im Archiv.</translation>
    </message>
    <message>
        <source>{} chat is back in the list.</source>
        <translation>{} Chat ist wieder in der Liste.</translation>
    </message>
    <message>
        <source>{} chats are back in the list.</source>
        <translation>{} Chats sind wieder in der Liste.</translation>
    </message>
    <message>
        <source>{} chat is in the bin.</source>
        <translation>{} Chat liegt im Papierkorb.</translation>
    </message>
    <message>
        <source>{} chats are in the bin.</source>
        <translation>{} Chats liegen im Papierkorb.</translation>
    </message>
    <message>
        <source>“{0}” is in “{1}”.</source>
        <translation>„{0}“ ist in „{1}“.</translation>
    </message>
    <message>
        <source>{0} chats are in “{1}”.</source>
        <translation>{0} Chats sind in „{1}“.</translation>
    </message>
    <message>
        <source>“{0}” was moved.</source>
        <translation>„{0}“ wurde verschoben.</translation>
    </message>
    <message>
        <source>{0} chats were moved.</source>
        <translation>{0} Chats wurden verschoben.</translation>
    </message>
</context>
<context>
    <name>MainWindow</name>
    <message>
        <source>{} is here.</source>
        <translation>{} ist da.</translation>
    </message>
    <message>
        <source>Use it</source>
        <translation>Verwenden</translation>
    </message>
</context>
</TS>
