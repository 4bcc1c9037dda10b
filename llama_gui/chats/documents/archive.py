"""A document that is a zip of parts, read within limits. Nothing is ever unpacked onto the disk."""

import posixpath
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from llama_gui.chats.documents.faults import DocumentError
from llama_gui.chats.documents.markup import parse

MOST_OF_ONE = 128_000_000
MOST_OF_ALL = 256_000_000
"""Bytes, unpacked. A part of a thousand pages has ten million; a zip bomb has any number."""
MOST_PARTS = 50_000
_CHUNK = 1 << 16
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, struct.error, NotImplementedError)


class Archive:
    """The parts by their names; as a context manager it closes the file."""

    def __init__(self, path: Path) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
        except _BROKEN as error:
            raise DocumentError("damaged") from error
        self._names = {info.filename: info for info in self._zip.infolist()}
        self._left = MOST_OF_ALL
        if len(self._names) > MOST_PARTS:
            self._zip.close()
            raise DocumentError("too_large")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def read(self, name: str) -> bytes | None:
        """A part whole; None where there is none of that name.

        Raises:
            DocumentError: it is damaged, larger than the limits, or needs a password.
        """
        return b"".join(self.chunks(name)) if name in self._names else None

    def needed(self, name: str) -> bytes:
        """A part without which the document is none.

        Raises:
            DocumentError: see `read`; or it is missing.
        """
        content = self.read(name)
        if content is None:
            raise DocumentError("damaged")
        return content

    def chunks(self, name: str) -> Iterator[bytes]:
        """A part in pieces; nothing where there is none of that name. Raises as `read` does."""
        info = self._names.get(name)
        if info is None:
            return
        if info.flag_bits & 1:
            raise DocumentError("password")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DocumentError("damaged")
        read = 0
        try:
            with self._zip.open(info) as file:
                while piece := file.read(_CHUNK):
                    read += len(piece)
                    self._left -= len(piece)
                    if read > MOST_OF_ONE or self._left < 0:
                        raise DocumentError("too_large")
                    yield piece
        except _BROKEN as error:
            raise DocumentError("damaged") from error

    # Office packages: parts refer to each other

    def main_part(self) -> str:
        """The part that is the document; "" where this is no Office package."""
        return next((part for kind, part in self.related("").values() if kind == "officeDocument"), "")

    def related(self, part: str) -> dict[str, tuple[str, str]]:
        """By the id that `part` uses: the kind of another part, and its name. What lies outside is left out."""
        folder, name = posixpath.split(part)
        content = self.read(posixpath.join(folder, "_rels", f"{name}.rels"))
        found: dict[str, tuple[str, str]] = {}
        if content is None:
            return found
        for node in parse(content).nodes():
            target = node.get("Target")
            if node.get("TargetMode") != "External" and target:
                kind = node.get("Type").rpartition("/")[2]
                found[node.get("Id")] = kind, posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        return found
