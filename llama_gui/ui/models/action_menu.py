"""What the pane of a model offers, as a menu."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from llama_gui.ui.models.detail_pane import PaneAction
from llama_gui.ui.widgets import plain_action, plain_tip


def action_menu(actions: Sequence[PaneAction], act: Callable[[str], object], parent: QWidget) -> QMenu:
    """A line for each of `actions`, in their order; `act` gets the name of the one that is chosen."""
    menu = QMenu(parent)
    menu.setToolTipsVisible(True)
    for action in actions:
        keys = QKeySequence(action.keys).toString(QKeySequence.SequenceFormat.NativeText)
        # The keys are shown, and belong to the list: here they would be taken twice.
        line = menu.addAction(plain_action(action.text) + (f"\t{keys}" if keys else ""), partial(act, action.name))
        line.setEnabled(action.enabled)
        line.setToolTip(plain_tip(action.why_not))
    return menu
