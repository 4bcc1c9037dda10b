"""Guesses that may fail: an answer needs none, and what is wrong with it shows when it is drawn."""

import logging
from collections.abc import Callable

from llama_gui.errors import GenerationError

_log = logging.getLogger(__name__)


class GuessGuard:
    """Makes guesses by a network called `name`, until that fails."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.has_failed = False

    def run(self, guess: Callable[[], list[int]]) -> list[int]:
        """What `guess` gives; [] where it cannot just now, or fails."""
        try:
            return guess()
        except GenerationError:
            return []
        except Exception:
            _log.exception("The %s failed, and is asked no more", self._name)
            self.has_failed = True
            return []
