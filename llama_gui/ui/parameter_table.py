"""Every parameter of the settings panel, as values: what it is called, explained, and which numbers it takes."""

import math
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from llama_gui.vocabulary import SAMPLING_RANGES

Number = float | int


def _tr(text: str) -> str:
    return QCoreApplication.translate("Parameters", text)


@dataclass(frozen=True, slots=True)
class ParameterSpec:
    """One number: what it is called, what may be typed, and what the slider spans (from, to, step).

    `of_sampling`: a field of `SamplingParams`; else of `ChatSettings`. `no_default`: what is shown where the model
    recommends nothing. Texts are in English here; `name_text` and `tip_text` are for the eye.
    """

    name: str
    label: str
    low: float
    high: float
    is_integer: bool
    tip: str
    slider: tuple[float, float, float] | None = None
    excludes_low: bool = False
    no_default: str = ""
    of_sampling: bool = True

    @property
    def name_text(self) -> str:
        """What it is called, in the user's language."""
        return _tr(self.label)

    @property
    def tip_text(self) -> str:
        """What it does, in one line."""
        return _tr(self.tip)

    @property
    def no_default_text(self) -> str:
        """What is shown where the model recommends nothing."""
        return _tr(self.no_default) if self.no_default else ""

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        if self.excludes_low:
            words = _tr("a whole number above {}, up to {}") if self.is_integer else _tr("a number above {}, up to {}")
        elif self.high < 2**53:
            words = _tr("a whole number from {} to {}") if self.is_integer else _tr("a number from {} to {}")
        else:
            words = _tr("a whole number of at least {}") if self.is_integer else _tr("a number of at least {}")
        return words.format(f"{self.low:g}", f"{self.high:g}")

    def parse(self, text: str) -> Number:
        """The number in a text.

        Raises:
            ValueError: the sentence to show.
        """
        try:
            value = int(text) if self.is_integer else float(text.replace(",", "."))
        except ValueError:
            value = math.nan
        if not self.low <= value <= self.high or (self.excludes_low and value == self.low):
            raise ValueError(_tr("{} is “{}”, but it must be {}.").format(self.name_text, text, self.allowed))
        return value

    def show(self, value: Number) -> str:
        """A number as the panel shows it."""
        if self.is_integer:
            return str(value)
        return f"{value:.2f}" if round(value, 2) == value else f"{value:.6g}"


@dataclass(frozen=True, slots=True)
class ChoiceSpec:
    """A parameter with a few values that have names; the first is the default."""

    name: str
    label: str
    tip: str
    choices: tuple[tuple[str, str], ...]
    of_sampling: bool = False

    @property
    def name_text(self) -> str:
        """What it is called, in the user's language."""
        return _tr(self.label)

    @property
    def tip_text(self) -> str:
        """What it does, in one line."""
        return _tr(self.tip)

    def texts(self) -> list[tuple[str, str]]:
        """Each value and its name."""
        return [(value, _tr(text)) for value, text in self.choices]


@dataclass(frozen=True, slots=True)
class ParameterGroup:
    """Parameters that fold away together."""

    name: str
    label: str
    parameters: tuple[ParameterSpec | ChoiceSpec, ...]
    is_open: bool = False

    @property
    def name_text(self) -> str:
        """What it is called, in the user's language."""
        return _tr(self.label)


def _sampling(
    name: str,
    label: str,
    tip: str,
    slider: tuple[float, float, float] | None = None,
    *,
    excludes_low: bool = False,
    no_default: str = "",
) -> ParameterSpec:
    low, high, is_integer = SAMPLING_RANGES[name]
    return ParameterSpec(name, label, low, high, is_integer, tip, slider, excludes_low, no_default)


def _length(name: str, label: str, tip: str, low: int, no_default: str) -> ParameterSpec:
    return ParameterSpec(name, label, low, math.inf, True, tip, no_default=no_default, of_sampling=False)


BASICS = ParameterGroup(
    "basics",
    "Basics",
    (
        _sampling(
            "temperature",
            "Temperature",
            "How daring the choice of words is; 0 always takes the likeliest.",
            (0, 2, 0.05),
        ),
        _sampling(
            "top_p",
            "Top-p",
            "Only the likeliest words that together reach this probability; 1 is off.",
            (0, 1, 0.01),
            excludes_low=True,
        ),
        _sampling(
            "top_k",
            "Top-k",
            "Only this many of the likeliest words; 0 is off.",
            (0, 200, 1),
        ),
        _sampling(
            "min_p",
            "Min-p",
            "Only words at least this probable beside the likeliest; 0 is off.",
            (0, 1, 0.01),
        ),
        _length(
            "max_tokens",
            "Max tokens",
            "How long an answer may become; a word is one or two tokens.",
            1,
            "no limit",
        ),
        _sampling(
            "seed",
            "Seed",
            "The same seed and settings give the same answer.",
            no_default="random",
        ),
    ),
    is_open=True,
)

PENALTIES = ParameterGroup(
    "penalties",
    "Penalties",
    (
        _sampling(
            "repetition_penalty",
            "Repetition penalty",
            "Above 1 makes words that were used less likely; 1 is off.",
            (1, 2, 0.01),
            excludes_low=True,
        ),
        _sampling(
            "frequency_penalty",
            "Frequency penalty",
            "Lowers a word a little more each time it is used; 0 is off.",
            (-2, 2, 0.05),
        ),
        _sampling(
            "presence_penalty",
            "Presence penalty",
            "Lowers every word that was used, however often; 0 is off.",
            (-2, 2, 0.05),
        ),
        _sampling(
            "penalty_window",
            "Penalty window",
            "How many of the last tokens the penalties see; -1 is all of them.",
        ),
    ),
)

ADVANCED = ParameterGroup(
    "advanced",
    "Advanced",
    (
        _sampling(
            "typical_p",
            "Typical-p",
            "Only words about as surprising as usual; 1 is off.",
            (0, 1, 0.01),
            excludes_low=True,
        ),
        _sampling(
            "xtc_probability",
            "XTC probability",
            "How often the likeliest words are left out, for variety; 0 is off.",
            (0, 1, 0.01),
        ),
        _sampling(
            "xtc_threshold",
            "XTC threshold",
            "How probable a word must be to be left out by XTC.",
            (0, 1, 0.01),
        ),
        _sampling(
            "dry_multiplier",
            "DRY strength",
            "How much repeating whole phrases costs; 0 is off.",
            (0, 5, 0.05),
        ),
        _sampling(
            "dry_base",
            "DRY base",
            "How fast that cost grows with the length of the phrase.",
        ),
        _sampling(
            "dry_allowed_length",
            "DRY allowed length",
            "Phrases of up to this many tokens may be repeated freely.",
        ),
        _length(
            "min_tokens",
            "Min tokens",
            "The answer does not end before this many tokens.",
            0,
            "none",
        ),
        ChoiceSpec(
            "overflow",
            "When the context is full",
            "What happens when the conversation is longer than the model reads.",
            (
                ("drop_oldest", "Leave out the oldest"),
                ("error", "Refuse the message"),
            ),
        ),
    ),
)

GROUPS: tuple[ParameterGroup, ...] = (BASICS, PENALTIES, ADVANCED)
