"""The menu of the tools button: which servers a chat uses, and how it stands with them."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QAction, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QMenu, QWidget

from llama_gui.bridge.tool_desk import ToolDesk
from llama_gui.ui.problem_words import problem_text
from llama_gui.ui.tools.words import state_words
from llama_gui.ui.widgets import plain_action, plain_tip
from llama_gui.vocabulary import ChatSettings

_MOST_NAME = 240


class ToolsMenu(QMenu):
    """Stays open while servers are ticked, and shows how they start meanwhile."""

    chosen = Signal(str, bool)
    """A server, and whether the chat uses it."""
    asking_wanted = Signal()
    """Each call is to be asked for again."""
    setup_wanted = Signal()

    def __init__(self, desk: ToolDesk, settings: ChatSettings, note: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._desk = desk
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setToolTipsVisible(True)
        if note:
            self.addAction(plain_action(note)).setEnabled(False)
            self.addSeparator()
        self.servers = {server.name: self._add(server.name, settings) for server in desk.servers()}
        self.addSeparator()
        if settings.allowed_tools:
            self.addAction(self.tr("Ask again before each call")).triggered.connect(self.asking_wanted)
        self.addAction(self.tr("Set up tool servers…")).triggered.connect(self.setup_wanted)
        desk.changed.connect(self._show)
        self._show()

    def _add(self, name: str, settings: ChatSettings) -> QAction:
        action = self.addAction("")
        action.setCheckable(True)
        action.setChecked(name in settings.tools)
        action.setData(name)
        action.toggled.connect(self._on_toggled)
        return action

    @Slot(bool)
    def _on_toggled(self, is_on: bool) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            self.chosen.emit(action.data(), is_on)

    @Slot()
    def _show(self) -> None:
        for name, action in self.servers.items():
            state = self._desk.state(name)
            # Behind a tab Qt writes the keys of an action: small, on the other side.
            shown = self.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, _MOST_NAME)
            action.setText(f"{plain_action(shown)}\t{state_words(state)}")
            tools = ", ".join(tool.name for tool in state.tools)
            action.setToolTip(plain_tip(problem_text(state.error) or tools or name))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if not self._tick(self.actionAt(event.position().toPoint())):
            super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        presses = event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if not (presses and self._tick(self.activeAction())):
            super().keyPressEvent(event)

    def _tick(self, action: QAction | None) -> bool:
        """Tick a server, and stay; Qt would close the menu."""
        is_server = action is not None and action.isCheckable() and action.isEnabled()
        if action is not None and is_server:
            action.toggle()
        return is_server
