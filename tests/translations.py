"""The translations as Qt's own tools read and write them."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import PySide6

ROOT = Path(__file__).parents[1]
TRANSLATIONS = ROOT / "resources" / "translations"

Words = dict[tuple[str, str], str]
"""By context and English text: the translation, "" where it is not finished."""


def read_words(file: Path) -> Words:
    """What a .ts file translates."""
    return {
        (context.findtext("name", ""), message.findtext("source", "")): _translation(message)
        for context in ElementTree.parse(file).getroot().iter("context")
        for message in context.iter("message")
    }


def _translation(message: ElementTree.Element) -> str:
    found = message.find("translation")
    return "" if found is None or found.get("type") else found.text or ""


def words_in_the_source(into: Path) -> Words:
    """All that the window says, as `lupdate` finds it; `into` is a folder to write in."""
    sources = [str(file) for part in ("ui", "bridge") for file in sorted((ROOT / "llama_gui" / part).rglob("*.py"))]
    _run("lupdate", ["-no-obsolete", "-locations", "none", *sources, "-ts", str(into / "found.ts")])
    return read_words(into / "found.ts")


def compiled(file: Path, into: Path) -> Path:
    """The .qm that `lrelease` makes of a .ts."""
    _run("lrelease", ["-silent", str(file), "-qm", str(into / f"{file.stem}.qm")])
    return into / f"{file.stem}.qm"


def _run(tool: str, arguments: Sequence[str]) -> None:
    folder = Path(PySide6.__file__).parent
    program = shutil.which(tool, path=os.pathsep.join((str(folder), str(folder / "Qt" / "libexec"))))
    assert program is not None, f"PySide6 came without {tool}."
    subprocess.run([program, *arguments], check=True, capture_output=True)
