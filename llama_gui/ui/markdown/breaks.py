"""Places to wrap in very long runs of characters; pure."""

import re

BREAK = "\u200b"
_RUN = 256
"""With 64, runs cost nothing, but every line of one ended there; of 256, what is saved is hardly less."""
_OUR_BREAK = re.compile(f"([^\\s{BREAK}]{{{_RUN}}}){BREAK}")


def breakable(text: str, run: int = _RUN) -> str:
    """Give very long runs places to wrap, each `run` letters: Qt's search for one grows with the square of a run."""
    if len(text) < 2 * run:
        return text
    long_run = f"[^\\s{BREAK}\\u2e80-\\u9fff\\uac00-\\ud7af]{{{run}}}(?=[^\\s]{{{run}}})"
    return re.sub(long_run, lambda match: match.group() + BREAK, text)


def without_breaks(text: str) -> str:
    """The text as it was before `breakable`."""
    return _OUR_BREAK.sub(r"\1", text) if BREAK in text else text
