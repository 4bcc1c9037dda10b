"""``llama-gui download``: fetch a model from the hub in the terminal; Ctrl+C pauses."""

import argparse
import asyncio
import re
import shlex
import sys
from typing import TextIO

from llama_gui.errors import InvalidRequestError, LlamaGuiError
from llama_gui.library.access import HubAccess
from llama_gui.library.download import Download, DownloadProgress
from llama_gui.library.fit import best_choice, choices, machine_here, resolve
from llama_gui.library.gguf_kind import gguf_dtype, gguf_kind
from llama_gui.library.hub_cache import RepoCache
from llama_gui.library.pace import SpeedLimit
from llama_gui.library.plan import DownloadPlan
from llama_gui.library.sign_in import TokenKeeper, system_safe
from llama_gui.library.sizes import in_words
from llama_gui.terminal import INTERRUPTED, in_terminal

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}
_PERCENT_STEP = 5


def run_download(options: argparse.Namespace) -> int:
    """Fetch `options.repo`; the exit status."""
    return in_terminal(lambda: _download(options))


def _download(options: argparse.Namespace) -> int:
    limit = SpeedLimit(_speed(options.limit))
    teller = _Teller(sys.stderr)
    try:
        access = signed_in_access()
        plan = _plan(access, options)
        print(_summary(plan, access), file=sys.stderr)
        print(_verdict(access, plan), end="", file=sys.stderr)
        folder = asyncio.run(Download(plan, access, teller, limit=limit).run())
    except KeyboardInterrupt:
        teller.end()
        print(f"Paused. What is there is kept; go on with: {_again(options)}", file=sys.stderr)
        return INTERRUPTED
    finally:
        teller.end()
    print(plan.model_in(folder))  # what --model takes
    return 0


def signed_in_access() -> HubAccess:
    """The hub as the environment names it, with the token that counts."""
    access = HubAccess.from_environment()
    return HubAccess.from_environment(token=TokenKeeper(access.endpoint, system_safe()).read().token)


def _plan(access: HubAccess, options: argparse.Namespace) -> DownloadPlan:
    from llama_gui.library.hub import Hub  # the hub's client takes a second to import

    place = access.place_at(options.repo)
    return Hub(access).plan(
        place.repo or options.repo, options.revision or place.revision or "main", options.file or place.file or None
    )


def _summary(plan: DownloadPlan, access: HubAccess) -> str:
    there = RepoCache(access.cache, plan.repo).bytes_there(plan)
    known = f", {in_words(there)} of it are there" if there else ""
    files = f"{len(plan.files)} file{'' if len(plan.files) == 1 else 's'}"
    return f"{plan.repo} at {plan.commit[:10]}: {files}, {in_words(plan.size)}{known}."


def _verdict(access: HubAccess, plan: DownloadPlan) -> str:
    """Whether it will run here, as a line; nothing where nobody can tell."""
    from llama_gui.library.hub import Hub

    try:
        shape = Hub(access).details(plan.repo, plan.commit, with_card=False).shape
    except LlamaGuiError:
        return ""
    if shape is None:
        return ""
    machine = machine_here()
    stored = gguf_dtype(gguf_kind(plan.files[0].path)) if len(plan.files) == 1 else ""
    return best_choice(choices(shape, machine), resolve("auto", machine, stored or shape.stored)).words + "\n"


def _again(options: argparse.Namespace) -> str:
    words = ["llama-gui", "download", options.repo]
    for name, value in (("--revision", options.revision), ("--file", options.file)):
        words += [name, value] if value is not None else []
    return shlex.join(words)


def _speed(text: str | None) -> float | None:
    if text is None:
        return None
    parts = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMG]?)B?", text.strip(), re.IGNORECASE)
    if parts is None or float(parts[1]) <= 0:
        raise InvalidRequestError("limit", text, "bytes per second, as in 500K or 2.5M")
    return float(parts[1]) * _UNITS[parts[2].upper()]


class _Teller:
    """On a terminal one line that changes; elsewhere a line now and then."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_open = False
        self._told = ("", -1)

    def __call__(self, progress: DownloadProgress) -> None:
        if self._stream.isatty():
            print(f"\r\033[K{line(progress)}", end="", file=self._stream, flush=True)
            self._is_open = True
            return
        step = (progress.note, _percent(progress) // _PERCENT_STEP)
        if step != self._told:
            self._told = step
            print(line(progress), file=self._stream, flush=True)

    def end(self) -> None:
        """What is printed next begins a line."""
        if self._is_open:
            self._is_open = False
            print(file=self._stream)


def line(progress: DownloadProgress) -> str:
    """How far a download is, in one short line."""
    parts = [f"{_percent(progress):3} %", f"{in_words(progress.bytes_done)} of {in_words(progress.bytes_total)}"]
    if progress.phase == "checking" and progress.bytes_done:
        parts.append("checking what is there")
    if progress.bytes_per_second:
        parts.append(f"{progress.bytes_per_second / 1e6:.1f} MB/s")
    if progress.seconds_left is not None and progress.phase != "finished":
        parts.append(f"{clock(progress.seconds_left)} left")
    return ", ".join(parts) + (f" – {progress.note}" if progress.note else "")


def clock(seconds: float) -> str:
    """Minutes and seconds, with hours where there are any."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _percent(progress: DownloadProgress) -> int:
    return 100 * progress.bytes_done // progress.bytes_total if progress.bytes_total else 100
