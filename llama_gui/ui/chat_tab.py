"""One tab: the transcript above, the composer below, and the session between them."""

from PySide6.QtCore import QPoint, Qt, QUrl, Signal, Slot
from PySide6.QtGui import (
    QDesktopServices,
    QDragEnterEvent,
    QDropEvent,
    QGuiApplication,
    QHideEvent,
    QKeyEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QHBoxLayout, QMessageBox, QVBoxLayout, QWidget

from llama_gui.bridge.attachments import AttachmentReader
from llama_gui.bridge.chat_session import ChatSession
from llama_gui.chats.attachments import Draft, FileLine
from llama_gui.chats.search import SearchHit
from llama_gui.chats.tree import Node
from llama_gui.ui.composer import WRITING, Composer, dropped_paths
from llama_gui.ui.dialogs import confirm_link
from llama_gui.ui.former_focus import has_keyboard
from llama_gui.ui.icons import Icons
from llama_gui.ui.info_bar import InfoBar
from llama_gui.ui.jump_button import JumpButton
from llama_gui.ui.message_actions import MessageActions
from llama_gui.ui.notice import Notice
from llama_gui.ui.queue_list import QueueList
from llama_gui.ui.split.header import PaneHeader
from llama_gui.ui.tab_drafts import TabDrafts
from llama_gui.ui.tab_files import TabFiles
from llama_gui.ui.tab_folder import TabFolder
from llama_gui.ui.tab_news import TabNews
from llama_gui.ui.tab_pages import TabPages
from llama_gui.ui.tab_thinking import TabThinking
from llama_gui.ui.theme import COLUMN_WIDTH
from llama_gui.ui.tools.question_bar import ToolQuestionBar
from llama_gui.ui.tools.tab_question import TabQuestion
from llama_gui.ui.tools.tab_tools import TabTools
from llama_gui.ui.transcript.find_bar import FindBar
from llama_gui.ui.transcript.sheet import SIDE_MARGIN
from llama_gui.ui.widgets import Surface

_BELOW = 8
_NOTCH = 120
"""What a wheel turns at once, in Qt's measure."""


class ChatTab(Surface):
    """Shows one `ChatSession`: `pages` are read, `composer` is written in, and rooms of their own stand between."""

    draft_changed = Signal()
    about_to_send = Signal()
    model_dropped = Signal(str)
    """A file or folder that could be a model."""
    zoom_wanted = Signal(int)
    """The wheel was turned with Ctrl: so many steps larger, or smaller below 0."""

    def __init__(
        self, session: ChatSession, reader: AttachmentReader, icons: Icons, parent: QWidget | None = None
    ) -> None:
        super().__init__("page", parent=parent)
        self.session = session
        self._turned = 0  # by the wheel with Ctrl, less than a step
        self.setAcceptDrops(True)
        self._icons = icons
        self.header = PaneHeader(icons)
        self.pages = TabPages(session, icons)
        self.welcome, self.transcript = self.pages.welcome, self.pages.transcript
        self.find_bar = FindBar(icons, self.transcript)
        self.composer = Composer(icons)
        self.notice = Notice(icons)
        self.bar = InfoBar(icons)
        self.queue = QueueList(session.queue, icons)
        self.question = ToolQuestionBar(icons)
        self.jump_button = JumpButton(icons, self.pages, self)
        self._lay_out()
        self.messages = MessageActions(session, self.composer, self.bar, self)
        self.drafts = TabDrafts(session, self.composer, self.messages, self.queue, self.bar, self.notice, self)
        self.files = TabFiles(session, reader, self.composer, self.drafts, self.notice, self)
        self.folder = TabFolder(session, reader, self.composer, self)
        self.thinking = TabThinking(session, self.composer.think_button, self)
        self.tools = TabTools(session, self.composer.tools_button, self)
        self.asking = TabQuestion(session, self.question, self.composer, self)
        self.news = TabNews(session, self.transcript, self.composer, self.queue, self.notice, self)
        self._connect()
        self.setFocusProxy(self.composer)
        self.pages.show_chat()

    def _lay_out(self) -> None:
        column = QWidget()
        column.setMaximumWidth(COLUMN_WIDTH)
        foot = QVBoxLayout(column)
        foot.setContentsMargins(0, 8, 0, 16)
        foot.setSpacing(8)
        foot.addWidget(self.notice)
        foot.addWidget(self.bar)
        foot.addWidget(self.queue)
        foot.addWidget(self.question)
        foot.addWidget(self.composer)
        centred = QHBoxLayout()
        centred.setContentsMargins(SIDE_MARGIN, 0, SIDE_MARGIN, 0)
        centred.addStretch(1)
        centred.addWidget(column, 1000)
        centred.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addWidget(self.pages, 1)
        layout.addLayout(centred)

    def _connect(self) -> None:
        self.drafts.changed.connect(self.draft_changed)
        self.composer.draft_changed.connect(self._on_draft)
        self.composer.edit.page_turned.connect(self.transcript.turn_page)
        self.composer.edit.edge_wanted.connect(self._go_to_edge)
        self.drafts.about_to_send.connect(self.about_to_send)
        self.files.model_dropped.connect(self.model_dropped)
        self.files.folder_dropped.connect(self.folder.use)
        self.pages.refused.connect(self.news.fail)
        self.pages.emptied.connect(self.jump_button.hide)
        self.welcome.asked.connect(self.drafts.ask)
        self.transcript.again_requested.connect(self.session.regenerate)
        self.transcript.action_requested.connect(self.messages.run)
        self.transcript.link_requested.connect(self._ask_for_link)
        self.transcript.picture_requested.connect(self._show_picture)
        self.messages.words_wanted.connect(self._look_at_words)
        self.transcript.copied.connect(self._on_copied)
        self.transcript.at_end_changed.connect(self.jump_button.follow)
        self.jump_button.clicked.connect(self.transcript.go_to_end)

    # What is written

    @Slot(str)
    def send(self, text: str) -> None:
        """Give a message to the session, or queue it. The field is emptied when the session has accepted it."""
        self.drafts.send(text)

    def draft(self) -> Draft:
        """All that was written and not sent: the queue too, and what an edit has put aside."""
        return self.drafts.draft()

    @Slot()
    def _on_draft(self) -> None:
        self.transcript.set_has_draft(not self.composer.draft().is_empty)

    def restore(self, draft: str, scroll: float) -> None:
        """Bring back what was typed, and the place that was read."""
        self.composer.set_text(draft)
        self.session.draft_files.bring()
        self.transcript.set_scroll_place(scroll)

    @Slot()
    def focus_composer(self) -> None:
        """Put the keyboard where the next message is written."""
        self.composer.setFocus()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            super().wheelEvent(event)
            return
        self._turned += event.angleDelta().y()  # touch pads turn by less than a notch
        steps = int(self._turned / _NOTCH)
        self._turned -= steps * _NOTCH
        if steps:
            self.zoom_wanted.emit(steps)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # What is typed while the transcript has the keyboard is meant for the message.
        if event.text().strip() and event.text().isprintable() and not event.modifiers() & ~WRITING:
            self.composer.type_on(event)
        else:
            super().keyPressEvent(event)

    def set_title(self, title: str) -> None:
        """Name the chat, where it stands beside another and for screen readers."""
        self.header.set_title(title)
        self.setAccessibleName(title)

    def stand(self, *, beside: bool, front: bool) -> None:
        """Whether another chat is beside this one, and which of them is in front."""
        self.header.setVisible(beside)
        self.header.set_front(front)
        self.composer.set_front(front)
        # A click on whatever keeps no keyboard for itself, such as a button, brings the other one to the front.
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus if front else Qt.FocusPolicy.ClickFocus)
        self.composer.edit.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # Qt has just given it ours, as our focus proxy

    def take_keyboard(self) -> None:
        """Have the keyboard, where it is among what is here, or else where the next message is written."""
        if not has_keyboard(self):
            self.composer.edit.setFocus(Qt.FocusReason.OtherFocusReason)

    def set_model(self, name: str, *, is_ready: bool, is_starter: bool, is_coming: bool, models_keys: str) -> None:
        """Name the model in the greeting, once it is ready, and in the empty field, as soon as it will answer."""
        ready_name = name if is_ready else ""
        self.welcome.greet(ready_name, is_starter=is_starter, is_coming=is_coming, models_keys=models_keys)
        answers = bool(name) and (is_ready or is_coming)
        self.composer.set_placeholder(self.tr("Message {} …").format(name) if answers else self.tr("Message …"))
        self.folder.show()
        self.asking.set_model(ready_name)

    # What is read

    def show_branches(self) -> None:
        """Open the map of the chat."""
        from llama_gui.ui.transcript.branch_map import BranchMap  # here: the window shows sooner

        bar = self.find_bar
        top = 0 if bar.isHidden() else bar.mapTo(self, QPoint(0, bar.height())).y() + _BELOW
        branch_map = BranchMap(self.session.map_dots(), self, top)
        branch_map.chosen.connect(self.go_to_message)
        branch_map.open()

    @Slot(int)
    def _go_to_edge(self, by: int) -> None:
        path = self.session.path()
        if by > 0 or not path:
            self.transcript.go_to_end()
        else:
            self.go_to_message(path[0].id)

    @Slot(object)
    def _look_at_words(self, node: Node) -> None:
        from llama_gui.ui.words.dialog import WordDialog  # here: the window shows sooner

        WordDialog(self.session, node, self.transcript.zoom, self).open()

    @Slot(object)
    def _show_picture(self, file: FileLine) -> None:
        from llama_gui.ui.picture_dialog import PictureDialog  # here: the window shows sooner

        PictureDialog(file, self._icons, self).open()

    def want_hit(self, hit: SearchHit, node_id: str) -> None:
        """Go to the words that were found in a message, once the chat is read."""
        self.find_bar.want(hit.words, node_id, hit.nth)
        self.pages.want_message(node_id)

    @Slot(str)
    def go_to_message(self, node_id: str) -> None:
        """Show a message of this chat, on whatever branch it is, and light it up."""
        self.pages.go_to_message(node_id)

    def copy_last_answer(self) -> bool:
        """Put the last answer on the clipboard; False where there is none."""
        text = self.transcript.last_answer()
        if text:
            QGuiApplication.clipboard().setText(text)
        return bool(text)

    @Slot()
    def _on_copied(self) -> None:
        self.messages.said.emit(self.tr("Copied to the clipboard."))

    @Slot(str)
    def _ask_for_link(self, address: str) -> None:
        confirm_link(self, address, self._open_link)

    def _open_link(self, address: str, answer: QMessageBox.StandardButton) -> None:
        if answer == QMessageBox.StandardButton.Open:
            QDesktopServices.openUrl(QUrl(address))

    # What happens to the widget

    def focusNextPrevChild(self, next: bool) -> bool:
        # What had the keyboard was hidden, such as the button to the end: else Qt might give it to the chat beside.
        focused = QApplication.focusWidget()
        if focused is not None and not focused.isVisible() and self.isVisible() and has_keyboard(self):
            self.focus_composer()
            return True
        return super().focusNextPrevChild(next)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_paths(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        paths = dropped_paths(event.mimeData())
        if paths:
            event.acceptProposedAction()
            self.files.attach(paths)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.session.context.set_watched(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.session.context.set_watched(False)
