"""Lets the user choose how a model runs: looks at the model first, then opens the dialog."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from llama_gui.bridge.load_planner import LoadPlanner
from llama_gui.ui.icons import Icons
from llama_gui.vocabulary import LoadOptions, LoadPlan, is_remote


class WindowLoading(QObject):
    """Opens the dialog about one model. `name_of`: what the user calls a model."""

    chosen = Signal(str, object)
    """The key of a model, and its `LoadOptions` from now on."""
    told = Signal(str)
    """Why there is nothing to choose."""

    def __init__(self, planner: LoadPlanner, name_of: Callable[[str], str], icons: Icons, window: QWidget) -> None:
        super().__init__(window)
        self._planner = planner
        self._name_of = name_of
        self._icons = icons
        self._window = window
        self._devices: tuple[str, ...] = ()
        self._asked: tuple[str, LoadOptions] | None = None
        planner.planned.connect(self._on_planned)
        planner.failed.connect(self._on_failed)

    @Slot(object)
    def set_devices(self, devices: tuple[str, ...]) -> None:
        """What this machine can run models on."""
        self._devices = devices

    def show(self, key: str, options: LoadOptions) -> None:
        """Open it for this model, which runs so as things are."""
        if not key:
            self.told.emit(self.tr("There is no model yet. Choose one first."))
        elif is_remote(key):
            self.told.emit(self.tr("How {} runs is up to its server.").format(self._name_of(key)))
        else:
            self._asked = key, options
            self._planner.plan(key, options)

    @Slot(str, object, object)
    def _on_planned(self, key: str, options: LoadOptions, plan: LoadPlan) -> None:
        if (key, options) != self._asked:
            return  # the dialog that is open has asked
        self._asked = None
        from llama_gui.ui.load_dialog import LoadDialog  # here: the window shows sooner

        dialog = LoadDialog(
            key, self._name_of(key), options, plan, self._planner, self._devices, self._icons, self._window
        )
        dialog.chosen.connect(lambda options: self.chosen.emit(key, options))
        dialog.open()

    @Slot(str, object, str)
    def _on_failed(self, key: str, options: LoadOptions, problem: str) -> None:
        if (key, options) == self._asked:
            self._asked = None
            self.told.emit(problem)
