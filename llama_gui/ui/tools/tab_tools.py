"""The tools of one chat: shown in the composer, chosen in a menu."""

from dataclasses import replace

from PySide6.QtCore import QObject, QPoint, Signal, Slot
from PySide6.QtWidgets import QWidget

from llama_gui.bridge.chat_session import ChatSession
from llama_gui.ui.problem_words import problem_text
from llama_gui.ui.tools.button import ToolsButton
from llama_gui.ui.tools.menu import ToolsMenu
from llama_gui.ui.tools.words import count_words, state_words
from llama_gui.vocabulary import ToolServerState


class TabTools(QObject):
    """Keeps the button, the chat's settings and the states of its servers the same."""

    setup_wanted = Signal()
    """The servers themselves are to be shown."""

    def __init__(self, session: ChatSession, button: ToolsButton, tab: QWidget) -> None:
        super().__init__(tab)
        self._session = session
        self._desk = session.tools
        self._button = button
        self._tab = tab
        self._takes_tools: bool | None = None
        button.clicked.connect(self.open)
        session.settings_changed.connect(self.show)
        self._desk.changed.connect(self.show)
        self.show()

    def set_model(self, takes_tools: bool | None) -> None:
        """Whether the model can ask for tools; None: nobody knows yet."""
        self._takes_tools = takes_tools
        self.show()

    @Slot()
    def open(self) -> None:
        """Show the menu; where there is no server yet, ask for one."""
        if not self._desk.servers():
            self.setup_wanted.emit()
            return
        menu = self.make_menu()
        menu.popup(self._button.mapToGlobal(QPoint(0, -menu.sizeHint().height())))
        menu.setActiveAction(next(iter(menu.servers.values())))  # the keys begin there

    def make_menu(self) -> ToolsMenu:
        """The servers, and what else can be done."""
        menu = ToolsMenu(self._desk, self._session.settings, self._note(), self._button)
        menu.chosen.connect(self._choose)
        menu.asking_wanted.connect(self.ask_again)
        menu.setup_wanted.connect(self.setup_wanted)
        return menu

    @Slot(str, bool)
    def _choose(self, name: str, is_on: bool) -> None:
        others = [other for other in self._session.settings.tools if other != name]
        self._session.set_tools([*others, name] if is_on else others)

    @Slot()
    def ask_again(self) -> None:
        """Let no tool be called unasked in this chat."""
        self._session.set_settings(replace(self._session.settings, allowed_tools=()))

    def _note(self) -> str:
        return self.tr("The model of this chat cannot use tools.") if self._takes_tools is False else ""

    @Slot()
    def show(self) -> None:
        """Say how many tools there are, and what each of their servers does."""
        known = [server.name for server in self._desk.servers()]
        used = [name for name in known if name in self._session.settings.tools]
        states = {name: self._desk.state(name) for name in used}
        count = sum(len(state.tools) for state in states.values())
        is_on = bool(used) and self._takes_tools is not False
        word = count_words(count) if is_on and count else self.tr("Tools")
        lines = [self._line(name, state) for name, state in states.items()]
        if not used:
            lines = [self.tr("Tools: none of the servers is used in this chat")]
        else:
            lines.insert(0, self.tr("Tools that the model may ask for"))
        tip = "\n".join([*lines, self._note()]).strip()
        failed = any(state.status == "failed" for state in states.values())
        self._button.say(word, tip, is_on=is_on, has_failed=failed)
        self._button.setVisible(bool(known))

    def _line(self, name: str, state: ToolServerState) -> str:
        if state.status == "off" and self._takes_tools is not False:
            return self.tr("{}: starts with the next answer").format(name)
        return problem_text(state.error) or f"{name}: {state_words(state)}"  # an error names the server
