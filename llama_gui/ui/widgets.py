"""Small widgets that the other parts of the window share."""

import html

from PySide6.QtCore import QCoreApplication, QEvent, QRectF, QSize, Qt, Slot
from PySide6.QtGui import (
    QAction,
    QColor,
    QEnterEvent,
    QFont,
    QFontMetrics,
    QHideEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractButton, QDialog, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

from llama_gui.ui.dialog_button import DialogButton
from llama_gui.ui.icons import Icons
from llama_gui.ui.text_painting import draw_words
from llama_gui.ui.theme import FRAME_PX, RADIUS, SMALL_PX, frame_font, theme_of

_FAINT = 0.45
_LINE_HEIGHT = 32


def plain_tip(text: str) -> str:
    """A tooltip that Qt shows letter for letter. Tips have no plain mode: what looks like HTML is taken for it."""
    return f"<span style='white-space:pre-wrap'>{html.escape(text)}</span>" if text else ""


def plain_action(text: str) -> str:
    """A text that menus, tabs and buttons show letter for letter: & would underline, a tab begin the keys."""
    return text.replace("&", "&&").replace("\t", " ")


def tip_with_keys(action: QAction) -> str:
    """The tip of a button that stands for an action: what it does and its keys."""
    keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
    return plain_tip(f"{action.text()}  {keys}" if keys else action.text())


def plain_label(text: str = "", role: str = "text", pixels: float = SMALL_PX, *, bold: bool = False) -> "RoleLabel":
    """A label that never takes its text for HTML."""
    return RoleLabel(text, role, pixels, bold=bold)


class RoleLabel(QLabel):
    """A plain-text label in the colour of a role, in whatever theme."""

    def __init__(self, text: str, role: str, pixels: float, *, bold: bool = False) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setFont(frame_font(pixels, QFont.Weight.DemiBold if bold else QFont.Weight.Normal))
        self.setAlignment(Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter)
        self._role = role
        self._dress()
        self.setText(text)

    def setAlignment(self, alignment: Qt.AlignmentFlag) -> None:
        """Lines of a mirrored window begin on its right, where Qt would put English words on the left."""
        if self.isRightToLeft() and alignment & Qt.AlignmentFlag.AlignLeading:
            alignment &= ~Qt.AlignmentFlag.AlignLeading
            alignment |= Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute
        super().setAlignment(alignment)

    def set_role(self, role: str) -> None:
        """Change the colour."""
        if role != self._role:
            self._role = role
            self._dress()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._dress()

    def _dress(self) -> None:
        color = theme_of(self).color(self._role)
        palette = self.palette()
        if palette.color(self.foregroundRole()) != color:
            palette.setColor(self.foregroundRole(), color)
            self.setPalette(palette)


class ShortenedLabel(RoleLabel):
    """One line that ends in "…" where there is no room for all of it."""

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setFont(self.font())
        painter.setPen(self.palette().color(self.foregroundRole()))
        words = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width())
        draw_words(painter, self.rect(), Qt.AlignmentFlag.AlignVCenter, words)


class Surface(QWidget):
    """A plain area in the colour of a role, with hairlines on the named edges; mirrored as the window is."""

    def __init__(self, role: str, edges: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._role = role
        self._edges = edges

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = theme_of(self)
        painter.fillRect(event.rect(), theme.color(self._role))
        first, last = (0, 0, 1, self.height()), (self.width() - 1, 0, 1, self.height())
        lines = {
            "left": last if self.isRightToLeft() else first,
            "right": first if self.isRightToLeft() else last,
            "top": (0, 0, self.width(), 1),
            "bottom": (0, self.height() - 1, self.width(), 1),
        }
        for edge in self._edges.split():
            painter.fillRect(*lines[edge], theme.color("line"))


class Button(QAbstractButton):
    """A button that paints itself: an icon, a word, or both; quiet, outlined, floating, or filled with the accent."""

    def __init__(
        self,
        icons: Icons,
        icon: str = "",
        text: str = "",
        *,
        look: str = "quiet",
        height: int = 28,
        pixels: float = SMALL_PX,
    ) -> None:
        super().__init__()
        self._icons = icons
        self._icon = icon
        self._look = look
        self._height = height
        self.setText(text)
        self.setFont(frame_font(pixels, QFont.Weight.DemiBold if look == "filled" else QFont.Weight.Normal))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the keyboard with the composer
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def set_icon_name(self, icon: str) -> None:
        """Change the icon."""
        self._icon = icon
        self.update()

    def stand_for(self, action: QAction) -> None:
        """Run an action on a click, and be named, described and enabled as it is."""
        self.clicked.connect(action.trigger)
        self.setAccessibleName(action.text())
        self.setToolTip(tip_with_keys(action))
        action.enabledChanged.connect(self.setEnabled)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)  # Qt leaves it, and it would come back lit up

    def sizeHint(self) -> QSize:
        if not self.text():
            return QSize(self._height, self._height)
        width = QFontMetrics(self.font()).horizontalAdvance(self.text()) + 24 + (22 if self._icon else 0)
        return QSize(width, self._height)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = theme_of(self)
        self._paint_ground(painter)
        if not self.isEnabled() and self._look in ("quiet", "outlined"):
            painter.setOpacity(_FAINT)  # they are muted also when they can be pressed
        color = theme.color(self._ink() if self.isEnabled() else "muted")
        content = self._content_width()
        start = (self.width() - content) / 2
        words = QRectF(start, 0, content, self.height())
        side = Qt.AlignmentFlag.AlignLeft if self.isRightToLeft() else Qt.AlignmentFlag.AlignRight
        if self._icon:
            pixmap = self._icons.pixmap(self._icon, color, 16, self.devicePixelRatioF())
            x = start + content - 16 if self.isRightToLeft() else start
            painter.drawPixmap(round(x), (self.height() - 16) // 2, pixmap)
        painter.setPen(color)
        draw_words(painter, words, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignAbsolute | side, self.text())

    def _ink(self) -> str:
        if self._look == "filled":
            return "on_accent"
        return "text" if self.underMouse() else "muted"

    def _content_width(self) -> int:
        text = QFontMetrics(self.font()).horizontalAdvance(self.text()) if self.text() else 0
        return text + (16 if self._icon else 0) + (6 if self._icon and text else 0)

    def _paint_ground(self, painter: QPainter) -> None:
        theme = theme_of(self)
        rect = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        fill, line = QColor(Qt.GlobalColor.transparent), QColor(Qt.GlobalColor.transparent)
        if self._look == "filled":
            fill = theme.color("accent") if self.isEnabled() else theme.color("hover")
            if self.isEnabled() and (self.underMouse() or self.isDown()):
                fill = fill.darker(108) if not theme.is_dark else fill.lighter(106)
        elif self.isEnabled() and (self.underMouse() or self.isDown()):
            fill = theme.color("hover")
        elif self._look == "floating":
            fill = theme.color("raised")
        if self._look in ("outlined", "floating"):
            line = theme.color("line")
        painter.setPen(QPen(line, 1))
        painter.setBrush(fill)
        painter.drawRoundedRect(rect, RADIUS - 2, RADIUS - 2)
        if self.hasFocus():
            paint_focus(painter, QRectF(self.rect()), theme.color("text" if self._look == "filled" else "accent"))

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.update()


def paint_card(painter: QPainter, widget: QWidget, *, edge: str = "line", ground: str = "raised") -> None:
    """The ground of what lies on the page, in the colours of two roles."""
    theme = theme_of(widget)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.color(edge), 1))
    painter.setBrush(theme.color(ground))
    painter.drawRoundedRect(QRectF(widget.rect()).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)


def paint_focus(painter: QPainter, rect: QRectF, color: QColor, radius: float = RADIUS - 2) -> None:
    """The ring around what has the keyboard."""
    painter.setPen(QPen(color, 1.5))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), radius, radius)


def problem_label() -> RoleLabel:
    """What is wrong with a field of a form; hidden while nothing is."""
    label = plain_label("", "error", SMALL_PX)
    label.setWordWrap(True)
    label.hide()
    return label


def form_label(text: str, field: QWidget) -> RoleLabel:
    """What a field of a form is called, at the height of its first line: below the field a problem may be said."""
    label = plain_label(text, "text", FRAME_PX)
    label.setFixedHeight(_LINE_HEIGHT)
    label.setBuddy(field)
    return label


def form_foot(dialog: QDialog, accept: QPushButton) -> QHBoxLayout:
    """The last line of a form: Cancel, and the button that accepts it, which Enter presses."""
    accept.setDefault(True)
    accept.clicked.connect(dialog.accept)
    cancel = DialogButton(QCoreApplication.translate("Widgets", "Cancel"), dialog.reject)
    foot = QHBoxLayout()
    foot.addStretch(1)
    foot.addWidget(cancel)
    foot.addWidget(accept)
    return foot


class FittingDialog(QDialog):
    """A dialog whose texts wrap, and say more or less while it is open."""

    @Slot()
    def fit(self) -> None:
        """Be at least as high as what is said: Qt does not ask texts that wrap how much they need."""
        layout = self.layout()
        if layout is not None:
            self.setMinimumHeight(layout.totalHeightForWidth(self.width()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()
