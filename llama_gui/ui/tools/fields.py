"""What is typed of a tool server, read and written: a command in one line, pairs of name and value in several."""

import shlex
import sys
from collections.abc import Mapping, Sequence

IS_WINDOWS = sys.platform == "win32"


def split_command(text: str, *, is_windows: bool = IS_WINDOWS) -> tuple[str, ...]:
    """The words of a command, as a shell parts them; on Windows a backslash is a part of paths and nothing else.

    Raises:
        ValueError: a quotation mark is not closed.
    """
    words = shlex.shlex(text, posix=True, punctuation_chars=False)
    words.whitespace_split = True
    words.commenters = ""
    if is_windows:
        words.escape = ""
    return tuple(words)


def join_command(words: Sequence[str], *, is_windows: bool = IS_WINDOWS) -> str:
    """A line that `split_command` reads as these words."""
    return " ".join(_quoted(word, is_windows=is_windows) for word in words)


def _quoted(word: str, *, is_windows: bool) -> str:
    if is_windows and word and not any(letter.isspace() or letter in "'\"" for letter in word):
        return word
    return f'"{word}"' if is_windows and '"' not in word else shlex.quote(word)


def read_pairs(text: str, mark: str) -> dict[str, str]:
    """Lines of a name, a mark and a value; empty lines count for nothing.

    Raises:
        ValueError: with the first line that is none.
    """
    pairs: dict[str, str] = {}
    for line in text.splitlines():
        name, found, value = line.partition(mark)
        if not line.strip():
            continue
        if not found or not name.strip():
            raise ValueError(line.strip())
        pairs[name.strip()] = value.strip()
    return pairs


def write_pairs(pairs: Mapping[str, str], mark: str) -> str:
    """Such lines."""
    return "\n".join(f"{name}{mark}{value}" for name, value in pairs.items())
