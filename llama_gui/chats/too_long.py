"""What of a conversation takes the room, where it is longer than a model reads, and what helps. Pure."""

import json
from collections.abc import Iterator, Sequence

from llama_gui.chats.message_files import cut_files, sources_of, split
from llama_gui.chats.tree import Node
from llama_gui.errors import PromptTooLongError
from llama_gui.vocabulary import GenerateRequest

_TOKEN = 4
"""Letters of a token, about."""
_MOST = 0.5
"""The share of all letters from which on a part is named. Tokens are counted by a model, and it has refused."""


def too_long_text(error: PromptTooLongError, request: GenerateRequest, path: Sequence[Node]) -> str:
    """What the user is told. `path`: the messages of the tree that `request` is made of, up to the one it answers.

    Advice to shorten a message does not help who has attached a file.
    """
    parts = list(_parts(request, path))
    asked = next((message for message in reversed(request.messages or ()) if message.role == "user"), None)
    if asked is not None and asked.images:  # they have no letters, and take all the rest
        images = _TOKEN * error.prompt_tokens - sum(size for size, _advice in parts)
        parts.append((max(images, 0), "Most of that are images. Leave some of them out."))
    size, advice = max(parts, default=(0, ""))
    if not advice or size <= _MOST * sum(size for size, _advice in parts):
        return str(error)
    told = (
        f"The conversation is {error.prompt_tokens:,} tokens long, but this model reads at most "
        f"{error.max_context:,} and needs room to answer."
    )
    return f"{told} {advice}"


def _parts(request: GenerateRequest, path: Sequence[Node]) -> Iterator[tuple[int, str]]:
    """How many letters each part of what must be sent has, and what is said if most of them are there."""
    for message in request.messages or ():
        if message.role == "system":
            yield len(message.content), "Most of that is the system prompt. Shorten it in the settings of this chat."
    if request.tools:
        size = len(json.dumps(request.tools, ensure_ascii=False))
        yield size, "Most of that describes the tools of this chat. Choose fewer of them."
    begin = next((place for place in reversed(range(len(path))) if path[place].role == "user"), 0)
    is_cut = request.overflow != "error"
    if not is_cut:  # else the oldest are left out before anything is refused
        yield (
            sum(len(node.content) for node in path[:begin]),
            "Most of that was said earlier. Start a new chat, or let the oldest messages be left out: “When the "
            "context is full” in the settings of this chat.",
        )
    for node in path[begin : begin + 1]:
        yield from _parts_of_message(node, is_cut=is_cut)
    yield (
        sum(len(node.content) for node in path[begin + 1 :] if node.role == "tool"),
        "Most of that is what tools have replied. Ask for less at once, or start a new chat.",
    )
    written = sum(len(node.content) for node in path[begin + 1 :] if node.role == "assistant")
    yield (
        written + len(request.answer_text) + _TOKEN * len(request.answer_token_ids),
        "Most of that is the answer so far. Start a new chat with what matters of it.",
    )


def _parts_of_message(node: Node, *, is_cut: bool) -> Iterator[tuple[int, str]]:
    """`is_cut`: of files that are too long only passages are sent."""
    yield (
        len(split(node.content, node.attachments)[0]),
        "Most of that is your message. Shorten it, or attach the long part as a file: then the passages of it go along "
        "that fit your question."
        if is_cut
        else "Most of that is your message. Shorten it.",
    )
    for file in cut_files(node.content, node.attachments):
        sent = file.excerpt.text if file.excerpt is not None else file.text
        yield (
            len(sent),
            f"Most of that is “{file.name}”. Take it out, or attach a part of it."
            if is_cut
            else f"Most of that is “{file.name}”. Attach a part of it, or let passages of it go along: “When the "
            "context is full” in the settings of this chat.",
        )
    yield (
        sum(len(source.excerpt.text) for source in sources_of(node.attachments)),
        "Most of that are passages of documents. Start a new chat, or ask a shorter question about fewer of them.",
    )
