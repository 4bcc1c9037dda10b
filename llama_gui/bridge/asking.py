"""What is asked of the engine: requests made of a chat's tree, settings and recipes."""

import secrets
from dataclasses import dataclass, replace
from datetime import datetime

from llama_gui.chats.recipe import read_recipe
from llama_gui.chats.shown_path import ShownPath
from llama_gui.chats.tree import Node
from llama_gui.vocabulary import ChatSettings, GenerateRequest


@dataclass(frozen=True, slots=True)
class Question:
    """A request, the user's message that it answers, and the answer that it goes on with, if it does.

    `expected` is the text that must come if the answer is made again by its recipe. `model`: the key of the one that
    is asked; "": the application's current one.
    """

    request: GenerateRequest
    asked_id: str
    continues: str | None = None
    expected: str | None = None
    model: str = ""


def ask(path: ShownPath, asked: Node, settings: ChatSettings, chat_id: str) -> Question:
    """Answer a message of the user with the chat's settings.

    Raises:
        InvalidRequestError: the settings or the messages cannot be.
    """
    # The seed is drawn here, so that a half-written answer has its whole recipe on disk already.
    seed = settings.sampling.seed if settings.sampling.seed is not None else secrets.randbelow(2**32)
    request = GenerateRequest(
        messages=path.tree.messages(asked.id, settings.system_prompt),
        max_tokens=settings.max_tokens,
        sampling=replace(settings.sampling, seed=seed),
        stop=settings.stop,
        min_tokens=settings.min_tokens or 0,
        overflow=settings.overflow or "drop_oldest",
        cache_key=chat_id,
        now=datetime.fromtimestamp(path.tree.path(asked.id)[0].created),
    )
    return Question(request, asked.id, model=settings.model)


def go_on(
    path: ShownPath, answer: Node, asked: Node, settings: ChatSettings, chat_id: str, writer: str = ""
) -> Question:
    """Go on with an answer where it ends: by its tokens if they are known, else by its text.

    `writer`: the key of the model that wrote it, if it can be had; tokens mean nothing to another one.

    Raises:
        InvalidRequestError: the settings or the messages cannot be.
    """
    recipe = read_recipe(answer.recipe)
    fresh = ask(path, asked, settings, chat_id).request
    if writer and recipe.token_ids and answer.status in ("stopped", "interrupted", "failed"):
        # With its seed and sampling it becomes what it would have become.
        request = replace(
            fresh,
            answer_token_ids=recipe.token_ids,
            sampling=recipe.sampling,
            max_tokens=recipe.max_tokens,
            min_tokens=recipe.min_tokens,
        )
    else:
        request = replace(fresh, answer_text=answer.content, max_tokens=None, min_tokens=0)
    return Question(request, asked.id, continues=answer.id, model=writer or settings.model)


def run_again(
    path: ShownPath, answer: Node, asked: Node, settings: ChatSettings, chat_id: str, writer: str = ""
) -> Question:
    """Make an answer again by its recipe: the same text must come. `writer`: see `go_on`.

    Raises:
        InvalidRequestError: the recipe or the messages cannot be.
    """
    recipe = read_recipe(answer.recipe)
    fresh = ask(path, asked, settings, chat_id).request
    request = replace(
        fresh,
        sampling=recipe.sampling,
        max_tokens=recipe.max_tokens,
        min_tokens=recipe.min_tokens,
        stop=recipe.stop,
        now=recipe.present or fresh.now,
    )
    return Question(request, asked.id, expected=answer.content, model=writer or settings.model)
