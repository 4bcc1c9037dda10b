"""Every parameter of the settings panel, as values: what it is called, explained, and which numbers it takes."""

import math
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from llama_gui.ui.numbers import in_marks
from llama_gui.ui.translatable import QT_TRANSLATE_NOOP
from llama_gui.vocabulary import SAMPLING_RANGES

Number = float | int
translate = QCoreApplication.translate


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
        return translate("Parameters", self.label)

    @property
    def tip_text(self) -> str:
        """What it does, in one line."""
        return translate("Parameters", self.tip)

    @property
    def no_default_text(self) -> str:
        """What is shown where the model recommends nothing."""
        return translate("Parameters", self.no_default) if self.no_default else ""

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        if self.excludes_low:
            words = (
                translate("Parameters", "a whole number above {}, up to {}")
                if self.is_integer
                else translate("Parameters", "a number above {}, up to {}")
            )
        elif self.high < 2**53:
            words = (
                translate("Parameters", "a whole number from {} to {}")
                if self.is_integer
                else translate("Parameters", "a number from {} to {}")
            )
        else:
            words = (
                translate("Parameters", "a whole number of at least {}")
                if self.is_integer
                else translate("Parameters", "a number of at least {}")
            )
        return words.format(self._bound(self.low), self._bound(self.high))

    def _bound(self, value: float) -> str:
        return str(int(value)) if self.is_integer and math.isfinite(value) else in_marks(f"{value:g}")

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
            raise ValueError(
                translate("Parameters", "{} is “{}”, but it must be {}.").format(self.name_text, text, self.allowed)
            )
        return value

    def show(self, value: Number) -> str:
        """A number as the panel shows it."""
        if self.is_integer:
            return str(value)
        return in_marks(f"{value:.2f}" if round(value, 2) == value else f"{value:.6g}")


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
        return translate("Parameters", self.label)

    @property
    def tip_text(self) -> str:
        """What it does, in one line."""
        return translate("Parameters", self.tip)

    def texts(self) -> list[tuple[str, str]]:
        """Each value and its name."""
        return [(value, translate("Parameters", text)) for value, text in self.choices]


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
        return translate("Parameters", self.label)


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
    QT_TRANSLATE_NOOP("Parameters", "Basics"),
    (
        _sampling(
            "temperature",
            QT_TRANSLATE_NOOP("Parameters", "Temperature"),
            QT_TRANSLATE_NOOP("Parameters", "How daring the choice of words is; 0 always takes the likeliest."),
            (0, 2, 0.05),
        ),
        _sampling(
            "top_p",
            QT_TRANSLATE_NOOP("Parameters", "Top-p"),
            QT_TRANSLATE_NOOP("Parameters", "Only the likeliest words that together reach this probability; 1 is off."),
            (0, 1, 0.01),
            excludes_low=True,
        ),
        _sampling(
            "top_k",
            QT_TRANSLATE_NOOP("Parameters", "Top-k"),
            QT_TRANSLATE_NOOP("Parameters", "Only this many of the likeliest words; 0 is off."),
            (0, 200, 1),
        ),
        _sampling(
            "min_p",
            QT_TRANSLATE_NOOP("Parameters", "Min-p"),
            QT_TRANSLATE_NOOP("Parameters", "Only words at least this probable beside the likeliest; 0 is off."),
            (0, 1, 0.01),
        ),
        _length(
            "max_tokens",
            QT_TRANSLATE_NOOP("Parameters", "Max tokens"),
            QT_TRANSLATE_NOOP("Parameters", "How long an answer may become; a word is one or two tokens."),
            1,
            QT_TRANSLATE_NOOP("Parameters", "no limit"),
        ),
        _sampling(
            "seed",
            QT_TRANSLATE_NOOP("Parameters", "Seed"),
            QT_TRANSLATE_NOOP("Parameters", "The same seed and settings give the same answer."),
            no_default=QT_TRANSLATE_NOOP("Parameters", "random"),
        ),
    ),
    is_open=True,
)

PENALTIES = ParameterGroup(
    "penalties",
    QT_TRANSLATE_NOOP("Parameters", "Penalties"),
    (
        _sampling(
            "repetition_penalty",
            QT_TRANSLATE_NOOP("Parameters", "Repetition penalty"),
            QT_TRANSLATE_NOOP("Parameters", "Above 1 makes words that were used less likely; 1 is off."),
            (1, 2, 0.01),
            excludes_low=True,
        ),
        _sampling(
            "frequency_penalty",
            QT_TRANSLATE_NOOP("Parameters", "Frequency penalty"),
            QT_TRANSLATE_NOOP("Parameters", "Lowers a word a little more each time it is used; 0 is off."),
            (-2, 2, 0.05),
        ),
        _sampling(
            "presence_penalty",
            QT_TRANSLATE_NOOP("Parameters", "Presence penalty"),
            QT_TRANSLATE_NOOP("Parameters", "Lowers every word that was used, however often; 0 is off."),
            (-2, 2, 0.05),
        ),
        _sampling(
            "penalty_window",
            QT_TRANSLATE_NOOP("Parameters", "Penalty window"),
            QT_TRANSLATE_NOOP("Parameters", "How many of the last tokens the penalties see; -1 is all of them."),
        ),
    ),
)

ADVANCED = ParameterGroup(
    "advanced",
    QT_TRANSLATE_NOOP("Parameters", "Advanced"),
    (
        _sampling(
            "typical_p",
            QT_TRANSLATE_NOOP("Parameters", "Typical-p"),
            QT_TRANSLATE_NOOP("Parameters", "Only words about as surprising as usual; 1 is off."),
            (0, 1, 0.01),
            excludes_low=True,
        ),
        _sampling(
            "xtc_probability",
            QT_TRANSLATE_NOOP("Parameters", "XTC probability"),
            QT_TRANSLATE_NOOP("Parameters", "How often the likeliest words are left out, for variety; 0 is off."),
            (0, 1, 0.01),
        ),
        _sampling(
            "xtc_threshold",
            QT_TRANSLATE_NOOP("Parameters", "XTC threshold"),
            QT_TRANSLATE_NOOP("Parameters", "How probable a word must be to be left out by XTC."),
            (0, 1, 0.01),
        ),
        _sampling(
            "dry_multiplier",
            QT_TRANSLATE_NOOP("Parameters", "DRY strength"),
            QT_TRANSLATE_NOOP("Parameters", "How much repeating whole phrases costs; 0 is off."),
            (0, 5, 0.05),
        ),
        _sampling(
            "dry_base",
            QT_TRANSLATE_NOOP("Parameters", "DRY base"),
            QT_TRANSLATE_NOOP("Parameters", "How fast that cost grows with the length of the phrase."),
        ),
        _sampling(
            "dry_allowed_length",
            QT_TRANSLATE_NOOP("Parameters", "DRY allowed length"),
            QT_TRANSLATE_NOOP("Parameters", "Phrases of up to this many tokens may be repeated freely."),
        ),
        _length(
            "min_tokens",
            QT_TRANSLATE_NOOP("Parameters", "Min tokens"),
            QT_TRANSLATE_NOOP("Parameters", "The answer does not end before this many tokens."),
            0,
            QT_TRANSLATE_NOOP("Parameters", "none"),
        ),
        ChoiceSpec(
            "overflow",
            QT_TRANSLATE_NOOP("Parameters", "When the context is full"),
            QT_TRANSLATE_NOOP("Parameters", "What happens when the conversation is longer than the model reads."),
            (
                ("drop_oldest", QT_TRANSLATE_NOOP("Parameters", "Leave out the oldest")),
                ("error", QT_TRANSLATE_NOOP("Parameters", "Refuse the message")),
            ),
        ),
    ),
)

GROUPS: tuple[ParameterGroup, ...] = (BASICS, PENALTIES, ADVANCED)
