"""What a model would take if it were loaded with given options: asked of the engine, off the GUI thread."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from llama_gui.bridge.lanes import Lanes
from llama_gui.vocabulary import STARTER, LoadOptions, LoadPlan


class LoadPlanner(QObject):
    """Looks at models without loading them. Every method is called on the GUI thread and returns at once.

    `starter`: where the model with the key `STARTER` lies. `freed` tells how many bytes the models in memory give
    back.
    """

    planned = Signal(str, object, object)
    """The key of a model, the `LoadOptions` that were asked about, and their `LoadPlan`."""
    failed = Signal(str, object, str)
    """It cannot be loaded so, and why."""

    def __init__(self, starter: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._starter = str(starter)
        self._lanes = Lanes(self)
        self.freed: Callable[[], int] = lambda: 0

    def plan(self, key: str, options: LoadOptions) -> None:
        """Look at a model of this machine; `planned` or `failed` tells."""
        path = self._starter if key == STARTER else key
        freed = self.freed()

        def work() -> LoadPlan:
            from llama_gui.engine.load_plan import plan_load  # here: torch takes seconds, behind the window

            return plan_load(path, options.dtype, options.device, freed, options.cache_dtype)

        self._lanes.run(
            "load-plan",
            work,
            lambda plan: self.planned.emit(key, options, plan),
            lambda error: self.failed.emit(key, options, str(error)),
        )

    def close(self) -> bool:
        """End the thread; False: it still waits for the disk."""
        return self._lanes.close()
