"""The pages of all tabs: one is seen, or two with a divider between them."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QStyle, QWidget

from llama_gui.ui.chat_tab import ChatTab
from llama_gui.ui.split.divider import GRAB_WIDTH, Divider
from llama_gui.ui.split.drop_hint import DropHint

_LINE = 1
LEAST_WIDTH = 344
"""Of a page beside another; where there is no room for two, the one in front is seen."""


class ChatPanes(QWidget):
    """Pages are only placed, shown and hidden here, never given another parent: they keep their scroll place,
    selection, draft and focus.
    """

    chosen = Signal(object)
    """A `ChatTab` that is seen has got the keyboard, and is not in front."""
    seen_changed = Signal()
    divided = Signal(float)
    """The share of the first page, as the user has left it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pages: tuple[ChatTab, ...] = ()
        self._seen: tuple[ChatTab, ...] = ()
        self._front: ChatTab | None = None
        self._share = 0.5
        self._divider = Divider(self)
        self._divider.dragged.connect(self._on_dragged)
        self._divider.rested.connect(self._tell_divided)
        self._divider.halves_wanted.connect(self._halve)
        self._hint = DropHint(self)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._on_focus)

    def add(self, page: ChatTab) -> None:
        """Another page, made as a child of this widget: not seen yet."""
        page.hide()

    def remove(self, page: ChatTab) -> None:
        """A page goes."""
        self._pages = tuple(other for other in self._pages if other is not page)
        self._seen = tuple(other for other in self._seen if other is not page)
        page.hide()

    def seen(self) -> tuple[ChatTab, ...]:
        """The pages that are seen, from the side where reading begins."""
        return self._seen

    def has_room(self) -> bool:
        """Whether two pages can be seen."""
        return self.missing_width() == 0

    def missing_width(self) -> int:
        """How many pixels it is too narrow for two pages."""
        return max(0, 2 * LEAST_WIDTH + _LINE - self.width())

    def arrange(self, pages: Sequence[ChatTab], front: ChatTab) -> None:
        """Show one page or two; `front` has the keyboard."""
        self._pages, self._front = tuple(pages), front
        former = self._show()
        front.take_keyboard()  # before another is hidden that has it: Qt would look for one to give it to
        self._hide(former)

    def divide(self, share: float) -> None:
        """Give the first of two pages this share of the width."""
        self._share = share
        self._place()

    def _show(self) -> tuple[ChatTab, ...]:
        """Show what there is room for; the pages that were seen before."""
        former, front_only = self._seen, tuple(page for page in self._pages if page is self._front)
        self._seen = self._pages if self.has_room() else front_only
        is_split = len(self._seen) > 1
        for page in self._seen:
            page.stand(beside=is_split, front=page is self._front)
        self._divider.setVisible(is_split)
        self._place()
        for page in self._seen:
            page.show()
        return former

    def _hide(self, former: Sequence[ChatTab]) -> None:
        for page in former:
            if page not in self._seen:
                page.hide()
        if self._seen != former:
            self.updateGeometry()
            self.seen_changed.emit()

    def _place(self) -> None:
        if len(self._seen) < 2:
            for page in self._seen:
                page.setGeometry(self.rect())
            return
        first = self._first_width(self._share * self._room())
        second, around = first + _LINE, (GRAB_WIDTH - _LINE) // 2
        self._put(self._seen[0], 0, first)
        self._put(self._seen[1], second, self.width() - second)
        self._put(self._divider, first - around, GRAB_WIDTH)
        self._divider.raise_()

    def _put(self, part: QWidget, x: int, width: int) -> None:
        place = QRect(x, 0, width, self.height())
        part.setGeometry(QStyle.visualRect(self.layoutDirection(), self.rect(), place))

    def _room(self) -> int:
        return self.width() - _LINE

    def _first_width(self, wanted: float) -> int:
        """Each page has its least width."""
        return max(LEAST_WIDTH, min(round(wanted), self._room() - LEAST_WIDTH))

    # The divider

    @Slot(int)
    def _on_dragged(self, x: int) -> None:
        self.divide(self._first_width(self.width() - x if self.isRightToLeft() else x) / self._room())

    @Slot()
    def _halve(self) -> None:
        self.divide(0.5)
        self._tell_divided()

    @Slot()
    def _tell_divided(self) -> None:
        self.divided.emit(self._share)

    # A tab that is dragged here

    def is_first_half(self, place: QPoint) -> bool | None:
        """Whether a place on the screen is on the side where reading begins; None: it is elsewhere, or has no room."""
        here = self.mapFromGlobal(place)
        if not self.rect().contains(here) or not self.has_room():
            return None
        return (here.x() < self.width() // 2) != self.isRightToLeft()

    @Slot(QPoint)
    def show_hint(self, place: QPoint) -> None:
        """Show where a tab would be that is let go there."""
        is_first = self.is_first_half(place)
        self._hint.setVisible(is_first is not None)
        if is_first is not None:
            half = self.width() // 2
            self._put(self._hint, 0 if is_first else half, half)
            self._hint.raise_()

    @Slot()
    def hide_hint(self) -> None:
        """The tab was let go, or is back."""
        self._hint.hide()

    # What happens to the widget

    @Slot(QWidget, QWidget)
    def _on_focus(self, _before: QWidget | None, now: QWidget | None) -> None:
        if now is not None and len(self._seen) > 1:
            for page in self._seen:
                if page is not self._front and page.isAncestorOf(now):
                    self.chosen.emit(page)
                    return

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        elif event.type() == QEvent.Type.LayoutDirectionChange:
            self._place()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if len(self._pages) > 1 and self.has_room() != (len(self._seen) > 1):
            self._hide(self._show())
        else:
            self._place()

    def sizeHint(self) -> QSize:
        return self._front.sizeHint() if self._front is not None else super().sizeHint()

    def minimumSizeHint(self) -> QSize:
        return self._front.minimumSizeHint() if self._front is not None else super().minimumSizeHint()
