"""Which of the tree's branches is shown; pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from llama_gui.chats.message_files import split
from llama_gui.chats.reasoning import answer_text
from llama_gui.chats.snippet import snippet
from llama_gui.chats.tree import ChatTree, Node
from llama_gui.vocabulary import Role

_MAP_TEXT = 80
"""Characters of a message on the map."""


@dataclass(frozen=True, slots=True)
class MapDot:
    """A message on the map of a chat. `parent` is the place of the dot above it in the map's list, `row` the number of
    messages before it on its path, `lane` the column: the first answer stays in the lane of its question.
    """

    node_id: str
    parent: int | None
    row: int
    lane: int
    role: Role
    text: str
    is_shown: bool


class ShownPath:
    """The tree of a chat and the end of the path through it that is shown."""

    def __init__(self, nodes: Iterable[Node] = (), leaf: str | None = None) -> None:
        self.tree = ChatTree(nodes)
        self.leaf = leaf if leaf is not None else self.tree.newest_leaf()

    def reset(self, nodes: Iterable[Node], leaf: str | None = None) -> None:
        """Begin anew with these nodes; the newest path is shown unless `leaf` says otherwise, and all behind `leaf`."""
        self.tree = ChatTree(nodes)
        self.leaf = self.tree.newest_leaf()
        if leaf is not None:
            self.show(leaf)

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
        """What an answer (or the end of the path) answers; that is its own. A message of the user, or the reply of a
        tool that the model had called.
        """
        path = self.tree.path(node_id) if node_id is not None else self.nodes()
        return next((node for node in reversed(path) if node.role in ("user", "tool")), None)

    def map_dots(self) -> list[MapDot]:
        """All messages as a map of lanes; parents come before their children, siblings from left to right."""
        shown = {node.id for node in self.nodes()}
        found: list[MapDot] = []
        lanes = 0
        # With the parent's place, the row, and the lane (-1: a new one).
        waiting: list[tuple[Node, int | None, int, int]] = []
        waiting += reversed([(child, None, 0, -1) for child in self.tree.children(None)])
        while waiting:
            node, parent, row, lane = waiting.pop()
            if lane < 0:
                lane, lanes = lanes, lanes + 1
            found.append(MapDot(node.id, parent, row, lane, node.role, _beginning(node), node.id in shown))
            here = len(found) - 1
            children = [
                (child, here, row + 1, lane if n == 0 else -1) for n, child in enumerate(self.tree.children(node.id))
            ]
            waiting += reversed(children)
        return found


def _beginning(node: Node) -> str:
    """How a message begins: what was said of a question, what was answered of an answer, without marks."""
    if node.role == "assistant":
        text = snippet(answer_text(node), (), 0, is_markdown=True)[0].strip()
    else:
        said = (node.attachments and split(node.content, node.attachments)[0]) or node.content
        text = " ".join(said[: 4 * _MAP_TEXT].split())
    return text if len(text) <= _MAP_TEXT else text[: _MAP_TEXT - 1].rstrip() + "…"
