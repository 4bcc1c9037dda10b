"""What is read in one tab: the messages of its chat, or a greeting where there is none yet."""

from dataclasses import replace

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QStackedWidget

from llama_gui.bridge.chat_session import ChatSession
from llama_gui.chats.message_files import split
from llama_gui.chats.tree import Node
from llama_gui.ui.icons import Icons
from llama_gui.ui.transcript.view import TranscriptView
from llama_gui.ui.transcript.welcome import Welcome


class TabPages(QStackedWidget):
    """Draws the messages of a session as they come, and goes to one of them."""

    emptied = Signal()
    """There is no message to read."""
    refused = Signal(str)
    """Why a message cannot be shown now."""

    def __init__(self, session: ChatSession, icons: Icons) -> None:
        super().__init__()
        self._session = session
        self._wanted_message = ""  # to go to when the chat is read
        self.welcome = Welcome()
        self.transcript = TranscriptView(icons)
        self.addWidget(self.welcome)
        self.addWidget(self.transcript)
        session.changed.connect(self.show_chat)
        session.message_added.connect(self._add_node)
        session.text_added.connect(self.transcript.add_text)
        session.node_changed.connect(self._replace_node)

    @Slot()
    def show_chat(self) -> None:
        """Draw the whole chat anew, and go where somebody wanted to go."""
        nodes = [_as_said(node) for node in self._session.path()]
        self.transcript.show_path(nodes, self._session.versions())
        self._show_page(bool(nodes))
        wanted, self._wanted_message = self._wanted_message, ""
        if wanted and nodes:
            self.go_to_message(wanted)

    @Slot(object)
    def _add_node(self, node: Node) -> None:
        self._show_page(True)
        self.transcript.set_versions(self._session.versions())
        self.transcript.add_node(_as_said(node))

    @Slot(object)
    def _replace_node(self, node: Node) -> None:
        self.transcript.replace_node(_as_said(node))

    def _show_page(self, has_messages: bool) -> None:
        self.setCurrentWidget(self.transcript if has_messages else self.welcome)
        if not has_messages:
            self.emptied.emit()

    # One of the messages

    def want_message(self, node_id: str) -> None:
        """Go to a message, once the chat is read."""
        if self._session.path():
            self.go_to_message(node_id)
        else:
            self._wanted_message = node_id

    @Slot(str)
    def go_to_message(self, node_id: str) -> None:
        """Show a message of this chat, on whatever branch it is, and light it up."""
        if all(node.id != node_id for node in self._session.path()):
            if self._session.answering:
                self.refused.emit(self.tr("An answer is still being written. Stop it, or wait for its end."))
                return
            self._session.edits.show_message(node_id)
        self.transcript.scroll_to_node(node_id)


def _as_said(node: Node) -> Node:
    """A message with the user's words only; its `attachments` name the files that the model reads before them."""
    return replace(node, content=split(node.content, node.attachments)[0]) if node.attachments else node
