"""How the side bar paints a chat, a heading, and a find."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QCursor, QFont, QFontMetrics, QPainter, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import (
    QLineEdit,
    QListView,
    QStyle,
    QStyleOptionViewItem,
    QWidget,
)

from llama_gui.bridge.chat_rows import FOLDER, PINNED
from llama_gui.bridge.item_models import ChatRole
from llama_gui.chats.search import SearchHit
from llama_gui.ui.icons import Icons
from llama_gui.ui.rows import LEADING, ROW_HEIGHT, Index, RowDelegate
from llama_gui.ui.text_painting import draw_words
from llama_gui.ui.theme import FRAME_PX, SMALL_PX, TINY_PX, frame_font, theme_of

_HIT, _TITLE_HIT = {1: 57, 2: 72}, {1: ROW_HEIGHT, 2: 52}
"""How high a find is, by the number of its lines."""
_EDGE = 10
_BEFORE = 22  # characters before the first find
_MORE_WIDTH = 30
_LOW = 4  # so much lower stands a heading that cannot be folded, nearer to its chats


def has_menu(index: Index) -> bool:
    """Whether there is something to do with a row: a chat, or a group of them that is not kept on purpose."""
    return bool(index.data(ChatRole.CHAT_ID)) or index.data(ChatRole.GROUP) not in (None, PINNED)


def more_room(row: QRect, view: QListView) -> QRect:
    """Where the sign stands that opens the menu of a row that the mouse is over."""
    width = row.width() - _MORE_WIDTH
    return row.adjusted(0, 0, -width, 0) if view.isRightToLeft() else row.adjusted(width, 0, 0, 0)


class IconDelegate(RowDelegate):
    """A row with icons."""

    def __init__(self, icons: Icons, view: QListView) -> None:
        super().__init__(view)
        self._icons = icons

    def icon(self, painter: QPainter, name: str, x: int, y: int, role: str = "muted") -> None:
        """Paint an icon of 16 pixels; `x` counts from the side that the language begins on."""
        ratio = self._view.devicePixelRatioF()
        pixmap = self._icons.pixmap(name, theme_of(self._view).color(role), 16, ratio)
        is_mirrored = self._view.layoutDirection() == Qt.LayoutDirection.RightToLeft
        painter.drawPixmap(self._view.viewport().width() - 16 - x if is_mirrored else x, y, pixmap)


class ChatDelegate(IconDelegate):
    """Paints chats and headings, all of one height, which lets ten thousand be laid out at once."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(120, ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue]
        shows_more = bool(state & QStyle.StateFlag.State_MouseOver) and has_menu(index)
        if index.data(ChatRole.HEADING):
            self._paint_heading(painter, option, index, 30 if shows_more else 8)
        else:
            self._paint_chat(painter, self.paint_ground(painter, option), index, shows_more=shows_more)
        if shows_more:
            self._paint_more(painter, option, index)

    def _paint_more(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        rect: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue]
        down = 0 if index.flags() & Qt.ItemFlag.ItemIsSelectable else _LOW  # as the words of the heading
        mouse = self._view.viewport().mapFromGlobal(QCursor.pos())
        role = "text" if more_room(rect, self._view).contains(mouse) else "muted"
        self.icon(painter, "more", rect.width() - 23, rect.y() + (rect.height() - 16) // 2 + down, role)

    def _paint_heading(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, behind: int) -> None:
        rect: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue]
        can_fold = bool(index.flags() & Qt.ItemFlag.ItemIsSelectable)
        if can_fold:
            self.paint_ground(painter, option)
        theme = theme_of(self._view)
        painter.setFont(frame_font(TINY_PX, QFont.Weight.DemiBold))
        painter.setPen(theme.color("muted"))
        words = str(index.data())
        if index.data(ChatRole.FOLDED):
            words += f"  {index.data(ChatRole.COUNT)}"
        room = _inset(rect, 28 if can_fold else 10, behind, self._view)
        if not can_fold:
            room.translate(0, _LOW)
        draw_words(painter, room, LEADING, _elided(words, painter.font(), room.width()))
        if can_fold:
            folded_icon = "chevron-left" if self._view.isRightToLeft() else "chevron-right"
            self.icon(painter, folded_icon if index.data(ChatRole.FOLDED) else "chevron-down", 8, rect.y() + 9)

    def _paint_chat(self, painter: QPainter, rect: QRect, index: Index, *, shows_more: bool) -> None:
        theme = theme_of(self._view)
        is_answering = bool(index.data(ChatRole.ANSWERING)) and not shows_more  # both would leave no room for the name
        in_group = str(index.data(ChatRole.GROUP)).startswith(FOLDER)
        painter.setFont(frame_font(FRAME_PX))
        painter.setPen(theme.color("text"))
        room = _inset(rect, 28 if in_group else 10, 28 if is_answering or shows_more else 10, self._view)
        draw_words(painter, room, LEADING, _elided(str(index.data()), painter.font(), room.width()))
        if is_answering:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("accent"))
            x = rect.left() + 10 if self._view.isRightToLeft() else rect.right() - 16
            painter.drawEllipse(QRectF(x, rect.center().y() - 3, 7, 7))

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        """A field in the row, for another name."""
        field = QLineEdit(parent)
        field.setMaxLength(200)
        field.setAccessibleName(self.tr("Name of the chat"))
        field.setProperty("flat", True)
        return field

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        if not editor.property("filled"):  # Qt asks again when the row changes, and the name that is typed would go
            super().setEditorData(editor, index)
            editor.setProperty("filled", True)

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        rect: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue]
        editor.setGeometry(rect.adjusted(4, 3, -4, -3))


class HitDelegate(IconDelegate):
    """Paints a find: the chat's title, and below it up to two lines of the message, with the words marked in both."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        hit: SearchHit = index.data(ChatRole.HIT)
        lines = self._layout(hit, self._view.viewport().width() - 2 * _EDGE).lineCount()
        return QSize(120, (_TITLE_HIT if hit.node_id is None else _HIT)[max(1, lines)])

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        rect = self.paint_ground(painter, option)
        hit: SearchHit = index.data(ChatRole.HIT)
        theme = theme_of(self._view)
        room = rect.adjusted(_EDGE, 0, -_EDGE, 0)
        painter.setPen(theme.color("text"))
        top = 8
        if hit.node_id is not None:  # else the title itself is the find
            self._title_line(hit, room.width()).draw(painter, QPointF(room.x(), room.y() + top))
            painter.setPen(theme.color("muted"))
            top = 27
        self._layout(hit, room.width()).draw(painter, QPointF(room.x(), room.y() + top))

    def _title_line(self, hit: SearchHit, width: int) -> QTextLayout:
        """The title in one line, from where its first find is seen."""
        font = frame_font(FRAME_PX, QFont.Weight.DemiBold)
        text, ranges = hit.title, list(hit.title_ranges)
        elided = _elided(text, font, width)
        if ranges and elided != text and sum(ranges[0]) >= len(elided):
            text, ranges = _around_first(text, ranges)
        return self._marked(_elided(text, font, width), ranges, font, width, lines=1)

    def _layout(self, hit: SearchHit, width: int) -> QTextLayout:
        """What was found, in one line or two."""
        is_title = hit.node_id is None
        font = frame_font(FRAME_PX, QFont.Weight.DemiBold) if is_title else frame_font(SMALL_PX)
        return self._marked(*_around_first(hit.snippet, hit.ranges), font, width, lines=2)

    def _marked(
        self, text: str, ranges: Sequence[tuple[int, int]], font: QFont, width: int, *, lines: int
    ) -> QTextLayout:
        """A text in at most so many lines, its `ranges` in the accent's colour."""
        theme = theme_of(self._view)
        layout = QTextLayout(text, font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        if self._view.isRightToLeft():
            option.setAlignment(Qt.AlignmentFlag.AlignRight)
        layout.setTextOption(option)
        mark = QTextCharFormat()
        mark.setForeground(theme.color("accent"))
        mark.setFontWeight(QFont.Weight.DemiBold)
        layout.setFormats([_range(start, length, mark) for start, length in _in_utf16(text, ranges)])
        layout.beginLayout()
        top = 0.0
        for _ in range(lines):
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(width)
            line.setPosition(QPointF(0, top))
            top += line.height()
        layout.endLayout()
        return layout


def _inset(rect: QRect, before: int, behind: int, view: QListView) -> QRect:
    """A row without its edges, on whatever side the language begins."""
    return rect.adjusted(behind, 0, -before, 0) if view.isRightToLeft() else rect.adjusted(before, 0, -behind, 0)


def _elided(text: str, font: QFont, width: int) -> str:
    return QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, width)


def _around_first(text: str, ranges: Sequence[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """A text from a little before its first find, so that short lines show it; and the ranges in that."""
    first = ranges[0][0] if ranges else 0
    if first <= _BEFORE:
        return text, list(ranges)
    begin = text.rfind(" ", 0, first - _BEFORE // 2) + 1
    begin = max(begin, first - _BEFORE)
    return "…" + text[begin:], [(at - begin + 1, length) for at, length in ranges]


def _in_utf16(text: str, ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges in Qt's units, of which an emoji has two."""

    def units(part: str) -> int:
        return len(part.encode("utf-16-le", "surrogatepass")) // 2

    return [(units(text[:at]), units(text[at : at + length])) for at, length in ranges]


def _range(start: int, length: int, form: QTextCharFormat) -> QTextLayout.FormatRange:
    made = QTextLayout.FormatRange()
    made.start, made.length, made.format = start, length, form  # pyright: ignore[reportAttributeAccessIssue]
    return made
