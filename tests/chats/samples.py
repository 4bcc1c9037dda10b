"""Messages for the tests of the store."""

from llama_gui.chats.tree import Node


def question(node_id: str = "q", chat_id: str = "chat", parent_id: str | None = None, created: float = 1.0) -> Node:
    return Node(node_id, chat_id, parent_id, "user", f"text of {node_id}", "complete", created)


def answer(node_id: str = "a", parent_id: str = "q", content: str = "answer") -> Node:
    return Node(node_id, "chat", parent_id, "assistant", content, "streaming", 2.0, "Llama", '{"seed": 1}')
