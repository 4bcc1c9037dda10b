"""The words of an answer: read by the model that wrote it, and turned another way from any of them."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from llama_gui.bridge.chat_book import ChatBook
from llama_gui.bridge.chat_session import ChatSession
from llama_gui.bridge.word_reader import Turning, Words, turning
from llama_gui.chats.recipe import Recipe, read_recipe, recipe_to_json
from llama_gui.engine import Engine
from llama_gui.vocabulary import ChatSettings, SamplingParams, TokenOutput, TopLogprob
from tests.benchmarks.chats import STARTER
from tests.bridge.conftest import MakeBook, MakeHost
from tests.fakes.scripted_engine import ScriptedEngine

Ask = Callable[[ChatSession, str], None]
WARM = ChatSettings(sampling=SamplingParams(temperature=1.2, top_k=0, seed=8), max_tokens=60)


@pytest.fixture
def starter(make_host: MakeHost, make_book: MakeBook) -> ChatBook:
    return make_book(make_host(Engine.load(STARTER)))  # type: ignore[arg-type]


@pytest.fixture
def session(starter: ChatBook, ask: Ask) -> ChatSession:
    session = starter.new_chat()
    session.set_settings(WARM)
    ask(session, "Tell me about tabs")
    return session


def read(qtbot: QtBot, session: ChatSession, node_id: str) -> Words:
    with qtbot.waitSignal(session.words.told) as told:
        session.words.read(node_id)
    assert not session.words.is_reading
    return told.args[0]


def wait(qtbot: QtBot, session: ChatSession) -> None:
    qtbot.waitUntil(lambda: not session.answering)
    qtbot.waitUntil(lambda: session.is_settled)


def test_every_token_of_an_answer_is_told(qtbot: QtBot, session: ChatSession):
    answer = session.path()[1]
    words = read(qtbot, session, answer.id)
    assert words.node_id == answer.id
    assert tuple(token.token_id for token in words.tokens) == read_recipe(answer.recipe).token_ids
    assert "".join(token.text for token in words.tokens) == answer.content
    assert all(len(token.top_logprobs) == 8 for token in words.tokens)
    assert words.ending
    assert len(session.path()) == 2
    wait(qtbot, session)


def test_a_prompt_that_is_another_now_is_told(qtbot: QtBot, session: ChatSession):
    answer = session.path()[1]
    assert read(qtbot, session, answer.id).is_as_then
    session.set_settings(replace(WARM, system_prompt="Be brief."))
    assert not read(qtbot, session, answer.id).is_as_then
    wait(qtbot, session)


def test_another_way_is_a_version_that_begins_the_same(qtbot: QtBot, session: ChatSession):
    answer = session.path()[1]
    words = read(qtbot, session, answer.id)
    place = 5
    other = words.tokens[place].top_logprobs[1].token_id
    session.go_another_way(words, place, other)
    qtbot.waitUntil(lambda: session.path()[-1].id != answer.id and len(session.path()) == 2)
    wait(qtbot, session)
    made = session.path()[1]
    recipe, former = read_recipe(made.recipe), read_recipe(answer.recipe)
    assert session.versions() == {made.id: (2, 2)}
    assert recipe.token_ids[:6] == (*former.token_ids[:place], other)
    assert len(recipe.token_ids) > 6
    assert (recipe.given_tokens, recipe.continued_tokens) == (6, 6)
    assert recipe.sampling == former.sampling
    engine = session._host.models.engine_of(session.model)
    assert made.content == engine.tokenizer.decode(recipe.token_ids)  # type: ignore[union-attr]
    turned = read(qtbot, session, made.id)
    assert (turned.tokens[place].token_id, turned.chosen, words.chosen) == (other, place, -1)

    with qtbot.waitSignal(session.reproduced) as told:  # by its recipe
        session.run_again(made.id)
    assert told.args == [True]
    wait(qtbot, session)
    again = session.path()[1]
    assert again.content == made.content
    assert read_recipe(again.recipe).given_tokens == 6


def test_the_same_token_gives_the_same_answer(qtbot: QtBot, session: ChatSession):
    answer = session.path()[1]
    words = read(qtbot, session, answer.id)
    session.go_another_way(words, 7, words.tokens[7].token_id)
    wait(qtbot, session)
    assert session.path()[1].id != answer.id
    assert session.path()[1].content == answer.content


def test_an_end_that_is_chosen_is_the_end(qtbot: QtBot, session: ChatSession):
    answer = session.path()[1]
    words = read(qtbot, session, answer.id)
    session.go_another_way(words, 4, min(words.ending))
    wait(qtbot, session)
    made = session.path()[1]
    assert made.content == "".join(token.text for token in words.tokens[:4])
    assert (made.status, read_recipe(made.recipe).finish_reason) == ("complete", "stop")
    assert len(read_recipe(made.recipe).token_ids) == 5
    last = len(words.tokens) - 1
    session.go_another_way(words, last, words.tokens[last].top_logprobs[-1].token_id)
    wait(qtbot, session)
    assert session.path()[1].status == "complete"


def test_a_stopped_version_goes_on_and_stays_what_it_would_have_been(qtbot: QtBot, session: ChatSession):
    answer = session.path()[1]
    words = read(qtbot, session, answer.id)
    other = words.tokens[3].top_logprobs[2].token_id
    session.go_another_way(words, 3, other)
    wait(qtbot, session)
    whole = session.path()[1]
    recipe = read_recipe(whole.recipe)
    half = replace(recipe, token_ids=recipe.token_ids[:9], finish_reason="cancelled")
    engine = session._host.models.engine_of(session.model)
    text = engine.tokenizer.decode(half.token_ids)  # type: ignore[union-attr]
    broken = replace(whole, status="stopped", content=text, recipe=recipe_to_json(half))
    session._path.tree.replace(broken)
    stopped = read(qtbot, session, whole.id)  # nothing is drawn behind it that would stay
    assert len(stopped.tokens) == 9
    session.go_on(whole.id)
    wait(qtbot, session)
    assert session.path()[1].content == whole.content
    assert read_recipe(session.path()[1].recipe).given_tokens == 4


def test_reading_leaves_an_answer_that_is_written_alone(qtbot: QtBot, session: ChatSession):
    answer = session.path()[1]
    session.send("And what else?")
    words = read(qtbot, session, answer.id)
    assert words.node_id == answer.id
    failed: list[str] = []
    session.failed.connect(failed.append)
    if session.answering:
        session.go_another_way(words, 0, words.tokens[0].token_id)
        assert failed == ["An answer is still being written. Stop it, or wait for its end."]
    wait(qtbot, session)
    assert len(session.path()) == 4


def test_who_looks_no_longer_hears_nothing(qtbot: QtBot, session: ChatSession):
    heard: list[object] = []
    session.words.told.connect(heard.append)
    session.words.failed.connect(heard.append)
    session.words.read(session.path()[1].id)
    session.words.cancel()
    assert not session.words.is_reading
    qtbot.waitUntil(lambda: not list(session._host._tickets))
    assert heard == []


def test_a_model_that_is_not_loaded_is_loaded_for_it(qtbot: QtBot, session: ChatSession):
    host = session._host
    answer = session.path()[1]
    recipe = replace(read_recipe(answer.recipe), model="/models/away", name="Away")
    session._path.tree.replace(replace(answer, recipe=recipe_to_json(recipe)))
    with qtbot.waitSignal(session.words.failed) as told:
        session.words.read(answer.id)
    assert told.args == ["The model that wrote this answer, Away, is not on this machine any more."]
    failed: list[str] = []
    session.failed.connect(failed.append)
    session.go_another_way(Words(answer.id, ()), 0, 1)
    session._path.tree.replace(replace(answer, recipe=recipe_to_json(replace(recipe, given_tokens=2))))
    session.run_again(answer.id)
    assert failed == told.args * 2

    awaited: list[str] = []
    session.words.awaited.connect(awaited.append)
    session._path.tree.replace(answer)
    host.models.unload(session.model)
    qtbot.waitUntil(lambda: not host.models.loaded_keys())
    session.words.read(answer.id)
    assert awaited == [read_recipe(answer.recipe).model]
    session.words.cancel()


def test_an_edited_answer_has_no_tokens(qtbot: QtBot, make_host: MakeHost, make_book: MakeBook, ask: Ask):
    session = make_book(make_host(ScriptedEngine())).new_chat()
    ask(session, "one")
    session.edit(session.path()[1].id, "two")
    with qtbot.waitSignal(session.words.failed) as told:
        session.words.read(session.path()[1].id)
    assert told.args == ["The tokens of this answer are not known, because somebody has edited it."]
    wait(qtbot, session)


def output(text: str, token_id: int, *others: tuple[int, str]) -> TokenOutput:
    return TokenOutput(text, token_id, 0, -0.1, tuple(TopLogprob(i, t, -1.0) for i, t in others))


def test_where_an_answer_would_end():
    words = Words("a", (output("One", 1), output(" two", 2, (3, " EN"), (9, "D!"))), frozenset({7}))
    assert turning(words, Recipe(), 1, 3) == Turning((1, 3), False)
    assert turning(words, Recipe(), 1, 7) == Turning((1, 7), True)
    assert turning(words, Recipe(max_tokens=2), 1, 3).ends
    assert not turning(words, Recipe(max_tokens=3), 1, 3).ends
    assert turning(words, Recipe(stop=("e EN",)), 1, 3).ends
    assert turning(words, Recipe(finish_reason="context", token_ids=(1, 2)), 1, 3).ends
