"""Sizes, times, verdicts and kinds of GGUF files as one line."""

from datetime import UTC, datetime

from llama_gui.library.fit import Fit
from llama_gui.library.plan import GGUF_PREFERENCE
from llama_gui.ui.models.words import (
    context_words,
    count_words,
    day_words,
    gguf_words,
    many_words,
    percent,
    plain,
    short_verdict,
    time_words,
    verdict_words,
)


def fit(verdict: str = "runs", speed: float | None = 9.4, needed: int = 2_900_000_000) -> Fit:
    return Fit("bfloat16", 1, 1, needed, 14_000_000_000, speed, verdict, "")  # pyright: ignore[reportArgumentType]


def test_a_verdict_says_the_numbers(qapp):
    assert verdict_words(fit()) == "Runs well: about 9 tok/s, needs 2.9 GB of 14.0 GB free"
    assert verdict_words(fit(speed=None)) == "Runs well: needs 2.9 GB of 14.0 GB free"
    assert verdict_words(fit(speed=0.4)).startswith("Runs slowly: less than 1 tok/s")
    assert verdict_words(fit("tight")).startswith("Just fits; close other programs first")
    too_large = verdict_words(fit("too large", needed=40_000_000_000))
    assert too_large == "Too large for this computer now: needs 40.0 GB, 14.0 GB are free"
    assert [short_verdict(fit()), short_verdict(fit("tight")), short_verdict(fit("too large"))] == [
        "about 9 tok/s",
        "Just fits",
        "Too large",
    ]
    assert short_verdict(fit(speed=1810.4)) == "about 1,810 tok/s"


def test_every_kind_that_a_download_prefers_has_words(qapp):
    for kind in GGUF_PREFERENCE:
        assert gguf_words(kind.upper()), kind
    assert gguf_words("IQ2_M") == gguf_words("Q3_K_S") == "smallest, clearly less exact"
    assert gguf_words("IQ4_XS") == gguf_words("Q4_0")


def test_numbers_are_short(qapp):
    assert [count_words(n) for n in (200_000, 134_515_008, 1_235_814_400)] == ["0.2 M", "135 M", "1.2 B"]
    assert [many_words(n) for n in (812, 3_412, 1_200_000)] == ["812", "3.4 k", "1.2 M"]
    assert [context_words(n) for n in (512, 2048, 131072)] == ["512 tokens", "2k tokens", "128k tokens"]
    assert [time_words(n) for n in (0.2, 42, 180, 7260)] == ["1 s left", "42 s left", "3 min left", "2 h 1 min left"]
    assert [percent(0, 0), percent(1, 3), percent(999, 1000), percent(5, 5)] == [0, 33, 99, 99]
    assert day_words(None) == ""
    assert "2026" in day_words(datetime(2026, 5, 20, 12, tzinfo=UTC))


def test_foreign_words_cannot_turn_the_line(qapp):
    assert plain("a\u202eb\nc\x00") == "abc"
    assert plain("x" * 300, 10) == "x" * 9 + "…"
