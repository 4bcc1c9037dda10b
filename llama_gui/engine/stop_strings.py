"""Stop strings: text that may be the beginning of one is held back until that is decided."""

from collections.abc import Sequence


class StopStrings:
    """Watches one answer. A stop is looked for in the text, because it may begin and end in the middle of tokens.

    `included`: those that are a part of the text that they end.
    """

    def __init__(self, stops: Sequence[str], included: Sequence[str] = ()) -> None:
        self._stops = tuple(stops)
        self._included = frozenset(included)
        self._held = ""
        self.matched: str | None = None

    @property
    def found(self) -> bool:
        """Whether a stop has come; from then on everything is ignored."""
        return self.matched is not None

    def push(self, text: str) -> str:
        """The part of the text so far that is certain not to belong to a stop, without what was given out before."""
        if self.found or not text:
            return ""
        self._held += text
        places = [(place, stop) for stop in self._stops if (place := self._held.find(stop)) >= 0]
        if places:
            place, self.matched = min(places, key=lambda item: item[0])
            return self._take(place + len(self.matched) * (self.matched in self._included))
        return self._take(len(self._held) - self._possible_beginning())

    def flush(self) -> str:
        """What was held back, when the answer ends without a stop."""
        return "" if self.found else self._take(len(self._held))

    def _take(self, count: int) -> str:
        text, self._held = self._held[:count], self._held[count:]
        return text

    def _possible_beginning(self) -> int:
        """Length of the longest end of the held text that some stop begins with."""
        longest = max((len(stop) - 1 for stop in self._stops), default=0)
        for length in range(min(longest, len(self._held)), 0, -1):
            if any(stop.startswith(self._held[-length:]) for stop in self._stops):
                return length
        return 0
