"""The messages that wait for the end of the answer, above the composer."""

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from llama_gui.bridge.message_queue import MessageQueue
from llama_gui.chats.attachments import Draft
from llama_gui.ui.icons import Icons
from llama_gui.ui.text_painting import draw_words
from llama_gui.ui.theme import SMALL_PX, TINY_PX, frame_font, theme_of
from llama_gui.ui.widgets import Button, paint_card, plain_label, plain_tip

_MOST_SHOWN = 4


class _Words(QWidget):
    """One line of a message, cut where there is no more room."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text
        self.setFont(frame_font(SMALL_PX))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(text)

    def sizeHint(self) -> QSize:
        return QSize(100, 20)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(theme_of(self).color("text"))
        text = QFontMetrics(self.font()).elidedText(self._text, Qt.TextElideMode.ElideRight, self.width())
        draw_words(painter, self.rect(), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading, text)


class QueueList(QFrame):
    """Calm rows; hidden while nothing waits."""

    edit_requested = Signal(int)
    remove_requested = Signal(int)
    send_requested = Signal()

    def __init__(self, queue: MessageQueue, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._queue = queue
        self._icons = icons
        self.title = plain_label("", "muted", TINY_PX)
        self._is_answering = False
        self.send_button = Button(icons, "send", self.tr("Send now"), look="outlined", height=24, pixels=TINY_PX)
        self.send_button.clicked.connect(self.send_requested)
        head = QHBoxLayout()
        head.addStrut(24)
        head.addWidget(self.title, 1)
        head.addWidget(self.send_button)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(0)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 4, 6, 6)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addLayout(self._rows)
        queue.changed.connect(self.show_queue)
        self.show_queue()

    def set_answering(self, answering: bool) -> None:
        """Whether an answer must end first, whatever is chosen here."""
        self._is_answering = answering
        self.show_queue()

    @Slot()
    def show_queue(self) -> None:
        """Show what waits now."""
        drafts = self._queue.drafts()
        while (item := self._rows.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for number, draft in enumerate(drafts[:_MOST_SHOWN]):
            self._rows.addWidget(self._row(number, draft))
        if len(drafts) > _MOST_SHOWN:
            self._rows.addWidget(
                plain_label(self.tr("and {} more").format(len(drafts) - _MOST_SHOWN), "muted", TINY_PX)
            )
        paused = self._queue.is_paused
        one = len(drafts) == 1
        if paused:
            text = self.tr("Not sent yet: the queue is paused")
        else:
            text = self.tr("Sent when the answer ends") if one else self.tr("Sent one by one when the answers end")
        self.title.setText(text)
        self.title.set_role("accent" if paused else "muted")
        self.send_button.setText(self.tr("Send after this answer") if self._is_answering else self.tr("Send now"))
        self.send_button.setVisible(paused)
        self.send_button.updateGeometry()
        self.setVisible(bool(drafts))

    def _row(self, number: int, draft: Draft) -> QWidget:
        words = " ".join(draft.text[:400].split())
        names = ", ".join(file.name for file in draft.files)
        row = QWidget()
        edit, remove = Button(self._icons, "edit", height=24), Button(self._icons, "close", height=24)
        for button, name, signal in (
            (edit, self.tr("Edit this message"), self.edit_requested),
            (remove, self.tr("Remove this message"), self.remove_requested),
        ):
            button.setAccessibleName(name)
            button.setToolTip(plain_tip(name))
            button.clicked.connect(lambda _=False, signal=signal: signal.emit(number))
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(_Words(" · ".join(part for part in (words, names) if part)), 1)
        layout.addWidget(edit)
        layout.addWidget(remove)
        return row

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_card(QPainter(self), self, ground="page")
