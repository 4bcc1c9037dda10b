"""The files that go along with the next message, as chips."""

import re

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QEnterEvent, QFontMetrics, QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QFrame, QScrollArea, QSizePolicy, QWidget

from llama_gui.chats.attachments import Attachment
from llama_gui.ui.flow import FlowLayout
from llama_gui.ui.icons import Icons
from llama_gui.ui.numbers import number_text
from llama_gui.ui.sizes import size_text
from llama_gui.ui.theme import SMALL_PX, TINY_PX, frame_font, theme_of
from llama_gui.ui.widgets import Button, paint_focus, plain_tip

MOST_FILES = 20
_HEIGHT, _MOST_NAME, _MOST_LINES = 30, 220, 3
_PREVIEW = 400
_PASTED = re.compile(r"Pasted text \d+\.txt")


class Chip(QAbstractButton):
    """One file: its name, its size, its tokens, and the way to take it out again."""

    removed = Signal(object)
    opened = Signal(object)
    """Its text shall stand in the field; pasted text only."""

    def __init__(self, file: Attachment, icons: Icons) -> None:
        super().__init__()
        self.file = file
        self.tokens: int | None = None
        self.can_open = _PASTED.fullmatch(file.name) is not None
        self._icons = icons
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        if self.can_open:
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.close_button = Button(icons, "close", height=22)
        self.close_button.setParent(self)
        self.close_button.setAccessibleName(self.tr("Remove {}").format(file.name))
        self.close_button.setToolTip(plain_tip(self.tr("Remove")))
        self.close_button.clicked.connect(lambda: self.removed.emit(self.file))
        self.clicked.connect(self._open)
        self._describe()

    def set_tokens(self, tokens: int) -> None:
        """How many tokens its text has."""
        self.tokens = tokens
        self._describe()
        self.updateGeometry()

    def _facts(self) -> str:
        size = size_text(self.file.size)
        return size if self.tokens is None else self.tr("{} · {} tokens").format(size, number_text(self.tokens))

    def _describe(self) -> None:
        self.setAccessibleName(f"{self.file.name}, {self._facts()}")
        hint = self.tr("Click to put the text back into the field.") + "\n\n" if self.can_open else ""
        text = self.file.text[:_PREVIEW]
        self.setToolTip(plain_tip(f"{self.file.name}\n{hint}{text}{'…' if len(self.file.text) > _PREVIEW else ''}"))
        self.update()

    def _open(self) -> None:
        if self.can_open:
            self.opened.emit(self.file)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.removed.emit(self.file)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open()
        else:
            super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        name = min(_MOST_NAME, QFontMetrics(frame_font(SMALL_PX)).horizontalAdvance(self.file.name))
        facts = QFontMetrics(frame_font(TINY_PX)).horizontalAdvance(self._facts())
        return QSize(30 + name + 8 + facts + 32, _HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, _HEIGHT)

    def _is_mirrored(self) -> bool:
        return self.layoutDirection() == Qt.LayoutDirection.RightToLeft

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.close_button.setGeometry(4 if self._is_mirrored() else self.width() - 26, (_HEIGHT - 22) // 2, 22, 22)

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
        icon = self._icons.pixmap("file", theme.color("muted"), 14, self.devicePixelRatioF())
        painter.drawPixmap(self.width() - 23 if self._is_mirrored() else 9, (_HEIGHT - 14) // 2, icon)
        room = rect.adjusted(30, 0, -30, 0)
        facts, small = self._facts(), frame_font(TINY_PX)
        width = QFontMetrics(small).horizontalAdvance(facts)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(frame_font(SMALL_PX))
        painter.setPen(theme.color("text"))
        name = painter.fontMetrics().elidedText(
            self.file.name, Qt.TextElideMode.ElideMiddle, int(room.width()) - width - 8
        )
        painter.drawText(room, middle | Qt.AlignmentFlag.AlignLeading, name)
        painter.setFont(small)
        painter.setPen(theme.color("muted"))
        painter.drawText(room, middle | Qt.AlignmentFlag.AlignTrailing, facts)

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.update()


class AttachmentBar(QScrollArea):
    """Hidden while there is none; three lines high at most, the others are scrolled to."""

    changed = Signal()
    text_wanted = Signal(str)
    """A pasted text goes back into the field."""

    def __init__(self, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icons = icons
        self._chips: list[Chip] = []
        inner = QWidget()
        self._flow = FlowLayout(inner)
        self.setWidget(inner)
        inner.setAutoFillBackground(False)  # behind setWidget, which turns it on
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        self.hide()

    def files(self) -> tuple[Attachment, ...]:
        """What goes along, in order."""
        return tuple(chip.file for chip in self._chips)

    def chips(self) -> list[Chip]:
        """The widgets of the files."""
        return list(self._chips)

    def set_files(self, files: tuple[Attachment, ...]) -> None:
        """Show these and no others."""
        if files == self.files():
            return
        for chip in list(self._chips):
            self._drop(chip)
        for file in files:
            self._append(file)
        self._tell()

    def add(self, file: Attachment) -> None:
        """One more; the same one only once."""
        if file not in self.files() and len(self._chips) < MOST_FILES:
            self._append(file)
            self._tell()

    def set_tokens(self, file: Attachment, tokens: int) -> None:
        """How many tokens a file has."""
        for chip in self._chips:
            if chip.file is file or chip.file == file:
                chip.set_tokens(tokens)
        self._fit()

    def _append(self, file: Attachment) -> None:
        chip = Chip(file, self._icons)
        chip.removed.connect(self._remove)
        chip.opened.connect(self._open)
        self._chips.append(chip)
        self._flow.addWidget(chip)
        chip.show()

    def _drop(self, chip: Chip) -> None:
        self._chips.remove(chip)
        self._flow.removeWidget(chip)
        chip.hide()
        chip.deleteLater()

    def _remove(self, file: Attachment) -> None:
        place = next((i for i, chip in enumerate(self._chips) if chip.file is file), None)
        if place is None:
            return
        had_focus = self._chips[place].hasFocus() or self._chips[place].close_button.hasFocus()
        self._drop(self._chips[place])
        if had_focus and self._chips:
            self._chips[min(place, len(self._chips) - 1)].setFocus(Qt.FocusReason.OtherFocusReason)
        self._tell()

    def _open(self, file: Attachment) -> None:
        self._remove(file)
        self.text_wanted.emit(file.text)

    def _tell(self) -> None:
        self.setVisible(bool(self._chips))
        self._fit()
        self.changed.emit()

    def _fit(self) -> None:
        self._flow.invalidate()
        height = self._flow.heightForWidth(self.viewport().width())
        self.setFixedHeight(max(_HEIGHT, min(height, _MOST_LINES * (_HEIGHT + self._flow.spacing()))))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()
