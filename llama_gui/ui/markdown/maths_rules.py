"""Where a formula begins and ends in Markdown: $…$, $$…$$, \\(…\\) and \\[…\\]; money stays text."""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

from llama_gui.ui.markdown.latex.tokens import MAX_LENGTH

_CLOSING = {"$$": "$$", "\\[": "\\]", "\\(": "\\)"}
_MOST_LINES = 60
_SIGN = re.compile(r"[\\^_=+<>{}]|\d\s*[-*/]|[-*/]\s*\d")
_WORD = re.compile(r"(?<!\\)\b[^\W\d_]{3,}")


def add_maths(parser: MarkdownIt) -> MarkdownIt:
    """Teach a parser formulas: inline tokens "maths" (`markup` tells the signs around) and blocks "maths_block"."""
    parser.inline.ruler.before("escape", "maths", _inline)
    parser.block.ruler.before("fence", "maths_block", _block, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    return parser


def looks_like_maths(text: str) -> bool:
    """Whether this may be a formula rather than words or a price."""
    return bool(text.strip()) and (_SIGN.search(text) is not None or _WORD.search(text) is None)


def _inline(state: StateInline, silent: bool) -> bool:
    opening = state.src[state.pos : state.pos + 2]
    if opening in _CLOSING:
        found = _between(state, opening, _CLOSING[opening])
    elif opening[:1] == "$":
        opening = "$"
        found = _dollars(state)
    else:
        return False
    if found is None:
        return False
    if not silent:
        token = state.push("maths", "", 0)
        token.content = state.src[state.pos + len(opening) : found]
        token.markup = opening
    state.pos = found + len(opening)
    return True


def _between(state: StateInline, opening: str, closing: str) -> int | None:
    start = state.pos + len(opening)
    end = state.src.find(closing, start, min(state.posMax, start + MAX_LENGTH))
    return end if end > start and looks_like_maths(state.src[start:end]) else None


def _dollars(state: StateInline) -> int | None:
    """The place of the closing dollar: no space within either, no digit behind it, and a formula between them."""
    source, start = state.src, state.pos + 1
    if start >= state.posMax or source[start].isspace() or (state.pos and source[state.pos - 1].isalnum()):
        return None
    end = start
    while (end := source.find("$", end, min(state.posMax, start + MAX_LENGTH))) > 0:
        if source[end - 1] != "\\":
            break
        end += 1
    if end <= start or source[end - 1].isspace() or source[end + 1 : end + 2].isalnum():
        return None
    text = source[start:end]
    return end if looks_like_maths(text) and not re.fullmatch(r"[\d.,]+\s*[-–/,]?\s*", text) else None


def _block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    if state.is_code_block(start):
        return False
    first = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]].rstrip()
    opening = first[:2]
    if opening not in ("$$", "\\["):
        return False
    lines, closing = [first[2:]], _CLOSING[opening]
    line = start
    while not lines[-1].rstrip().endswith(closing):
        line += 1
        if line >= end or state.isEmpty(line) or state.sCount[line] < state.blkIndent:
            break
        lines.append(state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip())
        if len(lines) > _MOST_LINES or (opening == "\\[" and lines[-1].startswith(opening)):
            return False
    is_open = not lines[-1].endswith(closing)
    if is_open and line < state.lineMax:
        return False  # a blank line or the end of a list came first: these were no formula's signs
    formula = "\n".join(lines).removesuffix(closing)
    if closing in formula or len(formula) > MAX_LENGTH or (formula.strip() and not looks_like_maths(formula)):
        return False
    if not formula.strip() and not is_open:
        return False
    if silent:
        return True
    state.line = line if is_open else line + 1
    token = state.push("maths_block", "", 0)
    token.content = formula.strip()
    token.markup = opening
    token.map = [start, state.line]
    token.meta = {"is_open": is_open}
    return True
