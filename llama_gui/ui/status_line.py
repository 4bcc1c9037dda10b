"""The foot of the window: what the engine does, and what it costs."""

from PySide6.QtCore import QRectF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from llama_gui.bridge.loaded_models import ModelState
from llama_gui.ui.long_wait import LongWait
from llama_gui.ui.numbers import dtype_text, number_text
from llama_gui.ui.problem_words import problem_text
from llama_gui.ui.sizes import size_text
from llama_gui.ui.theme import TINY_PX, theme_of
from llama_gui.ui.widgets import ShortenedLabel, Surface, plain_label, plain_tip
from llama_gui.vocabulary import EngineStats, ModelInfo

_NAME_WIDTH = 220
_EDGES = 64
"""Margins and gaps of the line together."""
_READING_MS, _GLANCE_MS = 10_000, 4_000
_DEVICES = {"cpu": "CPU", "cuda": "GPU", "mps": "GPU"}


class _Dot(QWidget):
    """The accent dot before "2 answering"."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedSize(9, 9)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme_of(self).color("accent"))
        painter.drawEllipse(QRectF(0.5, 0.5, 8, 8))


class StatusLine(Surface):
    """Small, muted, always there. What is said goes before what it costs, where there is not room for both."""

    models_wanted = Signal()
    """The model that stands there was clicked."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("side", "top", parent)
        self.setFixedHeight(28)
        self._dot = _Dot()
        self.answering = plain_label("", "accent", TINY_PX, bold=True)
        self.work = plain_label("", "muted", TINY_PX)
        self._first_gap, self._gap = QWidget(), QWidget()  # behind each of the two, when it is there
        self._first_gap.setFixedWidth(12)
        self._gap.setFixedWidth(14)
        self.state = ShortenedLabel("", "muted", TINY_PX)
        self.state.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.shared = plain_label(self.tr("Open to the network"), "accent", TINY_PX)
        self.shared.setContentsMargins(14, 0, 14, 0)
        self.shared.hide()
        self.costs = plain_label("", "muted", TINY_PX)
        self.costs.setCursor(Qt.CursorShape.PointingHandCursor)
        self._name = ""
        self._own = 0
        self._info: ModelInfo | None = None
        self._wait = LongWait()  # of this model only
        self._over = QTimer(self, singleShot=True)
        self._over.timeout.connect(self._clear)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(15, 1, 15, 0)
        layout.setSpacing(4)
        layout.addWidget(self._dot)
        layout.addWidget(self.answering)
        layout.addWidget(self._first_gap)
        layout.addWidget(self.work)
        layout.addWidget(self._gap)
        layout.addWidget(self.state, 1)
        layout.addWidget(self.shared)
        layout.addWidget(self.costs)
        self.set_answering(0)

    def set_answering(self, count: int) -> None:
        """How many chats answer."""
        if count > self._own and self._over.isActive():  # what was said before is of the past now
            self._clear()
        self._own = count
        self.answering.setText(self.tr("{} answering").format(count) if count else "")
        self.answering.setVisible(count > 0)
        self._dot.setVisible(count > 0)
        self._first_gap.setVisible(count > 0)
        self._show_work(count > 0)

    def _show_work(self, shown: bool) -> None:
        self.work.setVisible(shown)
        self._gap.setVisible(shown)
        self._fit()

    def say(self, text: str, *, is_error: bool = False, stays: bool = False, brief: bool = False) -> None:
        """What was done, or what went wrong, for a while. `stays`: until something else is said; `brief`: not for long.

        What ends in "…" goes on, so it stays, too.
        """
        text = problem_text(text) if is_error else text
        self.state.set_role("error" if is_error else "muted")
        self.state.setText(text)
        self.state.setToolTip(plain_tip(text))
        self._fit()
        self._over.stop()
        if text and not stays and not text.endswith("…"):
            self._over.start(_GLANCE_MS if brief else _READING_MS)

    @Slot(str)
    def say_briefly(self, text: str) -> None:
        """Say why nothing happened, to one who sees at once that nothing did."""
        self.say(text, brief=True)

    def _fit(self) -> None:
        """Hide the numbers on the right while what is said needs their room."""
        before = (part for part in (self._dot, self.answering, self.work, self.shared) if not part.isHidden())
        taken = _EDGES + self.costs.sizeHint().width() + sum(part.sizeHint().width() for part in before)
        needed = self.state.fontMetrics().horizontalAdvance(self.state.text())
        self.costs.setVisible(not needed or self.width() - taken >= needed)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    @Slot()
    def _clear(self) -> None:
        self.say("")

    @Slot(str)
    def show_shared(self, url: str) -> None:
        """Show, as long as it is so, that other devices can use the models at this address; "": they cannot."""
        self.shared.setVisible(bool(url))
        self.shared.setToolTip(plain_tip(self.tr("Other devices can use the models at {}").format(url)))

    def show_model(self, info: ModelInfo) -> None:
        """Show what a model runs on, until the engine's numbers come."""
        self._begin(info)
        self._name = info.name
        self._show_costs(_machine(info.device, info.dtype))
        self._show_tip(info.source)

    def _show_tip(self, source: str) -> None:
        lines = (source, self.tr("A click chooses another model."))
        self.costs.setToolTip(plain_tip("\n".join(line for line in lines if line)))

    def _is_on_costs(self, event: QMouseEvent) -> bool:
        is_left = event.button() == Qt.MouseButton.LeftButton
        return is_left and self.costs.isVisible() and self.costs.geometry().contains(event.position().toPoint())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._is_on_costs(event):
            event.accept()  # else the release would not come
        else:
            super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._is_on_costs(event):
            self.models_wanted.emit()

    def _begin(self, info: ModelInfo | None) -> None:
        if info != self._info:
            self._info, self._wait = info, LongWait()

    def show_no_model(self, name: str, state: ModelState, *, is_remote: bool = False) -> None:
        """Show that a model is not in memory, or its server not asked, or not yet; "": there is none at all."""
        self._begin(None)
        self._show_tip("")
        self._name = name
        self.work.setText("")
        absent = self.tr("not connected") if is_remote else self.tr("not in memory")
        words = {"absent": absent, "failed": self.tr("not available")}
        self._show_costs(words.get(state, "") if name else "")

    def _show_costs(self, *parts: str) -> None:
        name = self.fontMetrics().elidedText(self._name, Qt.TextElideMode.ElideMiddle, _NAME_WIDTH)
        self.costs.setText("      ".join(part for part in (name, *parts) if part))
        self._fit()

    def show_stats(self, stats: EngineStats, *, reads_ahead: bool = False) -> None:
        """Show the engine's numbers. `reads_ahead`: all it does is to read what nobody has asked yet."""
        self.work.setText(self.tr("reading ahead") if reads_ahead else self._work_text(stats))
        self._show_work(self._own > 0 or stats.running > 0)
        weights = self.tr("weights {}").format(size_text(stats.weight_bytes)) if stats.weight_bytes else ""
        cache = self.tr("cache {}").format(size_text(stats.kv_bytes)) if stats.kv_bytes else ""
        threads = self.tr("1 thread") if stats.threads == 1 else self.tr("{} threads").format(stats.threads)
        machine = _machine(stats.device, stats.dtype, threads if stats.device == "cpu" else "")
        self._show_costs(weights, cache, machine)

    def _work_text(self, stats: EngineStats) -> str:
        """What the decode steps do; nothing until there has been one."""
        lacks_memory = self._wait.has_lasted(stats.waiting > 0)
        waiting = self.tr("{} waiting for memory").format(stats.waiting) if lacks_memory else ""
        if stats.tokens_per_second < 0.5 or not stats.batch_size:
            return waiting
        batch = self.tr("batch {}").format(stats.batch_size)
        speed = self.tr("{} tok/s").format(number_text(stats.tokens_per_second))
        guests = self.tr("for other programs") if stats.running and not self._own else ""
        return "      ".join(part for part in (guests, speed, batch, waiting) if part)


def _machine(*parts: str) -> str:
    device, dtype, *rest = parts
    names = (_DEVICES.get(device.partition(":")[0], device), dtype_text(dtype), *rest)
    return " · ".join(name for name in names if name)
