"""Look at the words: an answer with how sure the model was of each of its tokens, and ways that it did not go."""

from PySide6.QtCore import QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QDialog, QHBoxLayout, QVBoxLayout, QWidget

from llama_gui.bridge.chat_session import ChatSession
from llama_gui.bridge.word_reader import Words
from llama_gui.chats.tree import Node
from llama_gui.ui.dialog_button import DialogButton
from llama_gui.ui.flow import FlowLayout
from llama_gui.ui.models.thin_bar import ThinBar
from llama_gui.ui.numbers import counted, number_text
from llama_gui.ui.problem_words import problem_text
from llama_gui.ui.theme import FRAME_PX, RADIUS, SMALL_PX, theme_of
from llama_gui.ui.widgets import plain_label, plain_tip
from llama_gui.ui.words.choices import Choices
from llama_gui.ui.words.sheet import WordSheet, paint_level
from llama_gui.ui.words.spans import (
    UNSURE,
    SpannedText,
    level_names,
    levels,
    percent,
    probability,
    spanned,
)

_WIDTH, _HEIGHT = 920, 640
_BAR = 240
_NARROW = 620
"""Below this width in pixels the alternatives stand below the text."""


class LevelMark(QWidget):
    """A sample of a tint, for the legend."""

    def __init__(self, level: int) -> None:
        super().__init__()
        self._level = level
        self.setFixedSize(QSize(24, 16))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        if self._level:
            paint_level(painter, theme_of(self), self._level, rect)
        else:
            painter.setPen(theme_of(self).color("line"))
            painter.drawRoundedRect(rect, 3, 3)


class SheetFrame(QWidget):
    """A hairline around the text, in the accent while the keyboard is there."""

    def __init__(self, sheet: WordSheet) -> None:
        super().__init__()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3, 3, 3, 3)
        layout.addWidget(sheet)
        self._sheet = sheet
        sheet.focus_changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme, rect = theme_of(self), QRectF(self.rect())
        painter.setPen(theme.color("accent" if self._sheet.hasFocus() else "line"))
        painter.setBrush(theme.color("page"))
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)


class WordDialog(QDialog):
    """Has the answer read when it opens, and no longer when it closes. A word that is chosen closes it."""

    turned = Signal()
    """A new version is on its way."""

    def __init__(self, session: ChatSession, node: Node, zoom: float, parent: QWidget) -> None:
        super().__init__(parent)
        self._session = session
        self._node = node
        self._words: Words | None = None
        self._text = SpannedText("", ())
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("The words of this answer"))
        self.sheet = WordSheet(zoom)
        self.choices = Choices()
        self.bar = ThinBar(3)
        self.state = plain_label("", "muted", SMALL_PX)
        self.state.setWordWrap(True)
        self._lay_out()
        self._connect()
        window = parent.window()
        self.resize(min(_WIDTH, max(320, window.width() - 48)), min(_HEIGHT, max(360, window.height() - 64)))
        self.sheet.show_plain(node.content)
        self.choices.setEnabled(False)

    def _lay_out(self) -> None:
        self._body = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._body.setSpacing(20)
        self._body.addWidget(SheetFrame(self.sheet), 5)
        self._body.addWidget(self.choices, 3)
        close = DialogButton(self.tr("Close"), self.reject)
        foot = QHBoxLayout()
        foot.setSpacing(16)
        told = QVBoxLayout()
        told.setSpacing(6)
        told.addStretch(1)
        told.addWidget(self.state)
        self.bar.setMaximumWidth(_BAR)
        line = QHBoxLayout()  # alone in the column it would limit that, too, and the button would take the rest
        line.addWidget(self.bar, 1000)
        line.addStretch(1)
        told.addLayout(line)
        foot.addLayout(told, 1)
        foot.addWidget(close, 0, Qt.AlignmentFlag.AlignBottom)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 20, 24, 16)
        layout.setSpacing(12)
        layout.addWidget(self._heading())
        layout.addWidget(self._legend())
        layout.addLayout(self._body, 1)
        layout.addLayout(foot)

    def _heading(self) -> QWidget:
        told = self.tr(
            "How sure {} was of each word. Choose another, and a new version goes on from there; this one stays."
        )
        heading = plain_label(told.format(self._node.model or self.tr("the model")), "text", FRAME_PX)
        heading.setWordWrap(True)
        return heading

    def _legend(self) -> QWidget:
        legend = QWidget()
        flow = FlowLayout(legend)
        for level, name in enumerate(level_names()):
            key = QWidget()
            row = QHBoxLayout(key)
            row.setContentsMargins(0, 0, 12, 0)
            row.setSpacing(6)
            row.addWidget(LevelMark(level))
            row.addWidget(plain_label(name, "muted", SMALL_PX))
            flow.addWidget(key)
        tip = self.tr(
            "The probabilities of the model itself: at temperature 1, before penalties and whatever else the settings "
            "of the answer did to them."
        )
        legend.setToolTip(plain_tip(tip))
        self.sheet.setAccessibleDescription(tip)
        return legend

    def _connect(self) -> None:
        reader = self._session.words
        reader.awaited.connect(self._on_awaited)
        reader.progressed.connect(self._on_progressed)
        reader.told.connect(self._on_told)
        reader.failed.connect(self._on_failed)
        self.finished.connect(reader.cancel)
        self.sheet.picked.connect(self._pick)
        self.sheet.chosen.connect(self._go_to_choices)
        self.choices.list.stepped.connect(self.sheet.step)
        self.choices.wanted.connect(self._turn)

    def open(self) -> None:
        """Appear, and have the answer read."""
        super().open()
        self.sheet.setFocus()
        self._say(self.tr("Reading the answer…"))
        self._session.words.read(self._node.id)

    # --- what comes of the reading

    @Slot(str)
    def _on_awaited(self, _key: str) -> None:
        self._say(self.tr("Loading {}, which wrote this answer…").format(self._node.model))

    @Slot(float)
    def _on_progressed(self, part: float) -> None:
        self.bar.set_part(part)
        self._say(self.tr("Reading the answer…"))

    @Slot(object)
    def _on_told(self, words: Words) -> None:
        if words.node_id != self._node.id:
            return
        self._words = words
        self._text = spanned(words.tokens, words.ending)
        found = levels(words.tokens, self._text.spans)
        self.bar.set_part(0)
        self.bar.hide()
        self.choices.setEnabled(bool(words.tokens))
        self._say(self._counted(len(words.tokens), sum(level >= UNSURE for level in found)))
        if not words.is_as_then:
            changed = self.tr("A message before it or the system prompt is another now, and so are these numbers.")
            self._say(f"{changed}\n{self.state.text()}")
        self.sheet.show_words(self._text, found)

    def _counted(self, tokens: int, unsure: int) -> str:
        how_many = counted(tokens, self.tr("{} token"), self.tr("{} tokens"))
        told = self.tr("{}, {} of them unsure. Ctrl with an arrow key goes from one of those to the next.")
        return told.format(how_many, number_text(unsure))

    @Slot(str)
    def _on_failed(self, text: str) -> None:
        self.bar.hide()
        self.choices.hide()
        self._say(problem_text(text), "error")

    def _say(self, text: str, role: str = "muted") -> None:
        self.state.set_role(role)
        self.state.setText(text)

    # --- what is done with it

    @Slot(int)
    def _pick(self, place: int) -> None:
        if self._words is None:
            return
        span = self._text.spans[self._text.span_of(place)]
        self.choices.show_place(self._words, place, span)
        if place == self.sheet.current:
            token = self._words.tokens[place]
            told = f"{self.choices.word.text()}, {percent(probability(token.logprob))}"
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, told))

    @Slot()
    def _go_to_choices(self) -> None:
        self.choices.list.setFocus(Qt.FocusReason.TabFocusReason)

    @Slot(int, int)
    def _turn(self, place: int, token_id: int) -> None:
        if self._words is None:
            return
        if self._session.answering:
            self._say(self.tr("An answer is still being written. Stop it, or wait for its end."), "error")
            return
        words = self._words
        self.accept()
        self._session.go_another_way(words, place, token_id)
        self.turned.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_narrow = self.width() < _NARROW
        direction = QBoxLayout.Direction.TopToBottom if is_narrow else QBoxLayout.Direction.LeftToRight
        if self._body.direction() != direction:
            self._body.setDirection(direction)
        self._body.setSpacing(12 if is_narrow else 20)
        self._body.setStretch(0, 4 if is_narrow else 5)
        self._body.setStretch(1, 4 if is_narrow else 3)
