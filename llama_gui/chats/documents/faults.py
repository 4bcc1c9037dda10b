"""Why a document's text cannot be had."""

from typing import Literal, get_args

Why = Literal[
    "password", "protected", "scanned", "empty", "damaged", "too_long", "too_large", "too_slow", "old", "picture",
    "no_text", "unknown",
]  # fmt: skip
REASONS: frozenset[str] = frozenset(get_args(Why))

_SENTENCES: dict[str, str] = {
    "password": "{name} needs a password. Save a copy of it without one, and attach that.",
    "protected": "{name} is copy-protected, so its text cannot be read. Attach a copy that is not.",
    "scanned": "{name} has no text in it, only pictures of pages (a scan). Run text recognition (OCR) over it first, "
    "or attach it to a message for a model that reads images.",
    "empty": "{name} has no text in it.",
    "damaged": "{name} is damaged and cannot be read. Fetch it again, or save it again with the program that made it.",
    "too_long": "{name} has more than {characters} million characters of text, which is more than a model can read. "
    "Attach a part.",
    "too_large": "{name} is too large to be read. Attach a part of it.",
    "too_slow": "Reading {name} took longer than a minute, so it was given up. Save a simpler copy of it, or attach a "
    "part.",
    "old": "{name} is in an old format of Office. Save it as DOCX, XLSX or PPTX, and attach that.",
    "picture": "{name} is a picture of a kind that is not read here. Save it as PNG or JPEG, and attach that.",
    "no_text": "{name} is a picture. Of a folder only texts are read; attach the picture to a message.",
    "unknown": "{name} is neither text nor a document that can be read. Copy its text, or save it as PDF or as text "
    "(UTF-8), and attach that.",
}


class DocumentError(Exception):
    """The text of a document cannot be had; `why` is one of `REASONS`."""

    def __init__(self, why: Why) -> None:
        super().__init__(why)
        self.why: Why = why


def sentence(why: str, name: str, most_characters: int) -> str:
    """What the user reads about the file called `name`, and can do about it."""
    return _SENTENCES[why].format(name=name, characters=round(most_characters / 1e6))
