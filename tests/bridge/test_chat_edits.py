"""Versions, edits, queues, branches that go and come back, forks, and answers that go on or are made again."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from llama_gui.bridge.chat_book import ChatBook
from llama_gui.bridge.chat_session import ChatSession
from llama_gui.chats.attachments import Attachment, Draft
from llama_gui.chats.message_files import split
from llama_gui.chats.recipe import read_recipe
from llama_gui.chats.tree import Node
from llama_gui.engine import Engine
from llama_gui.vocabulary import ChatSettings, SamplingParams
from tests.benchmarks.chats import STARTER
from tests.bridge.conftest import MakeBook, MakeHost
from tests.fakes.scripted_engine import ScriptedEngine

Ask = Callable[[ChatSession, str], None]


def texts(session: ChatSession) -> list[str]:
    return [node.content for node in session.path()]


def settle(qtbot: QtBot, session: ChatSession) -> None:
    qtbot.waitUntil(lambda: session.is_settled)


def stored(qtbot: QtBot, book: ChatBook, chat_id: str) -> list[Node]:
    """The nodes as they are on disk, after all that is on the lane by now."""
    got: list[list[Node]] = []
    book._store.run(lambda store: store.nodes(chat_id), got.append)
    qtbot.waitUntil(lambda: bool(got))
    return got[0]


@pytest.fixture
def session(make_host: MakeHost, make_book: MakeBook, ask: Ask) -> ChatSession:
    """Two questions, each answered with its own words."""
    session = make_book(make_host(ScriptedEngine())).new_chat()
    ask(session, "one")
    ask(session, "two")
    return session


def test_an_edited_message_is_answered_anew_and_the_old_one_is_a_version(qtbot: QtBot, session: ChatSession):
    old = session.path()[2]
    session.edit(old.id, "three")
    qtbot.waitUntil(lambda: not session.answering)
    assert texts(session) == ["one", "one", "three", "three"]
    assert session.versions() == {session.path()[2].id: (2, 2)}
    session.edits.show_version(session.path()[2].id, -1)
    assert texts(session) == ["one", "one", "two", "two"]
    session.edits.show_version(old.id, -1)  # there is none before it
    assert texts(session) == ["one", "one", "two", "two"]
    session.edits.show_version(old.id, 1)
    assert texts(session)[2:] == ["three", "three"]


def test_the_first_message_can_be_edited(qtbot: QtBot, session: ChatSession):
    session.edit(session.path()[0].id, "other")
    qtbot.waitUntil(lambda: not session.answering)
    assert texts(session) == ["other", "other"]


def test_an_edited_answer_is_a_version_and_what_follows_builds_on_it(qtbot: QtBot, session: ChatSession, ask: Ask):
    answer = session.path()[1]
    session.edit(answer.id, "ONE")
    assert texts(session) == ["one", "ONE"]
    assert session.path()[1].recipe == ""
    ask(session, "next")
    assert texts(session) == ["one", "ONE", "next", "next"]
    request = session._host.models.engine_of(session.model).requests[-1]  # type: ignore[union-attr]
    assert [message.content for message in request.messages] == ["one", "ONE", "next"]
    settle(qtbot, session)


def test_the_shown_path_comes_back(qtbot: QtBot, make_host: MakeHost, make_book: MakeBook, ask: Ask):
    book = make_book(make_host(ScriptedEngine({"hi": ["first"]})))
    session = book.new_chat()
    ask(session, "hi")
    session.regenerate()
    qtbot.waitUntil(lambda: not session.answering)
    session.edits.show_version(session.path()[1].id, -1)
    first = session.path()[1].id
    settle(qtbot, session)
    book.close_chat(session.chat_id)
    again = book.open_chat(session.chat_id)
    with qtbot.waitSignal(again.changed):
        pass
    assert again.path()[1].id == first
    assert again.versions() == {first: (1, 2)}


def test_a_message_that_follows_an_answer_edited_a_moment_ago(qtbot: QtBot, session: ChatSession, ask: Ask):
    for text in ("ONE", "UNO", "EINS"):  # while the first is written, the others wait
        session.edit(session.path()[1].id, text)
    ask(session, "next")
    assert texts(session) == ["one", "EINS", "next", "next"]
    settle(qtbot, session)


def test_regenerating_an_answer_in_the_middle(qtbot: QtBot, session: ChatSession):
    session.regenerate(session.path()[1].id)
    qtbot.waitUntil(lambda: not session.answering)
    assert texts(session) == ["one", "one"]
    assert session.versions() == {session.path()[1].id: (2, 2)}


def test_queued_messages_follow_one_after_the_other(qtbot: QtBot, make_host: MakeHost, make_book: MakeBook):
    session = make_book(make_host(ScriptedEngine(tokens_per_second=50))).new_chat()
    queues: list[list[str]] = []
    session.queue.changed.connect(lambda: queues.append([draft.text for draft in session.queue.drafts()]))
    session.queue_message("a b c d e f")  # nothing runs: it is sent at once
    for text in ("second", "third", "fourth", " "):
        session.queue_message(text)
    assert queues[-1] == ["second", "third", "fourth"]
    accepted: list[None] = []
    session.accepted.connect(lambda: accepted.append(None))
    assert session.queue.take(1) == Draft("third")
    qtbot.waitUntil(lambda: len(session.path()) == 6 and not session.answering)
    assert texts(session)[2::2] == ["second", "fourth"]
    assert queues[-1] == []
    assert len(accepted) == 1  # of the first: what is typed while others are sent stays in the composer
    settle(qtbot, session)


def test_a_stopped_answer_pauses_the_queue_until_the_user_says_so(
    qtbot: QtBot, make_host: MakeHost, make_book: MakeBook
):
    session = make_book(make_host(ScriptedEngine(tokens_per_second=50))).new_chat()
    session.send("one " * 500)
    qtbot.waitUntil(lambda: len(session.path()) == 2 and session.path()[1].content.startswith("one one"))
    session.queue_message("second", (Attachment("a.txt", "word", 4),))
    session.queue_message("third")
    session.stop()
    qtbot.waitUntil(lambda: not session.answering)
    assert session.queue.is_paused
    assert [draft.text for draft in session.queue.drafts()] == ["second", "third"]
    session.send_queued()
    qtbot.waitUntil(lambda: len(session.path()) == 6 and not session.answering)
    assert split(session.path()[2].content, session.path()[2].attachments)[0] == "second"
    assert not session.queue.is_paused
    settle(qtbot, session)


def test_a_queued_message_that_is_refused_pauses_the_queue(qtbot: QtBot, make_host: MakeHost, make_book: MakeBook):
    session = make_book(make_host(ScriptedEngine(tokens_per_second=50, max_context=8))).new_chat()
    session.send("one two")
    session.queue_message("a message of far too many words for it")
    session.queue_message("third")
    qtbot.waitUntil(lambda: session.queue.is_paused)
    assert session.path()[-1].status == "failed"
    assert [draft.text for draft in session.queue.drafts()] == ["third"]
    settle(qtbot, session)


def test_files_go_along_and_stay_with_an_edited_message(qtbot: QtBot, make_host: MakeHost, make_book: MakeBook):
    session = make_book(make_host(ScriptedEngine())).new_chat()
    file = Attachment("notes.txt", "word", 4)
    session.send("", (file,))
    qtbot.waitUntil(lambda: len(session.path()) == 2 and not session.answering)
    asked = session.path()[0]
    assert session.title == "notes.txt"
    assert split(asked.content, asked.attachments) == ("", (file,))
    session.edit(asked.id, "What is it?", (file,))
    qtbot.waitUntil(lambda: session.path()[0].id != asked.id and not session.answering)
    asked = session.path()[0]
    assert split(asked.content, asked.attachments) == ("What is it?", (file,))
    settle(qtbot, session)


def test_a_branch_goes_and_comes_back(qtbot: QtBot, session: ChatSession):
    settle(qtbot, session)
    second = session.path()[2].id
    with qtbot.waitSignal(session.edits.branch_deleted) as told:
        session.edits.delete_branch(second)
    assert told.args == [second]
    assert texts(session) == ["one", "one"]
    with qtbot.waitSignal(session.changed):
        session.edits.restore_branch(second)
    assert texts(session) == ["one", "one", "two", "two"]


def test_deleting_one_version_shows_the_other(qtbot: QtBot, session: ChatSession):
    session.edit(session.path()[2].id, "three")
    qtbot.waitUntil(lambda: session.is_settled)
    with qtbot.waitSignal(session.edits.branch_deleted):
        session.edits.delete_branch(session.path()[2].id)
    assert texts(session) == ["one", "one", "two", "two"]
    assert session.versions() == {}


def test_a_fork_is_a_chat_of_its_own(qtbot: QtBot, session: ChatSession, ask: Ask):
    session.set_settings(ChatSettings("Be kind."))
    settle(qtbot, session)
    book = session.parent()
    assert isinstance(book, ChatBook)
    book.shelving.move(session.chat_id, "Home")
    with qtbot.waitSignal(session.edits.forked) as told:
        session.edits.fork(session.path()[1].id, "Other way", session.settings)
    qtbot.waitUntil(lambda: [chat.folder for chat in book.summaries()] == ["Home", "Home"])
    fork = book.open_chat(told.args[0])
    with qtbot.waitSignal(fork.changed):
        pass
    assert texts(fork) == ["one", "one"]
    assert (fork.title, fork.settings.system_prompt) == ("Other way", "Be kind.")
    ask(fork, "elsewhere")
    assert texts(session) == ["one", "one", "two", "two"]
    assert not {node.id for node in fork.path()} & {node.id for node in session.path()}
    settle(qtbot, fork)


def test_a_fork_that_is_there_when_the_store_is_closed_opens_no_tab(qtbot: QtBot, session: ChatSession):
    settle(qtbot, session)
    told: list[str] = []
    session.edits.forked.connect(told.append)
    session.edits.fork(session.path()[1].id, "Other way", session.settings)
    book = session.parent()
    assert isinstance(book, ChatBook)
    assert book.shutdown()
    assert told == []


def test_what_must_wait_says_so(qtbot: QtBot, make_host: MakeHost, make_book: MakeBook):
    session = make_book(make_host(ScriptedEngine(hang_at=1))).new_chat()
    session.send("one two")
    qtbot.waitUntil(lambda: len(session.path()) == 2 and bool(session.path()[1].content))
    failed: list[str] = []
    session.failed.connect(failed.append)
    asked, answer = session.path()
    session.edit(asked.id, "x")
    session.regenerate(answer.id)
    session.run_again(answer.id)
    session.go_on(answer.id)
    assert failed == ["An answer is still being written. Stop it, or wait for its end."] * 4
    session.stop()
    settle(qtbot, session)


# --- with the real engine


@pytest.fixture
def starter(make_host: MakeHost, make_book: MakeBook) -> ChatBook:
    return make_book(make_host(Engine.load(STARTER)))  # type: ignore[arg-type]


WARM = ChatSettings(sampling=SamplingParams(temperature=1.2, top_k=0), max_tokens=60)


def test_an_answer_made_again_by_its_recipe_is_the_same(qtbot: QtBot, starter: ChatBook, ask: Ask):
    session = starter.new_chat()
    session.set_settings(WARM)
    ask(session, "Tell me about tabs")
    answer = session.path()[1]
    recipe = read_recipe(answer.recipe)
    assert recipe.model
    assert recipe.sampling.seed is not None
    assert recipe.token_ids
    session.set_settings(replace(WARM, sampling=SamplingParams(temperature=0)))
    with qtbot.waitSignal(session.reproduced) as told:
        session.run_again(answer.id)
    assert told.args == [True]
    assert session.path()[1].content == answer.content
    assert session.versions() == {session.path()[1].id: (2, 2)}
    settle(qtbot, session)


def test_a_stopped_answer_goes_on_exactly(qtbot: QtBot, starter: ChatBook, ask: Ask):
    session = starter.new_chat()
    session.set_settings(replace(WARM, sampling=replace(WARM.sampling, seed=5)))
    ask(session, "Tell me about tabs")
    whole = session.path()[1].content
    session.regenerate()
    qtbot.waitUntil(lambda: len(session.path()[-1].content) > 10 or not session.answering)
    session.stop()
    qtbot.waitUntil(lambda: not session.answering)
    part = session.path()[1]
    if part.status == "stopped":  # else it was faster than we
        session.go_on(part.id)
        qtbot.waitUntil(lambda: not session.answering)
    assert session.path()[1].id == part.id
    assert session.path()[1].content == whole
    settle(qtbot, session)


def test_an_answer_of_max_tokens_goes_on_exactly_and_as_far_again(qtbot: QtBot, starter: ChatBook, ask: Ask):
    session = starter.new_chat()
    session.set_settings(replace(WARM, sampling=replace(WARM.sampling, seed=5)))
    ask(session, "Tell me about tabs")
    whole = read_recipe(session.path()[1].recipe).token_ids
    assert len(whole) > 12
    session.set_settings(replace(session.settings, max_tokens=4))
    session.regenerate()
    qtbot.waitUntil(lambda: not session.answering)
    for tokens in (4, 8):
        part = read_recipe(session.path()[1].recipe)
        assert (part.token_ids, part.finish_reason) == (whole[:tokens], "length")
        session.go_on(session.path()[1].id)
        qtbot.waitUntil(lambda: not session.answering)
    session.set_settings(replace(session.settings, max_tokens=None))
    session.go_on(session.path()[1].id)
    qtbot.waitUntil(lambda: not session.answering)
    assert read_recipe(session.path()[1].recipe).token_ids[: len(whole)] == whole
    settle(qtbot, session)


def test_an_answer_that_a_crash_broke_off_goes_on_exactly(qtbot: QtBot, starter: ChatBook, ask: Ask):
    session = starter.new_chat()
    session.set_settings(replace(WARM, sampling=replace(WARM.sampling, seed=6)))
    ask(session, "Tell me about tabs")
    answer = session.path()[1]
    settle(qtbot, session)
    recipe = read_recipe(answer.recipe)
    # What the store would hold: some tokens, and the text that they had set free.
    engine = starter._host.models.engine_of(session.model)  # type: ignore[union-attr]
    kept = recipe.token_ids[:9]
    text = engine.tokenizer.decode(kept)  # type: ignore[union-attr]
    half = recipe_json(answer.recipe, kept)
    broken = replace(answer, status="interrupted", content=text, recipe=half)
    starter._store.run(lambda store: store.save_node(broken))
    starter.close_chat(session.chat_id)
    again = starter.open_chat(session.chat_id)
    with qtbot.waitSignal(again.changed):
        pass
    again.go_on(again.path()[1].id)
    qtbot.waitUntil(lambda: not again.answering)
    assert again.path()[1].content == answer.content
    settle(qtbot, again)


def recipe_json(text: str, token_ids: tuple[int, ...]) -> str:
    from llama_gui.chats.recipe import recipe_to_json

    return recipe_to_json(replace(read_recipe(text), token_ids=token_ids))


def test_an_edited_answer_goes_on_behind_its_text(qtbot: QtBot, starter: ChatBook, ask: Ask):
    session = starter.new_chat()
    ask(session, "Tell me about tabs")
    session.edit(session.path()[1].id, "Tabs are")
    session.go_on(session.path()[1].id)
    qtbot.waitUntil(lambda: not session.answering)
    assert session.path()[1].content.startswith("Tabs are")
    assert len(session.path()[1].content) > len("Tabs are")
    assert stored(qtbot, starter, session.chat_id)[-1].content.startswith("Tabs are")
    settle(qtbot, session)


def test_what_is_written_can_go_on_from_the_disk_at_any_moment(qtbot: QtBot, starter: ChatBook):
    session = starter.new_chat()
    session.set_settings(replace(WARM, max_tokens=None))
    session.send("Tell me about tabs")
    qtbot.waitUntil(lambda: len(session.path()) == 2 and len(session.path()[1].content) > 20)
    node = session.path()[1]
    if node.status == "streaming":
        recipe = read_recipe(node.recipe)
        assert recipe.token_ids
        assert recipe.sampling.seed is not None
    session.stop()
    settle(qtbot, session)


def test_the_tag_that_the_prompt_ends_with_stands_before_the_answer_once(
    qtbot: QtBot, make_host: MakeHost, make_book: MakeBook, ask: Ask, tmp_path: Path
):
    folder = tmp_path / "reasoner"
    shutil.copytree(STARTER, folder)
    template = (folder / "chat_template.jinja").read_text("utf-8")
    (folder / "chat_template.jinja").write_text(f"{template}<think>{{{{ '\\n' }}}}", "utf-8")
    session = make_book(make_host(Engine.load(folder))).new_chat()  # type: ignore[arg-type]
    session.set_settings(replace(WARM, sampling=replace(WARM.sampling, seed=5)))
    ask(session, "Tell me about tabs")
    first = session.path()[1]
    said = first.content.removeprefix("<think>\n")
    assert first.content == f"<think>\n{said}"
    assert said
    assert "<think>" not in said
    with qtbot.waitSignal(session.reproduced) as told:
        session.run_again(first.id)
    assert told.args == [True]
    assert session.path()[1].content == first.content
    older = replace(session.path()[1], content=said)  # as the versions before kept it
    session._path.tree.replace(older)
    with qtbot.waitSignal(session.reproduced) as told:
        session.run_again(older.id)
    assert told.args == [True]
    half = read_recipe(first.recipe).token_ids[:9]
    recipe = recipe_json(first.recipe, half)
    text = session._host.models.engine_of(session.model).tokenizer.decode(half)  # type: ignore[union-attr]
    broken = replace(session.path()[1], status="interrupted", content=f"<think>\n{text}", recipe=recipe)
    session._path.tree.replace(broken)
    session.go_on(broken.id)
    qtbot.waitUntil(lambda: not session.answering)
    assert session.path()[1].content == first.content
    settle(qtbot, session)
