"""Every colour of the window, in one table of roles; fonts; and the few style rules that a palette cannot reach."""

from dataclasses import dataclass
from functools import cache
from typing import Literal

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QPalette
from PySide6.QtWidgets import QApplication, QWidget

ColorScheme = Literal["system", "light", "dark"]
COLOR_SCHEMES: tuple[ColorScheme, ...] = ("system", "light", "dark")

FRAME_PX = 13
SMALL_PX = 12
TINY_PX = 11
TRANSCRIPT_PX = 14
CODE_PX = 13
COLUMN_WIDTH = 672
RADIUS = 8


_EDGE_PERCENT = 127
"""Fusion makes of this shade an edge in the very colour: 1.4 times as dark, and 1.1 times as light again."""


@dataclass(frozen=True, slots=True)
class Theme:
    """One colour for each role, as ``#RRGGBB``."""

    is_dark: bool
    page: str
    side: str
    raised: str
    line: str
    user_message: str
    text: str
    muted: str
    accent: str
    on_accent: str
    selected_row: str
    hover: str
    field_focus: str
    error: str
    code_surface: str
    code_keyword: str
    code_number: str
    found: str
    unsure_1: str
    unsure_2: str
    unsure_3: str

    def color(self, role: str) -> QColor:
        """The colour of a role."""
        return QColor(getattr(self, role))

    def palette(self) -> QPalette:
        """The same colours where Qt's own widgets look for them."""
        palette = QPalette()
        for target, role in _PALETTE_ROLES.items():
            palette.setColor(target, self.color(role))
        for target in (QPalette.ColorRole.Text, QPalette.ColorRole.WindowText, QPalette.ColorRole.ButtonText):
            palette.setColor(QPalette.ColorGroup.Disabled, target, self.color("muted"))
        return palette

    def box_palette(self) -> QPalette:
        """For boxes that are ticked, and their round kin.

        Fusion draws their edge in a darker shade of what it takes for the window around them; on a dark window that
        cannot be seen. It does not fill anything with it.
        """
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.Window, self.color("muted").lighter(_EDGE_PERCENT))
        return palette


LIGHT = Theme(
    is_dark=False,
    page="#FCFBF9",
    side="#F4F2EE",
    raised="#FFFFFF",
    line="#E5E1DA",
    user_message="#F4F1EC",
    text="#211F1C",
    muted="#6E685F",
    accent="#B04A1A",
    on_accent="#FFFFFF",
    selected_row="#F7E9E0",
    hover="#EBE7E0",
    field_focus="#B5AEA3",
    error="#A8281E",
    code_surface="#F6F4F0",
    code_keyword="#3D5A80",
    code_number="#5B6B2F",
    found="#F6DFA4",
    unsure_1="#F6EDE7",
    unsure_2="#EDD8CC",
    unsure_3="#E1BBA9",
)

DARK = Theme(
    is_dark=True,
    page="#1B1A18",
    side="#161513",
    raised="#252320",
    line="#35322D",
    user_message="#292622",
    text="#ECE9E2",
    muted="#9F998E",
    accent="#E8935F",
    on_accent="#1B1A18",
    selected_row="#3A2A20",
    hover="#2B2925",
    field_focus="#6B665D",
    error="#F08A7E",
    code_surface="#201F1C",
    code_keyword="#9DB7D5",
    code_number="#B5C487",
    found="#5C4A18",
    unsure_1="#30261F",
    unsure_2="#483528",
    unsure_3="#654632",
)

_PALETTE_ROLES: dict[QPalette.ColorRole, str] = {
    QPalette.ColorRole.Window: "side",
    QPalette.ColorRole.WindowText: "text",
    QPalette.ColorRole.Base: "raised",
    QPalette.ColorRole.AlternateBase: "user_message",
    QPalette.ColorRole.Text: "text",
    QPalette.ColorRole.PlaceholderText: "muted",
    QPalette.ColorRole.Button: "raised",
    QPalette.ColorRole.ButtonText: "text",
    QPalette.ColorRole.BrightText: "error",
    QPalette.ColorRole.ToolTipBase: "raised",
    QPalette.ColorRole.ToolTipText: "text",
    QPalette.ColorRole.Highlight: "accent",
    QPalette.ColorRole.HighlightedText: "on_accent",
    QPalette.ColorRole.Accent: "accent",
    QPalette.ColorRole.Link: "accent",
    QPalette.ColorRole.LinkVisited: "accent",
    QPalette.ColorRole.Light: "page",
    QPalette.ColorRole.Midlight: "hover",
    QPalette.ColorRole.Mid: "line",
    QPalette.ColorRole.Dark: "muted",
    QPalette.ColorRole.Shadow: "line",
}


def theme_of(widget: QWidget) -> Theme:
    """The theme that a widget wears. Read from its palette, so there is no second place that could disagree."""
    return DARK if widget.palette().color(QPalette.ColorRole.Window).lightness() < 128 else LIGHT


def apply_theme(app: QApplication, scheme: ColorScheme) -> Theme:
    """Dress the application in light, in dark, or in what the system asks for."""
    hints = app.styleHints()
    wanted = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark, "system": Qt.ColorScheme.Unknown}[scheme]
    hints.setColorScheme(wanted)
    is_dark = scheme == "dark" or (scheme == "system" and hints.colorScheme() == Qt.ColorScheme.Dark)
    theme = DARK if is_dark else LIGHT
    if not app.styleSheet():  # one of ours hides the style and its name; to set it again dresses every widget anew
        app.setStyle("Fusion")
    sheet = style_sheet(theme)
    if app.styleSheet() != sheet:  # dressing every widget anew takes a noticeable moment
        app.setFont(frame_font())
        app.setPalette(theme.palette())
        for kind in ("QCheckBox", "QRadioButton"):
            app.setPalette(theme.box_palette(), kind)  # pyright: ignore[reportArgumentType] (bytes, which it does not take)
        app.setStyleSheet(sheet)
    return theme


def frame_font(pixels: float = FRAME_PX, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """The proportional font of the window."""
    font = QFont("Inter") if _is_installed("Inter") else QFont()
    font.setPixelSize(max(1, round(pixels)))
    font.setWeight(weight)
    return font


def code_font(pixels: float = CODE_PX) -> QFont:
    """The monospaced font of code, with the signs as they were typed: `->` is no arrow, `!=` no other sign."""
    if _is_installed("JetBrains Mono"):
        font = QFont("JetBrains Mono")
    else:
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setFeature(QFont.Tag("calt"), 0)  # programming ligatures; who reads code wants to be able to type it
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setFixedPitch(True)
    font.setPixelSize(max(1, round(pixels)))
    return font


@cache
def _is_installed(family: str) -> bool:
    # Asked at every painting, and the list of all families takes milliseconds.
    return family in QFontDatabase.families()


def style_sheet(theme: Theme) -> str:
    """Rounded fields, thin scroll bars, calm menus: the shapes for which QPalette has no words."""
    handle = QColor(theme.muted)
    handle_rgba = f"rgba({handle.red()}, {handle.green()}, {handle.blue()}, 90)"
    return f"""
    QToolTip {{ background: {theme.raised}; color: {theme.text}; border: 1px solid {theme.line}; padding: 4px 6px; }}
    QLineEdit, QPlainTextEdit[field="true"] {{
        background: {theme.raised}; border: 1px solid {theme.line}; border-radius: {RADIUS}px; padding: 6px 10px;
        selection-background-color: {theme.accent}; selection-color: {theme.on_accent}; }}
    QPlainTextEdit[field="true"] {{ padding: 4px 6px; }}
    QLineEdit:focus, QPlainTextEdit[field="true"]:focus {{ border-color: {theme.accent}; }}
    NotedList {{ background: {theme.raised}; border: 1px solid {theme.line}; border-radius: {RADIUS}px; padding: 4px; }}
    QLineEdit[flat="true"] {{
        background: transparent; border: 1px solid transparent; border-radius: 4px; padding: 1px 0 1px 4px; }}
    QLineEdit[flat="true"]:hover {{ border-color: {theme.line}; }}
    QLineEdit[flat="true"]:focus {{
        padding-right: 4px; background: {theme.raised}; border-color: {theme.accent}; color: {theme.text}; }}
    QLineEdit[state="default"] {{ color: {theme.muted}; }}
    QLineEdit[state="changed"] {{ color: {theme.accent}; }}
    QScrollBar:vertical {{ background: transparent; width: 10px; margin: 0; border: none; }}
    QScrollBar::handle:vertical {{ background: {handle_rgba}; border-radius: 3px; min-height: 32px; margin: 2px; }}
    QScrollBar::handle:vertical:hover {{ background: {theme.muted}; }}
    QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
    QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
    QPushButton {{
        background: {theme.raised}; border: 1px solid {theme.line}; border-radius: 6px; padding: 6px 16px;
        min-width: 56px; outline: none; }} /* else Fusion paints a second ring inside */
    QPushButton:hover {{ background: {theme.hover}; }}
    QPushButton:default {{ border-color: {theme.accent}; }} /* what Enter presses */
    QPushButton:focus {{ border: 2px solid {theme.accent}; padding: 5px 15px; }}
    QDialogButtonBox {{ dialogbuttonbox-buttons-have-icons: 0; button-layout: 3; }} /* Cancel first, as in our forms */
    QComboBox QAbstractItemView {{
        background: {theme.raised}; border: 1px solid {theme.line}; padding: 4px; outline: none;
        selection-background-color: {theme.selected_row}; selection-color: {theme.text}; }}
    QComboBox QAbstractItemView::item {{ min-height: 26px; padding: 0 6px; border-radius: 4px; }}
    QTabBar QToolButton {{ background: {theme.side}; border: none; border-bottom: 1px solid {theme.line}; }}
    QTabBar QToolButton:hover {{ background: {theme.hover}; }}
    QSplitter::handle {{ background: {theme.page}; }}
    QMenu {{ background: {theme.raised}; border: 1px solid {theme.line}; padding: 4px; }}
    QMenu::item {{ padding: 6px 24px 6px 28px; border-radius: 4px; }}
    QMenu[ticks="icons"]::item {{ padding-left: 10px; }}
    QMenu::item:selected {{ background: {theme.selected_row}; color: {theme.text}; }}
    QMenu::separator {{ height: 1px; background: {theme.line}; margin: 4px 8px; }}
    """
