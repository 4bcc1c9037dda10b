"""What brings models into memory: from here, one after another and with room; and from other machines."""

import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.load_order import LoadOrder
from llama_gui.bridge.model_loader import ModelLoader
from llama_gui.engine import Engine, device, prompt_cache
from llama_gui.errors import InvalidRequestError, LoadCancelledError, ModelNotFoundError, NotEnoughMemoryError
from llama_gui.server.endpoint import Endpoint
from llama_gui.vocabulary import STARTER, GenerateRequest, LoadOptions, LoadProgress, SamplingParams
from tests.benchmarks.chats import STARTER as STARTER_PATH
from tests.bridge.test_engine_host import Watch, asking
from tests.server.conftest import KEY, ServedScript, serving


def name_of(path: str) -> str:
    return f"My {Path(path).name}"


@pytest.fixture
def loader() -> ModelLoader:
    return ModelLoader(Path(STARTER_PATH), name_of)


def test_the_starter_model_is_found_wherever_it_lies(loader: ModelLoader):
    told: list[LoadProgress] = []
    devices: list[tuple[str, ...]] = []
    order = LoadOrder(STARTER, LoadOptions("float32", "cpu"), told.append, on_devices=devices.append)
    engine = loader(order)
    assert (engine.info.name, engine.info.dtype) == ("My starter_model", "float32")
    assert told[-1].parameters_read == told[-1].parameters > 0
    assert "cpu" in devices[0]
    engine.close()


def test_context_and_threads_are_those_that_were_chosen(loader: ModelLoader):
    engine = loader(LoadOrder(STARTER, LoadOptions(max_context=512, threads=2)))
    assert (engine.info.max_context, engine.stats().threads) == (512, 2)
    engine.close()
    with pytest.raises(InvalidRequestError, match=r"My starter_model was not loaded\. max_context is 999999"):
        loader(LoadOrder(STARTER, LoadOptions(max_context=999_999)))


def test_what_was_read_is_kept_until_that_is_turned_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(prompt_cache, "LEAST_SECONDS", 0.0)
    kept = tmp_path / "prompts"
    request = GenerateRequest(token_ids=list(range(3, 300)), max_tokens=1)
    for again in (False, True):
        engine = ModelLoader(Path(STARTER_PATH), name_of, prompt_cache=kept, prompt_cache_bytes=10**9)(
            LoadOrder(STARTER, LoadOptions())
        )
        assert isinstance(engine, Engine)
        assert bool(engine.generate(request).usage.cached_tokens) == again
        engine.keep_prompts()
        engine.close()
    ModelLoader(Path(STARTER_PATH), name_of, prompt_cache=kept)(LoadOrder(STARTER, LoadOptions())).close()
    assert not kept.exists()


def test_guesses_change_nothing_but_the_speed(loader: ModelLoader):
    request = replace(asking("What is this application?"), sampling=SamplingParams(seed=1))
    texts: list[str] = []
    for guesses in (False, True):
        engine = loader(LoadOrder(STARTER, LoadOptions(guesses=guesses)))
        assert isinstance(engine, Engine)
        assert (engine._loop._speculator is not None) == guesses
        texts.append(engine.generate(request).text)
        engine.close()
    assert texts[0] == texts[1]


def test_two_engines_are_stepped_by_one_thread_which_ends_with_them(loader: ModelLoader, qtbot: QtBot):
    host = EngineHost(loader)
    watch = Watch(host)
    tickets = [host.submit(asking("What is this?"), key) for key in (STARTER, str(STARTER_PATH))]
    qtbot.waitUntil(lambda: set(tickets) <= set(watch.texts), timeout=20_000)
    names = [thread.name for thread in threading.enumerate()]
    assert names.count("llama-gui-engines") == 1
    assert host.shutdown()
    qtbot.waitUntil(lambda: "llama-gui-engines" not in [thread.name for thread in threading.enumerate()])


def test_what_does_not_fit_is_named(loader: ModelLoader, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(device, "available_bytes", lambda _device="auto": 1000)
    with pytest.raises(NotEnoughMemoryError, match=r"My starter_model was not loaded\. This model needs"):
        loader(LoadOrder(STARTER, LoadOptions()))


def test_the_next_can_be_loaded_after_one_that_failed_or_was_cancelled(loader: ModelLoader):
    with pytest.raises(ModelNotFoundError, match="/no/such/model"):
        loader(LoadOrder("/no/such/model", LoadOptions()))
    order = LoadOrder(STARTER, LoadOptions())
    order.cancel()
    with pytest.raises(LoadCancelledError):
        loader(order)
    loader(LoadOrder(STARTER, LoadOptions())).close()


def test_what_is_not_there_is_told_before_torch_is_loaded(loader: ModelLoader, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "llama_gui.engine", None)
    with pytest.raises(ModelNotFoundError, match="There is no model at /no/such/model"):
        loader(LoadOrder("/no/such/model", LoadOptions()))


def test_who_waits_for_his_turn_can_be_cancelled():
    turn, order = threading.Lock(), LoadOrder("a", LoadOptions())
    with turn:
        order.cancel()
        with pytest.raises(LoadCancelledError):
            order.take_turn(turn)


def test_a_model_of_a_remote_server_is_one_of_several(qtbot: QtBot):
    def endpoint_of(name: str) -> Endpoint:
        if name != "Ours":
            raise InvalidRequestError("endpoint", name, "one of Ours")
        return Endpoint("Ours", server.url, key=KEY)

    with serving() as serve:
        server = serve(ServedScript())
        host = EngineHost(ModelLoader(Path(STARTER_PATH), name_of, endpoint_of=endpoint_of))
        watch = Watch(host)
        near, far = host.submit(asking("Hello"), STARTER), host.submit(asking("one two"), "Ours#Scripted")
        lost = host.submit(asking("one two"), "Theirs#Scripted")
        qtbot.waitUntil(lambda: {near, far} <= set(watch.results) and lost in watch.refused, timeout=20_000)
        assert watch.texts[far] == "one two"
        assert "Theirs" in watch.refused[lost]
        assert host.shutdown()


def test_without_servers_the_chat_says_so(loader: ModelLoader):
    with pytest.raises(ModelNotFoundError, match="no server Ours"):
        loader(LoadOrder("Ours#x", LoadOptions()))


def test_an_answer_has_the_same_tokens_beside_another_model(loader: ModelLoader, qtbot: QtBot):
    host = EngineHost(loader)
    watch = Watch(host)
    request = replace(asking("What is this?"), max_tokens=40, sampling=SamplingParams(seed=3, temperature=1.5))
    alone = host.submit(request, STARTER)
    qtbot.waitUntil(lambda: alone in watch.results, timeout=20_000)
    beside = host.submit(request, STARTER)
    others = [host.submit(request, str(STARTER_PATH)) for _ in range(2)]
    qtbot.waitUntil(lambda: {beside, *others} <= set(watch.results), timeout=20_000)
    assert {watch.results[ticket].token_ids for ticket in (beside, *others)} == {watch.results[alone].token_ids}
    assert len(watch.results[alone].token_ids) > 5
    assert host.shutdown()
