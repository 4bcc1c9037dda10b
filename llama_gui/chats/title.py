"""A chat's name: from its first message, and later from what a model says. Pure."""

import re

MAX_TITLE = 40
MAX_MODEL_TITLE = 60
MAX_TITLE_WORDS = 10
MAX_EXCERPT = 600

_BEFORE_TITLE = re.compile(r"^[#>*\s\"“]*(title|titel|titre|título)\s*[:：]\s*", re.IGNORECASE)
_REFUSAL = re.compile(r"(<\w+>|i am sorry|i'm sorry|sorry\b|i can(no|')t|as an ai\b|here is\b|sure\b)", re.IGNORECASE)


def title_from(message: str, otherwise: str = "New chat") -> str:
    """The first line that says something, without heading marks, cut at a word boundary to `MAX_TITLE` characters."""
    lines = (" ".join(line.lstrip("#>*- \t").split()) for line in message.splitlines())
    line = next((line for line in lines if line), "")
    if len(line) <= MAX_TITLE:
        return line or otherwise
    room = MAX_TITLE - 1  # one character is for the ellipsis
    whole_words = line[: room + 1].rpartition(" ")[0]
    return (whole_words or line[:room]).rstrip(" ,;:.") + "…"


def title_request(question: str, answer: str) -> str:
    """What a model is asked so that it names a chat that begins like this."""
    return (
        "Here is the beginning of a conversation.\n\n"
        f"Question: {_shorten(question)}\n\nAnswer: {_shorten(answer)}\n\n"
        "Give this conversation a title of two to six words, in the language of the question. "
        "Write only the title."
    )


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_EXCERPT else text[:MAX_EXCERPT].rsplit(" ", 1)[0] + " …"


def title_from_answer(answer: str) -> str:
    """The title in a model's answer, without the marks and words that models put around it; "" when there is none."""
    line = next((line.strip() for line in answer.splitlines() if line.strip()), "")
    line = _BEFORE_TITLE.sub("", line).strip(" \t\"'“”„«»*_#`.:-–—")
    words = line.split()
    is_sentence = len(words) > MAX_TITLE_WORDS or len(line) > MAX_MODEL_TITLE
    return "" if not words or is_sentence or _REFUSAL.match(line) else " ".join(words)
