"""Sizes, times and verdicts in words. Every function takes numbers and returns one short line."""

from datetime import datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QDate, QLocale

from llama_gui.library.fit import Fit
from llama_gui.library.gguf_kind import FEWEST_BITS
from llama_gui.ui.numbers import number_text
from llama_gui.ui.problem_words import problem_text
from llama_gui.ui.sizes import size_text as size_words

if TYPE_CHECKING:
    from llama_gui.library.download_queue import QueuedDownload

translate = QCoreApplication.translate


def count_words(count: int) -> str:
    """A number of parameters: 135 M, 1.2 B."""
    if count >= 10**9:
        return f"{number_text(count / 1e9, 1)} B"
    return f"{count / 1e6:.0f} M" if count >= 10**7 else f"{number_text(count / 1e6, 1)} M"


def speed_words(bytes_per_second: float) -> str:
    """How fast bytes come in."""
    if bytes_per_second < 10**6:
        return f"{bytes_per_second / 1e3:.0f} kB/s"
    return f"{number_text(bytes_per_second / 1e6, 1)} MB/s"


def many_words(count: int) -> str:
    """Downloads or likes: 812, 3.4 k, 1.2 M."""
    if count < 1000:
        return str(count)
    return f"{number_text(count / 1e6, 1)} M" if count >= 10**6 else f"{number_text(count / 1e3, 1)} k"


def downloads_words(count: int) -> str:
    """How often a model was fetched."""
    label = translate("Models", "{} download") if count == 1 else translate("Models", "{} downloads")
    return label.format(many_words(count))


def likes_words(count: int) -> str:
    """How many like a model."""
    label = translate("Models", "{} like") if count == 1 else translate("Models", "{} likes")
    return label.format(many_words(count))


def context_words(tokens: int) -> str:
    """How much a model reads at once."""
    amount = f"{tokens / 1024:.0f}k" if tokens >= 1024 else str(tokens)
    return translate("Models", "{} tokens").format(amount)


def day_words(moment: datetime | None) -> str:
    """The day in the form of the user's country; "" when there is none."""
    if moment is None:
        return ""
    local = moment.astimezone()
    if QLocale().language() == QLocale.Language.C:
        return f"{local:%Y-%m-%d}"
    return QLocale().toString(QDate(local.year, local.month, local.day), QLocale.FormatType.ShortFormat)


def time_words(seconds: float) -> str:
    """How long something still takes."""
    minutes = round(seconds / 60)
    if seconds < 60:
        return translate("Models", "{} s left").format(max(1, round(seconds)))
    if minutes < 60:
        return translate("Models", "{} min left").format(minutes)
    return translate("Models", "{} h {} min left").format(minutes // 60, minutes % 60)


def verdict_words(fit: Fit) -> str:
    """Whether a model runs, in one line."""
    needs = translate("Models", "needs {} of {} free").format(size_words(fit.needed), size_words(fit.free))
    if fit.device != "cpu":
        needs = translate("Models", "needs {} of {} free on the graphics card").format(
            size_words(fit.needed), size_words(fit.free)
        )
    if fit.verdict == "too large":
        needs = translate("Models", "needs {}, {} are free").format(size_words(fit.needed), size_words(fit.free))
        return translate("Models", "Too large for this computer now: {}").format(needs)
    pace = _pace(fit.tokens_per_second)
    judged = translate("Models", "Runs well")
    if fit.verdict != "runs":
        judged = translate("Models", "Just fits; close other programs first")
    elif fit.tokens_per_second is not None and fit.tokens_per_second < 3:
        judged = translate("Models", "Runs slowly")
    return f"{judged}: {pace}, {needs}" if pace else f"{judged}: {needs}"


def short_verdict(fit: Fit) -> str:
    """The same for a row of a list."""
    if fit.verdict == "too large":
        return translate("Models", "Too large")
    if fit.verdict == "tight":
        return translate("Models", "Just fits")
    return _pace(fit.tokens_per_second) or translate("Models", "Runs")


def verdict_role(fit: Fit) -> str:
    """The colour in which a verdict is written."""
    return {"runs": "text", "tight": "accent", "too large": "error"}[fit.verdict]


def gguf_words(kind: str) -> str:
    """What to expect of such a file."""
    if kind.startswith(FEWEST_BITS):
        return translate("Models", "smallest, clearly less exact")
    if kind.startswith(("Q4", "IQ4")):
        return translate("Models", "small, a little less exact")
    if kind.startswith(("Q5", "Q6")):
        return translate("Models", "balanced")
    if kind.startswith("Q8"):
        return translate("Models", "nearly as exact as the original")
    return translate("Models", "as exact as the original") if kind else ""


def exactness_words(dtype: str) -> str:
    """What to expect of a model that runs so, if its file has not rounded it already."""
    return gguf_words({"int8": "Q8_0", "int4": "Q4_0"}.get(dtype, "F16"))


def download_words(item: "QueuedDownload") -> str:
    """How far a download is."""
    progress = item.progress
    done = progress.bytes_done if progress else 0
    amount = translate("Models", "{} of {}").format(size_words(done), size_words(item.plan.size))
    if item.state == "finished":
        return translate("Models", "Finished, {}").format(size_words(item.plan.size))
    if item.state == "paused":
        return translate("Models", "Paused at {}").format(amount)
    if item.state == "waiting":
        return translate("Models", "Waits for its turn, {}").format(amount if progress else size_words(item.plan.size))
    if item.state == "failed":
        return problem_text(item.problem)
    if progress is None:
        return translate("Models", "Beginning…")
    if progress.phase == "checking":
        return translate("Models", "Checking what is there: {}").format(amount)
    if progress.note and not progress.bytes_per_second:
        return f"{amount} – {problem_text(progress.note)}"
    parts = [amount]
    if progress.bytes_per_second:
        parts.append(speed_words(progress.bytes_per_second))
    if progress.seconds_left is not None:
        parts.append(time_words(progress.seconds_left))
    return " · ".join(parts)


def percent(done: int, total: int) -> int:
    """How far, never 100 before the end."""
    return min(99, 100 * done // total) if total else 0


def plain(text: str, longest: int = 200) -> str:
    """Foreign words on one line, without marks that could turn or hide others."""
    clean = "".join(mark for mark in text if mark.isprintable())
    return clean if len(clean) <= longest else clean[: longest - 1] + "…"


def _pace(tokens_per_second: float | None) -> str:
    if tokens_per_second is None:
        return ""
    if tokens_per_second < 1:
        return translate("Models", "less than 1 tok/s")
    return translate("Models", "about {} tok/s").format(number_text(tokens_per_second))
