"""Reading in a process of its own."""

import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from llama_gui.chats.documents import child
from llama_gui.chats.documents.child import ReadingCancelledError, read_apart
from llama_gui.chats.documents.faults import DocumentError
from llama_gui.errors import UserError
from tests.fakes.documents import pdf


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return pdf(tmp_path / "größe 😀.pdf", ["Größe"])


@pytest.fixture(autouse=True)
def nothing_left_running():
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    yield
    left = [process for process in psutil.Process().children(recursive=True) if process.pid not in before]
    assert [process for process in left if process.status() != psutil.STATUS_ZOMBIE] == []


@pytest.fixture
def say(monkeypatch, tmp_path: Path):
    """Puts a program in the place of the reader."""

    def say(code: str) -> None:
        package = tmp_path / "fake" / "llama_gui" / "chats" / "documents"
        package.mkdir(parents=True)
        for folder in (package, package.parent, package.parents[1]):
            (folder / "__init__.py").touch()
        (package / "child.py").write_text(code)
        monkeypatch.setattr(sys, "path", [str(tmp_path / "fake"), *sys.path])

    return say


def test_the_text_comes_back(page: Path):
    assert read_apart(page) == "[page 1]\nGröße\n"


def test_why_not_comes_back(page: Path):
    page.write_bytes(b"%PDF-1.4")
    with pytest.raises(DocumentError, match="damaged"):
        read_apart(page)
    page.unlink()
    with pytest.raises(OSError, match="No such file"):
        read_apart(page)


def test_nothing_is_imported_from_where_it_was_started(page: Path, tmp_path: Path, monkeypatch):
    (tmp_path / "json.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    assert read_apart(page) == "[page 1]\nGröße\n"


def test_a_reader_that_hangs_is_ended(page: Path, say):
    say("import time\nwhile True: pass")
    began = time.monotonic()
    with pytest.raises(DocumentError, match="too_slow"):
        read_apart(page, limit_s=0.3)
    assert time.monotonic() - began < 5


def test_a_reader_that_hangs_ends_when_nobody_wants_the_file(page: Path, say):
    say("import time\ntime.sleep(100)")
    cancelled = threading.Event()
    timer = threading.Timer(0.2, cancelled.set)
    timer.start()
    began = time.monotonic()
    with pytest.raises(ReadingCancelledError):
        read_apart(page, cancelled)
    timer.join()
    assert time.monotonic() - began < 5


def test_a_reader_that_eats_memory_is_ended(page: Path, say):
    say("import time\nall = bytearray(300_000_000)\nall[::4096] = b'x' * len(all[::4096])\ntime.sleep(100)")
    with pytest.raises(DocumentError, match="too_large"):
        read_apart(page, most_memory=200_000_000)


def test_a_missing_library_is_no_damage(page: Path, tmp_path: Path, monkeypatch):
    (tmp_path / "pypdfium2.py").write_text("raise ImportError('No PDFium')")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(UserError, match=r"cannot be read: No PDFium\. Install"):
        read_apart(page)


@pytest.mark.parametrize("code", ["import os\nos.abort()", "raise SystemExit(1)", "print('half of', end='')"])
def test_a_reader_that_crashes_costs_a_sentence(page: Path, say, code: str):
    say(code)
    with pytest.raises(DocumentError, match="damaged"):
        read_apart(page)


def test_it_ends_by_itself_when_its_parent_is_gone(page: Path, monkeypatch):
    """`main` gives itself a little longer than its parent would."""
    armed: list[float] = []
    monkeypatch.setattr(child.faulthandler, "dump_traceback_later", lambda after, exit: armed.append(after))
    monkeypatch.setattr(sys, "argv", ["child", str(page), "2", "text"])
    with page.with_suffix(".out").open("w") as out:
        monkeypatch.setattr(sys, "stdout", out)
        child.main()
    assert armed == [7]
