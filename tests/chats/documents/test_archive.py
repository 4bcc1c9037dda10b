"""Zips of strangers."""

import zipfile
from pathlib import Path

import pytest

from llama_gui.chats.documents import archive
from llama_gui.chats.documents.archive import Archive
from llama_gui.chats.documents.faults import DocumentError
from tests.fakes.documents import pack, relations


def test_a_bomb_is_not_unpacked(tmp_path: Path):
    path = tmp_path / "bomb.docx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bomb, bomb.open("a", "w") as part:
        for _ in range(140):
            part.write(b"\0" * 1_000_000)
    assert path.stat().st_size < 200_000
    with Archive(path) as found, pytest.raises(DocumentError, match="too_large"):
        found.read("a")


def test_many_parts_together_have_a_limit_too(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(archive, "MOST_OF_ALL", 150)
    with Archive(pack(tmp_path / "a", {"a": b"x" * 100, "b": b"x" * 100})) as found:
        assert found.read("a") == b"x" * 100
        with pytest.raises(DocumentError, match="too_large"):
            found.read("b")


def test_a_part_that_is_locked_or_packed_oddly_is_refused(tmp_path: Path):
    path = pack(tmp_path / "a", {"a": "text"})
    content = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + offset] |= 1
    (tmp_path / "b").write_bytes(content)
    with Archive(tmp_path / "b") as found, pytest.raises(DocumentError, match="password"):
        found.read("a")
    with zipfile.ZipFile(tmp_path / "c", "w", zipfile.ZIP_LZMA) as odd:
        odd.writestr("a", "text")
    with Archive(tmp_path / "c") as found, pytest.raises(DocumentError, match="damaged"):
        found.read("a")


def test_too_many_parts_are_refused(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(archive, "MOST_PARTS", 2)
    with pytest.raises(DocumentError, match="too_large"):
        Archive(pack(tmp_path / "a", {"a": "", "b": "", "c": ""}))


def test_relations_lead_to_parts_and_nowhere_else(tmp_path: Path):
    rels = relations(one="styles ../x/styles.xml", two="theme /a/b.xml", three="image ../../../../etc/passwd").replace(
        "</Relationships>",
        '<Relationship Id="web" Type="x/y" TargetMode="External" Target="http://x"/></Relationships>',
    )
    with Archive(pack(tmp_path / "a", {"word/_rels/d.xml.rels": rels, "x/styles.xml": "s"})) as found:
        related = found.related("word/d.xml")
        assert related == {
            "one": ("styles", "x/styles.xml"),
            "two": ("theme", "a/b.xml"),
            "three": ("image", "etc/passwd"),
        }
        assert found.read(related["three"][1]) is None
        assert found.related("none.xml") == {}
        assert found.main_part() == ""
