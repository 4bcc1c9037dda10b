"""Display, text, script and script of a script: the size of what is set, and how much room it takes; pure."""

from dataclasses import dataclass

DISPLAY, TEXT, SCRIPT, SMALLEST = range(4)


@dataclass(frozen=True, slots=True)
class Style:
    """A style of TeX. `is_cramped`: under a rule, where what is raised is raised less. `scales`: of the four levels."""

    level: int
    is_cramped: bool = False
    scales: tuple[float, float, float, float] = (1.0, 1.0, 0.7, 0.55)

    @property
    def scale(self) -> float:
        """The size of the letters."""
        return self.scales[self.level]

    @property
    def is_display(self) -> bool:
        """Whether there is room for large signs with limits."""
        return self.level == DISPLAY

    @property
    def is_script(self) -> bool:
        """Whether there is next to no air."""
        return self.level >= SCRIPT

    def at(self, level: int) -> "Style":
        """The same at another level."""
        return Style(level, self.is_cramped, self.scales)

    def cramped(self) -> "Style":
        """The same under a rule."""
        return Style(self.level, True, self.scales)

    def raised(self) -> "Style":
        """Of what is raised."""
        return Style(SCRIPT if self.level < SCRIPT else SMALLEST, self.is_cramped, self.scales)

    def lowered(self) -> "Style":
        """Of what is lowered."""
        return self.raised().cramped()

    def inner(self, *, is_below: bool = False) -> "Style":
        """Of what stands in a fraction."""
        return Style(min(self.level + 1, SMALLEST), self.is_cramped or is_below, self.scales)
