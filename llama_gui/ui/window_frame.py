"""Where everything stands in the window: the bar at the top, the tabs between the two sides, the status below."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from llama_gui.ui.actions import Actions
from llama_gui.ui.icons import Icons
from llama_gui.ui.tab_strip import TabStrip
from llama_gui.ui.tabs import STRIP_HEIGHT
from llama_gui.ui.widgets import Button, Surface


class TopBar(Surface):
    """The strip of tabs between the buttons of the two sides."""

    def __init__(self, strip: TabStrip, actions: Actions, icons: Icons) -> None:
        super().__init__("side", "bottom")
        self.setFixedHeight(STRIP_HEIGHT)
        menu, panel = Button(icons, "menu", height=30), Button(icons, "panel", height=30)
        palette = Button(icons, text=actions.keys("palette"), look="outlined", height=24, pixels=11)
        menu.stand_for(actions["sidebar"])
        panel.stand_for(actions["settings_panel"])
        palette.stand_for(actions["palette"])
        strip.new_button.stand_for(actions["new_tab"])
        layout = QHBoxLayout(self)
        layout.setContentsMargins(5, 0, 5, 0)
        layout.setSpacing(4)
        layout.addWidget(menu)
        layout.addWidget(strip, 1)
        layout.addSpacing(12)
        layout.addWidget(palette)
        layout.addSpacing(4)
        layout.addWidget(panel)


class WindowFrame(QWidget):
    """The whole inside of `window`. The lines between `sides` and the middle can be dragged.

    What has much in it is made with `sides` as its parent: what moves into another widget is dressed anew with all
    that is in it.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.sides = QSplitter(Qt.Orientation.Horizontal, self)
        self.sides.setHandleWidth(1)  # Qt lets the mouse take it from some pixels beside it, too
        self.sides.setChildrenCollapsible(False)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(0)

    def fill(self, top: QWidget, start: QWidget, centre: QWidget, end: QWidget, foot: QWidget) -> None:
        """Put everything into its place."""
        self._layout.addWidget(top)
        self._layout.addWidget(self.sides, 1)
        for part in (start, centre, end):
            self.sides.addWidget(part)
        self.sides.setStretchFactor(1, 1)
        self._layout.addWidget(foot)

    def add_bar(self, bar: QWidget) -> None:
        """Show something below the bar at the top, as long as it wants to be seen."""
        self._layout.insertWidget(1, bar)
