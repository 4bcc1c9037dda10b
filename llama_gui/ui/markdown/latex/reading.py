"""LaTeX -> the tree of a formula. What is not understood whole is not shown at all; pure."""

from collections.abc import Callable, Iterable
from functools import lru_cache

from llama_gui.ui.markdown.latex.alphabets import LETTERS, TEXTS
from llama_gui.ui.markdown.latex.chemistry import chemistry
from llama_gui.ui.markdown.latex.commands import (
    ACCENTS,
    ARROWS,
    FRACTIONS,
    IGNORED,
    KINDED,
    LENGTHS,
    LIMIT_WORDS,
    LINES,
    OPERATOR_NAMES,
    PHANTOMS,
    SIZES,
)
from llama_gui.ui.markdown.latex.constructs import (
    arrow,
    delimiter,
    environment,
    fence,
    negated,
    overset,
    root,
    substack,
    underset,
)
from llama_gui.ui.markdown.latex.named_signs import sign_named
from llama_gui.ui.markdown.latex.rows import Command, Reader
from llama_gui.ui.markdown.latex.signs import KINDS
from llama_gui.ui.markdown.latex.tokens import Unshown
from llama_gui.ui.markdown.latex.tree import Accent, Big, Decorated, Fraction, Kind, Line, Node, Row, Sign, Space, Words
from llama_gui.ui.markdown.latex.words import modulo, operator, tag, text


@lru_cache(maxsize=512)
def tree_of(formula: str) -> Row:
    """A formula as a tree. Raises Unshown where a part of it is not understood, or where it is too deep."""
    return Reader(formula, _command).everything()


def _command(reader: Reader, name: str) -> Node | None:
    """What a command stands for, with its arguments."""
    read = _COMMANDS.get(name)
    return reader.sign(sign_named(name), KINDS.get(name)) if read is None else read(reader, name)


def _fraction(reader: Reader, name: str) -> Fraction:
    brackets, has_rule, level = FRACTIONS[name]
    return Fraction(reader.argument(), reader.argument(), has_rule, level, brackets)


def _accent(reader: Reader, name: str) -> Accent:
    character, is_wide = ACCENTS[name]
    return Accent(character, reader.argument(), is_wide)


def _line(reader: Reader, name: str) -> Line:
    character, is_above = LINES[name]
    return Line(reader.argument(), character, is_above)


def _big(reader: Reader, name: str) -> Big:
    size, kind = SIZES[name]
    return Big(delimiter(reader), size, kind)


def _in_letters(reader: Reader, name: str) -> Node:
    body = reader.argument_in(LETTERS[name])
    return body if isinstance(body, Sign) and body.kind == Kind.ORDINARY else Row((body,))


def _function(_reader: Reader, name: str) -> Words:
    return Words(LIMIT_WORDS.get(name, name), Kind.OPERATOR, name in LIMIT_WORDS)


def _of_a_kind(reader: Reader, name: str) -> Row:
    return Row((reader.argument(),), KINDED[name], limits=name == "mathop")


def _coloured(reader: Reader, _name: str) -> Node:
    reader.raw()  # a formula has the colour of its text
    return reader.argument()


def _without_argument(reader: Reader, _name: str) -> None:
    reader.raw()


def _unshown(_reader: Reader, _name: str) -> Node:
    raise Unshown


def _alone(read: Callable[[Reader], Node]) -> Command:
    return lambda reader, _name: read(reader)


_FAMILIES: tuple[tuple[Iterable[str], Command], ...] = (
    (FRACTIONS, _fraction),
    (TEXTS, text),
    (LETTERS, _in_letters),
    (ACCENTS, _accent),
    (LINES, _line),
    (SIZES, _big),
    (PHANTOMS, lambda reader, name: Decorated(reader.argument(), name)),
    ((*OPERATOR_NAMES, *LIMIT_WORDS), _function),
    (KINDED, _of_a_kind),
    (ARROWS, arrow),
    (LENGTHS, lambda reader, _name: Space(min(4.0, max(-1.0, reader.length())))),
    (IGNORED, lambda _reader, _name: None),
    (("label", "color"), _without_argument),
    (("textcolor",), _coloured),
    (("left",), _alone(fence)),
    (("begin",), _alone(environment)),
    (("sqrt",), _alone(root)),
    (("substack",), _alone(substack)),
    (("overset", "stackrel"), overset),
    (("underset",), _alone(underset)),
    (("not",), _alone(negated)),
    (("operatorname", "operatorname*", "DeclareMathOperator"), operator),
    (("mod", "bmod", "pmod", "pod"), modulo),
    (("tag", "tag*"), tag),
    (("ce",), lambda reader, _name: reader.within(chemistry(reader.raw()))),
    (("mathchoice",), _unshown),
)
_COMMANDS = {name: read for names, read in _FAMILIES for name in names}
