"""Words in a formula: text, with formulas in it, and names of operators; pure."""

import re

from llama_gui.ui.markdown.latex.alphabets import TEXTS, upright
from llama_gui.ui.markdown.latex.rows import Reader
from llama_gui.ui.markdown.latex.tokens import Unshown
from llama_gui.ui.markdown.latex.tree import Kind, Node, Row, Sign, Space, Words


def text(reader: Reader, name: str = "text") -> Node:
    """Text between braces; there may be formulas in it."""
    letters = TEXTS[name]
    parts = re.split(r"(?<!\\)\$", reader.raw())
    if len(parts) % 2 == 0:
        raise Unshown
    items: list[Node] = []
    for number, part in enumerate(parts):
        if number % 2:
            items.append(reader.within(part))
        elif part:
            items.append(Words("".join(map(letters, _plain_text(part)))))
    return items[0] if len(items) == 1 else Row(tuple(items))


def tag(reader: Reader, name: str) -> None:
    """The number of a formula, which stands behind it; with a star it has no brackets."""
    number = text(reader)
    reader.tag = (Space(2.0), *((number,) if name == "tag*" else (Words("("), number, Words(")"))))


def operator(reader: Reader, name: str) -> Row:
    """An operator of the author's own; with a star, limits stand above and below it."""
    return Row((_without_air(reader.argument_in(upright)),), Kind.OPERATOR, limits=name.endswith("*"))


def modulo(reader: Reader, name: str) -> Row:
    """The rest of a division, with or without brackets and words."""
    if name == "bmod":
        return Row((Words("mod"),), Kind.BINARY)
    body = reader.argument()
    if name == "mod":
        return Row((Space(0.7), Words("mod"), Space(0.33), body))
    word: tuple[Node, ...] = (Words("mod"), Space(0.33)) if name == "pmod" else ()
    return Row((Space(0.7), Sign("(", Kind.OPENING), *word, body, Sign(")", Kind.CLOSING)))


def _without_air(node: Node) -> Node:
    """The name of an operator: its signs are letters."""
    if isinstance(node, Sign):
        return Sign("-" if node.character == "−" else node.character)
    return Row(tuple(map(_without_air, node.items)), level=node.level) if isinstance(node, Row) else node


def _plain_text(part: str) -> str:
    plain = re.sub(r"\\([ %$#&_{}])|[{}]", lambda match: match.group(1) or "", part.replace("~", "\u00a0"))
    if "\\" in plain:
        raise Unshown
    return re.sub(r"[ \t\n]+", " ", plain.replace("---", "—").replace("--", "–"))
