"""What single characters are in a formula: their kind, and the air between kinds; pure."""

from functools import lru_cache

from llama_gui.ui.markdown.latex.tree import Kind

_BINARY = frozenset("+−±∓×÷∗⋆∘∙·⋅∩∪⊓⊔∨∧∖≀⊎⊕⊖⊗⊘⊙⊚⊛⊝⊞⊟⊠⊡†‡⨿⋄△▽◁▷⊲⊳⋉⋊⋋⋌∔⋒⋓⌅⌆⊺⊻⊼⋎⋏∸⨯◯⊴⊵")
_RELATIONS = frozenset("=<>:∝∼≁∣∤∥∦⊢⊣⊨⊩⊪⊫⊬⊭⊮⊯⋈⋔≔∈∉∋∌∴∵∶∷⌢⌣≡⟂⫫")
_RELATION_RANGES = ((0x2190, 0x21FF), (0x223C, 0x228B), (0x228F, 0x2292), (0x22B0, 0x22B7), (0x22D0, 0x22D1),
                    (0x22D5, 0x22ED), (0x27F5, 0x27FF), (0x2900, 0x297F), (0x2A7D, 0x2AD8))  # fmt: skip
_OPENING = frozenset("([{⟨⌊⌈⟦⌜⌞⟮")
_CLOSING = frozenset(")]}⟩⌋⌉⟧⌝⌟⟯!?")
_PUNCTUATION = frozenset(",;")
_INNER = frozenset("…⋯⋱")
INTEGRALS = frozenset("∫∬∭⨌∮∯∰∱∲∳")
LARGE = frozenset("∑∏∐⋃⋂⨄⨆⨅⋁⋀⨁⨂⨀") | INTEGRALS
KINDS = {
    "colon": Kind.PUNCTUATION,
    "lvert": Kind.OPENING,
    "lVert": Kind.OPENING,
    "rvert": Kind.CLOSING,
    "rVert": Kind.CLOSING,
    "bullet": Kind.BINARY,
    "star": Kind.BINARY,
    "circ": Kind.BINARY,
    "bigcirc": Kind.BINARY,
    "vdots": Kind.ORDINARY,
    "surd": Kind.ORDINARY,
    "mid": Kind.RELATION,
    "parallel": Kind.RELATION,
}
_NO_BINARY_AFTER = (Kind.BINARY, Kind.OPERATOR, Kind.RELATION, Kind.OPENING, Kind.PUNCTUATION)
_NO_BINARY_BEFORE = (Kind.RELATION, Kind.CLOSING, Kind.PUNCTUATION)
_GAPS = (
    (0, 1, 2, 3, 0, 0, 0, 1),
    (1, 1, 0, 3, 0, 0, 0, 1),
    (2, 2, 0, 0, 2, 0, 0, 2),
    (3, 3, 0, 0, 3, 0, 0, 3),
    (0, 0, 0, 0, 0, 0, 0, 0),
    (0, 1, 2, 3, 0, 0, 0, 1),
    (1, 1, 0, 1, 1, 1, 1, 1),
    (1, 1, 2, 3, 1, 0, 1, 1),
)
"""The rows and columns are kinds."""
_WIDTHS = (0.0, 3 / 18, 4 / 18, 5 / 18)
_ALWAYS = {(0, 1), (1, 0), (1, 1), (5, 1), (7, 1)}


@lru_cache(maxsize=1024)
def kind_of_character(character: str) -> Kind:
    """What a character is to its neighbours."""
    if character in _BINARY:
        return Kind.BINARY
    if character in _RELATIONS or any(low <= ord(character[0]) <= high for low, high in _RELATION_RANGES):
        return Kind.RELATION
    for kind, characters in (
        (Kind.OPERATOR, LARGE),
        (Kind.OPENING, _OPENING),
        (Kind.CLOSING, _CLOSING),
        (Kind.PUNCTUATION, _PUNCTUATION),
        (Kind.INNER, _INNER),
    ):
        if character in characters:
            return kind
    return Kind.ORDINARY


def gap(left: Kind, right: Kind, *, is_script: bool) -> float:
    """The air between two neighbours, in em; in scripts there is nearly none."""
    if is_script and (left, right) not in _ALWAYS:
        return 0.0
    return _WIDTHS[_GAPS[left][right]]


def in_a_row(kinds: list[Kind]) -> list[Kind]:
    """What looks like an operation between two but has not both of them is a sign like any other."""
    for number, kind in enumerate(kinds):
        if kind == Kind.BINARY and (number == 0 or kinds[number - 1] in _NO_BINARY_AFTER):
            kinds[number] = Kind.ORDINARY
        elif kind in _NO_BINARY_BEFORE and number and kinds[number - 1] == Kind.BINARY:
            kinds[number - 1] = Kind.ORDINARY
    if kinds and kinds[-1] == Kind.BINARY:
        kinds[-1] = Kind.ORDINARY
    return kinds
