"""Find, download, open, keep and delete models, in the whole window, against a hub on this machine."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import huggingface_hub.constants
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QContextMenuEvent, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QInputDialog, QMenu, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from llama_gui.library.fit import Machine
from llama_gui.library.model_shape import ModelShape
from llama_gui.ui import MainWindow
from llama_gui.ui.models import shelf_page
from llama_gui.ui.models.row_list import ROW_MARGIN
from llama_gui.ui.models.window import ModelsWindow
from llama_gui.ui.sizes import size_text
from llama_gui.vocabulary import STARTER, SamplingParams
from tests.fakes.fake_hub import FakeHub, Fault, model_files, weights_file
from tests.fakes.fp8_folders import LAYOUTS, write_fp8
from tests.fakes.gguf_files import write_gguf
from tests.fakes.tiny_embedder import write_tiny_embedder
from tests.fakes.tiny_llama import write_tiny_llama
from tests.journeys.conftest import RESOURCES, OpenWindow
from tests.journeys.driving import ask, name_it, trigger

REPO = "somebody/tiny-llama"
TOKEN = "hf_right"
SECONDS = 20_000


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    with FakeHub() as hub:
        yield hub
        huggingface_hub.close_session()


@pytest.fixture
def environment(hub: FakeHub, tmp_path: Path) -> dict[str, str]:
    return {"HF_ENDPOINT": hub.endpoint, "HF_HOME": str(tmp_path / "hf")}


def info(**more: Any) -> dict[str, Any]:
    tags = ["safetensors", "text-generation", "llama", "license:mit"]
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama"}
    return {
        "tags": tags,
        "config": config,
        "downloads": 12_345,
        "safetensors": {"parameters": {"F32": 200_000}, "total": 200_000},
    } | more


def tiny_files(folder: Path) -> dict[str, bytes]:
    write_tiny_llama(folder)
    card = b"---\nlicense: mit\n---\n# Tiny\n\nIt <b>answers</b> [questions](https://example.com).\n"
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} | {"README.md": card}


def open_models(window: MainWindow, page: str = "") -> ModelsWindow:
    trigger(window, "manage_models" if page == "shelf" else "find_models")
    models = window.library.models_window
    if page:
        models.show_page(page)
    return models


def find(models: ModelsWindow, qtbot: QtBot, words: str, *, gguf: bool = False) -> None:
    models.show_page("search")
    models.search.form.setCurrentIndex(models.search.form.findData(gguf))
    qtbot.keyClicks(models.search.field, words)
    qtbot.waitUntil(lambda: models.search.list.rows.rowCount() > 0, timeout=SECONDS)
    qtbot.waitUntil(lambda: "download" in models.search.pane.buttons, timeout=SECONDS)


def press(qtbot: QtBot, button: Any) -> None:
    assert button.isEnabled()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def rows(models: ModelsWindow) -> list[Any]:
    return list(models.downloads.rows.values())


def answer_box(button: QMessageBox.StandardButton) -> str:
    """Answer the question that is asked; its words."""
    box = next(box for box in QApplication.topLevelWidgets() if isinstance(box, QMessageBox) and box.isVisible())
    text = f"{box.text()} {box.informativeText()}"
    box.button(button).click()
    return text


def test_search_download_open_and_answer(open_starter: OpenWindow, hub: FakeHub, qtbot: QtBot, tmp_path: Path):
    hub.add(REPO, tiny_files(tmp_path / "source"), info=info())
    window = open_starter()
    models = open_models(window)
    assert hub.log == []  # recommended models are shown without asking anybody
    assert models.recommended.list.rows.rowCount() >= 10
    find(models, qtbot, "tiny")
    content = models.search.pane.content
    assert content is not None
    assert content.subtitle == REPO
    assert content.excerpt == "Tiny\n\nIt answers questions."
    assert content.fits
    assert "12.3 k downloads" in models.search.list.rows.rows[0].facts

    press(qtbot, models.search.pane.buttons["download"])
    qtbot.waitUntil(lambda: "open" in models.search.pane.buttons, timeout=SECONDS)
    assert models.search.list.rows.rows[0].state == "on this computer"
    assert window.windowTitle() == "llama-gui"
    press(qtbot, models.search.pane.buttons["open"])
    assert not models.isVisible()
    tab = window.deck.current()
    qtbot.waitUntil(lambda: window._host.current.startswith(str(tmp_path / "hf")), timeout=SECONDS)
    qtbot.waitUntil(lambda: window._host.state == "ready", timeout=SECONDS)
    tab.session.set_settings(replace(tab.session.settings, max_tokens=8))  # random weights end by chance
    ask(qtbot, tab, "Hello")
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2 and not tab.session.answering, timeout=SECONDS)
    assert tab.session.path()[-1].status in ("complete", "cut", "stopped")

    models = open_models(window, "shelf")
    qtbot.waitUntil(lambda: any(row.state == "open" for row in models.shelf.list.rows.rows), timeout=SECONDS)
    assert models.shelf.list.rows.rows[1].name == REPO


def test_a_model_in_fp8_is_found_opened_and_explained(
    open_starter: OpenWindow, hub: FakeHub, qtbot: QtBot, tmp_path: Path
):
    source, _ = write_fp8(RESOURCES / "starter_model", tmp_path / "source", LAYOUTS["qwen-128"])
    told = info(safetensors={"parameters": {"F8_E4M3": 4_000_000, "BF16": 1_000_000}, "total": 5_000_000})
    told["config"]["quantization_config"] = {"quant_method": "fp8"}
    hub.add(REPO, {file.name: file.read_bytes() for file in source.iterdir() if file.is_file()}, info=told)
    other = info()
    other["config"]["quantization_config"] = {"quant_method": "awq"}
    hub.add(f"{REPO}-AWQ", {"config.json": b"{}", "model.safetensors": b""}, info=other)
    window = open_starter()
    models = open_models(window)
    find(models, qtbot, "tiny")
    rows = models.search.list.rows.rows
    assert [row.key for row in rows] == [REPO]
    assert "FP8" in rows[0].facts
    content = models.search.pane.content
    assert content is not None
    assert ("Weights", "FP8: eight bits each, converted when it is loaded") in content.facts

    press(qtbot, models.search.pane.buttons["download"])
    qtbot.waitUntil(lambda: "open" in models.search.pane.buttons, timeout=SECONDS)
    press(qtbot, models.search.pane.buttons["open"])
    qtbot.waitUntil(lambda: window._host.current.startswith(str(tmp_path / "hf")), timeout=SECONDS)
    qtbot.waitUntil(lambda: window._host.state == "ready", timeout=SECONDS)
    tab = window.deck.current()
    tab.session.set_settings(replace(tab.session.settings, sampling=SamplingParams(temperature=0), max_tokens=8))
    ask(qtbot, tab, "How do I open a new tab?")
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2 and not tab.session.answering, timeout=SECONDS)
    assert "Ctrl+T" in tab.session.path()[-1].content
    assert "FP8, " in window.panel.picker.toolTip()


def test_pause_close_and_resume(open_starter: OpenWindow, hub: FakeHub, qtbot: QtBot):
    hub.add(REPO, model_files([weights_file(bytes(8_000_000))]), info=info())
    hub.bytes_per_second = 3e6
    window = open_starter()
    models = open_models(window)
    find(models, qtbot, "tiny")
    press(qtbot, models.search.pane.buttons["download"])
    qtbot.waitUntil(lambda: bool(rows(models)) and rows(models)[0].bar._part > 0.05, timeout=SECONDS)
    assert "%" in window.windowTitle()
    assert window.library.line.isVisible()
    assert "Downloading" in window.library.line.text()
    press(qtbot, rows(models)[0].buttons["pause"])
    qtbot.waitUntil(rows(models)[0].buttons["resume"].isVisible)
    assert window.windowTitle() == "llama-gui"
    assert not window.library.line.isVisible()
    models.close()
    window.close()

    hub.bytes_per_second = None
    again = open_starter()
    models = open_models(again)
    qtbot.waitUntil(lambda: bool(rows(models)), timeout=SECONDS)
    press(qtbot, rows(models)[0].buttons["resume"])
    qtbot.waitUntil(rows(models)[0].buttons["open"].isVisible, timeout=SECONDS)
    assert hub.asked("model.safetensors", host="cdn")[-1].headers["Range"]


def test_closing_the_window_pauses_and_the_next_start_goes_on(open_starter: OpenWindow, hub: FakeHub, qtbot: QtBot):
    hub.add(REPO, model_files([weights_file(bytes(8_000_000))]), info=info())
    hub.bytes_per_second = 3e6
    window = open_starter()
    models = open_models(window)
    find(models, qtbot, "tiny")
    press(qtbot, models.search.pane.buttons["download"])
    qtbot.waitUntil(lambda: bool(rows(models)) and rows(models)[0].bar._part > 0.05, timeout=SECONDS)
    window.close()
    hub.bytes_per_second = None
    again = open_starter()
    qtbot.waitUntil(
        lambda: [item.state for item in again.library._parts.desk.downloads.items] == ["finished"], timeout=SECONDS
    )


def test_a_model_that_comes_while_its_window_is_closed_is_offered(
    open_starter: OpenWindow, hub: FakeHub, qtbot: QtBot, tmp_path: Path
):
    hub.add(REPO, tiny_files(tmp_path / "tiny"), info=info())
    hub.bytes_per_second = 20_000
    window = open_starter()
    models = open_models(window)
    find(models, qtbot, "tiny")
    press(qtbot, models.search.pane.buttons["download"])
    qtbot.waitUntil(lambda: bool(rows(models)), timeout=SECONDS)
    models.close()
    hub.bytes_per_second = None
    bar = window.sidebar.bar
    qtbot.waitUntil(bar.isVisible, timeout=SECONDS)
    assert bar.text() == f"{REPO} is here."
    press(qtbot, bar._action)
    qtbot.waitUntil(lambda: "tiny" in window.panel.picker.text().lower(), timeout=SECONDS)
    assert bar.isHidden()
    qtbot.waitUntil(lambda: window._host.state == "ready" and not window.panel.picker.is_loading, timeout=SECONDS)


def test_a_gated_model_after_signing_in(open_starter: OpenWindow, hub: FakeHub, qtbot: QtBot):
    hub.add(REPO, model_files([weights_file(bytes(1000))]), info=info(), gated="manual", token=TOKEN)
    window = open_starter()
    models = open_models(window)
    find(models, qtbot, "tiny")
    content = models.search.pane.content
    assert content is not None
    assert "licence" in content.warning
    assert content.page == f"{hub.endpoint}/{REPO}"
    press(qtbot, models.search.pane.buttons["download"])
    qtbot.waitUntil(lambda: bool(rows(models)) and rows(models)[0].buttons["sign_in"].isVisible(), timeout=SECONDS)
    assert "signed in" in rows(models)[0]._words.text()
    press(qtbot, rows(models)[0].buttons["page"])
    assert f"{hub.endpoint}/{REPO}" in answer_box(QMessageBox.StandardButton.Cancel)

    dialog = models.show_sign_in()
    qtbot.keyClicks(dialog.field, TOKEN)
    qtbot.mouseClick(dialog.keep_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(rows(models)[0].buttons["open"].isVisible, timeout=SECONDS)
    assert str(Path("hf") / "token") in dialog.state.text()
    assert models.account_button.text() == "Signed in"
    dialog.close()


def test_delete_asks_and_frees(open_starter: OpenWindow, hub: FakeHub, qtbot: QtBot, tmp_path: Path):
    hub.add(REPO, tiny_files(tmp_path / "source"), info=info())
    window = open_starter()
    models = open_models(window)
    find(models, qtbot, "tiny")
    press(qtbot, models.search.pane.buttons["download"])
    qtbot.waitUntil(lambda: "open" in models.search.pane.buttons, timeout=SECONDS)
    models.show_page("shelf")
    qtbot.waitUntil(lambda: models.shelf.list.rows.rowCount() == 2, timeout=SECONDS)
    path = models.shelf.list.rows.rows[1].key
    assert models.shelf.list.select(path)
    press(qtbot, models.shelf.pane.buttons["delete"])
    assert path in answer_box(QMessageBox.StandardButton.Cancel)
    assert Path(path).exists()
    press(qtbot, models.shelf.pane.buttons["delete"])
    answer_box(QMessageBox.StandardButton.Discard)
    qtbot.waitUntil(lambda: models.shelf.list.rows.rowCount() == 1, timeout=SECONDS)
    assert not Path(path).exists()
    qtbot.waitUntil(lambda: not rows(models))  # nothing is left to open
    models.show_page("search")
    qtbot.waitUntil(lambda: "download" in models.search.pane.buttons)


def test_a_model_that_another_program_keeps_is_listed_and_left_to_it(
    open_starter: OpenWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    write_tiny_llama(tmp_path / "source")
    file = tmp_path / ".lmstudio" / "models" / "org" / "tiny-GGUF" / "tiny-Q8_0.gguf"
    file.parent.mkdir(parents=True)
    write_gguf(tmp_path / "source", file, "Q8_0")
    window = open_starter()
    models = open_models(window, "shelf")
    qtbot.waitUntil(lambda: models.shelf.list.rows.rowCount() == 2, timeout=SECONDS)
    assert "LM Studio" in models.shelf.list.rows.rows[1].facts
    assert models.shelf.list.select(str(file))
    assert ("Kept by", "LM Studio") in models.shelf.pane.content.facts  # type: ignore[union-attr]
    delete = models.shelf.pane.buttons["delete"]
    why = "tiny-Q8_0 is kept by LM Studio. Delete it there."
    assert not delete.isEnabled()
    assert why in delete.toolTip()
    qtbot.waitUntil(models.shelf.list.hasFocus, timeout=SECONDS)
    qtbot.keyClick(models.shelf.list, Qt.Key.Key_Delete)
    assert models.shelf.pane._hint.text() == why
    options = models.show_options()
    folders = [options.folders.item(row).text() for row in range(options.folders.count())]
    assert str(tmp_path / ".lmstudio" / "models") in folders
    options.close()
    press(qtbot, models.shelf.pane.buttons["open"])
    qtbot.waitUntil(lambda: window._host.current == str(file), timeout=SECONDS)
    qtbot.waitUntil(lambda: window._host.state == "ready", timeout=SECONDS)
    assert models.shelf.pane.buttons["open"].text() == "Already open"
    assert not models.shelf.pane.buttons["open"].isEnabled()


@pytest.mark.qt_log_ignore("^This plugin does not support")
def test_manage_models_begins_at_the_model_of_the_chat_in_front(open_starter: OpenWindow, qtbot: QtBot, tmp_path: Path):
    for name in ("first", "second"):
        write_tiny_llama(tmp_path / "models" / name)
    window = open_starter()
    window.models.choose(str(tmp_path / "models" / "second"))
    models = open_models(window, "shelf")
    qtbot.waitUntil(lambda: models.shelf.list.rows.rowCount() == 3, timeout=SECONDS)
    assert models.shelf.list.current_key() == str(tmp_path / "models" / "second")
    # The other chats and new ones have another model meanwhile.
    tab = window.deck.new_tab()
    qtbot.waitUntil(lambda: tab.session.is_loaded, timeout=SECONDS)
    window.models.choose(str(tmp_path / "models" / "first"))
    open_models(window, "shelf")
    assert models.shelf.list.current_key() == str(tmp_path / "models" / "first")
    window.deck.go_to(1)
    assert [row.state for row in models.shelf.list.rows.rows] == ["", "", "open"]
    assert models.shelf.list.current_key() == str(tmp_path / "models" / "first")  # nothing moves under the eyes
    open_models(window, "shelf")
    assert models.shelf.list.current_key() == str(tmp_path / "models" / "second")
    qtbot.waitUntil(lambda: window._host.state == "ready", timeout=SECONDS)


@pytest.mark.qt_log_ignore("^This plugin does not support")
def test_a_model_for_embeddings_is_loaded_for_other_programs(open_starter: OpenWindow, qtbot: QtBot, tmp_path: Path):
    folder = str(write_tiny_embedder(tmp_path / "models" / "embedder"))
    window = open_starter()
    qtbot.waitUntil(lambda: window._host.state == "ready", timeout=SECONDS)
    models = open_models(window, "shelf")
    qtbot.waitUntil(lambda: models.shelf.list.rows.rowCount() == 2, timeout=SECONDS)
    models.shelf.list.select(folder)
    assert "It does not chat" in models.shelf.pane.content.lead  # type: ignore[union-attr]
    assert not models.shelf.pane.content.fits  # type: ignore[union-attr]
    assert "tok/s" not in models.shelf.list.rows.rows[1].note
    load = models.shelf.pane.buttons["open"]
    assert load.text() == "Load for other programs"
    press(qtbot, load)
    qtbot.waitUntil(lambda: window._host.models.state_of(folder) == "ready", timeout=SECONDS)
    assert window._host.current == STARTER
    assert window.deck.current().session.model == STARTER  # type: ignore[union-attr]


@pytest.mark.qt_log_ignore("^This plugin does not support")
@pytest.mark.parametrize("how", ["keys", "mouse"])
def test_models_have_a_menu_and_keys_in_the_list(open_starter: OpenWindow, qtbot: QtBot, tmp_path: Path, how: str):
    write_tiny_llama(tmp_path / "models" / "mine")
    models = open_models(open_starter(), "shelf")
    shelf = models.shelf

    def into(place: QWidget) -> None:
        models.activateWindow()  # the offscreen platform leaves that to us when a dialog goes
        qtbot.waitUntil(place.hasFocus)

    qtbot.waitUntil(lambda: shelf.list.rows.rowCount() == 2, timeout=SECONDS)
    into(shelf.list)
    mine = shelf.list.rows.index(1)
    if how == "keys":
        shelf.list.setCurrentIndex(mine)
        place = QPoint()
    else:
        place = shelf.list.visualRect(mine).center()
    reason = QContextMenuEvent.Reason.Keyboard if how == "keys" else QContextMenuEvent.Reason.Mouse
    QApplication.sendEvent(shelf.list.viewport(), QContextMenuEvent(reason, place, QPoint(9, 9)))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    lines = [line.text().partition("\t")[0] for line in menu.actions()]
    assert lines == ["Open", "Check its files", "Rename…", "Delete…", "Show folder"]
    next(line for line in menu.actions() if line.text().startswith("Delete")).trigger()
    menu.close()
    assert "mine" in answer_box(QMessageBox.StandardButton.Cancel)
    into(shelf.list)
    qtbot.keyClick(shelf.list, Qt.Key.Key_F2)
    name_it(qtbot, "yours")
    qtbot.waitUntil(lambda: shelf.list.rows.rows[1].name == "yours", timeout=SECONDS)
    into(shelf.list)
    qtbot.keyClick(shelf.list, Qt.Key.Key_Delete)
    answer_box(QMessageBox.StandardButton.Discard)
    qtbot.waitUntil(lambda: shelf.list.rows.rowCount() == 1, timeout=SECONDS)
    into(shelf.list)
    qtbot.keyClick(shelf.list, Qt.Key.Key_Delete)
    assert shelf.pane._hint.text() == "The starter model comes with llama-gui and cannot be deleted."
    models.resize(500, 460)  # where the list or the pane has room
    shelf.show_list()
    assert not shelf.pane.isVisible()
    into(shelf.list)
    qtbot.keyClick(shelf.list, Qt.Key.Key_Delete)
    assert shelf.pane._hint.isVisible()


def test_who_searches_finds_gguf_files_first_and_the_other_form_by_a_button(
    open_starter: OpenWindow, hub: FakeHub, qtbot: QtBot, tmp_path: Path
):
    hub.add(REPO, tiny_files(tmp_path / "source"), info=info())
    models = open_models(open_starter(), "search")
    qtbot.keyClicks(models.search.field, "tiny")
    qtbot.waitUntil(models.search.message.button.isVisible, timeout=SECONDS)
    qtbot.waitUntil(lambda: models.search.message.button.text() == "Look for safetensors", timeout=SECONDS)
    press(qtbot, models.search.message.button)
    qtbot.waitUntil(lambda: models.search.list.rows.rowCount() == 1, timeout=SECONDS)
    assert models.search.form.currentText() == "Safetensors"


@pytest.mark.qt_log_ignore("^This plugin does not support")
def test_who_looks_for_models_is_not_shown_those_that_are_here(open_starter: OpenWindow):
    window = open_starter()
    assert open_models(window).page() == "recommended"
    assert open_models(window, "shelf").page() == "shelf"
    trigger(window, "find_models")
    assert window.library.models_window.page() == "recommended"
    window.library.models_window.show_page("search")
    window.library.models_window.close()
    assert open_models(window).page() == "search"


@pytest.mark.parametrize("page", ["recommended", "shelf"])
def test_the_line_above_a_list_begins_where_its_rows_do(open_starter: OpenWindow, qtbot: QtBot, page: str):
    models = open_models(open_starter(), page)
    shown = models.recommended if page == "recommended" else models.shelf
    note = shown.note
    qtbot.waitUntil(lambda: note.isVisible() and shown.list.isVisible())
    words = note.mapTo(models, note.contentsRect().topLeft()).x()
    assert words == shown.list.viewport().mapTo(models, QPoint(ROW_MARGIN, 0)).x()


def test_a_recommended_model_comes_in_four_bits_or_as_it_was_made(
    open_starter: OpenWindow, hub: FakeHub, qtbot: QtBot, tmp_path: Path
):
    write_tiny_llama(tmp_path / "source")
    file = "Llama-3.2-1B-Instruct-Q4_K_M.gguf"
    write_gguf(tmp_path / "source", tmp_path / file, "Q8_0")
    gguf = {"total": 200_000, "architecture": "llama", "context_length": 2048}
    hub.add("bartowski/Llama-3.2-1B-Instruct-GGUF", {file: (tmp_path / file).read_bytes()}, info={"gguf": gguf})
    window = open_starter()
    models = open_models(window)
    qtbot.waitUntil(models.isActiveWindow)
    page = models.recommended
    assert page.list.select("meta-llama/Llama-3.2-1B-Instruct")
    content, pane = page.pane.content, page.pane
    assert content is not None
    assert content.warning == ""  # anybody may fetch that one
    assert pane.chosen_file() == file
    assert pane.buttons["download"].text() == "Download, 808 MB"
    original = next(button for button in pane._files.buttons() if button.objectName() != file)
    original.setFocus()
    qtbot.keyClick(original, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: pane.buttons["download"].text() == "Download, 2.5 GB")
    assert "licence accepted" in pane.content.warning  # type: ignore[union-attr]
    chosen = pane._files.checkedButton()
    assert chosen.objectName() != file
    assert QApplication.focusWidget() is chosen  # the keyboard stays where it was
    next(button for button in pane._files.buttons() if button.objectName() == file).click()
    qtbot.waitUntil(lambda: pane.buttons["download"].text() == "Download, 808 MB")
    press(qtbot, pane.buttons["download"])
    qtbot.waitUntil(lambda: "open" in pane.buttons, timeout=SECONDS)

    def state() -> str:
        return next(row.state for row in page.list.rows.rows if row.key == "meta-llama/Llama-3.2-1B-Instruct")

    # That the hub has answered is told apart, and may come later.
    qtbot.waitUntil(lambda: state() == "on this computer", timeout=SECONDS)
    press(qtbot, pane.buttons["open"])
    qtbot.waitUntil(lambda: window._host.current.endswith(file), timeout=SECONDS)
    qtbot.waitUntil(lambda: window._host.state == "ready", timeout=SECONDS)


def read_memory_at(window: MainWindow, bandwidth: float, free: int = 24 * 10**9) -> None:
    """Let this machine be one whose memory gives so many bytes a second."""
    adviser = window.library._parts.desk.adviser
    adviser._machine = lambda bandwidth: Machine(32 * 10**9, free, has_kernels=True, bandwidth=bandwidth)
    adviser._measure_bandwidth = lambda: bandwidth


@pytest.mark.parametrize("free", [24 * 10**9, 3 * 10**9])
@pytest.mark.parametrize(
    ("bandwidth", "choice"),
    [
        # An 8B would write as fast as people read, but long answers are a wait then. Qwen3 4B writes quickly enough,
        # too, but much of it before the answer.
        (4e10, "Qwen/Qwen3-VL-4B-Instruct"),
        # What is quicker here is too small to be of use.
        (6e9, "meta-llama/Llama-3.2-1B-Instruct"),
    ],
)
@pytest.mark.sampled(2)
def test_the_first_choice_is_the_largest_that_answers_quickly(
    open_starter: OpenWindow, qtbot: QtBot, free: int, bandwidth: float, choice: str
):
    """Whatever else runs just now."""
    window = open_starter()
    read_memory_at(window, bandwidth, free)
    page = open_models(window).recommended
    qtbot.waitUntil(lambda: page.list.current_key() == choice, timeout=SECONDS)
    content = page.pane.content
    assert content is not None
    assert (content.best, content.hint) == ("int4", "A good first choice for this computer.")


@pytest.mark.parametrize("how", ["mouse", "key", "file"])
def test_what_the_user_has_chosen_stays_when_speeds_are_known(open_starter: OpenWindow, qtbot: QtBot, how: str):
    """Also the row that was current anyway."""
    window, measuring = open_starter(), Event()
    read_memory_at(window, 4e10)
    adviser = window.library._parts.desk.adviser
    adviser._measure_bandwidth = lambda: measuring.wait(60) and 4e10
    page = open_models(window).recommended
    first = page.list.current_key()
    if how == "mouse":
        place = page.list.visualRect(page.list.currentIndex()).center()
        qtbot.mouseClick(page.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    elif how == "key":
        qtbot.keyClick(page.list, Qt.Key.Key_Down)
        qtbot.keyClick(page.list, Qt.Key.Key_Up)
    else:
        page.pane.file_chosen.emit()
    with qtbot.waitSignal(adviser.measured, timeout=SECONDS):
        measuring.set()
    assert page.list.current_key() == first
    assert page.list.select("Qwen/Qwen3-VL-4B-Instruct")
    content = page.pane.content
    assert content is not None
    assert content.hint == "A good first choice for this computer."


def test_what_goes_wrong_is_said_calmly(open_starter: OpenWindow, hub: FakeHub, qtbot: QtBot):
    window = open_starter()
    models = open_models(window, "search")
    assert "Only then" in models.search.message.text()
    hub.api_fault = Fault("status", status=500)
    models.search.search_now()
    qtbot.waitUntil(lambda: "500" in models.search.message.text(), timeout=SECONDS)
    hub.api_fault = None
    models.search.field.setText("nobody-has-this")
    press(qtbot, models.search.message.button)
    qtbot.waitUntil(lambda: "nobody-has-this" in models.search.message.text(), timeout=SECONDS)

    options = models.show_options()
    options.offline.setChecked(True)
    qtbot.waitUntil(lambda: "Offline mode" in models.search.message.text())
    options.offline.setChecked(False)
    qtbot.waitUntil(lambda: "Only then" in models.search.message.text())
    options.offline.setChecked(True)
    options.limit.setCurrentIndex(options.limit.findData(2_000_000))
    options.add_folder("/elsewhere")
    settings = window.kept_settings[-1]  # pyright: ignore[reportAttributeAccessIssue]
    assert (settings.offline, settings.download_limit, settings.model_folders) == (True, 2_000_000, ("/elsewhere",))
    asked = len(hub.log)
    models.search.search_now()
    qtbot.waitUntil(lambda: "Offline mode" in models.search.message.text())
    assert len(hub.log) == asked
    options.close()


def test_a_dropped_folder_is_opened_where_it_lies(open_starter: OpenWindow, qtbot: QtBot, tmp_path: Path):
    write_tiny_llama(tmp_path / "mine")
    window = open_starter()
    tab = window.deck.current()
    for target in (window, tab):
        drop(target, tmp_path / "mine")
        qtbot.waitUntil(
            lambda: any(isinstance(w, QMessageBox) for w in QApplication.topLevelWidgets()), timeout=SECONDS
        )
        assert "stays where it lies" in answer_box(
            QMessageBox.StandardButton.Cancel if target is window else QMessageBox.StandardButton.Open
        )
        qtbot.waitUntil(lambda: not any(isinstance(w, QMessageBox) for w in QApplication.topLevelWidgets()))
    qtbot.waitUntil(lambda: window._host.current == str(tmp_path / "mine"), timeout=SECONDS)
    qtbot.waitUntil(lambda: window._host.state == "ready", timeout=SECONDS)
    (tmp_path / "empty").mkdir()
    drop(window, tmp_path / "empty")
    qtbot.waitUntil(lambda: "empty" in tab.notice.text(), timeout=SECONDS)


def drop(target: Any, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    action, button, keys = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    entered = QDragEnterEvent(QPoint(5, 5), action, data, button, keys)
    QApplication.sendEvent(target, entered)
    assert entered.isAccepted()
    QApplication.sendEvent(target, QDropEvent(QPointF(5, 5), action, data, button, keys))


def test_one_of_several_gguf_files_is_taken_and_answers(
    open_starter: OpenWindow, hub: FakeHub, qtbot: QtBot, tmp_path: Path
):
    write_tiny_llama(tmp_path / "source")
    files: dict[str, bytes] = {}
    for kind in ("Q8_0", "F16"):
        path = tmp_path / f"tiny-{kind}.gguf"
        write_gguf(tmp_path / "source", path, kind)
        files[path.name] = path.read_bytes()
    gguf = {"total": 200_000, "architecture": "llama", "context_length": 2048}
    fields = info(tags=["gguf", "llama", "license:mit"], gguf=gguf)
    hub.add("somebody/tiny-GGUF", files, info={key: fields[key] for key in ("tags", "gguf", "downloads")})
    window = open_starter()
    models = open_models(window, "search")
    find(models, qtbot, "tiny", gguf=True)
    assert models.search.pane.chosen_file() == "tiny-Q8_0.gguf"

    def best(dtype: str) -> str:
        return models.search.desk.adviser.best(ModelShape.guess(200_000), 0, dtype).dtype

    assert models.search.pane.content.best == best("int8") != best("bfloat16")  # type: ignore[union-attr]
    choice = next(b for b in models.search.pane._files.buttons() if b.objectName() == "tiny-F16.gguf")
    choice.click()
    size = len(files["tiny-F16.gguf"])
    assert models.search.pane.chosen_file() == "tiny-F16.gguf"
    qtbot.waitUntil(lambda: models.search.pane.buttons["download"].text() == f"Download, {size_text(size)}")
    assert models.search.pane.content.best == best("bfloat16"), "the verdict is of the file that is chosen"  # type: ignore[union-attr]
    press(qtbot, models.search.pane.buttons["download"])
    qtbot.waitUntil(lambda: "open" in models.search.pane.buttons, timeout=SECONDS)
    assert hub.asked("tiny-Q8_0.gguf") == []
    press(qtbot, models.search.pane.buttons["open"])
    tab = window.deck.current()
    qtbot.waitUntil(lambda: window._host.current.endswith("tiny-F16.gguf"), timeout=SECONDS)
    qtbot.waitUntil(lambda: window._host.state == "ready", timeout=SECONDS)
    tab.session.set_settings(replace(tab.session.settings, max_tokens=8))  # random weights end by chance
    ask(qtbot, tab, "Hello")
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2 and not tab.session.answering, timeout=SECONDS)
    assert tab.session.path()[-1].status == "complete"


def test_a_model_is_checked_and_named(open_starter: OpenWindow, hub: FakeHub, qtbot: QtBot, tmp_path: Path):
    hub.add(REPO, tiny_files(tmp_path / "source"), info=info())
    window = open_starter()
    models = open_models(window)
    find(models, qtbot, "tiny")
    press(qtbot, models.search.pane.buttons["download"])
    qtbot.waitUntil(lambda: "open" in models.search.pane.buttons, timeout=SECONDS)
    models.show_page("shelf")
    qtbot.waitUntil(lambda: models.shelf.list.rows.rowCount() == 2, timeout=SECONDS)
    path = models.shelf.list.rows.rows[1].key
    assert models.shelf.list.select(path)
    press(qtbot, models.shelf.pane.buttons["verify"])
    qtbot.waitUntil(lambda: "All is well" in models.shelf.pane._hint.text(), timeout=SECONDS)
    weights = (Path(path) / "model.safetensors").resolve()
    content = weights.read_bytes()
    weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    press(qtbot, models.shelf.pane.buttons["verify"])
    qtbot.waitUntil(lambda: "damaged" in models.shelf.pane._hint.text(), timeout=SECONDS)
    weights.write_bytes(content)

    press(qtbot, models.shelf.pane.buttons["rename"])
    dialog = models.shelf.findChild(QInputDialog)
    dialog.setTextValue("My tiny one")
    dialog.accept()
    qtbot.waitUntil(lambda: models.shelf.list.rows.rows[1].name == "My tiny one", timeout=SECONDS)


def test_a_narrow_window_shows_the_list_or_the_model(open_starter: OpenWindow, qtbot: QtBot):
    window = open_starter()
    window.deck.current().welcome._find.click()  # the way to real models, which the first page of a chat offers
    models = window.library.models_window
    page = models.recommended
    assert page.list.isVisible()
    assert page.pane.isVisible()
    models.resize(500, 500)
    qtbot.waitUntil(lambda: not page.pane.isVisible())
    assert models.width() <= 520
    page.list.clicked.emit(page.list.currentIndex())
    assert page.pane.isVisible()
    assert not page.list.isVisible()
    press(qtbot, page.pane.back)
    assert page.list.isVisible()
    models.resize(1000, 600)
    qtbot.waitUntil(page.pane.isVisible)
    assert not page.pane.back.isVisible()


def test_offline_by_the_environment_is_said_and_nothing_is_asked(
    open_starter: OpenWindow, environment: dict[str, str], hub: FakeHub, qtbot: QtBot
):
    environment["HF_HUB_OFFLINE"] = "1"
    models = open_models(open_starter(), "search")
    assert "Offline mode" in models.search.message.text()
    assert models.search.message.button.isHidden()
    options = models.show_options()
    assert options.offline.isChecked()
    assert not options.offline.isEnabled()
    options.close()
    models.show_page("recommended")
    press(qtbot, models.recommended.pane.buttons["card"])
    qtbot.waitUntil(lambda: "Offline mode" in models.recommended.pane._hint.text(), timeout=SECONDS)
    press(qtbot, models.recommended.pane.buttons["download"])
    qtbot.waitUntil(models.notice.isVisible, timeout=SECONDS)
    assert "Offline mode" in models.notice.text()
    assert hub.log == []


def test_the_address_of_a_gguf_file_chooses_that_file(open_starter: OpenWindow, hub: FakeHub, qtbot: QtBot):
    info = {"tags": ["gguf", "llama"], "gguf": {"total": 200_000, "architecture": "llama"}}
    hub.add("somebody/tiny-GGUF", {"tiny-Q4_K_M.gguf": b"4", "tiny-Q8_0.gguf": b"8"}, info=info)
    models = open_models(open_starter(), "search")
    find(models, qtbot, "https://huggingface.co/somebody/tiny-GGUF/blob/main/tiny-Q8_0.gguf", gguf=False)
    assert models.search.pane.chosen_file() == "tiny-Q8_0.gguf"
    content = models.search.pane.content
    assert content is not None
    assert content.best == models.search.desk.adviser.best(ModelShape.guess(200_000), 0, "int8").dtype, "in its bits"


def test_a_kind_behind_a_colon_chooses_the_file_of_that_kind(open_starter: OpenWindow, hub: FakeHub, qtbot: QtBot):
    info = {"tags": ["gguf", "llama"], "gguf": {"total": 200_000, "architecture": "llama"}}
    hub.add("somebody/tiny-GGUF", {"tiny-Q4_K_M.gguf": b"4", "tiny-Q8_0.gguf": b"8"}, info=info)
    models = open_models(open_starter(), "search")
    find(models, qtbot, "hf.co/somebody/tiny-GGUF:q8_0")
    assert models.search.pane.chosen_file() == "tiny-Q8_0.gguf"
    models.search.field.setText("somebody/tiny-GGUF:Q4_K_M")
    models.search.search_now()
    qtbot.waitUntil(lambda: models.search.pane.chosen_file() == "tiny-Q4_K_M.gguf", timeout=SECONDS)


def test_many_models_on_this_machine_are_filtered(
    open_starter: OpenWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(shelf_page, "_FEW", 3)
    for name in ("Alpha 1B", "Alpha 3B"):
        write_tiny_llama(tmp_path / "hf" / "hub" / name)
    models = open_models(open_starter(), "shelf")
    page = models.shelf
    qtbot.waitUntil(lambda: page.list.rows.rowCount() == 3, timeout=SECONDS)
    assert not page.field.isVisible(), "three are seen at a glance"
    write_tiny_llama(tmp_path / "hf" / "hub" / "Beta 1B")
    page.desk.shelf.scan()
    qtbot.waitUntil(page.field.isVisible, timeout=SECONDS)
    page.list.select(str(tmp_path / "hf" / "hub" / "Beta 1B"))
    qtbot.keyClicks(page.field, "1b BETA")
    assert [row.name for row in page.list.rows.rows] == ["Beta 1B"]
    page.field.clear()
    assert page.list.rows.rowCount() == 4
    assert page.list.current_key().endswith("Beta 1B"), "what was chosen stays chosen"
    qtbot.keyClicks(page.field, "alpha")
    assert [row.name for row in page.list.rows.rows] == ["Alpha 1B", "Alpha 3B"]
    qtbot.keyClick(page.field, Qt.Key.Key_Down)
    assert page.list.current_key().endswith("Alpha 3B")
    qtbot.keyClicks(page.field, " none")
    assert page.message.isVisible()
    assert "“alpha none”" in page.message.text()
    page.field.clear()
    assert page.list.isVisible()
