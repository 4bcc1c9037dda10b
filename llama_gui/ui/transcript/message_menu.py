"""The menu of a right click in a chat: what can be done with the words there, and with their message."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtWidgets import QMenu, QTextBrowser

from llama_gui.chats.tree import Node
from llama_gui.ui.transcript.hover_bar import verb_names, verbs_of, why_not_words

translate = QCoreApplication.translate


def message_menu(view: QTextBrowser, node: Node | None, link: str, run: Callable[[str, str], object]) -> QMenu:
    """`link`: the address under the mouse, "" for none. `run` takes a verb and the message that it is for."""
    menu = QMenu(view)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    copy = menu.addAction(_with_keys(translate("MessageMenu", "Copy"), QKeySequence.StandardKey.Copy))
    copy.triggered.connect(view.copy)
    copy.setEnabled(view.textCursor().hasSelection())
    if link:
        action = menu.addAction(translate("MessageMenu", "Copy the link"))
        action.triggered.connect(lambda: QGuiApplication.clipboard().setText(link))
    everything = _with_keys(translate("MessageMenu", "Select all"), QKeySequence.StandardKey.SelectAll)
    menu.addAction(everything).triggered.connect(view.selectAll)
    if node is not None:
        _add_verbs(menu, node, run)
    return menu


def _add_verbs(menu: QMenu, node: Node, run: Callable[[str, str], object]) -> None:
    names = verb_names() | {
        "copy": translate("MessageMenu", "Copy the message"),
        "words": translate("MessageMenu", "Look at the words"),
    }
    menu.addSeparator()
    for verb in verbs_of(node):
        if verb == "delete":
            menu.addSeparator()
        action = menu.addAction(names[verb])
        action.triggered.connect(partial(_run, run, verb, node.id))
        action.setEnabled(verb != "words" or not why_not_words(node))


def _run(run: Callable[[str, str], object], verb: str, node_id: str, _checked: bool = False) -> None:
    run(verb, node_id)


def _with_keys(text: str, key: QKeySequence.StandardKey) -> str:
    """The keys are shown, and belong to the view: here they would be taken twice."""
    return f"{text}\t{QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)}"
