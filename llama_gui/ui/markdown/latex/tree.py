"""A formula as it was understood, before it has sizes; pure."""

from dataclasses import dataclass
from enum import Enum, IntEnum


class Kind(IntEnum):
    """What something is to its neighbours: it decides on the air between them."""

    ORDINARY = 0
    OPERATOR = 1
    BINARY = 2
    RELATION = 3
    OPENING = 4
    CLOSING = 5
    PUNCTUATION = 6
    INNER = 7


@dataclass(frozen=True, slots=True)
class Sign:
    """One character. `is_large`: a sum, an integral; `limits`: what is raised stands above it where there is room."""

    character: str
    kind: Kind = Kind.ORDINARY
    is_large: bool = False
    limits: bool = False


@dataclass(frozen=True, slots=True)
class Words:
    """Upright characters: the name of a function, or text."""

    text: str
    kind: Kind = Kind.ORDINARY
    limits: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One after the other. `level`: the style from 0 (display) to 3 in which it is set, None for that around it."""

    items: "tuple[Node, ...]"
    kind: Kind = Kind.ORDINARY
    level: int | None = None
    limits: bool = False


@dataclass(frozen=True, slots=True)
class Scripts:
    """What is raised and lowered beside something; `limits`: above and below it, None where its base decides."""

    base: "Node"
    above: "Node | None" = None
    below: "Node | None" = None
    limits: bool | None = None
    primes: int = 0


@dataclass(frozen=True, slots=True)
class Fraction:
    """One above the other. Without a rule in brackets it is a binomial."""

    top: "Node"
    bottom: "Node"
    has_rule: bool = True
    level: int | None = None
    brackets: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Root:
    """A root, with its degree."""

    body: "Node"
    degree: "Node | None" = None


@dataclass(frozen=True, slots=True)
class Fence:
    """Brackets as high as what stands between them; between two `bodies` stands one of `middles`."""

    left: str
    right: str
    bodies: "tuple[Node, ...]"
    middles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Big:
    """A bracket of a given size, from 1 to 4."""

    character: str
    size: int
    kind: Kind = Kind.ORDINARY


@dataclass(frozen=True, slots=True)
class Accent:
    """A sign above something; `is_wide`: as wide as that."""

    character: str
    body: "Node"
    is_wide: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A line, a brace or an arrow along something; `character` is empty for a line."""

    body: "Node"
    character: str = ""
    is_above: bool = True


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow as long as the words on it."""

    character: str
    above: "Node"
    below: "Node | None" = None


@dataclass(frozen=True, slots=True)
class Space:
    """Air, in em."""

    width: float


class Form(Enum):
    """What rows of cells are."""

    MATRIX = "matrix"
    CASES = "cases"
    EQUATIONS = "equations"
    STACK = "stack"
    """Lines of a script."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of cells. `columns`: how each is aligned, l, c or r, the last one for all that follow.

    `gaps`: the air before each column, in em, the last two in turn; `bars`: before which columns lines stand; `rules`:
    above which rows; `jot`: the air between rows, in em; `stretch`: how high a row is at least.
    """

    rows: "tuple[tuple[Node, ...], ...]"
    form: Form
    columns: str = "c"
    gaps: tuple[float, ...] = (1.0,)
    brackets: tuple[str, str] = ("", "")
    level: int = 1
    jot: float = 0.0
    stretch: float = 1.0
    bars: frozenset[int] = frozenset()
    rules: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Decorated:
    """Something in a frame, crossed out, or not shown though it takes its room: wide, high."""

    body: "Node"
    decoration: str


Node = Sign | Words | Row | Scripts | Fraction | Root | Fence | Big | Accent | Line | Arrow | Space | Grid | Decorated


def kind_of(node: Node) -> Kind:
    """What a part of a formula is to its neighbours."""
    match node:
        case Sign() | Words() | Row() | Big():
            return node.kind
        case Scripts():
            return kind_of(node.base)
        case Fence():
            return Kind.INNER
        case Grid(brackets=brackets) if any(brackets):
            return Kind.INNER
        case Arrow():
            return Kind.RELATION
        case Line(character=character) if character:
            return Kind.OPERATOR if character in "⏞⏟" else Kind.ORDINARY
    return Kind.ORDINARY
