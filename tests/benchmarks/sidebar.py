"""The side bar with ten thousand chats: how long the list takes, and how smoothly it scrolls.

    .venv/bin/python -m tests.benchmarks.sidebar [--chats 10000]

"list": reading all chats from the store after a message, in the store's thread. "rows": grouping them and showing the
new rows, in the window's thread, when a chat has come to the top. "scroll": painting the list at another place.
"""

import argparse
import os
import statistics
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

from tests.benchmarks.feel import percentile

WORDS = ("castle", "river", "tram", "letter", "bread", "window", "garden", "running", "poem", "network")
ROUNDS = 15


def fill(path: Path, count: int) -> None:
    """A store with so many chats of two messages, over three years, a tenth of them in folders."""
    from llama_gui.chats.rows import SAVE_NODE, node_row
    from llama_gui.chats.store import ChatStore
    from llama_gui.chats.tree import Node

    store = ChatStore.open(path)
    now = time.time()
    with store._transaction() as db:
        for number in range(count):
            chat_id = uuid.uuid4().hex
            title = f"{WORDS[number % 10]} and {WORDS[number // 10 % 10]} {number}"
            when = now - number * 3 * 365 * 86400 / count
            folder = f"Folder {number % 20}" if number % 10 == 0 else ""
            db.execute(
                "INSERT INTO chats (id, title, title_source, created, folder) VALUES (?, ?, 'model', ?, ?)",
                (chat_id, title, when, folder),
            )
            ask = Node(uuid.uuid4().hex, chat_id, None, "user", f"Tell me about {title}", "complete", when)
            answer = Node(uuid.uuid4().hex, chat_id, ask.id, "assistant", f"It is {title}. " * 5, "complete", when + 1)
            db.executemany(SAVE_NODE, (node_row(ask), node_row(answer)))
    store.close()


def book_of(chats: list[Any]) -> Any:
    """What the item model asks of a `ChatBook`."""
    from PySide6.QtCore import QObject, Signal

    class Book(QObject):
        chats_changed = Signal()
        answering_changed = Signal(str, bool)

        def __init__(self) -> None:
            super().__init__()
            self.chats = chats

        def summaries(self) -> list[Any]:
            return list(self.chats)

        def archived(self) -> list[Any]:
            return []

        def is_answering(self, _chat_id: str) -> bool:
            return False

    return Book()


def measure(path: Path) -> dict[str, list[float]]:
    """Seconds, each several times."""
    from dataclasses import replace

    from PySide6.QtWidgets import QApplication

    from llama_gui.bridge.item_models import ChatListItemModel
    from llama_gui.chats.store import ChatStore
    from llama_gui.ui.chat_list_view import ChatListView
    from llama_gui.ui.icons import Icons
    from llama_gui.ui.theme import apply_theme

    app = QApplication.instance() or QApplication([])
    apply_theme(app, "light")  # type: ignore[arg-type]
    store = ChatStore.open(path)
    times: dict[str, list[float]] = {"list": [], "rows": [], "scroll": []}
    for _ in range(ROUNDS):
        started = time.perf_counter()
        chats = store.chats()
        times["list"].append(time.perf_counter() - started)
    book = book_of(chats)
    model = ChatListItemModel(book)
    view = ChatListView(model, Icons(Path(__file__).parents[2] / "resources" / "icons"))
    view.resize(216, 700)
    view.show()
    app.processEvents()
    for number in range(ROUNDS):
        top = replace(book.chats[100 + number], updated=time.time())
        book.chats = [top, *(chat for chat in book.chats if chat.id != top.id)]
        started = time.perf_counter()
        model.refresh()
        view.viewport().repaint()
        times["rows"].append(time.perf_counter() - started)
    bar = view.verticalScrollBar()
    for number in range(300):
        started = time.perf_counter()
        bar.setValue(number * bar.maximum() // 300 + number)
        view.viewport().repaint()
        times["scroll"].append(time.perf_counter() - started)
    store.close()
    return times


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chats", type=int, default=10_000)
    options: Any = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "chats.db"
        fill(path, options.chats)
        for name, values in measure(path).items():
            median, worst = statistics.median(values) * 1e3, percentile(values, 0.99) * 1e3
            print(f"{name:8} median {median:7.1f} ms   p99 {worst:7.1f} ms")


if __name__ == "__main__":
    main()
