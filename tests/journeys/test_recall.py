"""Documents that serve a whole conversation: a question that follows gets the passages that fit it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QTextCursor

from llama_gui.chats.message_files import split
from llama_gui.chats.recipe import read_recipe
from llama_gui.engine.context_policy import Fitted, fit
from llama_gui.ui.chat_tab import ChatTab
from llama_gui.vocabulary import ChatSettings, ContextUse, GenerateRequest
from tests.fakes.scripted_engine import ScriptedEngine, ScriptedJob, count_words
from tests.journeys.driving import ask, shown, trigger
from tests.journeys.test_attachments import drop, names, window_of_tab


class DroppingEngine(ScriptedEngine):
    """Counts words, and leaves out the oldest turns as the engine does."""

    def measure(self, request: GenerateRequest) -> ContextUse:
        fitted = self._fitted(request)
        return ContextUse(len(fitted.token_ids), self.info.max_context, fitted.dropped_messages)

    def submit(self, request: GenerateRequest, *callbacks: Any) -> ScriptedJob:
        sent = list(request.messages or ())[self._fitted(request).dropped_messages :]
        return super().submit(replace(request, messages=sent), *callbacks)

    def _fitted(self, request: GenerateRequest) -> Fitted:
        if request.overflow == "error":
            return Fitted([0] * count_words(request))
        return fit(
            list(request.messages or ()),
            lambda messages: [0] * count_words(GenerateRequest(messages=messages)),
            lambda message: len(message.content.split()),
            self.info.max_context,
            request.max_tokens,
        )


FACTS = {100: "The blue llama lives in Köln.", 300: "Quokkas eat grass.", 500: "Wombats dig.", 700: "Emus run."}


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "book.txt"
    lines = [FACTS.get(number, "many words about nothing at all") for number in range(900)]
    path.write_text("\n\n".join(lines), encoding="utf-8")
    return path


def asked_with(qtbot, tab: ChatTab, text: str) -> str:
    """Ask, wait for the answer, and see what the question was for the model."""
    before = len(tab.session.path())
    ask(qtbot, tab, text)
    qtbot.waitUntil(lambda: len(tab.session.path()) == before + 2 and not tab.session.answering)
    return tab.session.path()[-2].content


@pytest.fixture
def tab(open_window, book: Path, qtbot) -> ChatTab:
    """A chat about the llama of a book that does not fit."""
    tab = open_window(DroppingEngine(max_context=2000)).deck.current()
    drop(tab, book)
    qtbot.waitUntil(lambda: names(tab) == ["book.txt"])
    assert "lives in Köln" in asked_with(qtbot, tab, "Where does the llama live?")
    return tab


def test_a_follow_up_gets_what_fits_it_and_what_was_sent_stays(tab: ChatTab, qtbot):
    first = tab.session.path()[0]
    content = asked_with(qtbot, tab, "What do quokkas eat?")
    assert "Quokkas eat grass." in content
    assert "Köln" not in content
    assert content.startswith("From the file “book.txt”, 1 of its ")
    assert tab.session.path()[0] == first
    engine = tab.session._host.models.engine_of(tab.session.model)
    assert isinstance(engine, ScriptedEngine)
    assert [message.content for message in engine.requests[-1].messages or ()][::2] == [first.content, content]
    assert asked_with(qtbot, tab, "Is the grass that quokkas eat green?") == "Is the grass that quokkas eat green?"
    assert asked_with(qtbot, tab, "Thank you!") == "Thank you!"


def test_what_went_along_is_said_and_can_be_read(tab: ChatTab, qtbot):
    asked_with(qtbot, tab, "What do quokkas eat?")
    assert "book.txt  1 passage ▸" in shown(tab)
    assert shown(tab).count("Quokkas eat grass.") == 1  # in the answer, which repeats what it reads
    tab.transcript.anchorClicked.emit(_command(tab, "sources"))
    assert shown(tab).count("Quokkas eat grass.") == 2
    trigger(window_of_tab(tab), "sources")
    assert shown(tab).count("Quokkas eat grass.") == 1


def _command(tab: ChatTab, verb: str) -> QUrl:
    document = tab.transcript.document()
    cursor = QTextCursor(document)
    while not cursor.atEnd():
        cursor.movePosition(QTextCursor.MoveOperation.NextCharacter)
        if f":{verb}:" in cursor.charFormat().anchorHref():
            return QUrl(cursor.charFormat().anchorHref())
    raise AssertionError(verb)


def test_an_answer_that_is_run_again_has_the_same_passages(tab: ChatTab, qtbot):
    content = asked_with(qtbot, tab, "What do quokkas eat?")
    trigger(window_of_tab(tab), "run_again")
    qtbot.waitUntil(lambda: tab.session.versions().get(tab.session.path()[-1].id) == (2, 2))
    qtbot.waitUntil(lambda: not tab.session.answering)
    assert tab.session.path()[-2].content == content


def test_another_question_in_its_place_gets_its_own(tab: ChatTab, qtbot):
    asked_with(qtbot, tab, "What do quokkas eat?")
    trigger(window_of_tab(tab), "edit_last")
    assert (tab.composer.text(), names(tab)) == ("What do quokkas eat?", [])
    tab.composer.set_text("")
    ask(qtbot, tab, "What of wombats?")
    qtbot.waitUntil(lambda: "Wombats dig." in tab.session.path()[-1 - len(tab.session.path()) % 2 - 1].content)
    qtbot.waitUntil(lambda: not tab.session.answering)
    assert "Quokkas" not in tab.session.path()[2].content
    words, files = split(tab.session.path()[2].content, tab.session.path()[2].attachments)
    assert (words, files) == ("What of wombats?", ())


def test_when_the_document_is_left_out_its_passages_come_again(tab: ChatTab, qtbot):
    for number in range(3):
        asked_with(qtbot, tab, f"{number} " + "blah " * 250)
    assert tab.session.last_result is not None
    content = asked_with(qtbot, tab, "Where does the blue llama live?")
    assert "lives in Köln" in content
    asked = tab.session.context
    qtbot.waitUntil(lambda: asked.known() is not None)
    use = asked.known()
    assert use is not None
    assert use.dropped_messages > 0


def test_where_nothing_may_be_left_out_nothing_is(tab: ChatTab, qtbot):
    tab.session.set_settings(ChatSettings(overflow="error"))
    asked_with(qtbot, tab, "blah " * 520)
    assert asked_with(qtbot, tab, "What do quokkas eat?") == "What do quokkas eat?"


def test_a_queued_question_gets_its_passages_in_its_turn(open_window, book: Path, qtbot):
    engine = DroppingEngine({"go": ["word "] * 240}, tokens_per_second=400, max_context=2000)
    tab = open_window(engine).deck.current()
    drop(tab, book)
    qtbot.waitUntil(lambda: names(tab) == ["book.txt"])
    asked_with(qtbot, tab, "Where does the llama live?")
    ask(qtbot, tab, "go")
    qtbot.waitUntil(lambda: len(tab.session.path()) == 4 and tab.composer.draft().is_empty)
    ask(qtbot, tab, "What do quokkas eat?")
    ask(qtbot, tab, "What of wombats?")
    qtbot.waitUntil(lambda: len(tab.session.path()) == 8 and not tab.session.answering)
    assert "Quokkas eat grass." in tab.session.path()[4].content
    assert "Wombats dig." in tab.session.path()[6].content


def test_a_model_that_counts_nothing_gets_some(tab: ChatTab, qtbot, monkeypatch):
    monkeypatch.setattr("llama_gui.bridge.document_recall.Counts", type("Nobody", (), {}))
    content = asked_with(qtbot, tab, "What do quokkas eat?")
    assert "Quokkas eat grass." in content
    assert len(content) < 4000
    asked_with(qtbot, tab, "blah " * 300)
    assert asked_with(qtbot, tab, "What of wombats?") == "What of wombats?"  # by the characters it is nearly full


def test_what_was_sent_is_found_in_the_cache(open_starter, book: Path, qtbot):
    tab = open_starter().deck.current()
    drop(tab, book)
    qtbot.waitUntil(lambda: names(tab) == ["book.txt"])
    asked_with(qtbot, tab, "Where does the llama live?")
    assert "Quokkas eat grass." in asked_with(qtbot, tab, "What do quokkas eat?")
    first, second = (read_recipe(node.recipe).usage for node in tab.session.path()[1::2])
    assert second.cached_tokens >= first.prompt_tokens
    assert second.prompt_tokens - second.cached_tokens < 2048 // 8 + 50
