"""What an empty chat shows: a greeting, three ideas to begin with, and the way to a better model."""

from PySide6.QtCore import QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFont, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QFrame, QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from llama_gui.ui.text_painting import draw_words
from llama_gui.ui.theme import COLUMN_WIDTH, RADIUS, TRANSCRIPT_PX, frame_font, theme_of
from llama_gui.ui.transcript.sheet import SIDE_MARGIN
from llama_gui.ui.translatable import QT_TRANSLATE_NOOP
from llama_gui.ui.widgets import paint_focus, plain_label

_LEAST_WIDTH = 240
_GREETING_PX, _WAY_PX = 22, 12
_HEIGHT = 38


class Suggestion(QAbstractButton):
    """A message that is sent with one click."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._zoom = 1.0
        self.setText(text)
        self.setFont(frame_font(TRANSCRIPT_PX))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def set_zoom(self, zoom: float) -> None:
        """Scale the text."""
        self._zoom = zoom
        self.setFont(frame_font(TRANSCRIPT_PX * zoom))
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(COLUMN_WIDTH, round(_HEIGHT * self._zoom))

    def minimumSizeHint(self) -> QSize:
        return QSize(
            _LEAST_WIDTH, self.sizeHint().height()
        )  # labels that wrap make the column ask for less than it needs

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = theme_of(self)
        rect = QRectF(self.rect())
        painter.setPen(QPen(theme.color("line"), 1))
        painter.setBrush(theme.color("hover" if self.underMouse() else "page"))
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)
        if self.hasFocus():
            paint_focus(painter, rect, theme.color("accent"), RADIUS)
        painter.setPen(theme.color("text"))
        room = rect.adjusted(14, 0, -14, 0)
        text = painter.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, int(room.width()))
        draw_words(painter, room, Qt.AlignmentFlag.AlignVCenter, text)


QUESTIONS = ("What is this application?", "How do I open another tab?", "What does the temperature change?")
"""For the starter model, which has learnt to speak of nothing else, and in English only."""

IDEAS = (
    QT_TRANSLATE_NOOP("Welcome", "Explain in simple words why the sky is blue."),
    QT_TRANSLATE_NOOP("Welcome", "Write a short poem about the sea."),
    QT_TRANSLATE_NOOP("Welcome", "Summarise the story of Romeo and Juliet in five sentences."),
)
"""For all others, which know nothing of this application."""


class Welcome(QScrollArea):
    """The first page of a chat. It scrolls where the window is low, or the letters are large."""

    asked = Signal(str)
    models_wanted = Signal()
    """The user wants to see which models there are."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._greeting = plain_label("", "text", _GREETING_PX, bold=True)
        self._line = plain_label("", "muted", TRANSCRIPT_PX)
        self._way = plain_label("", "muted", _WAY_PX)
        for label in (self._greeting, self._line, self._way):
            label.setWordWrap(True)
        column = QWidget()
        column.setMinimumWidth(_LEAST_WIDTH)
        column.setMaximumWidth(COLUMN_WIDTH)  # as wide as what is written below
        inner = QVBoxLayout(column)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(8)
        inner.addWidget(self._greeting)
        inner.addWidget(self._line)
        inner.addSpacing(16)
        self._suggestions = [Suggestion(question) for question in QUESTIONS]
        for button in self._suggestions:
            button.clicked.connect(self._ask)
            inner.addWidget(button)
        inner.addSpacing(16)
        inner.addWidget(self._way)
        self._find = Suggestion(self.tr("Find and download a model…"))
        self._find.clicked.connect(self.models_wanted)
        inner.addWidget(self._find)
        page = QWidget()
        layout = QVBoxLayout(page)
        layout.setContentsMargins(0, 8, 0, 8)
        layout.addStretch(2)
        row = QHBoxLayout()  # an alignment would do, but then the height is that of lines as long as the page is wide
        row.setContentsMargins(SIDE_MARGIN, 0, SIDE_MARGIN, 0)
        row.addStretch(1)
        row.addWidget(column, 1000)
        row.addStretch(1)
        layout.addLayout(row)
        layout.addStretch(3)
        self._scroll(page)
        self.set_zoom(1.0)

    def _scroll(self, page: QWidget) -> None:
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidgetResizable(True)
        self.setWidget(page)
        self.viewport().setAutoFillBackground(False)
        page.setAutoFillBackground(False)  # behind setWidget, which turns it on

    def set_zoom(self, zoom: float) -> None:
        """Greet in letters as large as those that are read; 1 is their normal size."""
        self._greeting.setFont(frame_font(_GREETING_PX * zoom, QFont.Weight.DemiBold))
        self._line.setFont(frame_font(TRANSCRIPT_PX * zoom))
        self._way.setFont(frame_font(_WAY_PX * zoom))
        for button in (*self._suggestions, self._find):
            button.set_zoom(zoom)

    @Slot()
    def _ask(self) -> None:
        button = self.sender()
        if isinstance(button, Suggestion):
            self.asked.emit(button.text())

    def greet(self, model: str, *, is_starter: bool, is_coming: bool, models_keys: str) -> None:
        """Speak for the model that is loaded, or for the one that is on its way."""
        self._greeting.setText(self.tr("Hello."))
        ideas = QUESTIONS if is_starter else [self.tr(idea) for idea in IDEAS]
        for button, idea in zip(self._suggestions, ideas, strict=True):
            button.setText(idea)
        if not model and not is_coming:
            self._line.setText(self.tr("No model is open yet."))
        elif not model:
            self._line.setText(self.tr("Write your first message; it is answered as soon as the model is ready."))
        elif is_starter:
            text = self.tr("I am the small starter model that comes with llama-gui. Ask me how it works.")
            self._line.setText(text.replace("-", "\u2011"))  # no line ends in the middle of the name
        else:
            self._line.setText(self.tr("{} is ready. What shall we talk about?").format(model))
        way = self.tr("For real conversations take a larger model. One that you have already opens with {}.")
        needs_one = is_starter or (not model and not is_coming)
        self._way.setText(way.format(models_keys) if needs_one else "")
        self._find.setVisible(needs_one)
