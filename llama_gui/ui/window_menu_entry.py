"""The window's entry in the applications menu of the desktop: added and removed from the palette."""

from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from llama_gui.errors import UserError
from llama_gui.menu_entry import MenuEntry


class WindowMenuEntry(QObject):
    """Adds and removes it. `resources`, `data`: the folders of this window."""

    said = Signal(str)
    told = Signal(str)
    """What went wrong."""

    def __init__(self, resources: Path, data: Path, parent: QObject) -> None:
        super().__init__(parent)
        self._resources = resources
        self._data = data

    @Slot()
    def add(self) -> None:
        """Enter this llama-gui, with the folder of its data, into the menu."""
        try:
            MenuEntry(self._resources, self._data).add()
        except UserError as error:
            self.told.emit(str(error))
        else:
            self.said.emit(self.tr("llama-gui is in the applications menu."))

    @Slot()
    def remove(self) -> None:
        """Take it out of the menu."""
        try:
            MenuEntry(self._resources, self._data).remove()
        except UserError as error:
            self.told.emit(str(error))
        else:
            self.said.emit(self.tr("llama-gui is no longer in the applications menu."))
