"""Several models in one window: each tab its own, loaded, cancelled, broken, unloaded; real engines, tiny weights."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from llama_gui.bridge.engine_thread import EngineLike
from llama_gui.bridge.load_order import LoadOrder
from llama_gui.desktop import engine_loader
from llama_gui.errors import NotEnoughMemoryError
from llama_gui.library import shelf
from llama_gui.settings import UserSettings
from llama_gui.ui import MainWindow
from llama_gui.ui.chat_tab import ChatTab
from llama_gui.ui.load_dialog import LoadDialog
from llama_gui.vocabulary import STARTER, LoadOptions, LoadProgress, SamplingParams
from tests.fakes.tiny_embedder import write_tiny_embedder
from tests.fakes.tiny_llama import write_tiny_llama
from tests.journeys.conftest import RESOURCES, OpenWindow
from tests.journeys.driving import ask, shown, trigger
from tests.ui.transcripts import command_of

SECONDS = 20_000
STARTER_PATH = RESOURCES / "starter_model"

OpenModels = Callable[..., MainWindow]


class Gate:
    """Holds up the loading of what it is told to, after some progress."""

    def __init__(self, settings: UserSettings) -> None:
        self._load = engine_loader(STARTER_PATH, settings)
        self.held: dict[str, threading.Event] = {}
        self.orders: list[LoadOrder] = []
        self.too_large: set[str] = set()
        self.free: Callable[[], int] | None = None

    def __call__(self, order: LoadOrder) -> EngineLike:
        self.orders.append(order)
        if order.key in self.too_large:
            raise NotEnoughMemoryError(9_000_000_000, 1_000_000_000)
        if self.free is not None:
            order.make_room(1_000_000_000, self.free)
        gate = self.held.get(order.key)
        if gate is not None:
            order.tell(LoadProgress(43, 100))
        while gate is not None and not gate.wait(0.01):
            order.check()
        return self._load(order)


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    folder = tmp_path / "models" / "Tiny"
    folder.mkdir(parents=True)
    write_tiny_llama(folder, "llama-3.2")
    return str(folder)


@pytest.fixture
def gate() -> Gate:
    return Gate(UserSettings())


@pytest.fixture
def window(show_window: OpenWindow, tiny: str, gate: Gate) -> MainWindow:
    return show_window(gate, shelf.scan([Path(tiny)], STARTER_PATH))


def choose(window: MainWindow, key: str) -> None:
    window.panel.picker.model_chosen.emit(key)


def wait_for(qtbot: QtBot, window: MainWindow, key: str) -> None:
    qtbot.waitUntil(lambda: window._host.models.state_of(key) == "ready", timeout=SECONDS)


def make_endless(window: MainWindow, tab: ChatTab) -> None:
    engine = window._host.models.engine_of(tab.session.model)
    bias = dict.fromkeys(engine.eos_token_ids, -100.0)  # type: ignore[union-attr]
    sampling = SamplingParams(logit_bias=bias, seed=1, temperature=1.0)
    tab.session.set_settings(replace(tab.session.settings, sampling=sampling))


def written(tab: ChatTab) -> str:
    path = tab.session.path()
    return path[-1].content if len(path) > 1 else ""


def answer(qtbot: QtBot, tab: ChatTab, text: str) -> None:
    tab.session.set_settings(replace(tab.session.settings, max_tokens=8))
    ask(qtbot, tab, text)
    qtbot.waitUntil(lambda: not tab.session.answering and tab.session.path()[-1].role == "assistant", timeout=SECONDS)


def test_two_tabs_answer_at_once_with_two_models(window: MainWindow, qtbot: QtBot, tiny: str):
    first, second = window.deck.current(), window.deck.new_tab()
    choose(window, tiny)
    wait_for(qtbot, window, tiny)
    assert (first.session.model, second.session.model) == (STARTER, tiny)
    assert window.panel.picker.text() == "Tiny"
    for number, tab in enumerate((first, second), start=1):
        make_endless(window, tab)
        window.deck.go_to(number)
        ask(qtbot, tab, "Hello")
    qtbot.waitUntil(lambda: bool(written(first)) and bool(written(second)), timeout=SECONDS)
    before = (len(written(first)), len(written(second)))
    qtbot.waitUntil(lambda: len(written(first)) > before[0] and len(written(second)) > before[1], timeout=SECONDS)
    assert window.status.answering.text() == "2 answering"
    threads = {thread.name for thread in threading.enumerate()}
    assert "llama-gui-engines" in threads  # one steps both
    assert window.status.costs.text().startswith("Tiny")
    window.deck.go_to(1)
    assert window.status.costs.text().startswith("Starter model")
    assert window.panel.picker.text() == "Starter model"
    assert [tab.session.path()[-1].model for tab in (first, second)] == ["Starter model", "Tiny"]
    for tab in (first, second):
        tab.session.stop()
    qtbot.waitUntil(lambda: not (first.session.answering or second.session.answering), timeout=SECONDS)


def test_the_next_start_loads_the_model_of_the_tab_in_front(
    window: MainWindow, show_window: OpenWindow, qtbot: QtBot, tiny: str
):
    answer(qtbot, window.deck.current(), "Hello")  # type: ignore[arg-type]
    choose(window, tiny)
    window.deck.new_tab()  # which has the default
    choose(window, STARTER)
    window.deck.go_to(1)
    qtbot.waitUntil(lambda: all(tab.session.is_settled for tab in window.deck.tabs()), timeout=SECONDS)
    window.close()

    gate = Gate(UserSettings())
    again = show_window(gate, shelf.scan([Path(tiny)], STARTER_PATH))
    assert [order.key for order in gate.orders] == [tiny]
    assert again.panel.picker.text() == "Tiny"
    fresh = again.deck.new_tab()
    assert fresh.session.model == STARTER
    assert fresh.welcome._line.text().startswith("Write your first message")
    assert again.status.costs.text().endswith("not in memory")
    answer(qtbot, fresh, "Hello")
    assert [order.key for order in gate.orders] == [tiny, STARTER]


def test_all_idle_models_would_make_room_for_another(window: MainWindow, qtbot: QtBot, tiny: str):
    choose(window, tiny)
    wait_for(qtbot, window, tiny)
    models = window._host.models
    weights = [models.engine_of(key).stats().weight_bytes for key in (STARTER, tiny)]  # type: ignore[union-attr]
    assert window.library._parts.desk.adviser.freed() == sum(weights) > max(weights)


def test_a_switch_keeps_the_chat_and_new_chats_follow(window: MainWindow, qtbot: QtBot, tiny: str, gate: Gate):
    tab, other = window.deck.current(), window.deck.new_tab()
    window.deck.go_to(1)
    answer(qtbot, tab, "What is this application?")
    choose(window, tiny)
    answer(qtbot, tab, "And now?")  # sent while it loads
    assert [node.model for node in tab.session.path() if node.role == "assistant"] == ["Starter model", "Tiny"]
    assert window.deck.new_tab().session.model == tiny
    assert other.session.model == STARTER
    assert window.kept_settings[-1].model_path == tiny  # pyright: ignore[reportAttributeAccessIssue]
    window.deck.go_to(1)
    choose(window, STARTER)  # it is still in memory
    assert window.panel.picker.text() == "Starter model"
    assert window.kept_settings[-1].model_path is None  # pyright: ignore[reportAttributeAccessIssue]
    assert len(gate.orders) == 2


def test_each_chat_finds_its_model_again(
    window: MainWindow, show_window: OpenWindow, qtbot: QtBot, tiny: str, gate: Gate
):
    tab = window.deck.current()
    choose(window, tiny)
    answer(qtbot, tab, "Hello")
    window.deck.new_tab()
    choose(window, STARTER)
    answer(qtbot, window.deck.current(), "Hello")
    window.close()
    again = show_window(Gate(UserSettings()), shelf.scan([Path(tiny)], STARTER_PATH)).deck
    qtbot.waitUntil(lambda: all(tab.session.is_loaded for tab in again.tabs()))
    assert [tab.session.model for tab in again.tabs()] == [tiny, STARTER]
    again.go_to(1)
    answer(qtbot, again.current(), "And now?")
    assert again.current().session.path()[-1].model == "Tiny"


def test_a_load_shows_how_far_it_is_and_is_cancelled_with_esc(window: MainWindow, qtbot: QtBot, tiny: str, gate: Gate):
    gate.held[tiny] = threading.Event()
    tab, picker = window.deck.current(), window.panel.picker
    choose(window, tiny)
    qtbot.waitUntil(lambda: "43 %" in window.status.state.text(), timeout=SECONDS)
    assert window.status.state.text().startswith("Loading Tiny…")
    assert picker.is_loading
    ask(qtbot, tab, "Hello")
    qtbot.waitUntil(lambda: "Loading Tiny… 43 %" in shown(tab), timeout=SECONDS)
    picker.setFocus()
    qtbot.keyClick(picker, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not tab.session.answering)
    assert tab.composer.text() == "Hello"
    assert "cancelled" in tab.notice.text()
    assert tab.session.model == STARTER
    assert picker.text() == "Starter model"
    assert not picker.is_loading
    assert window.status.state.text() == ""
    answer(qtbot, tab, "")
    assert tab.session.path()[-1].model == "Starter model"


def test_a_question_that_is_stopped_while_its_model_loads_is_asked_again(
    window: MainWindow, qtbot: QtBot, tiny: str, gate: Gate
):
    gate.held[tiny] = threading.Event()
    tab = window.deck.current()
    tab.session.set_settings(replace(tab.session.settings, max_tokens=8))  # random weights end by chance
    choose(window, tiny)
    ask(qtbot, tab, "Hello")
    qtbot.waitUntil(lambda: "Loading Tiny…" in shown(tab), timeout=SECONDS)
    window.actions_["stop"].trigger()
    qtbot.waitUntil(lambda: not tab.session.answering and "Ask again" in shown(tab))
    gate.held[tiny].set()
    tab.transcript.anchorClicked.emit(command_of(tab.transcript, "again"))
    qtbot.waitUntil(lambda: "tokens" in shown(tab) and not tab.session.answering, timeout=SECONDS)
    assert [node.role for node in tab.session.path()] == ["user", "assistant"]
    assert "Ask again" not in shown(tab)


def test_a_load_that_fails_leaves_the_tab_as_it_was(window: MainWindow, qtbot: QtBot, tiny: str, gate: Gate):
    gate.too_large.add(tiny)
    tab = window.deck.current()
    answer(qtbot, tab, "What is this application?")
    choose(window, tiny)
    qtbot.waitUntil(tab.notice.isVisible, timeout=SECONDS)
    assert "needs 9.0 GB of memory, and 1.0 GB are free" in tab.notice.text()
    assert "Starter model answers" not in tab.notice.text()
    assert tab.session.model == STARTER
    assert window.panel.picker.text() == "Starter model"
    assert window.deck.new_tab().session.model == STARTER
    kept: list[UserSettings] = window.kept_settings  # pyright: ignore[reportAttributeAccessIssue]
    assert not any(settings.model_path for settings in kept)


def test_writing_to_a_model_for_which_there_is_no_room_changes_nothing(
    window: MainWindow, qtbot: QtBot, tiny: str, gate: Gate
):
    """Nobody has asked yet: neither how it is to be loaded nor who answers is another."""
    models, tab = window._host.models, window.deck.current()
    answer(qtbot, tab, "What is this application?")
    choose(window, tiny)
    qtbot.waitUntil(lambda: models.engine_of(tiny) is not None, timeout=SECONDS)
    models.unload(tiny)
    qtbot.waitUntil(lambda: models.state_of(tiny) == "absent", timeout=SECONDS)
    gate.free = lambda: 500_000_000
    options = LoadOptions("float32", max_context=512)
    window.models.set_options(tiny, options)
    orders = len(gate.orders)
    qtbot.keyClicks(tab.composer.edit, "Hi there")
    qtbot.waitUntil(lambda: len(gate.orders) == orders + 1, timeout=SECONDS)
    qtbot.waitUntil(lambda: models.state_of(tiny) == "absent", timeout=SECONDS)
    assert models.options_of(tiny) == options
    assert (tab.session.model, window._host.current) == (tiny, tiny)
    assert window.status.state.text() == ""
    assert not tab.notice.isVisible()


def test_a_load_waits_for_memory_and_says_so(window: MainWindow, qtbot: QtBot, tiny: str, gate: Gate):
    busy, tab = window.deck.current(), window.deck.new_tab()
    make_endless(window, busy)
    window.deck.go_to(1)
    ask(qtbot, busy, "Hello")
    qtbot.waitUntil(lambda: bool(written(busy)), timeout=SECONDS)
    models = window._host.models
    gate.free = lambda: 500_000_000 if models.engine_of(STARTER) else 10**10
    window.deck.go_to(2)
    choose(window, tiny)
    waits = "Tiny needs 1.0 GB, and 500 MB are free. It waits until another answer has ended."
    qtbot.waitUntil(lambda: window.status.state.text() == waits, timeout=SECONDS)
    ask(qtbot, tab, "Hello")
    qtbot.waitUntil(lambda: waits in shown(tab), timeout=SECONDS)
    assert busy.session.answering
    busy.session.stop()
    qtbot.waitUntil(lambda: bool(written(tab)), timeout=SECONDS)
    assert models.loaded_keys() == [tiny]
    assert busy.session.path()[-1].status == "stopped"
    tab.session.stop()
    qtbot.waitUntil(lambda: not tab.session.answering, timeout=SECONDS)


def test_a_folder_that_is_no_model_is_named_with_what_to_do(window: MainWindow, qtbot: QtBot, tmp_path: Path):
    wrong = tmp_path / "photos"
    wrong.mkdir()
    tab = window.deck.current()
    choose(window, str(wrong))
    qtbot.waitUntil(tab.notice.isVisible, timeout=SECONDS)
    assert str(wrong) in tab.notice.text()
    assert "config.json" in tab.notice.text()
    assert tab.session.model == STARTER


def test_a_new_attempt_takes_the_place_of_the_last_error(window: MainWindow, qtbot: QtBot, tmp_path: Path):
    tab = window.deck.current()
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
        choose(window, str(tmp_path / name))
        qtbot.waitUntil(lambda name=name: str(tmp_path / name) in tab.notice.text(), timeout=SECONDS)
    assert str(tmp_path / "two") not in tab.notice.text()


def test_how_a_model_is_loaded_is_chosen_and_remembered(window: MainWindow, qtbot: QtBot, tiny: str):
    choose(window, tiny)
    wait_for(qtbot, window, tiny)
    tab = window.deck.current()
    make_endless(window, tab)
    ask(qtbot, tab, "Hello")
    qtbot.waitUntil(lambda: bool(written(tab)), timeout=SECONDS)
    window.models.set_options(tiny, LoadOptions("float32"))
    qtbot.waitUntil(lambda: window._host.info_of(tiny).dtype == "float32", timeout=SECONDS)
    qtbot.waitUntil(lambda: "fp32" in window.status.costs.text())
    before = len(written(tab))
    qtbot.waitUntil(lambda: len(written(tab)) > before, timeout=SECONDS)  # the former finishes what it writes
    assert len(window._host.models._threads) == 3
    tab.session.stop()
    qtbot.waitUntil(lambda: len(window._host.models._threads) == 2, timeout=SECONDS)
    kept: UserSettings = window.kept_settings[-1]  # pyright: ignore[reportAttributeAccessIssue]
    assert kept.load_options == {tiny: LoadOptions("float32")}
    window.models.set_options(tiny, LoadOptions("float32", cache_dtype="int8"))
    adviser = window.library._parts.desk.adviser
    assert [adviser.cache_dtype_of(key) for key in (tiny, STARTER)] == ["int8", "auto"]


def options_dialog(qtbot: QtBot, window: MainWindow) -> LoadDialog:
    trigger(window, "load_options")
    qtbot.waitUntil(lambda: bool(window.findChildren(LoadDialog)), timeout=SECONDS)
    return window.findChildren(LoadDialog)[-1]


def test_the_context_length_is_typed_and_remembered(window: MainWindow, qtbot: QtBot, gate: Gate):
    tab = window.deck.current()
    dialog = options_dialog(qtbot, window)
    assert dialog.windowTitle() == "How Starter model runs"
    qtbot.waitUntil(lambda: "6 MB more" in dialog.costs.text())
    dialog.context.edit.setFocus()
    qtbot.keyClicks(dialog.context.edit, "1000")
    qtbot.keyClick(dialog.context.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: gate.orders[-1].options.max_context == 1000, timeout=SECONDS)
    qtbot.waitUntil(lambda: window._host.info_of(STARTER).max_context == 1000, timeout=SECONDS)
    qtbot.waitUntil(lambda: tab.composer.meter.text() == "0 / 1k context", timeout=SECONDS)
    answer(qtbot, tab, "What is this application?")
    kept: UserSettings = window.kept_settings[-1]  # pyright: ignore[reportAttributeAccessIssue]
    assert kept.load_options == {STARTER: LoadOptions(max_context=1000)}
    again = options_dialog(qtbot, window)
    assert again.context.value() == 1000
    again.reject()


def test_how_a_model_runs_that_is_gone_or_elsewhere_is_said(window: MainWindow, qtbot: QtBot, tiny: str):
    tab = window.deck.current()
    choose(window, tiny)
    wait_for(qtbot, window, tiny)
    (Path(tiny) / "config.json").unlink()
    qtbot.mouseClick(tab.composer.meter, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(tab.notice.isVisible, timeout=SECONDS)
    assert "config.json" in tab.notice.text()
    tab.session.set_settings(replace(tab.session.settings, model="Ours#big"))
    trigger(window, "load_options")
    assert "is up to its server" in tab.notice.text()


def test_an_unloaded_model_comes_back_with_the_next_message(window: MainWindow, qtbot: QtBot, gate: Gate):
    tab = window.deck.current()
    answer(qtbot, tab, "What is this application?")
    window.panel.picker.unload_wanted.emit(STARTER)
    qtbot.waitUntil(lambda: not window._host.models._threads, timeout=SECONDS)
    assert "not in memory" in window.status.costs.text()
    temperature = window.panel.rows["temperature"].edit
    assert temperature.text() == "the model’s default"  # which it tells when it is there
    assert window.panel.picker.text() == "Starter model"
    assert tab.composer.edit.placeholderText() == "Message Starter model …", "it is this one that will answer"
    answer(qtbot, tab, "And now?")
    assert len(gate.orders) == 2


@pytest.mark.qt_log_ignore("^This plugin does not support")
def test_another_model_answers_again_and_the_chat_keeps_its_own(window: MainWindow, qtbot: QtBot, tiny: str):
    tab = window.deck.current()
    answer(qtbot, tab, "What is this application?")
    menu = window.models.ask_again_with(tab.session, tab.session.path()[-1].id)
    next(action for action in menu.actions() if action.data() == tiny).trigger()
    menu.close()
    qtbot.waitUntil(lambda: not tab.session.answering, timeout=SECONDS)
    last = tab.session.path()[-1]
    assert (last.model, tab.session.model) == ("Tiny", STARTER)
    assert tab.session.versions()[last.id] == (2, 2)
    trigger(window, "run_again")  # by the model that wrote it
    qtbot.waitUntil(lambda: "letter for letter" in window.status.state.text(), timeout=SECONDS)
    assert tab.session.path()[-1].model == "Tiny"


def test_a_model_for_embeddings_is_not_offered_and_says_why_it_does_not_answer(
    show_window: OpenWindow, qtbot: QtBot, tmp_path: Path, gate: Gate
):
    folder = write_tiny_embedder(tmp_path / "models" / "Embedder")
    window = show_window(gate, shelf.scan([folder.parent], STARTER_PATH))
    assert [entry.name for entry in window.models.entries()] == [shelf.STARTER_NAME]
    tab = window.deck.current()
    choose(window, str(folder))
    wait_for(qtbot, window, str(folder))
    assert tab.session.model == STARTER
    tab.session.set_settings(replace(tab.session.settings, model=str(folder)))
    ask(qtbot, tab, "Hello?")
    qtbot.waitUntil(lambda: "turns texts into vectors" in tab.notice.text(), timeout=SECONDS)
