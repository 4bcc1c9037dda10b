"""What the rooms below the window say is German in a German window, and nothing else is touched."""

import json
import re
import time

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from llama_gui.ui import problem_words
from llama_gui.ui.problem_words import problem_text
from tests.problem_templates import PROBLEMS, as_kept, read_templates
from tests.translations import TRANSLATIONS, read_words

pytestmark = pytest.mark.usefixtures("in_german")

PLACE = re.compile(r"\{\d+\}")
TEMPLATES: list[str] = [text for room in json.loads(PROBLEMS.read_text(encoding="utf-8")).values() for text in room]
GERMAN = {
    source: text
    for (context, source), text in read_words(TRANSLATIONS / "llama_gui_de.ts").items()
    if context == "Problems"
}
NAMES = ("Qx1", "/home/zoë/Qx2", "Qx-3", "Qx4", "Qx5", "Qx6")


def filled(template: str) -> str:
    return PLACE.sub(lambda place: NAMES[int(place[0][1:-1])], template)


def test_the_file_holds_what_the_source_says():
    """If this fails: python -m tests.problem_templates, and write the German of what is new into the .ts."""
    assert PROBLEMS.read_text(encoding="utf-8") == as_kept(read_templates())


def test_what_the_source_says_is_found():
    """In each way that it is written in: a constant put in, a table, an addition, a place that another room fills."""
    assert {
        "{0} is missing. Download the file again.",
        "{0} has no text in it.",
        "{0} does not take the key. It says: {1}",
        "“{0}”: {1} ended with exit code {2}.{3}",
        "{0} messages in {1} chats could be read from it and are here.",
        "it ends inside its header",
        "a whole number from 1 to {0}",
        "it has no messages with text",
    } <= set(TEMPLATES)


def test_what_nobody_sees_in_the_window_is_left_out():
    assert [text for text in TEMPLATES if re.search(r"SELECT|tool_choice|Authorization|logits_processor", text)] == []


def test_each_has_a_german_sentence_with_the_same_places():
    assert GERMAN.keys() == set(TEMPLATES)
    wrong = {s: t for s, t in GERMAN.items() if sorted(PLACE.findall(s)) != sorted(PLACE.findall(t))}
    assert wrong == {}


def test_each_is_said_in_german_by_its_own_words():
    """Not by those of another that fits as well. A few words are said only inside another sentence."""
    wrong: list[str] = []
    for template in TEMPLATES:
        text, german = filled(template), filled(GERMAN[template])
        if len(re.findall("[A-Za-z]", template)) < 18:
            whole = "The hub Qx cannot be reached ({}). Check the network."
            text, german = whole.format(text), f"Der Hub Qx ist nicht zu erreichen ({german}). Prüfe das Netz."
        if problem_text(text) != german:
            wrong.append(f"{text} -> {problem_text(text)}")
    assert wrong == []


def test_what_is_german_stays():
    texts = read_words(TRANSLATIONS / "llama_gui_de.ts").values()
    assert [text for text in texts if problem_text(text) != text or problem_text(filled(text)) != filled(text)] == []


@pytest.mark.parametrize(
    ("english", "german"),
    [
        (
            "/x/config.json: hidden_size is 3.5, but it must be a whole number from 1 to 65,536.",
            "/x/config.json: hidden_size ist 3,5; möglich ist nur: eine ganze Zahl von 1 bis 65.536.",
        ),
        (
            "/x/a.gguf is damaged or cut off: it ends inside its header. Download the file again.",
            "/x/a.gguf ist beschädigt oder abgeschnitten: Sie endet mitten in ihrem Kopf. Lade die Datei noch "
            "einmal herunter.",
        ),
        (
            "/x/config.json cannot be read: [Errno 13] Permission denied: '/x/config.json'. Download the file again.",
            "/x/config.json lässt sich nicht lesen: [Errno 13] keine Berechtigung: '/x/config.json'. Lade die "
            "Datei noch einmal herunter.",
        ),
        (
            "The disk is full, so this is not saved yet. Free some space on the disk that holds /x. The engine "
            "was closed.",
            "Die Platte ist voll, darum ist dies noch nicht gespeichert. Schaffe Platz auf der Platte mit /x. "
            "Die Engine wurde geschlossen.",
        ),
        (
            "Llama ist nicht verfügbar. The folder /x. y holds no config.json. Choose the folder of a model in "
            "Hugging Face layout.",
            "Llama ist nicht verfügbar. Der Ordner /x. y enthält keine config.json. Wähle den Ordner eines "
            "Modells, wie Hugging Face ihn anlegt.",
        ),
        (
            "“web”: npx web ended with exit code 1.\nIt said last:\nError: boom\nIt wrote something that is no "
            "message: hi",
            "„web“: npx web hat sich mit dem Code 1 beendet.\nZuletzt schrieb er:\nError: boom\nEr schrieb "
            "etwas, das keine Nachricht ist: hi",
        ),
        (
            "This model needs 12.5 GB of memory, and 3.2 GB are free. Close other programs or chats, or choose "
            "a smaller model or dtype.",
            "Dieses Modell braucht 12,5 GB Speicher, und 3,2 GB sind frei. Schließe andere Programme oder "
            "Chats, oder wähle ein kleineres Modell oder einen kleineren Datentyp.",
        ),
        (
            "ChatGPT – chats added: 3, with new messages: 2, messages: 14.",
            "ChatGPT – Chats hinzugefügt: 3, mit neuen Nachrichten: 2, Nachrichten: 14.",
        ),
        (
            "a.gguf of owner/repo could not be fetched from hub.example: the server is busy (503). What is "
            "there is kept. Look after the network, then resume the download.",
            "a.gguf von owner/repo ließ sich nicht von hub.example holen: Der Server ist beschäftigt (503). Was "
            "da ist, bleibt. Sieh nach dem Netz, und setze dann den Download fort.",
        ),
        (
            "“a text” is not running.",
            "„a text“ läuft nicht.",
        ),
        (
            "x is missing",
            "x is missing",
        ),
        (
            "Somebody says a text, and true or false.",
            "Somebody says a text, and true or false.",
        ),
    ],
)
def test_sentences_in_sentences(english: str, german: str):
    assert problem_text(english) == german


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.one_of(st.sampled_from(TEMPLATES), st.text(), st.sampled_from((". ", ": ", ", ", "\n"))), max_size=12)
)
def test_any_text_comes_back(parts: list[str]):
    assert isinstance(problem_text("".join(parts)), str)


PIECES = st.sampled_from(
    ("Qx", "7", " ", ".", "? ", ". ", ": ", "; ", ", ", " – ", "\n", "“", "”", "(", ")", "{0}", "\0")
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.text(), st.lists(PIECES, max_size=30).map("".join)))
def test_a_text_that_is_no_sentence_of_ours_comes_back_as_it_is(text: str):
    assume(text not in TEMPLATES)  # Hypothesis draws texts that stand in our source, too
    assert problem_text(text) == text


def test_the_longest_of_all_takes_no_time():
    ours = "".join(f"{filled(template)}. " for template in TEMPLATES)[:6000]
    hostile = (part * (6000 // len(part)) for part in ("it: a, ", "a. ", "/x is missing. ", "\nIt said last:\n", "a\n"))
    for text in (ours, *hostile):
        began = time.process_time()
        problem_text(text)
        assert time.process_time() - began < 0.5
    assert problem_text("x" * 100_000 + " is missing.") == "x" * 100_000 + " is missing."


def test_in_english_nothing_is_read(monkeypatch):
    monkeypatch.setattr(problem_words, "_file", None)
    monkeypatch.setattr(problem_words, "_read", pytest.fail)
    assert problem_text("The engine was closed.") == "The engine was closed."


def test_without_its_file_it_is_english(monkeypatch, tmp_path):
    for content in (None, b"{", b"\xff"):
        file = tmp_path / f"{content}.json"
        if content is not None:
            file.write_bytes(content)
        monkeypatch.setattr(problem_words, "_file", file)
        assert problem_text("The engine was closed.") == "The engine was closed."
