"""How a model runs: its precision, how much it reads at once, with how many threads; and what that takes."""

import os
from typing import cast

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from llama_gui.bridge.load_planner import LoadPlanner
from llama_gui.library.fit import OFFERED_DTYPES
from llama_gui.ui.choice_box import ChoiceBox
from llama_gui.ui.dialog_button import DialogButton
from llama_gui.ui.icons import Icons
from llama_gui.ui.numbers import dtype_text, number_text
from llama_gui.ui.parameter import ParameterRow
from llama_gui.ui.parameter_table import ParameterSpec
from llama_gui.ui.problem_words import problem_text
from llama_gui.ui.sizes import size_text
from llama_gui.ui.theme import FRAME_PX, SMALL_PX
from llama_gui.ui.translatable import QT_TRANSLATE_NOOP
from llama_gui.ui.widgets import FittingDialog, RoleLabel, form_foot, plain_label
from llama_gui.vocabulary import LoadOptions, LoadPlan

_LEAST_CONTEXT = 256
_COARSEST_STEP = 512
_STEPS = 64
_WIDTH, _FIELD_WIDTH = 500, 160
_SIDE = 28


def context_spec(trained: int) -> ParameterSpec:
    """How much a model may read at once that was trained for so many tokens."""
    least = min(_LEAST_CONTEXT, trained)
    step = min(_COARSEST_STEP, max(1, trained // _STEPS))
    return ParameterSpec(
        "max_context",
        QT_TRANSLATE_NOOP("Parameters", "Context length"),
        least,
        trained,
        True,
        QT_TRANSLATE_NOOP("Parameters", "How many tokens of a chat and its answer the model reads at once."),
        (least, trained, step) if least < trained else None,
    )


def threads_spec(most: int) -> ParameterSpec:
    """On how many of so many processors it may run."""
    return ParameterSpec(
        "threads",
        QT_TRANSLATE_NOOP("Parameters", "CPU threads"),
        1,
        most,
        True,
        QT_TRANSLATE_NOOP("Parameters", "As many as there are cores is fastest; fewer leave some to other programs."),
        (1, most, 1) if most > 1 else None,
    )


class LoadDialog(FittingDialog):
    """Shows how a model of this machine runs, and lets it run in another way.

    `plan` is what the planner says of `options`; it is asked again where another precision or device is chosen, or
    chats are to be in eight bits.
    `devices`: what this machine can run models on.
    """

    chosen = Signal(object)
    """`LoadOptions`."""

    def __init__(
        self,
        key: str,
        name: str,
        options: LoadOptions,
        plan: LoadPlan,
        planner: LoadPlanner,
        devices: tuple[str, ...],
        icons: Icons,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._key, self._options, self._planner = key, options, planner
        self._plan = plan
        self._told: set[str] = set()  # what was said to be wrong when it was to be applied
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("How {} runs").format(name))
        dtypes = {"auto": "", **{dtype: dtype for dtype in OFFERED_DTYPES}, options.dtype: options.dtype}
        names = {"auto": self.tr("Automatic"), "cpu": "CPU", "cuda": "CUDA", "mps": "MPS"}
        places = {device: names.get(device, device) for device in ("auto", *devices, options.device)}
        self.dtype = self._choice(self.tr("Precision"), dtypes, options.dtype, icons)
        self.device = self._choice(self.tr("Device"), places, options.device, icons)
        self.context = ParameterRow(context_spec(plan.trained_context), icons)
        self.context.set_value(options.max_context)
        self.threads = ParameterRow(threads_spec(max(os.cpu_count() or 1, plan.threads, options.threads or 1)), icons)
        self.threads.set_value(options.threads)
        self.guesses = QCheckBox(self.tr("Guess ahead from the text"))
        self.guesses.setChecked(options.guesses)
        self.small_chats = QCheckBox(self.tr("Keep chats in eight bits"))
        self.small_chats.setChecked(options.cache_dtype == "int8")
        self.reason = self._note()
        self.costs = self._note()
        self.apply = QPushButton(self.tr("Apply"))
        self._lay_out(has_devices=len(devices) > 1)
        self._show()
        planner.planned.connect(self._on_planned)
        planner.failed.connect(self._on_failed)
        for box in (self.dtype, self.device):
            box.currentIndexChanged.connect(self._on_choice)
        self.small_chats.toggled.connect(self._on_choice)
        self.context.changed.connect(self._show_costs)
        for row in (self.context, self.threads):
            row.refused.connect(self._on_refused)
        self.context.edit.setFocus()

    def _choice(self, name: str, values: dict[str, str], current: str, icons: Icons) -> ChoiceBox:
        box = ChoiceBox(icons)
        for value, text in values.items():
            box.addItem(text, value)
        box.setCurrentIndex(box.findData(current))
        box.setAccessibleName(name)
        return box

    def _note(self, text: str = "") -> RoleLabel:
        label = plain_label(text, "muted", SMALL_PX)
        label.setWordWrap(True)
        return label

    def _lay_out(self, *, has_devices: bool) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(_SIDE, 24, _SIDE, 20)
        layout.setSpacing(6)
        layout.addLayout(self._choices(has_devices=has_devices))
        layout.addWidget(self.reason)
        for row in (self.context, self.threads):
            row.edit.setMaximumWidth(_FIELD_WIDTH)
            layout.addSpacing(12)
            layout.addWidget(row)
            layout.addWidget(self._note(row.spec.tip_text))
        self._add_tick(
            layout,
            self.small_chats,
            self.tr(
                "What was said then takes about half the memory, and long chats are answered faster. Now and then a "
                "word comes out otherwise."
            ),
        )
        self._add_tick(
            layout,
            self.guesses,
            self.tr(
                "What an answer repeats comes sooner: mended code several times as fast, other texts by up to a half. "
                "The words stay the same. On CPUs only."
            ),
        )
        layout.addSpacing(12)
        layout.addWidget(self.costs)
        layout.addStretch(1)
        layout.addSpacing(10)
        layout.addLayout(self._foot())
        self.resize(_WIDTH, layout.totalHeightForWidth(_WIDTH))

    def _add_tick(self, layout: QVBoxLayout, box: QCheckBox, words: str) -> None:
        """With what it costs and gains."""
        box.setAccessibleDescription(words)
        layout.addSpacing(12)
        layout.addWidget(box)
        layout.addWidget(self._note(words))

    def _choices(self, *, has_devices: bool) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(1, 1)
        for row, box in enumerate((self.dtype, self.device) if has_devices else (self.dtype,)):
            label = plain_label(box.accessibleName(), "text", FRAME_PX)
            label.setBuddy(box)
            grid.addWidget(label, row, 0)
            grid.addWidget(box, row, 1)
        return grid

    def _foot(self) -> QHBoxLayout:
        defaults = DialogButton(self.tr("Back to the defaults"), self._reset)
        foot = form_foot(self, self.apply)
        foot.insertWidget(0, defaults)
        return foot

    # What is shown

    def _show(self) -> None:
        """Show what the plan says."""
        plan = self._plan
        automatic = self.tr("Automatic")
        is_automatic = self.dtype.currentData() == "auto"
        self.dtype.setItemText(0, f"{automatic} ({dtype_text(plan.dtype)})" if is_automatic else automatic)
        self.context.set_default(plan.trained_context)
        self.threads.set_default(plan.threads)
        self.threads.setEnabled(plan.device == "cpu")
        self._say(problem_text(plan.reason))
        self._show_costs()

    @Slot()
    def _show_costs(self) -> None:
        plan = self._plan
        tokens = cast(int, self.context.value() or plan.trained_context)
        weights, chat = size_text(plan.weight_bytes), size_text(plan.token_bytes * tokens + plan.state_bytes)
        if plan.tokens_that_fit >= tokens:
            text = self.tr(
                "The weights take {} of memory. A chat that fills the context takes {} more, piece by piece as it "
                "grows; all chats together may take {} now."
            ).format(weights, chat, size_text(plan.chat_bytes))
        else:
            text = self.tr(
                "The weights take {} of memory. A chat that fills the context would take {} more, but with what is "
                "free now it can be about {} tokens long."
            ).format(weights, chat, number_text(plan.tokens_that_fit))
        self.costs.set_role("text" if plan.tokens_that_fit >= tokens else "accent")
        self.costs.setText(text)
        self.fit()

    def _say(self, text: str, role: str = "muted") -> None:
        self.reason.set_role(role)
        self.reason.setText(text)

    # What the user does

    def options(self) -> LoadOptions:
        """What is chosen."""
        return LoadOptions(
            self.dtype.currentData(),
            self.device.currentData(),
            cast("int | None", self.context.value()),
            cast("int | None", self.threads.value()),
            self.guesses.isChecked(),
            "int8" if self.small_chats.isChecked() else "auto",
        )

    @Slot()
    def _on_choice(self) -> None:
        self.apply.setEnabled(False)  # until it is known that it can be
        self._planner.plan(self._key, self.options())

    @Slot()
    def _on_refused(self) -> None:
        self._told.clear()  # it was typed anew, even where it is the same again
        self.fit()

    @Slot()
    def _reset(self) -> None:
        for row in (self.context, self.threads):
            row.reset()
        self.guesses.setChecked(LoadOptions().guesses)
        self.small_chats.setChecked(False)
        for box in (self.dtype, self.device):
            box.setCurrentIndex(box.findData("auto"))

    def accept(self) -> None:
        """Tell what is chosen; what is typed and cannot be is said first, and once."""
        wrong = [row for row in (self.context, self.threads) if row.problem]
        problems = {row.problem for row in wrong}
        if problems - self._told:
            self._told = problems
            wrong[0].edit.setFocus()
            wrong[0].edit.selectAll()
            return
        if self.apply.isEnabled():
            self.chosen.emit(self.options())
            super().accept()

    # What the planner tells

    def _is_asked(self, key: str, options: LoadOptions) -> bool:
        now = self.options()
        asked = (key, options.dtype, options.device, options.cache_dtype)
        return asked == (self._key, now.dtype, now.device, now.cache_dtype)

    @Slot(str, object, object)
    def _on_planned(self, key: str, options: LoadOptions, plan: LoadPlan) -> None:
        if self._is_asked(key, options):
            self._plan = plan
            self.apply.setEnabled(True)
            self._show()

    @Slot(str, object, str)
    def _on_failed(self, key: str, options: LoadOptions, problem: str) -> None:
        if self._is_asked(key, options):
            self._say(problem_text(problem), "error")
            self.fit()
