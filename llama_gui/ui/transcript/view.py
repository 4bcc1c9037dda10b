"""The transcript of one tab: what can be clicked, copied and reached by keys on the page of a chat."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from PySide6.QtCore import QEvent, QPoint, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractSlider, QMenu, QWidget

from llama_gui.chats.message_files import listed_images, sources_of
from llama_gui.chats.reasoning import answer_text, parts_of
from llama_gui.chats.tree import Node
from llama_gui.ui.icons import Icons
from llama_gui.ui.transcript.drawn_chat import DrawnChat
from llama_gui.ui.transcript.message_bar import MessageBar
from llama_gui.ui.transcript.message_menu import message_menu

OPENED_SCHEMES = ("http", "https", "mailto")


class TranscriptView(DrawnChat):
    """Shows messages and tells what the user wants of them; `icons` give it the buttons over each message."""

    again_requested = Signal()
    action_requested = Signal(str, str)
    """A verb (see `hover_bar`; also previous and next), and the message that it is for."""
    link_requested = Signal(str)
    at_end_changed = Signal(bool)
    copied = Signal()
    picture_requested = Signal(object)
    """`FileLine`: the image of a message, to be seen as large as it is."""

    def __init__(self, icons: Icons | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._buttons = MessageBar(icons, self, self._drawn_nodes, self.extent_of) if icons is not None else None
        self.anchorClicked.connect(self._follow_anchor)
        self.place.at_end_changed.connect(self.at_end_changed)
        if self._buttons is not None:
            self._buttons.bar.chosen.connect(self.action_requested)

    def show_path(self, nodes: Sequence[Node], versions: Mapping[str, tuple[int, int]] | None = None) -> None:
        """See `DrawnChat.show_path`."""
        super().show_path(nodes, versions)
        if self._buttons is not None:
            self._buttons.look_again()

    def last_answer(self) -> str:
        """The Markdown of the last answer, without what was thought before it."""
        answers = [node for node in self._nodes if node.role == "assistant" and node.content]
        return answer_text(answers[-1]) if answers else ""

    # Clicks and copying

    @Slot(QUrl)
    def _follow_anchor(self, url: QUrl) -> None:
        secret, _, rest = url.toString().partition(":")
        if secret == self._secret:
            verb, _, argument = rest.partition(":")
            self._run_command(verb, argument)
        elif url.scheme().lower() in OPENED_SCHEMES:
            self.link_requested.emit(url.toString())

    def _run_command(self, verb: str, argument: str) -> None:
        match verb:
            case "again":
                self.again_requested.emit()
            case "earlier":
                self.draw_gap(int(argument))
            case "unfold":
                self._page.ask_for(int(argument))
                self._draw_rest()
            case "reasoning":
                self.toggle_reasoning(argument)
            case "sources":
                self.toggle_sources(argument)
            case "picture":
                node_id, _, number = argument.partition(":")
                self._ask_for_picture(node_id, int(number))
            case "copy-code":
                self._copy(self._page.code(int(argument)))
            case "previous" | "next" | "continue":
                self.action_requested.emit(verb, argument)
            case "copy":
                self._copy(next((answer_text(node) for node in self._nodes if node.id == argument), ""))

    def _ask_for_picture(self, node_id: str, number: int) -> None:
        node = next((node for node in self._nodes if node.id == node_id), None)
        pictures = listed_images(node.attachments) if node is not None else []
        if number < len(pictures):
            self.picture_requested.emit(pictures[number])

    def toggle_last_reasoning(self) -> None:
        """Show or hide what was thought before the last answer that has any of it."""
        answers = (node for node in self._drawn_nodes()[::-1] if node.role == "assistant")
        found = (node for node in answers if parts_of(node).reasoning is not None)
        self._toggle_first(found, self.toggle_reasoning)

    def toggle_last_sources(self) -> None:
        """Show or hide the passages that the last answer is made from that has any."""
        drawn = self._drawn_nodes()[::-1]
        asked = {node.id for node in drawn if sources_of(node.attachments)}
        self._toggle_first((node for node in drawn if node.parent_id in asked), self.toggle_sources)

    def _toggle_first(self, nodes: Iterator[Node], toggle: Callable[[str], None]) -> None:
        if (node := next(nodes, None)) is None:
            return
        toggle(node.id)
        extent = self.extent_of(node.id)
        if extent is not None and not self.viewport().rect().contains(self.cursorRect(self.cursor_at(extent[0]))):
            self.scroll_to(extent[0], 0.08)

    def _copy(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.copied.emit()

    # Events

    def step_message(self, by: int) -> None:
        """Put the keyboard on the buttons of the next or previous message."""
        if self._buttons is not None and not self._is_stale:
            self._buttons.step(by)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        if self._buttons is not None and not event.buttons():  # else something is being selected
            at = self.cursorForPosition(event.position().toPoint())
            self._buttons.show(self._page.node_at(at.position()))

    def menu_at(self, place: QPoint) -> QMenu:
        """What can be done with what stands there."""
        node_id = self._page.node_at(self.cursorForPosition(place).position())
        node = next((node for node in self._drawn_nodes() if node.id == node_id), None)
        link = self.anchorAt(place)
        address = link if QUrl(link).scheme().lower() in OPENED_SCHEMES else ""  # else it is a command of ours
        return message_menu(self, node, address, self.action_requested.emit)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.menu_at(event.pos()).popup(event.globalPos())

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        if self._buttons is not None:
            self._buttons.hide()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.AltModifier and event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.step_message(-1 if event.key() == Qt.Key.Key_Up else 1)
            return
        super().keyPressEvent(event)

    @Slot(int)
    def turn_page(self, by: int) -> None:
        """Read on a page below (1) or above (-1), wherever the keyboard is."""
        action = QAbstractSlider.SliderAction
        self.verticalScrollBar().triggerAction(action.SliderPageStepAdd if by > 0 else action.SliderPageStepSub)
        if by < 0:
            self._draw_above()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()  # the tab zooms; Qt would change a font that is used nowhere
            return
        super().wheelEvent(event)
        if event.angleDelta().y() > 0:
            self._draw_above()

    def _draw_above(self) -> None:
        """At the top, draw the earlier messages that are not drawn yet."""
        gaps = [] if self._is_stale else self._page.gaps()
        if gaps and gaps[0][0] == 0 and self.verticalScrollBar().value() == 0:
            self.draw_gap(gaps[0][1])
