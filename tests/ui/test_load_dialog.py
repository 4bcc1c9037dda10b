"""How a model runs: what is chosen, typed, refused and said."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from llama_gui.ui.load_dialog import LoadDialog, context_spec, threads_spec
from llama_gui.vocabulary import LoadOptions, LoadPlan

PLAN = LoadPlan("bfloat16", "cpu", "It loses nothing.", 2, 131_072, 2_500_000_000, 32_768, 6_000_000_000)


class Planner(QObject):
    """Tells what it is told to, and what it was asked."""

    planned = Signal(str, object, object)
    failed = Signal(str, object, str)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.asked: list[tuple[str, LoadOptions]] = []

    def plan(self, key: str, options: LoadOptions) -> None:
        self.asked.append((key, options))


@pytest.fixture
def show(qtbot, icons):
    parent = QWidget()
    parent.resize(800, 700)
    qtbot.addWidget(parent)
    parent.show()

    def show(options: LoadOptions | None = None, plan: LoadPlan = PLAN, devices: tuple[str, ...] = ("cpu",)):
        planner = Planner(parent)
        dialog = LoadDialog("/m", "R & D", options or LoadOptions(), plan, planner, devices, icons, parent)  # type: ignore[arg-type]
        dialog.show()
        return dialog, planner

    return show


def button(dialog: LoadDialog, text: str) -> QPushButton:
    return next(button for button in dialog.findChildren(QPushButton) if button.text() == text)


def type_in(qtbot, edit, text: str) -> None:
    edit.setFocus()
    edit.selectAll()
    qtbot.keyClicks(edit, text)
    qtbot.keyClick(edit, Qt.Key.Key_Return)


def test_it_shows_how_the_model_runs(show):
    dialog, _ = show()
    assert dialog.windowTitle() == "How R & D runs"
    assert dialog.dtype.currentText() == "Automatic (bf16)"
    assert not dialog.device.isVisible()
    assert "131072" in dialog.context.edit.text()
    assert dialog.threads.edit.text() == "2 · Default"
    assert "2.5 GB" in dialog.costs.text()
    assert "4.3 GB more" in dialog.costs.text()
    assert dialog.options() == LoadOptions()


def test_a_length_is_typed_and_its_memory_is_said(show, qtbot):
    dialog, planner = show()
    with qtbot.waitSignal(dialog.chosen) as chosen:
        type_in(qtbot, dialog.context.edit, "8192")
    assert "268 MB more" in dialog.costs.text()
    assert chosen.args == [LoadOptions(max_context=8192)]
    assert planner.asked == []


def test_threads_are_chosen(show, qtbot):
    dialog, planner = show()
    with qtbot.assertNotEmitted(dialog.chosen):
        type_in(qtbot, dialog.threads.edit, "0")
    with qtbot.waitSignal(dialog.chosen) as chosen:
        type_in(qtbot, dialog.threads.edit, "1")
    assert chosen.args == [LoadOptions(threads=1)]
    assert planner.asked == []


def test_guesses_are_chosen(show, qtbot):
    dialog, planner = show()
    qtbot.keyClick(dialog.guesses, Qt.Key.Key_Space)
    with qtbot.waitSignal(dialog.chosen) as chosen:
        dialog.accept()
    assert chosen.args == [LoadOptions(guesses=False)]
    assert planner.asked == []


def test_chats_in_eight_bits_are_asked_about(show, qtbot):
    dialog, planner = show()
    before = dialog.costs.text()
    qtbot.keyClick(dialog.small_chats, Qt.Key.Key_Space)
    asked = LoadOptions(cache_dtype="int8")
    assert planner.asked == [("/m", asked)]
    assert not dialog.apply.isEnabled()
    planner.planned.emit("/m", LoadOptions(), PLAN)  # of before
    assert not dialog.apply.isEnabled()
    planner.planned.emit("/m", asked, replace(PLAN, token_bytes=PLAN.token_bytes // 2))
    assert dialog.costs.text() != before
    with qtbot.waitSignal(dialog.chosen) as chosen:
        dialog.accept()
    assert chosen.args == [asked]


@pytest.mark.parametrize("typed", ["200000", "10", "many"])
def test_what_cannot_be_is_refused_once_and_in_words(show, qtbot, typed):
    dialog, _ = show()
    with qtbot.assertNotEmitted(dialog.chosen):
        type_in(qtbot, dialog.context.edit, typed)
    assert dialog.isVisible()
    assert typed in dialog.context.problem
    assert "a whole number from 256 to 131072" in dialog.context.problem
    assert dialog.context.error.isVisible()
    assert dialog.context.edit.hasSelectedText()  # what is typed next takes its place
    with qtbot.waitSignal(dialog.chosen) as chosen:  # the sentence was read: what is shown is taken
        button(dialog, "Apply").click()
    assert chosen.args == [LoadOptions()]


def test_what_cannot_be_is_refused_again_when_it_is_typed_again(show, qtbot):
    dialog, _ = show()
    with qtbot.assertNotEmitted(dialog.chosen):
        for _ in range(2):
            type_in(qtbot, dialog.context.edit, "10")
    assert dialog.isVisible()
    assert dialog.context.error.isVisible()


def test_what_is_more_than_fits_is_said(show, qtbot):
    dialog, _ = show(plan=replace(PLAN, chat_bytes=1_000_000_000))
    assert "about 30,517 tokens" in dialog.costs.text()
    assert dialog.costs._role == "accent"
    assert dialog.context.slider is not None
    qtbot.keyClick(dialog.context.slider, Qt.Key.Key_Home)
    assert dialog.context.value() == 256
    assert "may take 1.0 GB now" in dialog.costs.text()


def test_another_precision_is_asked_about(show, qtbot):
    dialog, planner = show(LoadOptions(max_context=4096))
    dialog.dtype.setCurrentIndex(dialog.dtype.findData("int8"))
    asked = LoadOptions("int8", max_context=4096)
    assert planner.asked == [("/m", asked)]
    assert not dialog.apply.isEnabled()
    planner.planned.emit("/m", LoadOptions("int4"), replace(PLAN, weight_bytes=10**9))  # of before
    planner.planned.emit("/other", asked, replace(PLAN, weight_bytes=10**9))
    assert not dialog.apply.isEnabled()
    planner.planned.emit("/m", asked, replace(PLAN, dtype="int8", reason="You chose int8.", weight_bytes=13 * 10**8))
    assert dialog.reason.text() == "You chose int8."
    assert "1.3 GB" in dialog.costs.text()
    with qtbot.waitSignal(dialog.chosen) as chosen:
        button(dialog, "Apply").click()
    assert chosen.args == [asked]


def test_what_cannot_be_loaded_so_is_said_and_not_applied(show, qtbot):
    dialog, planner = show(devices=("cpu", "cuda"))
    assert dialog.device.isVisible()
    dialog.dtype.setCurrentIndex(dialog.dtype.findData("int4"))
    dialog.device.setCurrentIndex(dialog.device.findData("cuda"))
    planner.failed.emit(*planner.asked[-1], "dtype int4 runs on the CPU only. Use auto.")
    assert dialog.reason.text() == "dtype int4 runs on the CPU only. Use auto."
    assert dialog.reason._role == "error"
    with qtbot.assertNotEmitted(dialog.chosen):
        dialog.accept()
    assert dialog.isVisible()


def test_the_defaults_come_back(show, qtbot):
    options = LoadOptions("int8", "cpu", 4096, 1, guesses=False, cache_dtype="int8")
    dialog, planner = show(options)
    assert dialog.options() == options
    button(dialog, "Back to the defaults").click()
    assert dialog.options() == LoadOptions()
    planner.planned.emit("/m", LoadOptions(), PLAN)
    with qtbot.waitSignal(dialog.chosen) as chosen:
        button(dialog, "Apply").click()
    assert chosen.args == [LoadOptions()]


@pytest.mark.parametrize("trained", [2, 64, 256, 257, 2048, 8192, 131_072, 1_010_000])
def test_every_model_has_a_range(trained):
    spec = context_spec(trained)
    assert spec.low <= spec.high == trained
    assert str(trained) in spec.allowed
    if spec.slider is not None:
        low, high, step = spec.slider
        assert low < high
        assert step >= 1
    assert spec.parse(str(trained)) == trained


def test_a_machine_with_one_processor_has_nothing_to_slide():
    assert threads_spec(1).slider is None
    assert threads_spec(8).slider == (1, 8, 1)
