"""Where Markdown can be parted: block tokens of markdown-it and the lines they come from; pure."""

from collections.abc import Iterator, Sequence

from markdown_it.token import Token


def is_open_code(tokens: Sequence[Token]) -> bool:
    """Whether there is nothing but one fence."""
    return len(tokens) == 1 and tokens[0].type == "fence"


def is_one_block(tokens: Sequence[Token]) -> bool:
    """Whether there is only one block that nothing is around."""
    return sum(token.level == 0 and token.nesting >= 0 for token in tokens) == 1


def last_safe_start(tokens: Sequence[Token], complete_lines: int) -> int:
    """The line where the last block begins whose first line has come to its end.

    A block whose first line still grows may turn out to be no block at all: "#" is a heading, "#tag" is not.
    """
    starts = [token.map[0] for token in tokens if token.level == 0 and token.nesting >= 0 and token.map]
    return max((start for start in starts if start < complete_lines), default=0)


def last_item(tokens: Sequence[Token], complete_lines: int) -> int:
    """The line where the last item of a list begins, when there is nothing but that list; 0 when it is the first."""
    if not tokens or not tokens[0].type.endswith("list_open") or not is_one_block(tokens):
        return 0
    starts = [token.map[0] for token in _items(tokens) if token.map]
    return max((start for start in starts if start < complete_lines), default=0)


def _items(tokens: Sequence[Token]) -> Iterator[Token]:
    return (token for token in tokens if token.type == "list_item_open" and token.level == 1)


def items_before(tokens: Sequence[Token], line: int) -> int:
    """How many items of a list begin before a line."""
    return sum(token.map is not None and token.map[0] < line for token in _items(tokens))


def split(tokens: Sequence[Token], boundary: int) -> tuple[Sequence[Token], Sequence[Token]]:
    """The tokens of the blocks that begin before the line `boundary`, and the others."""
    for index, token in enumerate(tokens):
        if token.level == 0 and token.nesting >= 0 and token.map and token.map[0] >= boundary:
            return tokens[:index], tokens[index:]
    return tokens, ()


def line_offset(text: str, line: int) -> int:
    """The place where a line begins, counted from 0."""
    offset = 0
    for _ in range(line):
        offset = text.index("\n", offset) + 1
    return offset
