"""A chat's name, taken from its first message. Pure."""

MAX_TITLE = 40


def title_from(message: str, otherwise: str = "New chat") -> str:
    """The first line that says something, without heading marks, cut at a word boundary to `MAX_TITLE` characters."""
    lines = (" ".join(line.lstrip("#>*- \t").split()) for line in message.splitlines())
    line = next((line for line in lines if line), "")
    if len(line) <= MAX_TITLE:
        return line or otherwise
    room = MAX_TITLE - 1  # one character is for the ellipsis
    whole_words = line[: room + 1].rpartition(" ")[0]
    return (whole_words or line[:room]).rstrip(" ,;:.") + "…"
