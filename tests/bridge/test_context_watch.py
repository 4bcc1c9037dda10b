"""How full the context is, asked of a scripted engine whose tokens are words."""

import pytest
from pytestqt.qtbot import QtBot

from llama_gui.bridge.chat_session import ChatSession
from llama_gui.chats.attachments import Attachment, Draft
from llama_gui.vocabulary import ChatSettings, ContextUse, ToolServerState
from tests.fakes.fake_tool_desk import clock_desk
from tests.fakes.scripted_engine import ScriptedEngine
from tests.fakes.tiny_pixtral import picture


class Uses:
    """What was measured, newest last."""

    def __init__(self, session: ChatSession) -> None:
        self.uses: list[ContextUse | None] = []
        session.context.measured.connect(self.uses.append)

    def last(self) -> ContextUse | None:
        return self.uses[-1] if self.uses else ContextUse(-1, -1)


@pytest.fixture
def session(make_host, make_book) -> ChatSession:
    return make_book(make_host(ScriptedEngine(max_context=100))).new_chat()


def test_conversation_draft_and_files_are_measured_together(qtbot: QtBot, session: ChatSession, ask):
    uses = Uses(session)
    session.context.set_watched(True)
    qtbot.waitUntil(lambda: uses.last() == ContextUse(0, 100))
    session.context.set_draft(Draft("one two three"))
    qtbot.waitUntil(lambda: uses.last() == ContextUse(3, 100))
    session.context.set_draft(Draft())
    ask(session, "one two three")
    qtbot.waitUntil(lambda: uses.last() == ContextUse(6, 100))
    session.set_settings(ChatSettings("Be kind."))
    qtbot.waitUntil(lambda: uses.last() == ContextUse(8, 100))
    with qtbot.waitSignal(session.context.counted) as counted:
        session.context.set_draft(Draft("why", (Attachment("a", "four five", 9),)))
    assert counted.args == [Attachment("a", "four five", 9), 2]
    qtbot.waitUntil(lambda: uses.last().tokens > 12)
    session.context.set_draft(Draft("one"), session.path()[0].id)  # an edit stands in the place of what was said
    qtbot.waitUntil(lambda: uses.last() == ContextUse(3, 100))


def test_files_that_are_taken_away_are_not_kept_in_memory(qtbot: QtBot, session: ChatSession):
    first, second = Attachment("a", "four five", 9), Attachment("b", "six", 3)
    with qtbot.waitSignal(session.context.counted):
        session.context.set_draft(Draft("why", (first,)))
    with qtbot.waitSignal(session.context.counted):
        session.context.set_draft(Draft("why", (second,)))
    assert [file for _, file in session.context._counts] == [second]
    session.context.set_draft(Draft("why", (first,)))
    session.context.set_draft(Draft())  # before it is counted
    session.context.set_draft(Draft("why", (second,)))
    with qtbot.waitSignal(session.context.counted, check_params_cb=lambda file, _tokens: file == second):
        pass
    assert [file for _, file in session.context._counts] == [second]


def test_an_answer_is_counted_as_it_is_written(qtbot: QtBot, make_host, make_book):
    engine = ScriptedEngine({"go": ["word "] * 60}, tokens_per_second=100, max_context=100)
    session = make_book(make_host(engine)).new_chat()
    uses = Uses(session)
    session.context.set_watched(True)
    session.send("go")
    qtbot.waitUntil(lambda: uses.last() is not None and uses.last().tokens > 30)
    assert session.answering
    qtbot.waitUntil(lambda: uses.last() == ContextUse(61, 100) and not session.answering)
    assert [use.tokens for use in uses.uses] == sorted(use.tokens for use in uses.uses)
    assert len(uses.uses) < 12  # a few times a second, not once a token


def test_an_answer_to_the_end_of_the_context_is_not_too_long(qtbot: QtBot, make_host, make_book):
    engine = ScriptedEngine({"go": ["word "] * 150}, tokens_per_second=100, max_context=40)
    session = make_book(make_host(engine)).new_chat()
    uses = Uses(session)
    session.context.set_watched(True)
    session.send("go")
    qtbot.waitUntil(lambda: session.answering and uses.last().tokens == 39)


def test_a_server_that_does_not_say_how_much_it_reads_has_no_meter(qtbot: QtBot, make_host, make_book):
    session = make_book(make_host(ScriptedEngine(max_context=0))).new_chat()
    uses = Uses(session)
    session.context.set_watched(True)
    qtbot.waitUntil(lambda: uses.uses == [None])
    session.context.set_draft(Draft("one two three"))
    qtbot.waitUntil(lambda: uses.uses == [None, None])


def test_many_keys_are_measured_once(qtbot: QtBot, session: ChatSession):
    uses = Uses(session)
    session.context.set_watched(True)
    for length in range(50):
        session.context.set_draft(Draft("word " * length))
    qtbot.waitUntil(lambda: uses.last() == ContextUse(49, 100))
    assert len(uses.uses) <= 2


def test_nothing_is_measured_for_a_tab_that_nobody_looks_at(qtbot: QtBot, session: ChatSession):
    uses = Uses(session)
    session.context.set_draft(Draft("one"))
    session.context.set_watched(True)
    session.context.set_watched(False)
    qtbot.wait(50)
    assert uses.uses == []


def test_without_a_model_nothing_is_known(qtbot: QtBot, make_host, make_book):
    session = make_book(make_host(ScriptedEngine(), load=False)).new_chat()
    uses = Uses(session)
    session.context.set_draft(Draft("one", (Attachment("a", "x", 1),)))
    session.context.set_watched(True)
    qtbot.waitUntil(lambda: uses.uses == [None])


def test_after_a_panic_of_the_tokenizer_it_measures_on(qtbot: QtBot, make_host, make_book, monkeypatch):
    class PanicException(BaseException):
        """As Rust's libraries raise it."""

    def panic(_request: object) -> ContextUse:
        raise PanicException("index out of bounds")

    engine = ScriptedEngine(max_context=100)
    session = make_book(make_host(engine)).new_chat()
    uses = Uses(session)
    session.context.set_watched(True)
    with monkeypatch.context() as patch:
        patch.setattr(engine, "measure", panic)
        session.context.set_draft(Draft("one"))
        qtbot.waitUntil(lambda: uses.last() is None)
    session.context.set_draft(Draft("one two"))
    qtbot.waitUntil(lambda: uses.last() == ContextUse(2, 100))


def test_an_engine_that_cannot_count_says_nothing(qtbot: QtBot, make_host, make_book):
    engine = ScriptedEngine()
    engine.measure = lambda _request: 1 / 0  # type: ignore[method-assign]
    engine.count = lambda _text: 1 / 0  # type: ignore[method-assign]
    session = make_book(make_host(engine)).new_chat()
    uses = Uses(session)
    session.context.set_watched(True)
    session.context.set_draft(Draft("one", (Attachment("a", "x", 1),)))
    qtbot.waitUntil(lambda: uses.last() is None)


# --- files that are longer than the context


LONG = Attachment(
    "long.txt", "Nothing is said here.\n\n" * 300 + "The llama is blue.\n\n" + "Nor is here.\n\n" * 300, 1
)


def fit(qtbot: QtBot, session: ChatSession, draft: Draft) -> Draft | None:
    answers: list[Draft | None] = []
    session.context.fit(draft, answers.append)
    qtbot.waitUntil(lambda: bool(answers))
    return answers[0]


def test_images_are_not_cut(qtbot: QtBot, make_host, make_book, monkeypatch: pytest.MonkeyPatch):
    session = make_book(make_host(ScriptedEngine(reads_images=True))).new_chat()
    monkeypatch.setattr(ScriptedEngine, "measure", lambda self, request: ContextUse(5000, 1000))
    uses, data = Uses(session), picture(9, 9).data
    session.context.set_watched(True)
    draft = Draft("What?", (Attachment("a.png", "", len(data), image=data),))
    session.context.set_draft(draft)
    qtbot.waitUntil(lambda: uses.last() is not None)
    assert (uses.last().is_too_long, uses.last().has_long_files) == (True, False)
    assert not session.context.needs_fitting(draft)


def test_long_files_are_cut_down_to_half_of_the_context(qtbot: QtBot, make_host, make_book):
    session = make_book(make_host(ScriptedEngine(max_context=1000))).new_chat()
    uses = Uses(session)
    session.context.set_watched(True)
    draft = Draft("Which llama is blue?", (LONG,))
    session.context.set_draft(draft)
    assert session.context.known() is None
    assert session.context.needs_fitting(draft)  # perhaps
    qtbot.waitUntil(lambda: uses.last() is not None and uses.last().has_long_files)
    assert session.context.known() == uses.last()
    assert session.context.needs_fitting(draft)
    cut = fit(qtbot, session, draft)
    assert cut is not None
    excerpt = cut.files[0].excerpt
    assert excerpt is not None
    assert "The llama is blue." in excerpt.text
    assert cut.whole() == draft
    session.context.set_draft(cut)
    qtbot.waitUntil(lambda: session.context.known() is not None and 200 < session.context.known().tokens <= 500)
    assert not session.context.needs_fitting(cut)


def test_what_can_be_read_whole_is_not_cut(qtbot: QtBot, make_host, make_book):
    session = make_book(make_host(ScriptedEngine(max_context=3000))).new_chat()
    draft = Draft("Which llama is blue?", (LONG,))
    assert fit(qtbot, session, draft) == draft
    assert not session.context.needs_fitting(Draft("short", (Attachment("a", "b", 1),)))
    assert not session.context.needs_fitting(Draft("x " * 5000))


def test_nothing_is_cut_where_it_cannot_be_counted_or_is_not_wanted(qtbot: QtBot, make_host, make_book):
    draft = Draft("Which?", (LONG,))
    unknown = make_book(make_host(ScriptedEngine(max_context=0))).new_chat()
    assert not unknown.context.needs_fitting(draft)
    assert fit(qtbot, unknown, draft) is None


def test_a_chat_that_leaves_nothing_out_cuts_nothing(session: ChatSession):
    session.set_settings(ChatSettings(overflow="error"))
    assert not session.context.needs_fitting(Draft("Which?", (LONG,)))


def test_a_question_that_is_too_long_by_itself_is_not_helped(qtbot: QtBot, session: ChatSession):
    assert fit(qtbot, session, Draft("why " * 200, (LONG,))) is None


def test_tools_take_their_part(qtbot: QtBot, make_host, make_book):
    book = make_book(make_host(ScriptedEngine(max_context=100)))
    book.tools = clock_desk()
    book.tools.setParent(book)
    session = book.new_chat()
    uses = Uses(session)
    session.context.set_watched(True)
    session.context.set_draft(Draft("one two"))
    qtbot.waitUntil(lambda: uses.last() == ContextUse(2, 100))
    session.set_tools(["clock"])
    qtbot.waitUntil(lambda: uses.last() == ContextUse(3, 100))
    book.tools.set_state("clock", ToolServerState("failed", error="It broke."))
    qtbot.waitUntil(lambda: uses.last() == ContextUse(2, 100))
