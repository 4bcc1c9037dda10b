"""A file that goes along with the next message, as a chip."""

import re

from PySide6.QtCore import QCoreApplication, QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QEnterEvent, QFontMetrics, QImage, QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy

from llama_gui.bridge.attachments import FileReading
from llama_gui.chats.attachments import PASTED_NAME, Attachment
from llama_gui.ui.icons import Icons
from llama_gui.ui.numbers import counted
from llama_gui.ui.pictures import thumbnail
from llama_gui.ui.sizes import size_text
from llama_gui.ui.text_painting import draw_words
from llama_gui.ui.theme import SMALL_PX, TINY_PX, Theme, frame_font, theme_of
from llama_gui.ui.widgets import Button, paint_focus, plain_tip

CHIP_HEIGHT = 30
_MOST_NAME = 220
_PREVIEW = 400


def pasted_name() -> str:
    """What a pasted text is called as a file, with {} for its number."""
    return QCoreApplication.translate("Chip", "Pasted text {}.txt")


def _is_pasted(name: str) -> bool:
    """In the language of the window, or in English, in which drafts of before may be."""
    patterns = (re.escape(called).replace(r"\{\}", r"\d+") for called in (pasted_name(), PASTED_NAME))
    return any(re.fullmatch(pattern, name) for pattern in patterns)


class Chip(QAbstractButton):
    """One file: its name, its size, its tokens, and the way to take it out again; also while it is still read."""

    removed = Signal(object)
    """Itself."""
    opened = Signal(object)
    """Itself: its text shall stand in the field; pasted text only."""

    def __init__(self, file: Attachment | FileReading, icons: Icons) -> None:
        super().__init__()
        self.file = file if isinstance(file, Attachment) else None
        self.reading = file if isinstance(file, FileReading) else None
        self.tokens: int | None = None
        self._picture = QImage()
        self.can_open = _is_pasted(file.name)
        self._name = file.name
        self._icons = icons
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        if self.can_open:
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.close_button = Button(icons, "close", height=22)
        self.close_button.setParent(self)
        self.close_button.setAccessibleName(self.tr("Remove {}").format(self._name))
        self.close_button.setToolTip(plain_tip(self.tr("Remove")))
        self.close_button.clicked.connect(lambda: self.removed.emit(self))
        self.clicked.connect(self._open)
        self._describe()

    def set_file(self, file: Attachment) -> None:
        """It has been read."""
        self.file, self.reading, self._name = file, None, file.name
        self._picture = QImage()
        self._describe()
        self.updateGeometry()

    def set_tokens(self, tokens: int) -> None:
        """How many tokens its text has."""
        self.tokens = tokens
        self._describe()
        self.updateGeometry()

    def _facts(self) -> str:
        if self.file is None:
            return self.tr("reading …")
        size = size_text(self.file.size)
        if self.tokens is None:
            return size
        tokens = counted(self.tokens, self.tr("{} token"), self.tr("{} tokens"))
        return f"{size} · {tokens}"

    def _describe(self) -> None:
        self.setAccessibleName(f"{self._name}, {self._facts()}")
        hint = self.tr("Click to put the text back into the field.") + "\n\n" if self.can_open else ""
        text = self.file.text[: _PREVIEW + 1] if self.file is not None else ""
        text = text[:_PREVIEW] + "…" if len(text) > _PREVIEW else text
        self.setToolTip(plain_tip(f"{self._name}\n{hint}{text}"))
        self.update()

    def _open(self) -> None:
        if self.can_open:
            self.opened.emit(self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.removed.emit(self)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open()
        else:
            super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        name = min(_MOST_NAME, QFontMetrics(frame_font(SMALL_PX)).horizontalAdvance(self._name))
        facts = QFontMetrics(frame_font(TINY_PX)).horizontalAdvance(self._facts())
        return QSize(30 + name + 8 + facts + 32, CHIP_HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, CHIP_HEIGHT)

    def _is_mirrored(self) -> bool:
        return self.layoutDirection() == Qt.LayoutDirection.RightToLeft

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.close_button.setGeometry(4 if self._is_mirrored() else self.width() - 26, (CHIP_HEIGHT - 22) // 2, 22, 22)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme, rect = theme_of(self), QRectF(self.rect())
        is_hot = self.can_open and self.underMouse()
        painter.setPen(QPen(theme.color("line"), 1))
        painter.setBrush(theme.color("hover" if is_hot else "user_message"))
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 7, 7)
        if self.hasFocus():
            paint_focus(painter, rect, theme.color("accent"), 6)
        self._paint_mark(painter, theme)
        room = rect.adjusted(30, 0, -30, 0)
        facts, small = self._facts(), frame_font(TINY_PX)
        width = QFontMetrics(small).horizontalAdvance(facts)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(frame_font(SMALL_PX))
        painter.setPen(theme.color("text"))
        name = painter.fontMetrics().elidedText(self._name, Qt.TextElideMode.ElideMiddle, int(room.width()) - width - 8)
        draw_words(painter, room, middle | Qt.AlignmentFlag.AlignLeading, name)
        painter.setFont(small)
        painter.setPen(theme.color("muted"))
        draw_words(painter, room, middle | Qt.AlignmentFlag.AlignTrailing, facts)

    def _paint_mark(self, painter: QPainter, theme: Theme) -> None:
        """A sheet of paper, or a small image."""
        ratio = self.devicePixelRatioF()
        if self.file is not None and self.file.image and self._picture.isNull():
            self._picture = thumbnail(self.file.image, QSize(22, 22), ratio, theme.color("line"), radius=3)
        if self._picture.isNull():
            icon = self._icons.pixmap("file", theme.color("muted"), 14, ratio)
            painter.drawPixmap(self.width() - 23 if self._is_mirrored() else 9, (CHIP_HEIGHT - 14) // 2, icon)
            return
        size = self._picture.deviceIndependentSize()
        middle = self.width() - 16 if self._is_mirrored() else 16
        painter.drawImage(QPointF(middle - size.width() / 2, (CHIP_HEIGHT - size.height()) / 2), self._picture)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:  # its line has another colour now
            self._picture = QImage()

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.update()
