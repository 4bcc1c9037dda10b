"""A chat with a model that thinks between control tokens: what it thought stays that, whatever is done with it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from llama_gui.bridge.chat_session import ChatSession
from llama_gui.chats.reasoning import parts_of
from llama_gui.chats.recipe import read_recipe, recipe_to_json
from llama_gui.engine import Engine
from llama_gui.vocabulary import ChatSettings
from tests.bridge.conftest import MakeBook, MakeHost
from tests.fakes.tiny_llama import write_answering_model

Ask = Callable[[ChatSession, str], None]
THOUGHT, SAID = "Light is scattered.", "Because of the air."
TOLD = f"<think>\n{THOUGHT}\n</think>\n\n{SAID}"


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    answer = f"[THINK]{THOUGHT}[/THINK]{SAID}</s>"
    return Engine.load(write_answering_model(tmp_path / "model", "magistral", answer, behind="[/INST]"))


@pytest.fixture
def session(engine: Engine, make_host: MakeHost, make_book: MakeBook, ask: Ask) -> ChatSession:
    session = make_book(make_host(engine)).new_chat()  # type: ignore[arg-type]
    session.set_settings(ChatSettings(max_tokens=40))
    ask(session, "Why?")
    return session


def wait(qtbot: QtBot, session: ChatSession) -> None:
    qtbot.waitUntil(lambda: not session.answering)
    qtbot.waitUntil(lambda: session.is_settled)


def test_it_is_told_apart(qtbot: QtBot, session: ChatSession):
    parts = parts_of(session.path()[1])
    assert (parts.reasoning, parts.answer) == (THOUGHT, SAID)
    wait(qtbot, session)


def test_it_is_made_again_and_its_tokens_are_its_text(qtbot: QtBot, session: ChatSession):
    answer = session.path()[1]
    with qtbot.waitSignal(session.reproduced) as told:
        session.run_again(answer.id)
    assert told.args == [True]
    wait(qtbot, session)
    with qtbot.waitSignal(session.words.told) as told:
        session.words.read(session.path()[1].id)
    assert "".join(token.text for token in told.args[0].tokens) == TOLD
    wait(qtbot, session)


@pytest.mark.parametrize(
    ("count", "content"), [(1, "<think>\n"), (3, "<think>\nLight is "), (5, TOLD.removesuffix(SAID))]
)
def test_what_a_crash_left_goes_on(qtbot: QtBot, session: ChatSession, count: int, content: str):
    """Within the thoughts, and behind them."""
    answer = session.path()[1]
    recipe = read_recipe(answer.recipe)
    half = replace(recipe, token_ids=recipe.token_ids[:count], finish_reason="")
    broken = replace(answer, status="interrupted", content=content, recipe=recipe_to_json(half))
    session._path.tree.replace(broken)
    session.go_on(broken.id)
    wait(qtbot, session)
    assert session.path()[1].content == TOLD


@pytest.mark.parametrize("text", [f"<think>\nHm, {THOUGHT}", f"<think>\nOf course.\n</think>\n\nWell: {SAID[:15]}"])
def test_an_edited_answer_goes_on_where_it_is(qtbot: QtBot, session: ChatSession, engine: Engine, text: str):
    answer = replace(session.path()[1], content=text, recipe="", status="interrupted")
    session._path.tree.replace(answer)
    session.go_on(answer.id)
    wait(qtbot, session)
    assert session.path()[1].content.startswith(text)
    assert session.path()[1].content.endswith(SAID)
    assert session.path()[1].content.count("</think>") == 1


def test_the_next_question_is_answered_like_the_first(qtbot: QtBot, session: ChatSession, ask: Ask):
    ask(session, "And?")
    assert session.path()[3].content == TOLD
    wait(qtbot, session)
