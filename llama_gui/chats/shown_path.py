"""Which of the tree's branches is shown; pure."""

from collections.abc import Iterable

from llama_gui.chats.tree import ChatTree, Node


class ShownPath:
    """The tree of a chat and the end of the path through it that is shown."""

    def __init__(self, nodes: Iterable[Node] = (), leaf: str | None = None) -> None:
        self.tree = ChatTree(nodes)
        self.leaf = leaf if leaf is not None else self.tree.newest_leaf()

    def reset(self, nodes: Iterable[Node], leaf: str | None = None) -> None:
        """Begin anew with these nodes; the newest path is shown unless `leaf` says otherwise."""
        self.tree = ChatTree(nodes)
        self.leaf = leaf if leaf is not None else self.tree.newest_leaf()

    def nodes(self) -> list[Node]:
        """The messages that are shown, first to last."""
        return self.tree.path(self.leaf) if self.leaf is not None else []

    def add(self, node: Node) -> None:
        """Put a new node into the tree, and show it."""
        self.tree.add(node)
        self.leaf = node.id

    def versions(self) -> dict[str, tuple[int, int]]:
        """Of the shown messages that have siblings: which of them it is, from 1, and how many there are."""
        found: dict[str, tuple[int, int]] = {}
        for node in self.nodes():
            siblings = self.tree.children(node.parent_id)
            if len(siblings) > 1:
                found[node.id] = (siblings.index(node) + 1, len(siblings))
        return found

    def sibling(self, node_id: str, by: int) -> str | None:
        """The version `by` places after a message, or None at the end."""
        siblings = [node.id for node in self.tree.children(self.tree[node_id].parent_id)]
        place = siblings.index(node_id) + by
        return siblings[place] if 0 <= place < len(siblings) else None

    def show(self, node_id: str | None) -> None:
        """Show the path through a message, and behind it the newest answers; None: as much as there is."""
        leaf = node_id
        while children := self.tree.children(leaf):
            leaf = children[-1].id
        self.leaf = leaf

    def question_of(self, node_id: str | None = None) -> Node | None:
        """The user's message that an answer (or the end of the path) answers; a user's message is its own."""
        path = self.tree.path(node_id) if node_id is not None else self.nodes()
        return next((node for node in reversed(path) if node.role == "user"), None)
