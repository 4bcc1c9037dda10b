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

    `expected` is the text that must come if the answer is made again by its recipe.
    """

    request: GenerateRequest
    asked_id: str
    continues: str | None = None
    expected: str | None = None


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
        cache_key=chat_id,
        now=datetime.fromtimestamp(path.tree.path(asked.id)[0].created),
    )
    return Question(request, asked.id)


def go_on(path: ShownPath, answer: Node, asked: Node, settings: ChatSettings, chat_id: str) -> Question:
    """Go on with an answer where it ends: by its tokens if they are known, else by its text.

    Raises:
        InvalidRequestError: the settings or the messages cannot be.
    """
    recipe = read_recipe(answer.recipe)
    fresh = ask(path, asked, settings, chat_id).request
    if recipe.token_ids and answer.status in ("stopped", "interrupted", "failed"):
        # With its seed and sampling it becomes what it would have become.
        request = replace(
            fresh, answer_token_ids=recipe.token_ids, sampling=recipe.sampling, max_tokens=recipe.max_tokens
        )
    else:
        request = replace(fresh, answer_text=answer.content, max_tokens=None)
    return Question(request, asked.id, continues=answer.id)


def run_again(path: ShownPath, answer: Node, asked: Node, settings: ChatSettings, chat_id: str) -> Question:
    """Make an answer again by its recipe: the same text must come.

    Raises:
        InvalidRequestError: the recipe or the messages cannot be.
    """
    recipe = read_recipe(answer.recipe)
    fresh = ask(path, asked, settings, chat_id).request
    request = replace(
        fresh,
        sampling=recipe.sampling,
        max_tokens=recipe.max_tokens,
        stop=recipe.stop,
        now=recipe.present or fresh.now,
    )
    return Question(request, asked.id, expected=answer.content)
