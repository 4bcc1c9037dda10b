"""What is put together from several parts: brackets, roots, arrows, one above the other, environments; pure."""

from llama_gui.ui.markdown.latex.commands import ARROWS, BRACKETS, LINE_ENDS, NEGATED, RULES
from llama_gui.ui.markdown.latex.environments import grid
from llama_gui.ui.markdown.latex.named_signs import sign_named
from llama_gui.ui.markdown.latex.rows import Reader
from llama_gui.ui.markdown.latex.tokens import Unshown
from llama_gui.ui.markdown.latex.tree import Arrow, Fence, Kind, Node, Root, Row, Scripts, Sign, kind_of


def delimiter(reader: Reader) -> str:
    """A bracket, or none where there is a dot."""
    token = reader.next_visible()
    if token == ".":
        return ""
    if token in BRACKETS:
        return BRACKETS[token]
    if len(token) > 1:
        return sign_named(token[1:])
    raise Unshown


def fence(reader: Reader) -> Fence:
    """What stands between \\left and \\right."""
    left, bodies, middles = delimiter(reader), [], []
    bodies.append(reader.until("\\right", "\\middle"))
    while reader.next() == "\\middle":
        middles.append(delimiter(reader))
        bodies.append(reader.until("\\right", "\\middle"))
    return Fence(left, delimiter(reader), tuple(bodies), tuple(middles))


def root(reader: Reader) -> Root:
    """A root, whose degree stands before its body."""
    degree = reader.optional_argument()
    return Root(reader.argument(), degree)


def arrow(reader: Reader, name: str) -> Arrow:
    """An arrow with words on it; those below it come first."""
    below = reader.optional_argument()
    return Arrow(ARROWS[name], reader.argument(), below)


def negated(reader: Reader) -> Sign:
    """A sign with a stroke through it."""
    sign = reader.argument()
    if isinstance(sign, Row) and len(sign.items) == 1:
        sign = sign.items[0]
    if not isinstance(sign, Sign) or sign.character not in NEGATED:
        raise Unshown
    return Sign(NEGATED[sign.character], Kind.RELATION)


def overset(reader: Reader, name: str) -> Row:
    """A base with something above it."""
    above, base = reader.argument(), reader.argument()
    return Row((Scripts(base, above=above, limits=True),), Kind.RELATION if name == "stackrel" else kind_of(base))


def underset(reader: Reader) -> Node:
    """A base with something below it."""
    below, base = reader.argument(), reader.argument()
    if isinstance(base, Scripts) and base.limits and base.below is None:
        return Scripts(base.base, base.above, below, limits=True)
    return Row((Scripts(base, below=below, limits=True),), kind_of(base))


def substack(reader: Reader) -> Node:
    """Lines of a script."""
    if reader.next_visible() != "{":
        raise Unshown
    rows = reader.rows("}")
    reader.next()
    return grid("substack", "", rows, frozenset())


def environment(reader: Reader) -> Node:
    """What stands between \\begin and \\end: rows of cells, with lines between them."""
    name = reader.raw()
    columns = _columns(reader, name)
    rows: list[list[Node]] = []
    rules: set[int] = set()
    while True:
        reader.skip_spaces()
        while reader.peek() in RULES:
            rules.add(len(rows))
            reader.next()
            reader.skip_spaces()
        if reader.skip("\\end"):
            break
        rows.append([reader.until("\\end", *LINE_ENDS)])
        while reader.skip("&"):
            rows[-1].append(reader.until("\\end", *LINE_ENDS))
        if reader.peek() != "\\end":
            reader.next()
            reader.skip_line_length()
    if reader.raw() != name:
        raise Unshown
    return grid(name, columns, rows, frozenset(rules))


def _columns(reader: Reader, name: str) -> str:
    """How the columns of an environment are aligned, where it says so."""
    reader.skip_spaces()
    if name in ("array", "subarray", "darray", "alignedat", "alignat", "alignat*"):
        reader.option()  # how it stands on its line: always in the middle
        return reader.raw()
    if name.endswith("matrix*"):
        return reader.option() or "c"
    for letter in "tbc":  # how it stands on its line: always in the middle
        if reader.skip("[", letter, "]"):
            break
    return ""
