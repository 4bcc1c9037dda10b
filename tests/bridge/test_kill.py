"""What the bridge has promised survives a kill at any moment."""

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from llama_gui.chats.store import ChatStore
from llama_gui.chats.tree import ChatTree

ROOT = Path(__file__).parents[2]
CHILD = [sys.executable, "-m", "tests.bridge.chatting_child"]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")


def test_a_kill_keeps_accepted_messages_and_settled_answers(tmp_path: Path):
    path = tmp_path / "chats.db"
    draw = random.Random(4)
    questions = settled = 0
    for _ in range(5):
        child = subprocess.Popen([*CHILD, path], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in range(draw.randrange(1, 12))]
        child.send_signal(signal.SIGKILL)
        lines += child.stdout.read().splitlines()
        child.wait()
        child.stdout.close()
        questions += sum(line.strip() == "accepted" for line in lines)
        settled = max([settled] + [int(line.split()[1]) for line in lines if line.startswith("settled")])

        store = ChatStore.open(path)
        nodes = store.nodes("chat")
        store.close()
        assert store.notice == ""
        tree = ChatTree(nodes)
        found = [node for node in nodes if node.role == "user"]
        assert len(found) >= questions
        assert [node.status for node in nodes[:settled]].count("streaming") == 0
        assert len(nodes) >= settled
        for node in nodes:
            if node.role == "assistant":
                asked = tree.messages(node.parent_id)[-1].content  # the engine answers with the words of the question
                assert " ".join(asked.split()).startswith(node.content)
                assert node.status in ("complete", "interrupted")
        questions = len(found)
    assert questions > 5
