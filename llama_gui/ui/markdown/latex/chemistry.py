"""Chemical equations, as \\ce of mhchem has them -> LaTeX; pure."""

import re

from llama_gui.ui.markdown.latex.tokens import Unshown

_ARROWS = {
    "->": "\\xrightarrow",
    "<-": "\\xleftarrow",
    "<->": "\\xleftrightarrow",
    "<=>": "\\xrightleftharpoons",
    "=>": "\\xRightarrow",
}
_TOKEN = re.compile(
    r"\s*(?P<arrow><=>|<->|->|<-|=>)(?:\[(?P<above>[^\]]*)\])?(?:\[(?P<below>[^\]]*)\])?\s*"
    r"|(?P<formula>\$[^$]*\$)"
    r"|(?P<raised>[\^_])(?:\{(?P<group>[^{}]*)\}|(?P<few>\d*[+-]|\d+|[A-Za-z]))"
    r"|(?P<plus>\s\+\s)"
    r"|(?P<charge>[+-])(?=\s|$|[)\]},])"
    r"|(?P<fraction>\d+/\d+)\s*"
    r"|(?P<number>\d+(?:\.\d+)?)"
    r"|(?P<name>[A-Za-z]+)"
    r"|(?P<bracket>[()\[\]]|\\[{}])"
    r"|(?P<bond>[-=#])"
    r"|(?P<dot>\s*[.*]\s*)"
    r"|(?P<comma>,\s*)"
    r"|(?P<air>\s+)"
)
_BONDS = {"-": "{-}", "=": "{=}", "#": "{\\equiv}"}


def chemistry(source: str) -> str:
    """The LaTeX of a chemical equation. Raises Unshown where it has more than that."""
    parts: list[str] = []
    place, is_behind = 0, False  # whether a number would count the atoms before it
    source = source.strip()
    while place < len(source):
        found = _TOKEN.match(source, place)
        if found is None:
            raise Unshown
        place = found.end()
        parts.append(_part(found, is_behind=is_behind))
        kind = found.lastgroup if found["raised"] is None else "raised"
        is_behind = kind == "name" or (kind == "bracket" and found[0] in (")", "]", "\\}"))
    return "".join(parts)


def _label(text: str) -> str:
    """What stands on an arrow: words, or a sign."""
    return text if text.startswith("\\") or not text else f"\\text{{{text}}}"


def _part(found: re.Match[str], *, is_behind: bool) -> str:
    if found["arrow"]:
        above, below = (_label(found[side] or "") for side in ("above", "below"))
        return f"{_ARROWS[found['arrow']]}{f'[{below}]' if below else ''}{{{above}}}"
    if found["raised"]:
        return f"{found['raised']}{{\\mathrm{{{found['group'] or found['few'] or ''}}}}}"
    text = found[0]
    match found.lastgroup:
        case "formula":
            return f"{{{text[1:-1]}}}"
        case "plus":
            return " + "
        case "charge":
            return f"^{{{text}}}"
        case "fraction":
            above, below = found["fraction"].split("/")
            return f"\\tfrac{{{above}}}{{{below}}}\\,"
        case "number":
            return f"_{{{text}}}" if is_behind else f"{text}\\,"
        case "name":
            return f"\\mathrm{{{text}}}"
        case "bond":
            return _BONDS[text]
        case "dot":
            return "\\cdot "
        case "air":
            return "\\ "
    return text
