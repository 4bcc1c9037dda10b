"""A process that is killed in the middle of an answer: what was written is on disk, marked, and goes on exactly."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from llama_gui.bridge.chat_book import ChatBook
from llama_gui.bridge.chat_session import ChatSession
from llama_gui.bridge.store_lane import StoreLane
from llama_gui.chats.recipe import read_recipe
from llama_gui.engine import Engine
from llama_gui.vocabulary import ChatSettings, SamplingParams
from tests.benchmarks.chats import STARTER
from tests.bridge.conftest import MakeHost

# The answer is slowed down, so that there is a middle to be killed in.
CHILD = """
import sys, time
from pathlib import Path
from PySide6.QtCore import QCoreApplication, QTimer
from llama_gui.bridge.chat_book import ChatBook
from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.store_lane import StoreLane
from llama_gui.engine import Engine
from llama_gui.engine.runner import Runner
from llama_gui.vocabulary import ChatSettings, SamplingParams

app = QCoreApplication([])
host = EngineHost(lambda order: Engine.load(order.key))
book = ChatBook(StoreLane(Path(sys.argv[1])), host)
host.load(sys.argv[2])
session = book.new_chat()
session.set_settings(ChatSettings("", SamplingParams(temperature=1.2, top_k=0, seed=11), max_tokens=120))
step = Runner.step
Runner.step = lambda self, works: (time.sleep(0.05), step(self, works))[1]
host.loaded.connect(lambda key, info: session.send("Tell me about tabs"))
print(session.chat_id, flush=True)
app.exec()
"""


@pytest.fixture
def book(make_host: MakeHost, tmp_path: Path):
    host = make_host(Engine.load(STARTER))  # type: ignore[arg-type]
    made: list[ChatBook] = []

    def open_book() -> ChatBook:
        store = StoreLane(tmp_path / "chats.db")
        book = ChatBook(store, host)
        store.setParent(book)
        made.append(book)
        return book

    yield open_book
    for one in made:
        assert one.shutdown()


def wait_for_text(path: Path, chat_id: str) -> None:
    """Until some of the answer is on disk."""
    import sqlite3

    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        time.sleep(0.05)
        if not path.exists():
            continue
        try:
            with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
                rows = db.execute(
                    "SELECT content FROM nodes WHERE chat_id = ? AND role = 'assistant'", (chat_id,)
                ).fetchall()
        except sqlite3.Error:
            continue
        if rows and len(rows[0][0]) > 20:
            return
    raise AssertionError("nothing of the answer came to the disk")


def test_killed_in_the_middle_and_gone_on_with(qtbot: QtBot, book, tmp_path: Path):
    path = tmp_path / "chats.db"
    process = subprocess.Popen([sys.executable, "-c", CHILD, str(path), str(STARTER)], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        chat_id = process.stdout.readline().decode().strip()
        wait_for_text(path, chat_id)
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
    opened = book()
    session: ChatSession = opened.open_chat(chat_id)
    with qtbot.waitSignal(session.changed):
        pass
    question, answer = session.path()
    assert (question.content, answer.status) == ("Tell me about tabs", "interrupted")
    assert len(answer.content) > 20
    assert read_recipe(answer.recipe).token_ids
    session.go_on(answer.id)
    qtbot.waitUntil(lambda: not session.answering, timeout=20000)
    gone_on = session.path()[1]
    assert gone_on.status == "complete"
    assert gone_on.content.startswith(answer.content)
    # The same question, seed and settings without an interruption.
    other = opened.new_chat()
    other.set_settings(ChatSettings("", SamplingParams(temperature=1.2, top_k=0, seed=11), max_tokens=120))
    other.send("Tell me about tabs")
    qtbot.waitUntil(lambda: not other.answering, timeout=20000)
    assert other.path()[1].content == gone_on.content
    qtbot.waitUntil(lambda: session.is_settled and other.is_settled)
