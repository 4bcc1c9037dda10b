"""What a message will stand behind is read while it is written; asked of a scripted engine."""

import pytest
from pytestqt.qtbot import QtBot

from llama_gui.bridge.chat_book import ChatBook
from llama_gui.bridge.chat_session import ChatSession
from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.read_ahead import LEAST_LETTERS
from llama_gui.chats.attachments import Attachment, Draft
from llama_gui.vocabulary import ChatSettings, GenerateRequest, Image, LoadOptions, Message, is_remote
from tests.fakes.scripted_engine import ScriptedEngine
from tests.fakes.tiny_pixtral import picture

LONG = "word " * LEAST_LETTERS
AHEAD = "…"
FILE = Attachment("a.txt", LONG, len(LONG))
PAUSE_MS = 50


@pytest.fixture(autouse=True)
def _shorter_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test writes in no time, so that it need not wait as long as somebody who looks for the next key."""
    monkeypatch.setattr("llama_gui.bridge.read_ahead.PAUSE_MS", PAUSE_MS)


class Desk:
    """A chat whose tab is in front, and what its engine was asked."""

    def __init__(self, qtbot: QtBot, host: EngineHost, book: ChatBook, engine: ScriptedEngine) -> None:
        self.qtbot, self.host, self.book, self.engine = qtbot, host, book, engine
        self.session: ChatSession = book.new_chat()
        self.session.context.set_watched(True)

    def ask(self, text: str, *files: Attachment) -> None:
        """Send it; the composer is empty then."""
        self.session.send(text, files)
        self.session.note_draft(Draft())
        self.qtbot.waitUntil(lambda: not self.session.answering)

    def write(self, text: str = "why", *files: Attachment) -> None:
        """Write it key by key."""
        for end in range(1, len(text) + 1):
            self.session.note_draft(Draft(text[:end], files))

    def ahead(self) -> list[str]:
        """What was read ahead: the last message of each request."""
        texts = [request.messages[-1].content for request in self.engine.requests if request.messages]
        return [text for text in texts if text.endswith(AHEAD)]

    def wait_for_reading(self, times: int) -> None:
        self.qtbot.waitUntil(lambda: len(self.ahead()) == times)

    def is_reading(self) -> bool:
        return self.host.is_reading_ahead(self.session.model)

    def nothing_is_read(self, times: int = 0) -> bool:
        self.qtbot.wait(3 * PAUSE_MS)
        return len(self.ahead()) == times and not self.is_reading()


@pytest.fixture
def make(qtbot: QtBot, make_host, make_book):
    def make(*more: ScriptedEngine, **options) -> Desk:
        engine = ScriptedEngine(**options)
        host = make_host(engine, *more)
        return Desk(qtbot, host, make_book(host), engine)

    return make


def test_the_conversation_is_read_while_a_message_is_written(qtbot: QtBot, make):
    desk = make()
    desk.ask(LONG)
    desk.write("why is that")
    desk.wait_for_reading(1)
    qtbot.waitUntil(lambda: not desk.is_reading())
    desk.ask("why is that")
    first, ahead, last = desk.engine.requests
    assert ahead.messages[:-1] == last.messages[:-1]
    assert ahead.messages[0] == first.messages[0]
    assert (ahead.cache_key, ahead.now, ahead.thinking) == (last.cache_key, last.now, last.thinking)
    assert [node.content.strip() for node in desk.session.path()][2:] == ["why is that", "why is that"]


def test_files_are_read_before_the_question_is_there(qtbot: QtBot, make):
    desk = make()
    desk.session.note_draft(Draft("", (FILE,)))
    desk.wait_for_reading(1)
    qtbot.waitUntil(lambda: not desk.is_reading())
    desk.ask("why", FILE)
    ahead, asked = (request.messages[-1].content for request in desk.engine.requests)
    assert LONG.strip() in ahead
    assert ahead.removesuffix(AHEAD) == asked.removesuffix("why")


@pytest.mark.parametrize("reads_images", [True, False])
def test_an_image_is_read_before_the_question_is_there(qtbot: QtBot, make, reads_images: bool):
    data = picture(30, 20).data
    desk = make(reads_images=reads_images)
    desk.session.note_draft(Draft("", (Attachment("a.png", "", len(data), image=data),)))
    if not reads_images:
        assert desk.nothing_is_read()
        return
    desk.wait_for_reading(1)
    (ahead,) = desk.engine.requests
    assert ahead.messages[-1] == Message("user", AHEAD, images=[Image(data)])


def test_a_file_of_more_letters_than_the_model_reads_tokens_is_read_when_it_is_measured(qtbot: QtBot, make):
    desk = make(max_context=3 * LEAST_LETTERS)
    assert len(LONG) > 3 * LEAST_LETTERS
    desk.session.note_draft(Draft("", (FILE,)))
    desk.wait_for_reading(1)
    assert LONG.strip() in desk.ahead()[0]


def test_it_begins_when_an_answer_has_ended(qtbot: QtBot, make):
    desk = make(hang_at=1, hang_on=["slow"])
    other = desk.book.new_chat()
    other.send("slow")
    qtbot.waitUntil(lambda: len(desk.engine.requests) == 1)
    desk.session.note_draft(Draft("", (FILE,)))
    qtbot.waitUntil(lambda: desk.session.context.known() is not None)
    assert desk.nothing_is_read()
    other.stop()
    desk.wait_for_reading(1)


def test_what_was_sent_is_not_read_again(qtbot: QtBot, make):
    """The composer is emptied when the message is on disk, and then another tab may be in front."""
    desk = make()
    desk.session.note_draft(Draft("", (FILE,)))
    desk.wait_for_reading(1)
    desk.session.send("why", [FILE])
    desk.session.context.set_watched(False)
    desk.session.note_draft(Draft())
    qtbot.waitUntil(lambda: not desk.session.answering)
    desk.session.context.set_watched(True)
    qtbot.waitUntil(lambda: desk.session.context.known() is not None)
    assert desk.nothing_is_read(1)


def test_it_is_read_once(qtbot: QtBot, make):
    desk = make()
    desk.ask(LONG)
    desk.write()
    desk.wait_for_reading(1)
    qtbot.waitUntil(lambda: not desk.is_reading())
    desk.write("why, and how")
    assert desk.nothing_is_read(1)
    desk.session.set_settings(ChatSettings("Be kind."))
    desk.write()
    desk.wait_for_reading(2)
    assert desk.engine.requests[-1].messages[0].content == "Be kind."


def test_it_gives_way_to_a_question(qtbot: QtBot, make):
    desk = make(hang_at=0, hang_on=[AHEAD])
    desk.ask(LONG)
    desk.write()
    desk.wait_for_reading(1)
    desk.wait_for_reading(1)
    assert desk.host.answers_of(desk.session.model) == 0
    other = desk.book.new_chat()
    other.send("quick")
    qtbot.waitUntil(lambda: not other.answering and not desk.is_reading())
    desk.write("why not")  # and is begun again
    desk.wait_for_reading(2)
    desk.session.send("why not")
    qtbot.waitUntil(lambda: not desk.session.answering and not desk.is_reading())


def test_it_gives_way_to_a_model_that_is_loaded(qtbot: QtBot, make):
    desk = make(ScriptedEngine(), hang_at=0, hang_on=[AHEAD])
    desk.ask(LONG)
    desk.write()
    desk.wait_for_reading(1)
    with qtbot.waitSignal(desk.host.loaded):
        desk.host.reload(desk.session.model, LoadOptions(dtype="int8"))
    qtbot.waitUntil(lambda: not desk.is_reading())


def test_a_chat_that_is_closed_reads_no_more(qtbot: QtBot, make):
    desk = make(hang_at=0, hang_on=[AHEAD])
    desk.ask(LONG)
    desk.write()
    desk.wait_for_reading(1)
    model = desk.session.model
    desk.session.close()
    qtbot.waitUntil(lambda: not (desk.host.is_reading_ahead(model) or desk.host.is_asked))
    assert desk.nothing_is_read(1)


def test_clients_of_the_server_are_not_slowed_down(qtbot: QtBot, make):
    desk = make(hang_at=0, hang_on=[AHEAD, "from afar"])
    desk.ask(LONG)
    desk.host.expect_guests(True)
    desk.write()
    desk.wait_for_reading(1)
    guest = desk.engine.submit(GenerateRequest(messages=[Message("user", "from afar")]))
    qtbot.waitUntil(lambda: not desk.is_reading())
    desk.write("while it is answered")
    assert desk.nothing_is_read(1)
    guest.cancel()


@pytest.mark.parametrize("why", ["short", "answering", "edited", "background", "cut", "taken back"])
def test_nothing_is_read_where_it_would_not_help(qtbot: QtBot, make, why: str):
    desk = make(max_context=3 * LEAST_LETTERS)
    if why == "short":
        desk.write("w" * (LEAST_LETTERS + 1))
        assert desk.nothing_is_read()
        return
    if why == "cut":  # passages will be chosen by the question
        desk.write("why", Attachment("a.txt", 9 * LONG, 9 * len(LONG)))
        assert desk.nothing_is_read()
        return
    desk.ask(LONG)
    if why == "answering":
        desk.engine._hang_at, desk.engine._hang_on = 0, ["slow"]
        other = desk.book.new_chat()
        other.send("slow")
        qtbot.waitUntil(lambda: len(desk.engine.requests) == 2)
        desk.write()
        assert desk.nothing_is_read()
        desk.session.note_draft(Draft())
        other.stop()
        qtbot.waitUntil(lambda: not other.answering)
    elif why == "edited":
        desk.session.note_draft(Draft("why"), desk.session.path()[0].id)
    elif why == "background":
        desk.session.context.set_watched(False)
        desk.write()
        desk.session.context.set_watched(True)
    else:
        desk.write()
        desk.session.note_draft(Draft())
    assert desk.nothing_is_read()


def test_what_cannot_be_read_is_tried_once(qtbot: QtBot, make):
    desk = make(max_context=3 * LEAST_LETTERS)
    desk.ask(LONG)
    desk.ask(LONG[: len(LONG) // 2])
    said: list[str] = []
    desk.session.failed.connect(said.append)
    with qtbot.waitSignal(desk.host.submit_failed):
        desk.write()
    desk.write("why not")
    assert desk.nothing_is_read()
    assert not said


def test_no_remote_server_is_sent_what_is_not_asked(qtbot: QtBot, make_host, make_book):
    engine = ScriptedEngine()
    host = make_host(engine)
    desk = Desk(qtbot, host, make_book(host), engine)
    desk.session.set_settings(ChatSettings(model="server#model"))
    with qtbot.waitSignal(host.loaded):
        host.models.load(desk.session.model)
    assert is_remote(desk.session.model)
    assert host.info_of(desk.session.model) is not None
    desk.session.note_draft(Draft("why", (FILE,)))
    assert desk.nothing_is_read()


def test_a_model_that_is_not_in_memory_is_loaded_with_the_first_key(qtbot: QtBot, make):
    again = ScriptedEngine()
    desk = make(again)
    desk.ask(LONG)
    desk.host.models.unload(desk.session.model)
    qtbot.waitUntil(lambda: not desk.host.models.loaded_keys())
    desk.engine = again
    with qtbot.waitSignal(desk.host.loaded):
        desk.write("w")
    desk.wait_for_reading(1)  # without another key


def test_a_model_that_goes_while_a_message_is_written_is_loaded_again(qtbot: QtBot, make):
    desk = make(ScriptedEngine(), ScriptedEngine())
    desk.write("w")
    for text in ("wh", "why"):
        qtbot.wait(3 * PAUSE_MS)
        desk.host.models.unload(desk.session.model)
        qtbot.waitUntil(lambda: not desk.host.models.loaded_keys())
        with qtbot.waitSignal(desk.host.loaded):
            desk.session.note_draft(Draft(text))


def test_a_model_for_which_there_is_no_room_is_tried_once_for_a_message(qtbot: QtBot, make, monkeypatch):
    desk = make()
    model = desk.session.model
    desk.host.models.unload(model)
    qtbot.waitUntil(lambda: not desk.host.models.loaded_keys())
    prepared: list[str] = []
    monkeypatch.setattr(desk.host.models, "prepare", prepared.append)
    desk.write("why")
    qtbot.waitUntil(lambda: prepared == [model])
    desk.write("why not")
    qtbot.wait(3 * PAUSE_MS)
    assert prepared == [model]
    desk.session.note_draft(Draft())
    desk.write("so")
    qtbot.waitUntil(lambda: prepared == [model, model])


def test_a_model_is_not_loaded_for_a_chat_that_nobody_sees_or_for_a_server(qtbot: QtBot, make):
    desk = make()
    desk.host.models.unload(desk.session.model)
    qtbot.waitUntil(lambda: not desk.host.models.loaded_keys())
    desk.session.context.set_watched(False)
    desk.write()
    desk.session.context.set_watched(True)
    desk.session.set_settings(ChatSettings(model="server#model"))
    desk.write("why")
    qtbot.wait(3 * PAUSE_MS)
    assert not desk.host.models.is_loading
    assert not desk.host.models.loaded_keys()


def test_who_writes_is_told_to_those_who_read_its_folder(make_book, qtbot: QtBot, tmp_path):
    session = make_book().new_chat()
    session.set_folder(str(tmp_path))
    told: list[str] = []
    session.folders.question_expected.connect(told.append)
    session.note_draft(Draft("w"))  # nobody looks: it was written at another time
    assert told == []
    session.context.set_watched(True)
    session.note_draft(Draft("w"))
    session.note_draft(Draft())
    assert told == [str(tmp_path)]
