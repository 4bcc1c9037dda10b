"""The buttons of one message: they float over the message that the mouse or the keyboard is at."""

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from llama_gui.chats.recipe import is_cut_short, read_recipe
from llama_gui.chats.tree import Node
from llama_gui.ui.icons import Icons
from llama_gui.ui.widgets import Button, paint_card, plain_tip
from llama_gui.vocabulary import is_remote

_ICONS = {
    "copy": "copy",
    "edit": "edit",
    "regenerate": "again",
    "regenerate_with": "again-with",
    "continue": "go-on",
    "words": "words",
    "run_again": "repeat",
    "fork": "fork",
    "delete": "trash",
}


def verbs_of(node: Node) -> tuple[str, ...]:
    """What can be done with a message, in the order of the buttons."""
    if node.role == "user":
        return ("copy", "edit", "regenerate", "fork", "delete")
    if node.status == "streaming":
        return ()
    if node.role == "tool":
        return (
            ("copy", "regenerate", "fork", "delete") if node.content else ("continue", "regenerate", "fork", "delete")
        )
    recipe = read_recipe(node.recipe)
    goes_on = ("continue",) if not node.recipe or is_cut_short(node.status, recipe.finish_reason) else ()
    again = ("run_again",) if node.recipe and recipe.is_repeatable else ()
    return ("copy", "regenerate", "regenerate_with", *goes_on, "edit", "words", *again, "fork", "delete")


def verb_names() -> dict[str, str]:
    """What the verbs are called."""
    translate = QCoreApplication.translate
    return {
        "copy": translate("HoverBar", "Copy"),
        "edit": translate("HoverBar", "Edit"),
        "regenerate": translate("HoverBar", "Answer again"),
        "regenerate_with": translate("HoverBar", "Answer again with another model"),
        "continue": translate("HoverBar", "Go on where it ends"),
        "words": translate("HoverBar", "Look at the words: how sure the model was, and what else was likely"),
        "run_again": translate("HoverBar", "Run again with the same seed and settings"),
        "fork": translate("HoverBar", "Fork into a new tab"),
        "delete": translate("HoverBar", "Delete this and what follows"),
    }


def why_not_words(node: Node) -> str:
    """Why nobody can look at the words of an answer; "" where they can."""
    recipe = read_recipe(node.recipe)
    if node.role != "assistant" or node.status == "streaming":
        return QCoreApplication.translate("HoverBar", "The words can be looked at once the answer has ended.")
    if is_remote(recipe.model):
        told = QCoreApplication.translate("HoverBar", "{} runs on another server, which does not tell how sure it was.")
        return told.format(node.model or recipe.name)
    if not recipe.token_ids:
        return QCoreApplication.translate(
            "HoverBar", "Only of answers that a model has written here is it known which tokens they are made of."
        )
    return ""


class HoverBar(QWidget):
    """One bar for all messages; `show_for` says for which."""

    chosen = Signal(str, str)
    """Verb and message."""
    left = Signal()
    """The keyboard leaves the bar."""

    def __init__(self, icons: Icons, parent: QWidget) -> None:
        super().__init__(parent)
        self.node_id = ""
        self._buttons: dict[str, Button] = {}
        names = verb_names()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(3, 3, 3, 3)
        layout.setSpacing(1)
        for verb, icon in _ICONS.items():
            button = Button(icons, icon, height=26)
            button.setAccessibleName(names[verb])
            button.setToolTip(plain_tip(names[verb]))
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(lambda _=False, verb=verb: self._choose(verb))
            self._buttons[verb] = button
            layout.addWidget(button)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.hide()

    def show_for(self, node: Node) -> bool:
        """Offer what can be done with a message; False when that is nothing."""
        verbs = verbs_of(node)
        self.node_id = node.id if verbs else ""
        for verb, button in self._buttons.items():
            button.setVisible(verb in verbs)
        if "words" in verbs:
            self._offer_words(why_not_words(node))
        self.setVisible(bool(verbs))
        self.adjustSize()
        return bool(verbs)

    def _offer_words(self, why_not: str) -> None:
        button, name = self._buttons["words"], verb_names()["words"]
        button.setEnabled(not why_not)
        button.setToolTip(plain_tip(why_not or name))
        button.setAccessibleDescription(why_not)

    def focus_first(self) -> None:
        """Put the keyboard on the first button."""
        shown = [button for button in self._buttons.values() if button.isVisible()]
        if shown:
            shown[0].setFocus(Qt.FocusReason.TabFocusReason)

    @property
    def has_focus(self) -> bool:
        """Whether the keyboard is on one of the buttons."""
        return any(button.hasFocus() for button in self._buttons.values())

    def _choose(self, verb: str) -> None:
        self.chosen.emit(verb, self.node_id)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        shown = [button for button in self._buttons.values() if button.isVisible() and button.isEnabled()]
        place = next((i for i, button in enumerate(shown) if button.hasFocus()), -1)
        if event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right) and shown:
            step = 1 if event.key() == Qt.Key.Key_Right else -1
            shown[(place + step) % len(shown)].setFocus(Qt.FocusReason.TabFocusReason)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and place >= 0:
            shown[place].click()
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_card(QPainter(self), self)
