"""How fast a store of many chats lists, searches and opens.

    .venv/bin/python -m tests.benchmarks.search                          # 10,000 chats with 1,000,000 words
    .venv/bin/python -m tests.benchmarks.search --words 5000000 --chats 50000

The words are drawn as often as those of a language (Zipf), a tenth of the messages is Chinese. Each time is the median
of several runs with the file in the cache of the system, as it is while the application runs.
"""

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from llama_gui.chats.store import ChatStore
from llama_gui.chats.tree import Node

PER_MESSAGE = 50
VOCABULARY = 40_000


def words(count: int, draw: random.Random) -> list[str]:
    """Made-up words, the first of the vocabulary the most often."""
    letters = "abcdefghijklmnoprstuvwz"
    vocabulary = ["".join(draw.choices(letters, k=draw.randint(2, 9))) for _ in range(VOCABULARY)]
    return draw.choices(vocabulary, [1 / (n + 1) for n in range(VOCABULARY)], k=count)


def message(number: int, text: list[str], draw: random.Random) -> str:
    """One message of `PER_MESSAGE` words."""
    if number % 10 == 9:
        return "".join(chr(0x4E00 + int(3000 * draw.random() ** 3)) for _ in range(PER_MESSAGE * 2))
    return " ".join(text[number * PER_MESSAGE : (number + 1) * PER_MESSAGE])


def fill(store: ChatStore, chats: int, count: int) -> list[str]:
    """Save the chats. Returns the words, for queries."""
    draw = random.Random(4)
    text = words(count, draw)
    each = max(1, count // PER_MESSAGE // chats)
    number = 0
    for chat in range(chats):
        chat_id = f"chat{chat}"
        store.create_chat(chat_id, " ".join(text[chat : chat + 4]))
        nodes: list[Node] = []
        for _ in range(each):
            parent = nodes[-1].id if nodes else None
            content = message(number, text, draw)
            nodes.append(Node(f"n{number}", chat_id, parent, "user", content, "complete", float(number)))
            number += 1
        store.save_nodes(nodes)
    return text


def median_ms(work: Callable[[], object], runs: int = 9) -> float:
    """The median of several calls, in milliseconds."""
    seconds: list[float] = []
    for _ in range(runs):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds) * 1000


def measure(path: Path, text: list[str]) -> None:
    """Print what each thing takes."""
    started = time.perf_counter()
    store = ChatStore.open(path)
    print(f"open the file               {(time.perf_counter() - started) * 1000:8.1f} ms")
    print(f"list of {len(store.chats()):6d} chats        {median_ms(store.chats):8.1f} ms")
    queries = {
        "the commonest word": max(set(text[:2000]), key=text[:2000].count),
        "one letter": "a",
        "three words, two common": f"{text[0]} {text[1]} {text[2][:2]}",
        "a word that is nowhere": "qqqqqq",
        "one Chinese character": "\u4e00",
        "two Chinese characters": "\u4e10\u4e20",
        "a long question": " ".join(text[1000:1020]),
    }
    for name, query in queries.items():
        found = len(store.search(query))
        print(f"{name:25s} {median_ms(lambda query=query: store.search(query)):10.1f} ms  {found:3d} found")
    store.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=1_000_000)
    parser.add_argument("--chats", type=int, default=10_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chats.db"
        store = ChatStore.open(path)
        started = time.perf_counter()
        text = fill(store, arguments.chats, arguments.words)
        print(f"{arguments.words:,} words saved in {time.perf_counter() - started:.1f} s", end=", ")
        store.close()
        print(f"{path.stat().st_size / 1e6:.1f} MB")
        measure(path, text)


if __name__ == "__main__":
    main()
