"""Whose work a bundle holds, and under which licences: one text that lies in it."""

import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import Distribution, distributions
from pathlib import Path

_HERE = Path(__file__).parent
_LICENCES = ("LGPL-3.0.txt", "GPL-3.0.txt")
_WORDS = ("licen", "copying", "notice", "authors")
_LINE = "=" * 100

_HEAD = """llama-gui is under the MIT licence (the first text below). This folder also holds the work of others, each
part under its own licence; their texts follow.

Qt and PySide6 are used under the GNU Lesser General Public License, version 3, whose text is below. They lie in the
folder _internal/PySide6 as libraries of their own: you may put versions that you have changed in their place. Their
sources: https://download.qt.io/official_releases/QtForPython/ and https://download.qt.io/official_releases/qt/
"""


def write_notices(target: Path, files: Iterable[tuple[str, str]]) -> None:
    """Write the text for a bundle of `files`, each with its place in the bundle and where it comes from."""
    sources = {str(Path(source).resolve()) for _place, source in files if source}
    found, owners = distributions_of(sources)
    parts = [(_title("llama-gui", ""), _read(_HERE.parent / "LICENSE"))]
    parts += [(f"{name} (for Qt and PySide6)", _read(_HERE / "licences" / name)) for name in _LICENCES]
    parts.append((f"Python {sys.version.split()[0]}", _read(_python_licence())))
    for one in found:
        parts.append((_title(one.metadata["Name"], one.version), _texts(one)))
    parts += [(name, _read(text)) for name, text in system_packages(sources - owners)]
    target.write_text("\n".join([_HEAD, *(f"{_LINE}\n{title}\n{_LINE}\n\n{text}\n" for title, text in parts)]), "utf-8")


def distributions_of(sources: set[str]) -> tuple[list[Distribution], set[str]]:
    """Those that one of the files comes from, by name; and all of the files that do."""
    found: dict[str, Distribution] = {}
    owned: set[str] = set()
    names = {Path(source).name for source in sources}  # torch alone has 12,000 files, and finding a place takes a while
    for one in distributions():
        likely = [file for file in one.files or () if file.name in names]
        mine = {str(Path(str(one.locate_file(file))).resolve()) for file in likely} & sources
        if mine and one.metadata["Name"] != "llama-gui":
            found.setdefault(one.metadata["Name"].lower(), one)
            owned |= mine
    return [found[name] for name in sorted(found)], owned


def system_packages(sources: Iterable[str]) -> Iterator[tuple[str, Path | None]]:
    """Libraries of the system that was built on: package and licence where dpkg knows them, else the library's name."""
    places = (sysconfig.get_path("stdlib"), sys.prefix, sys.base_prefix, str(_HERE.parent))
    libraries = sorted(one for one in sources if ".so" in one and not one.startswith(places))
    packages = {package: None for one in libraries for package in [_package_of(one)]}
    for package in sorted(packages):
        text = Path("/usr/share/doc", package, "copyright")
        yield f"{package} (a library of the system on which this was built)", text if text.is_file() else None


def _package_of(library: str) -> str:
    """Debian's package of a library; its name elsewhere."""
    name = Path(library).name
    if shutil.which("dpkg-query") is None:
        return name
    # By name: since /usr was merged, dpkg knows some libraries by another path.
    asked = subprocess.run(["dpkg-query", "-S", f"*/{name}"], capture_output=True, text=True, check=False)
    return asked.stdout.partition(":")[0] or name


def _texts(one: Distribution) -> str:
    metadata = one.metadata
    # Not by index: who has the package importlib_metadata installed is told KeyError for what is missing.
    licences = [*metadata.get_all("License-Expression", []), *metadata.get_all("License", [])][:1]
    licences += [
        word.rpartition(" :: ")[2] for word in metadata.get_all("Classifier", []) if word.startswith("License")
    ]
    said = "Licence: " + "; ".join(dict.fromkeys(line.splitlines()[0] for line in licences if line.strip()))
    seen: dict[str, str] = {}
    for file in _licence_files(one):
        seen.setdefault(_read(file), file.name)
    return "\n\n".join([said, *seen])


def _licence_files(one: Distribution) -> Sequence[Path]:
    """The texts that come with it; those of what its own tests and tools are made of go without."""
    files = [Path(str(one.locate_file(file))) for file in one.files or ()]
    return sorted(
        file
        for file in files
        if any(word in file.name.lower() for word in _WORDS)
        and file.suffix.lower() not in (".py", ".pyc", ".so", ".h", ".html", ".js")
        and file.is_file()
    )


def _python_licence() -> Path | None:
    places = (Path(sysconfig.get_path("stdlib")) / "LICENSE.txt", Path(sys.base_prefix) / "LICENSE.txt")
    return next((place for place in places if place.is_file()), None)


def _title(name: str, version: str) -> str:
    return f"{name} {version}".strip()


def _read(path: Path | None) -> str:
    return path.read_text("utf-8", "replace").strip() if path is not None else "(no text came with it)"
