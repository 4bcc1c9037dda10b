"""``llama-gui models``: what is on disk, what is offered and what the hub has; verify, delete and prune."""

import argparse
import sys
from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import Path

from llama_gui.download_command import signed_in_access
from llama_gui.errors import InvalidRequestError, ShelfError
from llama_gui.library import catalog, shelf_care
from llama_gui.library.bandwidth import steady_bandwidth
from llama_gui.library.download_queue import repos_in
from llama_gui.library.fit import best_choice, choices, counted_tokens, machine_here, resolve
from llama_gui.library.gguf_kind import gguf_dtype, gguf_kind
from llama_gui.library.leftovers import Leftover, find_leftovers, free_leftover
from llama_gui.library.shelf_notes import note_of
from llama_gui.library.sizes import in_words
from llama_gui.model_choice import ModelsHere
from llama_gui.paths import Paths
from llama_gui.terminal import FAILED, in_terminal, printable
from llama_gui.vocabulary import ModelEntry


def run_models(options: argparse.Namespace, paths: Paths) -> int:
    """Do what is asked; the exit status."""
    return in_terminal(lambda: _run(options, paths))


def _run(options: argparse.Namespace, paths: Paths) -> int:
    if options.search is not None:
        return _search(options.search)
    if options.offered:
        return _offer(paths)
    for name in ("--delete", "--prune", "--verify"):
        if getattr(options, name[2:]) == "":  # as of a variable that is not set: it must not mean all
            raise InvalidRequestError(name, "", "a name that llama-gui models lists")
    here = ModelsHere(paths)
    if options.delete is not None:
        return _delete(here.named(options.delete), here, is_sure=options.yes)
    if options.prune is not None:
        named = "" if options.prune is True else options.prune
        queued = frozenset() if named else repos_in(paths.downloads_file)  # who names one means it
        return _prune(named, here.folders, queued, is_sure=options.yes)
    if options.verify is not None:
        return _verify(here.entries if options.verify is True else [here.named(options.verify)])
    rows = [(_named(e), in_words(e.size), _day(note_of(here.notes, e.path).last_used), e.path) for e in here.entries]
    _print_table([("Name", "Size", "Last used", "Place"), *rows])
    _tell_leftovers(find_leftovers(here.folders))
    return 0


def _named(entry: ModelEntry) -> str:
    kind = " (for embeddings)" if entry.embeds else " (guesses for another)" if entry.guesses else ""
    return f"{entry.name}{kind}"


def _tell_leftovers(leftovers: Sequence[Leftover]) -> None:
    if leftovers:
        print("Downloaded, and no model uses it (to delete it: llama-gui models --prune):")
        print(*(f"  {_in_short(leftover)}" for leftover in leftovers), sep="\n")
    if any(leftover.is_unfinished for leftover in leftovers):
        print("What is unfinished goes on with: llama-gui download NAME")


def _in_short(leftover: Leftover) -> str:
    note = ", unfinished" if leftover.is_unfinished else ""
    return f"{printable(leftover.repo)}: {in_words(leftover.size)}, of {leftover.written:%Y-%m-%d}{note}"


def _verify(entries: Sequence[ModelEntry]) -> int:
    problems = 0
    for entry in entries:
        report = shelf_care.verify(entry)
        how = [f"{report.by_checksum} by checksum"] if report.by_checksum else []
        how += [f"{report.by_shape} by form only"] if report.by_shape else []
        print(f"{printable(entry.name)}: {'damaged' if report.problems else 'sound'} ({', '.join(how)})", flush=True)
        for problem in report.problems:
            print(f"  {printable(problem)}", flush=True)
        problems += len(report.problems)
    return FAILED if problems else 0


def _delete(entry: ModelEntry, here: ModelsHere, *, is_sure: bool) -> int:
    name, place = printable(entry.name), printable(entry.path)
    shelf_care.check_deletable(entry, here.folders, here.neighbours)  # nobody is asked about what stays anyway
    if not is_sure and not _agreed(f"Delete {name} ({in_words(entry.size)}) in {place}?"):
        return FAILED
    deleted = shelf_care.delete(entry, here.folders, here.neighbours)
    print(f"{name} is deleted; {in_words(deleted.freed)} are free again.")
    if deleted.left:
        print(f"Left in {place}, because it is no part of the model: {printable(', '.join(deleted.left))}")
    return 0


def _prune(name: str, folders: Sequence[Path], queued: Collection[str], *, is_sure: bool) -> int:
    """Delete what was downloaded and no model uses; without a name all but that with which the window goes on."""
    there = find_leftovers(folders)
    found = [
        left for left in there if left.repo.casefold() == name.casefold() or (not name and left.repo not in queued)
    ]
    if name and not found:
        others = ", ".join(leftover.repo for leftover in there) or "none"
        raise ShelfError(f"Nothing of {name} is unused. There is something of: {others}.")
    for leftover in there if not name else ():
        if leftover.repo in queued:
            print(f"{_in_short(leftover)}: stays, because it waits in the window. To delete it, name it.")
    if not found:
        print("There is nothing to delete.")
        return 0
    print(*map(_in_short, found), sep="\n")
    if not is_sure and not _agreed(f"Delete these {in_words(sum(leftover.size for leftover in found))}?"):
        return FAILED
    freed = failed = 0
    for leftover in found:
        try:
            freed += free_leftover(leftover)
        except ShelfError as error:  # the others can go
            failed += 1
            print(f"llama-gui: {printable(str(error))}", file=sys.stderr)
    if freed or not failed:
        print(f"{in_words(freed)} are free again.")
    return FAILED if failed else 0


def _agreed(question: str) -> bool:
    print(f"{question} [y/N] ", end="", flush=True)
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    print("Nothing was deleted.")
    return False


def _offer(paths: Paths) -> int:
    machine = machine_here(steady_bandwidth(paths.bandwidth_file))
    rows = [("Name", "Download", "Here", "Licence", "Repository")]
    for entry in catalog.load(paths.resources / "catalog.json"):
        context = counted_tokens(entry.context)
        file = entry.gguf
        stored = gguf_dtype(gguf_kind(file.path)) if file else ""
        fit = best_choice(
            choices(entry.shape, machine, context=context), resolve("auto", machine, stored or entry.shape.stored)
        )
        licence = f"{entry.licence}{', to be accepted' if entry.is_gated and not file else ''}"
        writes = fit.tokens_per_second and fit.verdict != "too large" and not entry.embeds
        speed = f", {fit.tokens_per_second:.0f} tokens/s" if writes else ", for embeddings" if entry.embeds else ""
        here = f"{fit.verdict}: {in_words(fit.needed)} as {fit.dtype}{speed}"
        rows.append((entry.name, in_words((file or entry).size), here, licence, (file or entry).repo))
    _print_table(rows)
    card = f", and {in_words(machine.card.free)} of the graphics card" if machine.card else ""
    print(f"{in_words(machine.free)} of memory are free now{card}.", file=sys.stderr)
    return 0


def _search(words: str) -> int:
    from llama_gui.library.hub import Hub  # the hub's client takes a second to import

    hub = Hub(signed_in_access())
    found = {model.repo: model for gguf in (True, False) for model in hub.search(words, gguf=gguf).models}
    if not found:
        print("The hub has nothing of that name that we run. Try fewer words.", file=sys.stderr)
        return 0
    rows = [("Repository", "Files", "Parameters", "Licence", "Downloads")]
    for model in sorted(found.values(), key=lambda model: -model.downloads):
        licence = (model.licence or "?") + (", to be accepted" if model.is_gated else "")
        count = _count(model.parameters) + (", in FP8" if model.is_fp8 else "")
        form = "GGUF" if model.has_gguf else "safetensors"
        rows.append((model.repo, form, count, licence, f"{model.downloads:,}"))
    _print_table(rows)
    print("Fetch one with: llama-gui download REPOSITORY (of GGUF files one: REPOSITORY:Q4_K_M)", file=sys.stderr)
    return 0


def _count(parameters: int | None) -> str:
    if not parameters:
        return "?"
    return f"{parameters / 1e9:.2f} billion" if parameters >= 10**8 else f"{parameters / 1e6:.1f} million"


def _day(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d}" if moment else "–"


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    clean = [[printable(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in clean) for column in range(len(clean[0]))]
    for row in clean:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        print("  ".join(cells).rstrip())
