"""Chats for ever and says on standard output what was saved, right after it was. Killed by test_kill.py."""

import sys
from dataclasses import replace
from pathlib import Path

from llama_gui.chats.store import ChatStore
from llama_gui.chats.tree import Node, OpenTab


def main(path: Path) -> None:
    """One acknowledgement for each line: what was saved, its id, how many characters of it."""
    store = ChatStore.open(path)
    parent: str | None = None
    number = len(store.nodes("chat"))
    store.create_chat("chat", "Title")
    while True:
        number += 1
        question = Node(f"q{number}", "chat", parent, "user", f"question {number}", "complete", float(number))
        store.save_node(question)
        print("saved", question.id, len(question.content), flush=True)
        answer = Node(f"a{number}", "chat", question.id, "assistant", "", "streaming", float(number))
        for _ in range(5):
            answer = replace(answer, content=answer.content + "some more words " * 20)
            store.save_node(answer)
            print("saved", answer.id, len(answer.content), flush=True)
        store.save_nodes([replace(answer, status="complete")])
        print("complete", answer.id, len(answer.content), flush=True)
        store.save_tabs([OpenTab("chat", 0, draft=f"draft {number}")])
        parent = answer.id


if __name__ == "__main__":
    main(Path(sys.argv[1]))
