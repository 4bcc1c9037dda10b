"""XML of strangers -> nodes: no document types, hence no entities and nothing fetched; bounded in depth and number."""

from collections.abc import Iterable, Iterator
from typing import Any
from xml.parsers import expat

from llama_gui.chats.documents.faults import DocumentError

MOST_DEPTH = 150
"""Text inside five nested tables is about 60 deep. What walks the nodes may recurse."""
MOST_NODES = 3_000_000
_CHUNK = 1 << 16
_RELATIONS = "relationships"  # the end of the one namespace whose `id` stands beside another `id`


class Node:
    """An element by its local name; its children are nodes and texts in their order."""

    __slots__ = ("attributes", "children", "name")

    def __init__(self, name: str, attributes: dict[str, str]) -> None:
        self.name = name
        self.attributes = attributes
        self.children: list[Node | str] = []

    def get(self, name: str, default: str = "") -> str:
        """An attribute by its local name; those that refer to other parts of an Office package begin with "r:"."""
        return self.attributes.get(name, default)

    def nodes(self, *names: str) -> "Iterator[Node]":
        """The elements right inside it; all of them, or those with one of these names."""
        for child in self.children:
            if isinstance(child, Node) and (not names or child.name in names):
                yield child

    def find(self, *path: str) -> "Node | None":
        """The first element at a path of names."""
        found: Node | None = self
        for name in path:
            found = next(found.nodes(name), None) if found is not None else None
        return found

    def inside(self, *names: str) -> "Iterator[Node]":
        """The elements of these names at any depth, in order; none inside another of them."""
        for child in self.nodes():
            if child.name in names:
                yield child
            else:
                yield from child.inside(*names)

    def text(self) -> str:
        """All text in it."""
        return "".join(child if isinstance(child, str) else child.text() for child in self.children)


def parse(content: bytes) -> Node:
    """The root of a document.

    Raises:
        DocumentError: it is no XML, has a document type, or is larger than the limits.
    """
    reader = _Reader(frozenset())
    for _ in reader.read(content[start : start + _CHUNK] for start in range(0, len(content), _CHUNK)):
        pass
    if reader.root is None:
        raise DocumentError("damaged")
    return reader.root


def parse_each(pieces: Iterable[bytes], *names: str) -> Iterator[Node]:
    """The elements with one of these names as they are read, none of them kept; raises as `parse` does."""
    return _Reader(frozenset(names)).read(pieces)


class _Reader:
    def __init__(self, wanted: frozenset[str]) -> None:
        self.root: Node | None = None
        self._wanted = wanted
        self._open: list[Node] = []
        self._ready: list[Node] = []
        self._inside = 0  # how many wanted ones are open
        self._depth = 0
        self._nodes = 0
        self._parser = parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.StartDoctypeDeclHandler = self._refuse

    def read(self, pieces: Iterable[bytes]) -> Iterator[Node]:
        try:
            for piece in pieces:
                self._parser.Parse(piece, False)
                yield from self._taken()
            self._parser.Parse(b"", True)
        except (expat.ExpatError, ValueError, LookupError) as error:  # an encoding that there is not is a LookupError
            raise DocumentError("damaged") from error
        yield from self._taken()

    def _taken(self) -> list[Node]:
        ready, self._ready = self._ready, []
        self._nodes -= len(ready)
        return ready

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise DocumentError("damaged")
        local = name.rpartition(" ")[2]
        if self._wanted and local in self._wanted:
            self._inside += 1
        if self._wanted and not self._inside:
            return
        self._nodes += 1
        if self._nodes > MOST_NODES:
            raise DocumentError("too_large")
        node = Node(local, {_attribute(key): value for key, value in attributes.items()} if attributes else attributes)
        if self._open:
            self._open[-1].children.append(node)
        elif not self._wanted:
            self.root = node
        self._open.append(node)

    def _end(self, name: str) -> None:
        self._depth -= 1
        if not self._open:
            return
        node = self._open.pop()
        if self._wanted and node.name in self._wanted:
            self._inside -= 1
            if not self._inside:
                self._ready.append(node)
                self._nodes = len(self._ready)

    def _text(self, text: str) -> None:
        if self._open:
            self._open[-1].children.append(text)

    def _refuse(self, *_of: Any) -> None:
        raise DocumentError("damaged")


def _attribute(name: str) -> str:
    namespace, _, local = name.rpartition(" ")
    return f"r:{local}" if namespace.endswith(_RELATIONS) else local
