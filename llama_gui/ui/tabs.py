"""The tab bar: our own painting, closing, dragging and dots over QTabBar's model and keyboard."""

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QContextMenuEvent,
    QFont,
    QFontMetrics,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QApplication, QTabBar, QToolButton, QToolTip, QWidget

from llama_gui.ui.icons import Icons
from llama_gui.ui.text_painting import draw_words
from llama_gui.ui.theme import FRAME_PX, frame_font, theme_of
from llama_gui.ui.widgets import paint_focus, plain_action, plain_tip

STRIP_HEIGHT = 44
_TAB_TOP = 6
_MIN_WIDTH, _MAX_WIDTH = 128, 208
_PAD, _DOT, _CLOSE = 14, 18, 20
_OUT = 24


class TabBar(QTabBar):
    """Tabs that hold a chat id each."""

    close_requested = Signal(int)
    menu_wanted = Signal(str, QPoint)
    """The menu of a chat, at a place on the screen."""
    carried = Signal(QPoint)
    """A tab is dragged out of the strip; the place on the screen."""
    dropped = Signal(str, str, QPoint)
    """There the tab of a chat was let go. The second one was in front when it was taken."""
    drag_ended = Signal()
    laid_out = Signal()
    """Tabs have come, gone, or another width."""

    def __init__(self, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icons = icons
        self._room = 640
        self._dots: dict[str, bool] = {}  # chats with a dot -> whether it asks
        self._beside = ""
        self._pressed_close = -1
        self._drag_from: QPoint | None = None
        self._former = ""  # the chat in front when the tab was taken
        self._is_carrying = False
        self._hovered = QPoint(-1, -1)
        self.setDrawBase(False)
        self.setExpanding(False)
        self.setUsesScrollButtons(True)
        self.setMouseTracking(True)
        self.setElideMode(Qt.TextElideMode.ElideRight)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setFont(frame_font(FRAME_PX))
        self.setAccessibleName(self.tr("Open chats"))
        # Queued, as all that hears it must be: it is told in the midst of Qt's laying out.
        self.laid_out.connect(self._dress_arrows, Qt.ConnectionType.QueuedConnection)

    # What the tabs hold

    def add(self, chat_id: str, title: str) -> int:
        """Append a tab."""
        # The first tab becomes the current one at once, before it has its chat: nobody must hear of it until it has.
        self.blockSignals(True)
        index = self.addTab("")
        self.setTabData(index, chat_id)
        self.setAccessibleTabName(index, title)
        self.setTabText(index, plain_action(title))
        self.blockSignals(False)
        self.updateGeometry()
        self.laid_out.emit()
        if self.count() == 1:
            self.currentChanged.emit(0)
        return index

    def chat_id(self, index: int) -> str:
        """The chat of a tab."""
        return self.tabData(index) or ""

    def index_of(self, chat_id: str) -> int:
        """The tab of a chat, or -1."""
        return next((index for index in range(self.count()) if self.chat_id(index) == chat_id), -1)

    def title(self, index: int) -> str:
        """The title as it was given."""
        return self.accessibleTabName(index)

    def set_title(self, chat_id: str, title: str) -> None:
        """Rename the tab of a chat."""
        index = self.index_of(chat_id)
        if index >= 0:
            self.setAccessibleTabName(index, title)
            self.setTabText(index, plain_action(title))

    def set_dot(self, chat_id: str, shown: bool, *, asks: bool = False) -> None:
        """The dot: this chat answers, or has an answer that was not seen yet; or it `asks` the user something."""
        former = self._dots.pop(chat_id, None)
        if shown:
            self._dots[chat_id] = asks
        if self._dots.get(chat_id) is not former:
            self._lay_out()

    def has_dot(self, chat_id: str) -> bool:
        """Whether the chat's tab shows the dot."""
        return chat_id in self._dots

    def set_beside(self, chat_id: str) -> None:
        """The chat that is seen beside that of the current tab; "" where there is none."""
        if chat_id != self._beside:
            for index in (self.index_of(self._beside), self.index_of(chat_id)):
                if index >= 0:
                    self.setTabToolTip(index, self.tr("Shown beside") if self.chat_id(index) == chat_id else "")
            self._beside = chat_id
            self.update()

    def set_room(self, width: int) -> None:
        """How wide all tabs together may be before they shrink and scroll."""
        if width != self._room:
            self._room = width
            self._lay_out()

    def _lay_out(self) -> None:
        if self.count():  # QTabBar asks for the sizes again when a text is set, and only then
            self.setTabText(0, self.tabText(0))
        self.updateGeometry()
        self.update()

    def tabLayoutChange(self) -> None:
        super().tabLayoutChange()
        self.laid_out.emit()

    @Slot()
    def _dress_arrows(self) -> None:
        """Qt's own buttons to scroll, in our colours."""
        arrows = sorted(self.findChildren(QToolButton), key=lambda button: button.x())
        for button, icon in zip(arrows, ("chevron-left", "chevron-right"), strict=False):
            button.setArrowType(Qt.ArrowType.NoArrow)
            button.setIcon(self._icons.icon(icon, theme_of(self).color("muted")))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._dress_arrows()

    def wanted_room(self) -> int:
        """How wide all tabs would be with their whole titles."""
        return sum(map(self._wanted_width, range(self.count())))

    # Geometry

    def tabSizeHint(self, index: int) -> QSize:
        share = max(_MIN_WIDTH, self._room // max(1, self.count()))
        return QSize(min(self._wanted_width(index), share), STRIP_HEIGHT)

    def sizeHint(self) -> QSize:
        widths = sum(self.tabSizeHint(index).width() for index in range(self.count()))
        return QSize(widths, STRIP_HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(min(_MIN_WIDTH, self.sizeHint().width()), STRIP_HEIGHT)

    def minimumTabSizeHint(self, index: int) -> QSize:
        return QSize(min(_MIN_WIDTH, self._wanted_width(index)), STRIP_HEIGHT)

    def _wanted_width(self, index: int) -> int:
        text = QFontMetrics(frame_font(FRAME_PX, QFont.Weight.Medium)).horizontalAdvance(self.title(index))
        dot = _DOT if self.has_dot(self.chat_id(index)) else 0
        return min(_MAX_WIDTH, 2 * _PAD + dot + text + 2 + _CLOSE)

    def close_rect(self, index: int) -> QRect:
        """Where the tab's x is."""
        rect = self.tabRect(index)
        return QRect(rect.right() - _PAD - _CLOSE + 8, rect.top() + _TAB_TOP + 9, _CLOSE, _CLOSE)

    def _is_roomy(self) -> bool:
        """Whether all tabs have their whole titles; each of them is measured for that."""
        return self.wanted_room() <= self._room

    def _shows_close(self, index: int, *, is_roomy: bool) -> bool:
        """Where tabs are many their titles need the room, but for the tab in front and the one under the mouse."""
        is_asked = index == self.currentIndex() or self.tabRect(index).contains(self._hovered)
        return is_roomy or is_asked

    def _close_at(self, position: QPoint) -> int:
        """The tab whose x is there, or -1."""
        index = self.tabAt(position)
        is_there = index >= 0 and self.close_rect(index).contains(position)
        return index if is_there and self._shows_close(index, is_roomy=self._is_roomy()) else -1

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = theme_of(self)
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme.color("line"))
        is_roomy = self._is_roomy()
        for index in range(self.count()):
            if self.tabRect(index).intersects(event.rect()):
                self._paint_tab(painter, index, is_roomy=is_roomy)

    def _paint_tab(self, painter: QPainter, index: int, *, is_roomy: bool) -> None:
        theme, rect, is_current = theme_of(self), self.tabRect(index), index == self.currentIndex()
        is_beside = bool(self._beside) and self.chat_id(index) == self._beside
        if is_current or is_beside:
            self._paint_ground(painter, rect, is_marked=is_current and bool(self._beside))
        hovered = rect.contains(self._hovered)
        x = rect.left() + _PAD
        if self.has_dot(self.chat_id(index)):
            self._paint_dot(painter, x, rect, asks=self._dots[self.chat_id(index)])
            x += _DOT
        painter.setFont(frame_font(FRAME_PX, QFont.Weight.Medium if is_current else QFont.Weight.Normal))
        painter.setPen(theme.color("text" if is_current or hovered else "muted"))
        close = self.close_rect(index)
        shows_close = self._shows_close(index, is_roomy=is_roomy)
        end = close.left() - 4 if shows_close else rect.right() - _PAD
        room = QRect(x, rect.top() + _TAB_TOP, end - x, rect.height() - _TAB_TOP)
        text = painter.fontMetrics().elidedText(self.title(index), Qt.TextElideMode.ElideRight, room.width())
        draw_words(painter, room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
        if shows_close:
            self._paint_close(painter, close)

    def _paint_dot(self, painter: QPainter, x: int, rect: QRect, *, asks: bool) -> None:
        color = theme_of(self).color("accent")
        if asks:
            pixmap = self._icons.pixmap("ask", color, 14, self.devicePixelRatioF())
            painter.drawPixmap(x - 3, rect.top() + _TAB_TOP + 12, pixmap)
            return
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawEllipse(QRectF(x + 1, rect.top() + _TAB_TOP + 15, 7, 7))

    def _paint_ground(self, painter: QPainter, rect: QRect, *, is_marked: bool) -> None:
        """The tab as a part of what is below it. `is_marked`: it is in front, and another one beside."""
        theme, is_focused = theme_of(self), self.hasFocus() and rect == self.tabRect(self.currentIndex())
        shape = QRectF(rect).adjusted(0.5, _TAB_TOP + 0.5, -0.5, 0)
        path = QPainterPath(shape.bottomLeft())
        path.lineTo(shape.left(), shape.top() + 7)
        path.quadTo(shape.topLeft(), shape.topLeft() + QPoint(7, 0))
        path.lineTo(shape.right() - 7, shape.top())
        path.quadTo(shape.topRight(), shape.topRight() + QPoint(0, 7))
        path.lineTo(shape.bottomRight())
        painter.fillPath(path, theme.color("page"))
        painter.setPen(QPen(theme.color("line"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)
        painter.fillRect(QRectF(shape.left() + 0.5, shape.bottom() - 1, shape.width() - 1, 2), theme.color("page"))
        if is_marked:
            painter.fillRect(QRectF(shape.left() + 7, shape.top(), shape.width() - 14, 2), theme.color("accent"))
        if is_focused:
            paint_focus(painter, shape.adjusted(3, 3, -3, -4), theme.color("accent"))

    def _paint_close(self, painter: QPainter, rect: QRect) -> None:
        theme, hovered = theme_of(self), rect.contains(self._hovered)
        if hovered:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("hover"))
            painter.drawRoundedRect(rect, 4, 4)
        pixmap = self._icons.pixmap("close", theme.color("text" if hovered else "muted"), 14, self.devicePixelRatioF())
        painter.drawPixmap(rect.left() + 3, rect.top() + 3, pixmap)

    # Mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        position = event.position().toPoint()
        index = self.tabAt(position)
        if event.button() == Qt.MouseButton.LeftButton and index >= 0:
            if self._close_at(position) >= 0:
                self._pressed_close = index
                return
            self._drag_from, self._former = position, self.chat_id(self.currentIndex())
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hovered = event.position().toPoint()
        self.update()
        if self._drag_from is not None:
            self._carry(event)
            if not self._is_carrying:
                self._drag_to(self._hovered)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        position = event.position().toPoint()
        index = self.tabAt(position)
        pressed, self._pressed_close, self._drag_from = self._pressed_close, -1, None
        if self._is_carrying:
            self._is_carrying = False
            self.drag_ended.emit()
            self.dropped.emit(self.chat_id(self.currentIndex()), self._former, event.globalPosition().toPoint())
        is_on_close = pressed >= 0 and pressed == self._close_at(position)
        if is_on_close or (event.button() == Qt.MouseButton.MiddleButton and index >= 0):
            self.close_requested.emit(index)
        else:
            super().mouseReleaseEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        is_by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if is_by_key else self.tabAt(event.pos())
        if index >= 0:
            place = self.tabRect(index).center() if is_by_key else event.pos()
            self.menu_wanted.emit(self.chat_id(index), self.mapToGlobal(place))

    def leaveEvent(self, event: QEvent) -> None:
        self._hovered = QPoint(-1, -1)
        self.update()
        super().leaveEvent(event)

    def _carry(self, event: QMouseEvent) -> None:
        """Tell of a tab that is dragged out of the strip, and of its coming back."""
        was_carrying, self._is_carrying = self._is_carrying, event.position().y() > self.height() + _OUT
        if self._is_carrying:
            self.carried.emit(event.globalPosition().toPoint())
        elif was_carrying:
            self.drag_ended.emit()

    def _drag_to(self, position: QPoint) -> None:
        """Move the current tab when the pointer passes the middle of its neighbour.

        QTabBar's own dragging paints a picture of the style's tab, not of ours.
        """
        assert self._drag_from is not None
        if abs(position.x() - self._drag_from.x()) < QApplication.startDragDistance():
            return
        index = self.currentIndex()
        if index > 0 and position.x() < self.tabRect(index - 1).center().x():
            self.moveTab(index, index - 1)
        elif index < self.count() - 1 and position.x() > self.tabRect(index + 1).center().x():
            self.moveTab(index, index + 1)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            index = self.tabAt(event.pos())
            tip = self.tr("Close tab") if self._close_at(event.pos()) >= 0 else ""
            text = tip or (self.title(index) if index >= 0 else "")
            QToolTip.showText(event.globalPos(), plain_tip(text), self)
            return True
        return super().event(event)
