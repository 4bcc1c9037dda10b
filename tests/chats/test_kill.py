"""What was acknowledged survives a kill at any moment."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from llama_gui.chats.store import ChatStore
from llama_gui.chats.tree import ChatTree
from tests.chats.test_migrations import write_v1

ROOT = Path(__file__).parents[2]
CHILD = [sys.executable, "-m", "tests.chats.writer_child"]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")


def write_and_kill(path: Path, lines_before_the_kill: int) -> list[tuple[str, str, int]]:
    """The acknowledgements of a child that was killed at some moment after so many of them."""
    child = subprocess.Popen([*CHILD, path], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    lines = [child.stdout.readline() for _ in range(lines_before_the_kill)]
    child.send_signal(signal.SIGKILL)
    lines += child.stdout.read().splitlines()  # it went on until the signal came
    child.wait()
    child.stdout.close()
    words = [line.split() for line in lines]
    return [(kind, node_id, int(size)) for kind, node_id, size in (w for w in words if len(w) == 3)]


@pytest.mark.parametrize("kills", [5, pytest.param(30, marks=pytest.mark.campaign)])
def test_a_kill_loses_nothing_that_was_acknowledged(tmp_path: Path, kills: int):
    path = tmp_path / "chats.db"
    draw = random.Random(11)
    acknowledged: dict[str, tuple[str, int]] = {}
    for _ in range(kills):
        for kind, node_id, size in write_and_kill(path, draw.randrange(1, 120)):
            acknowledged[node_id] = (kind, size)

        checking = sqlite3.connect(path)
        assert checking.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert checking.execute("PRAGMA foreign_key_check").fetchall() == []
        checking.close()

        store = ChatStore.open(path)
        assert store.notice == ""
        nodes = {node.id: node for node in store.nodes("chat")}
        store.close()
        ChatTree(nodes.values())
        for node_id, (kind, size) in acknowledged.items():
            assert len(nodes[node_id].content) >= size
            assert kind != "complete" or nodes[node_id].status == "complete"
        assert "streaming" not in {node.status for node in nodes.values()}
    assert len(acknowledged) > kills


def test_a_torn_end_of_the_log_costs_at_most_the_last_writes(tmp_path: Path):
    """What a power cut leaves: the log cut anywhere. The file opens, and what is there is a beginning of what was."""
    path = tmp_path / "source" / "chats.db"
    write_and_kill(path, 40)
    database, log = path.read_bytes(), path.with_name("chats.db-wal").read_bytes()
    store = ChatStore.open(path)
    everything = [node.id for node in store.nodes("chat")]
    store.close()
    draw = random.Random(3)
    for number in range(25):
        torn = tmp_path / f"torn{number}" / "chats.db"
        torn.parent.mkdir()
        torn.write_bytes(database)
        torn.with_name("chats.db-wal").write_bytes(log[: draw.randrange(len(log))])
        store = ChatStore.open(torn)
        assert store.notice == ""
        found = [node.id for node in store.nodes("chat")]
        assert found == everything[: len(found)]
        store.close()


_OPEN = "import sys; from pathlib import Path; from llama_gui.chats.store import ChatStore; print(1, flush=True); "
_OPEN += "ChatStore.open(Path(sys.argv[1])); print(2, flush=True)"


@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.campaign)])
def test_a_kill_while_the_format_changes_loses_nothing(tmp_path: Path, kills: int):
    draw = random.Random(8)
    for number in range(kills):
        path = tmp_path / str(number) / "chats.db"
        write_v1(path)
        db = sqlite3.connect(path)
        many = ((f"n{n}", "c1", "q1", "user", "some words " * 40) for n in range(8000))
        db.executemany("INSERT INTO nodes VALUES (NULL, ?, ?, ?, ?, ?, 'complete', 1.0, '', '', '')", many)
        db.commit()
        db.close()
        child = subprocess.Popen([sys.executable, "-c", _OPEN, path], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(draw.random() * 0.15)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        for half in path.parent.glob("*.partial*"):  # as when the next start is a minute later
            os.utime(half, (1, 1))
        store = ChatStore.open(path)
        assert (store.notice, len(store.nodes("c1"))) == ("", 8003)
        assert store.search("words", limit=1)
        store.close()
        assert not list(path.parent.glob("*.partial*"))
