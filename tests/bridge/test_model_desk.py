"""Search, downloads, sign-in, shelf and verdicts behind the window, against a hub on this machine."""

import json
import os
import shutil
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pytest
from pytestqt.qtbot import QtBot

from llama_gui.bridge.fit_adviser import FitAdviser
from llama_gui.bridge.hub_search import SearchQuery, SearchResult
from llama_gui.bridge.model_desk import ModelDesk
from llama_gui.bridge.model_shelf import _shape_of
from llama_gui.errors import BrokenModelError
from llama_gui.library.fit import Machine
from llama_gui.library.model_shape import ModelShape
from llama_gui.library.shelf_care import Deleted
from llama_gui.paths import Paths
from llama_gui.settings import UserSettings
from llama_gui.vocabulary import ModelEntry
from tests.fakes.fake_hub import PAGE, FakeHub, Fault, model_files, weights_file

RESOURCES = Path(__file__).parents[2] / "resources"
TOKEN = "hf_right"
SHAPE = ModelShape(32000, 2048, 5632, 22, 32, 4, 64)

NewDesk = Callable[..., ModelDesk]


def info(**more: Any) -> dict[str, Any]:
    tags = ["safetensors", "text-generation", "llama", "license:mit"]
    return {"tags": tags, "config": {"architectures": ["LlamaForCausalLM"], "model_type": "llama"}} | more


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    with FakeHub() as hub:
        yield hub
        huggingface_hub.close_session()


@pytest.fixture
def new_desk(qapp, hub: FakeHub, tmp_path: Path) -> Iterator[NewDesk]:
    """Desks that have the same folder, one after the other."""
    desks: list[ModelDesk] = []
    environment = {"HF_ENDPOINT": hub.endpoint, "HF_HOME": str(tmp_path / "hf")}
    paths = Paths(tmp_path, tmp_path, tmp_path / "cache", RESOURCES)

    def new_desk(settings: UserSettings | None = None) -> ModelDesk:
        desk = ModelDesk(paths, settings or UserSettings(), environment=environment, find_safe=lambda: None)
        desks.append(desk)
        return desk

    yield new_desk
    for desk in desks:
        assert desk.shutdown()


def large_model(count: int = 2_000_000) -> dict[str, bytes]:
    return model_files([weights_file(bytes(count))])


def states(desk: ModelDesk) -> list[str]:
    return [item.state for item in desk.downloads.items]


# --- the search


def test_a_file_that_was_cut_off_is_found_out_soon_after_the_start(new_desk: NewDesk, qtbot: QtBot, tmp_path: Path):
    desk = new_desk()
    file = desk.own_folder / "cut.gguf"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 5, 0) + bytes(100))
    os.utime(file, (10**9, 10**9))
    desk.shelf.checks.check_quickly(file)  # a menu that opens at once believes it
    with qtbot.waitSignal(desk.shelf.changed):
        desk.start()
    assert all(item.entry.path != str(file) for item in desk.shelf.items)
    with pytest.raises(BrokenModelError):
        desk.shelf.checks.check_quickly(file)


def test_nothing_is_asked_before_the_user_asks(new_desk: NewDesk, hub: FakeHub, qtbot: QtBot):
    desk = new_desk()
    desk.start()
    desk.shelf.scan()
    qtbot.waitSignal(desk.shelf.changed).wait()
    assert desk.catalog()[0]
    assert hub.log == []


def test_a_search_comes_in_pages(new_desk: NewDesk, hub: FakeHub, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("llama_gui.library.hub._PAGE", PAGE)
    for number in range(PAGE + 1):
        hub.add(f"a/model-{number}", model_files(), info=info(downloads=100 - number))
    search = new_desk().search
    with qtbot.waitSignal(search.found) as found:
        search.search(SearchQuery("model"), at_once=True)
    result: SearchResult = found.args[0]
    assert [model.repo for model in result.models] == ["a/model-0", "a/model-1", "a/model-2"]
    with qtbot.waitSignal(search.found) as found:
        search.more()
    assert [model.repo for model in found.args[0].models][-1] == "a/model-3"
    search.more()
    assert len(hub.asked("/api/models")) == 2


def test_a_next_page_that_does_not_come_can_be_asked_again(
    new_desk: NewDesk, hub: FakeHub, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("llama_gui.library.hub._PAGE", PAGE)
    for number in range(PAGE + 1):
        hub.add(f"a/model-{number}", model_files(), info=info(downloads=100 - number))
    search = new_desk().search
    with qtbot.waitSignal(search.found):
        search.search(SearchQuery("model"), at_once=True)
    hub.api_fault = Fault("status", status=503)
    with qtbot.waitSignal(search.more_failed), qtbot.assertNotEmitted(search.failed):
        search.more()
    hub.api_fault = None
    with qtbot.waitSignal(search.found) as found:
        search.more()
    assert len(found.args[0].models) == PAGE + 1


def test_only_the_last_words_are_asked_for(new_desk: NewDesk, hub: FakeHub, qtbot: QtBot):
    hub.add("a/tiny-llama", model_files(), info=info())
    search = new_desk().search
    with qtbot.waitSignal(search.found) as found:
        for words in ("t", "ti", "tin", "tiny"):
            search.search(SearchQuery(words))
    assert found.args[0].query.words == "tiny"
    assert len(hub.asked("/api/models")) == 1


def test_a_hub_that_is_down_is_told(new_desk: NewDesk, hub: FakeHub, qtbot: QtBot):
    hub.api_fault = Fault("status", status=500)
    search = new_desk().search
    with qtbot.waitSignal(search.failed) as failed:
        search.search(SearchQuery("x"), at_once=True)
    assert "500" in failed.args[0]
    desk = new_desk(UserSettings(offline=True))
    with qtbot.waitSignal(desk.search.failed) as failed:
        desk.search.search(SearchQuery("x"), at_once=True)
    assert "Offline mode" in failed.args[0]
    assert len(hub.log) == 1


def test_details_are_told_once_they_are_wanted_last(new_desk: NewDesk, hub: FakeHub, qtbot: QtBot):
    for name in ("a/one", "a/two", "a/three"):
        hub.add(name, model_files(), info=info())
    search = new_desk().search
    told: list[str] = []
    search.details_found.connect(lambda repo, _details: told.append(repo))
    with qtbot.waitSignal(search.details_found):
        for name in ("a/one", "a/two", "a/three"):
            search.ask_details(name)
    assert told == ["a/three"]
    with qtbot.waitSignal(search.details_failed) as failed:
        search.ask_details("a/nobody")
    assert "There is no model a/nobody" in failed.args[1]


# --- downloads


def test_a_download_ends_on_the_shelf(new_desk: NewDesk, hub: FakeHub, qtbot: QtBot):
    hub.add("a/small", large_model(), info=info())
    desk = new_desk()
    with qtbot.waitSignal(desk.shelf.changed) as changed:
        desk.downloads.start("a/small")
        assert desk.downloads.asking == ("a/small",)
    assert states(desk) == ["finished"]
    assert desk.downloads.asking == ()
    entry = next(item.entry for item in changed.args[0] if not item.entry.is_starter)
    assert entry.name == "a/small"
    assert desk.downloads.items[0].folder == entry.path


def test_a_paused_download_goes_on_after_a_restart(new_desk: NewDesk, hub: FakeHub, qtbot: QtBot):
    hub.add("a/small", large_model(8_000_000), info=info())
    hub.bytes_per_second = 4e6
    first = new_desk()
    first.downloads.start("a/small")
    qtbot.waitUntil(lambda: first.downloads.totals.bytes_done > 500_000)
    assert first.downloads.totals.bytes_total > 8_000_000
    item = first.downloads.items[0]
    first.downloads.pause(item.id)
    qtbot.waitUntil(lambda: states(first) == ["paused"])
    assert first.downloads.totals.count == 0
    assert first.shutdown()
    qtbot.waitUntil(lambda: hub.sent("model.safetensors") > 0)  # it counts when it notices that nobody listens
    sent = hub.sent("model.safetensors")

    hub.bytes_per_second = None
    second = new_desk()
    second.start()
    qtbot.waitUntil(lambda: states(second) == ["paused"])
    assert hub.sent("model.safetensors") == sent
    with qtbot.waitSignal(second.downloads.finished):
        second.downloads.resume(item.id)
    qtbot.waitUntil(lambda: bool(hub.asked("model.safetensors", host="cdn")[-1].headers["Range"]))


def test_what_ran_when_the_window_closed_goes_on_by_itself(new_desk: NewDesk, hub: FakeHub, qtbot: QtBot):
    hub.add("a/small", large_model(8_000_000), info=info())
    hub.bytes_per_second = 4e6
    first = new_desk()
    first.downloads.start("a/small")
    qtbot.waitUntil(lambda: first.downloads.totals.bytes_done > 500_000)
    assert first.shutdown()
    hub.bytes_per_second = None
    second = new_desk()
    with qtbot.waitSignal(second.downloads.finished):
        second.start()


def test_a_damaged_list_is_said_and_set_aside(new_desk: NewDesk, qtbot: QtBot, tmp_path: Path):
    (tmp_path / "downloads.json").write_text("{", encoding="utf-8")
    desk = new_desk()
    with qtbot.waitSignal(desk.downloads.trouble) as trouble:
        desk.start()
    assert "set aside" in trouble.args[0]
    assert (tmp_path / "downloads.json.broken").exists()


def test_signing_in_lets_a_gated_download_go_on(new_desk: NewDesk, hub: FakeHub, qtbot: QtBot, tmp_path: Path):
    hub.add("a/gated", large_model(), gated="manual", token=TOKEN, info=info())
    desk = new_desk()
    desk.downloads.start("a/gated")
    qtbot.waitUntil(lambda: states(desk) == ["failed"])
    assert desk.downloads.items[0].page == f"{hub.endpoint}/a/gated"
    assert "signed in" in desk.downloads.items[0].problem
    with qtbot.waitSignals([desk.account.changed, desk.downloads.finished]):
        desk.account.keep(f" {TOKEN}\n")
    assert (tmp_path / "hf" / "token").read_text(encoding="utf-8") == TOKEN
    with qtbot.waitSignal(desk.account.changed) as changed:
        desk.account.forget()
    assert changed.args[0].place == "nowhere"
    assert not (tmp_path / "hf" / "token").exists()


def test_what_cannot_be_a_token_is_not_kept(new_desk: NewDesk, qtbot: QtBot):
    desk = new_desk()
    with qtbot.waitSignal(desk.account.failed) as failed:
        desk.account.keep("schlüssel")
    assert "hf_" in failed.args[0]
    assert "schlüssel" not in failed.args[0]


def test_what_cannot_be_run_is_refused_by_name(new_desk: NewDesk, hub: FakeHub, qtbot: QtBot):
    hub.add("a/pickles", {"config.json": "{}", "pytorch_model.bin": "x"}, info=info())
    desk = new_desk()
    with qtbot.waitSignal(desk.downloads.refused) as refused:
        desk.downloads.start("a/pickles")
    assert refused.args[0] == "a/pickles"
    assert "pickle" in refused.args[1]
    assert desk.downloads.asking == ()
    assert states(desk) == []


def test_a_removed_download_leaves_nothing(new_desk: NewDesk, hub: FakeHub, qtbot: QtBot, tmp_path: Path):
    hub.add("a/small", large_model(8_000_000), info=info())
    hub.bytes_per_second = 4e6
    desk = new_desk()
    desk.downloads.start("a/small")
    qtbot.waitUntil(lambda: desk.downloads.totals.bytes_done > 100_000)
    desk.downloads.remove(desk.downloads.items[0].id)
    folder = tmp_path / "hf" / "hub" / "models--a--small"
    qtbot.waitUntil(lambda: not desk.downloads.items and not list(folder.glob("blobs/*")))


# --- the shelf


def test_the_shelf_names_checks_and_deletes(new_desk: NewDesk, qtbot: QtBot, tmp_path: Path):
    model = tmp_path / "models" / "mine"
    model.mkdir(parents=True)
    for name, content in model_files([weights_file(b"1234")], **config_of(SHAPE)).items():
        (model / name).parent.mkdir(exist_ok=True)
        (model / name).write_bytes(content)
    (model / "notes.txt").write_text("my own")
    desk = new_desk()
    with qtbot.waitSignal(desk.shelf.changed) as changed:
        desk.shelf.scan()
    item = next(item for item in changed.args[0] if not item.entry.is_starter)
    assert (item.shape, item.context, item.last_used) == (SHAPE, 2048, None)

    desk.shelf.note_use(item.entry.path)
    with qtbot.waitSignal(desk.shelf.changed) as changed:
        desk.shelf.rename(item.entry, "My model")
    item = next(item for item in changed.args[0] if not item.entry.is_starter)
    assert item.entry.name == "My model"
    assert item.last_used is not None

    with qtbot.waitSignal(desk.shelf.verified) as verified:
        desk.shelf.verify(item.entry)
    assert verified.args[1].problems == ()

    told: list[Deleted] = []
    desk.shelf.deleted.connect(lambda _entry, deleted: told.append(deleted))
    with qtbot.waitSignal(desk.shelf.changed):
        desk.shelf.delete(item.entry)
    (deleted,) = told
    assert deleted.left == ("notes.txt",)
    assert deleted.freed > 0
    assert [item.entry.is_starter for item in desk.shelf.items] == [True]


def test_what_is_no_model_is_refused_by_name(new_desk: NewDesk, qtbot: QtBot, tmp_path: Path):
    desk = new_desk()
    with qtbot.waitSignal(desk.shelf.look_failed) as failed, qtbot.assertNotEmitted(desk.shelf.failed):
        desk.shelf.look_at(str(tmp_path))
    assert str(tmp_path) in failed.args[0]
    copy = tmp_path / "copy"
    shutil.copytree(RESOURCES / "starter_model", copy)
    with qtbot.waitSignal(desk.shelf.looked_at) as looked_at:
        desk.shelf.look_at(str(copy))
    assert looked_at.args[0].path == str(copy)


def config_of(shape: ModelShape) -> dict[str, int]:
    return {
        "vocab_size": shape.vocabulary, "hidden_size": shape.hidden, "intermediate_size": shape.inner,
        "num_hidden_layers": shape.layers, "num_attention_heads": shape.heads, "num_key_value_heads": shape.kv_heads,
        "head_dim": shape.head_dim, "max_position_embeddings": 2048,
    }  # fmt: skip


# --- the verdict


def test_the_adviser_counts_what_is_given_back(qapp, qtbot: QtBot):
    free = 2_600_000_000
    adviser = FitAdviser(
        machine=lambda bandwidth: Machine(16 * 10**9, free, bandwidth=bandwidth), bandwidth=lambda: 1e10
    )
    assert adviser.best(SHAPE).dtype == "int8"
    assert adviser.best(SHAPE).tokens_per_second is None
    with qtbot.waitSignal(adviser.measured):
        adviser.measure()
    assert adviser.best(SHAPE).tokens_per_second
    adviser.freed = lambda: 8 * 10**9
    qtbot.waitUntil(lambda: adviser.best(SHAPE).free > free)  # it looks at the machine once a second
    assert adviser.best(SHAPE).dtype == "float32"
    assert adviser.best(SHAPE).free == 10_600_000_000
    assert [fit.verdict for fit in adviser.fits(SHAPE)] == ["runs"] * 4
    assert adviser.close()


@pytest.mark.parametrize(("kind", "size"), [("Q4_K_M", 807_694_464), ("Q8_0", 1_321_083_008), ("f16", 2_479_595_360)])
def test_a_gguf_file_has_a_shape_that_is_guessed_from_its_size(kind: str, size: int):
    """Llama 3.2 1B as it is offered on the hub."""
    shape, context, is_guessed, unread = _shape_of(ModelEntry("x", f"/models/Llama-3.2-1B-Instruct-{kind}.gguf", size))
    assert shape is not None
    assert 0.8 < shape.parameters / 1_235_814_400 < 1.25
    assert (context, is_guessed, unread) == (0, True, "")
    assert _shape_of(ModelEntry("x", "/models/unnamed.gguf", size))[0] is None


@pytest.mark.parametrize(
    ("told", "stored", "unread"),
    [
        ({}, "", ""),
        ({"quantization_config": {"quant_method": "fp8"}}, "int8", ""),
        ({"quantization_config": {"quant_method": "awq"}}, "", "awq"),
        ({"quantization_config": {"quant_method": "compressed-tensors"}}, "", "compressed-tensors"),
    ],
    ids=str,
)
def test_a_folder_tells_how_its_weights_are_stored(tmp_path: Path, told: dict[str, Any], stored: str, unread: str):
    config = {"hidden_size": 64, "intermediate_size": 160, "num_attention_heads": 4, "num_hidden_layers": 3,
              "vocab_size": 300, "max_position_embeddings": 512}  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps({**config, **told}), encoding="utf-8")
    shape, *others = _shape_of(ModelEntry("x", str(tmp_path), 1))
    assert shape is not None
    assert (shape.stored, *others) == (stored, 512, False, unread)
