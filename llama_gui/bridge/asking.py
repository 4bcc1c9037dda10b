"""What is asked of the engine: requests made of a chat's tree, settings and recipes."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from llama_gui.chats.attachments import Attachment, Draft
from llama_gui.chats.message_files import compose
from llama_gui.chats.message_images import images_in, joined_messages
from llama_gui.chats.recipe import Recipe, is_cut_short, read_recipe
from llama_gui.chats.shown_path import ShownPath
from llama_gui.chats.tool_use import offered, schemas
from llama_gui.chats.tree import Node
from llama_gui.vocabulary import ChatSettings, GenerateRequest, Message, SamplingParams, ToolInfo

_SOME_TEXT = "…"
"""In the place of what is still being written."""

LIKELIEST = 8
"""Alternatives that are told for each token of an answer."""


@dataclass(frozen=True, slots=True)
class Question:
    """A request, what it answers (a message of the user, or a tool's reply), and the answer that it goes on with, if it
    does.

    `expected` is the text that must come if the answer is made again by its recipe. `model`: the key of the one that
    is asked; "": the application's current one. `given_tokens`: so many of the answer's first tokens are not the
    model's own, but chosen by somebody. `tools`: what the model may call, by the names that it is told.
    """

    request: GenerateRequest
    asked_id: str
    continues: str | None = None
    expected: str | None = None
    model: str = ""
    given_tokens: int = 0
    tools: Mapping[str, ToolInfo] = field(default_factory=dict[str, ToolInfo])


@dataclass(frozen=True, slots=True)
class AskedChat:
    """A chat as a model is asked to answer it: with its settings, and the tools that can be called now."""

    path: ShownPath
    settings: ChatSettings
    chat_id: str
    tools: Sequence[ToolInfo] = ()

    def ask(self, asked: Node) -> Question:
        """Answer a message of the user, or go on behind a tool's reply, with the chat's settings.

        Raises:
            InvalidRequestError: the settings or the messages cannot be.
        """
        settings = self.settings
        # The seed is drawn here, so that a half-written answer has its whole recipe on disk already.
        seed = settings.sampling.seed if settings.sampling.seed is not None else secrets.randbelow(2**32)
        named = offered(self.tools)
        request = GenerateRequest(
            messages=self.path.tree.messages(asked.id, settings.system_prompt),
            max_tokens=settings.max_tokens,
            sampling=replace(settings.sampling, seed=seed),
            stop=settings.stop,
            min_tokens=settings.min_tokens or 0,
            overflow=settings.overflow or "drop_oldest",
            cache_key=self.chat_id,
            now=_begun(self.path.tree.path(asked.id)),
            thinking=settings.thinking,
            tools=schemas(named) or None,
        )
        return Question(request, asked.id, model=settings.model, tools=named)

    def go_on(self, answer: Node, asked: Node, writer: str) -> Question:
        """Go on with an answer where it ends: by its tokens if they are known, else by its text.

        One that has reached its max tokens gets as many as the chat allows now, once more.

        `writer`: the key of the model that wrote it; "": it cannot be had, and tokens mean nothing to another one. The
        model is told of the tools that it was told of then.

        Raises:
            InvalidRequestError: the settings or the messages cannot be.
        """
        recipe = read_recipe(answer.recipe)
        question = self.ask(asked)
        fresh = replace(question.request, thinking=recipe.thinking, tools=recipe.tools or None)
        more = self.settings.max_tokens if recipe.finish_reason == "length" else None
        if writer and recipe.token_ids and is_cut_short(answer.status, recipe.finish_reason):
            # With its seed and sampling it becomes what it would have become.
            request = replace(
                fresh,
                answer_token_ids=recipe.token_ids,
                sampling=recipe.sampling,
                max_tokens=_once_more(recipe, more),
                min_tokens=recipe.min_tokens,
            )
        else:
            request = replace(fresh, answer_text=answer.content, max_tokens=more, min_tokens=0)
        given = recipe.given_tokens if request.answer_token_ids else 0
        model = writer or self.settings.model
        return replace(question, request=request, continues=answer.id, model=model, given_tokens=given)

    def run_again(self, answer: Node, asked: Node, writer: str) -> Question:
        """Make an answer again by its recipe: the same text must come. `writer`: see `go_on`.

        Raises:
            InvalidRequestError: the recipe or the messages cannot be.
        """
        recipe = read_recipe(answer.recipe)
        given = recipe.token_ids[: recipe.given_tokens]
        question = self._as_it_was(recipe, asked)
        return replace(
            question,
            request=replace(question.request, answer_token_ids=given),
            expected=recipe.written or answer.content,
            model=writer or self.settings.model,
            given_tokens=len(given),
        )

    def look_at(self, answer: Node, asked: Node, writer: str) -> Question:
        """Read the tokens of an answer once more, for their probabilities. `writer`: the model that wrote it.

        An answer that was stopped would go on: whoever asks has to cancel that.

        Raises:
            InvalidRequestError: the recipe or the messages cannot be.
        """
        recipe = read_recipe(answer.recipe)
        # Nobody's conversation: the chat's own stays in the cache as far as it is read.
        request = replace(
            self._as_it_was(recipe, asked).request,
            answer_token_ids=recipe.token_ids,
            prompt_logprobs=LIKELIEST,
            cache_key=None,
        )
        return Question(request, asked.id, model=writer)

    def turn(self, answer: Node, asked: Node, writer: str, token_ids: tuple[int, ...], *, ends: bool) -> Question:
        """A new version of an answer that begins with `token_ids`, and goes on as the answer was made.

        `ends`: nothing can come behind them, so they are only read.

        Raises:
            InvalidRequestError: the recipe or the messages cannot be.
        """
        question = self._as_it_was(read_recipe(answer.recipe), asked)
        request = replace(question.request, answer_token_ids=token_ids, prompt_logprobs=0 if ends else None)
        return replace(question, request=request, model=writer, given_tokens=len(token_ids))

    def _as_it_was(self, recipe: Recipe, asked: Node) -> Question:
        """The question with the request that an answer was made by."""
        question = self.ask(asked)
        fresh = question.request
        request = replace(
            fresh,
            sampling=recipe.sampling,
            max_tokens=recipe.max_tokens,
            min_tokens=recipe.min_tokens,
            stop=recipe.stop,
            now=recipe.present or fresh.now,
            thinking=recipe.thinking,
            tools=recipe.tools or None,
        )
        return replace(question, request=request)

    def read_ahead(self, files: Sequence[Attachment]) -> GenerateRequest:
        """A request that begins as that of the next message will, up to its text; files stand before that."""
        make = would_send(self.path, Draft(_SOME_TEXT, tuple(files)), None, self.settings, self.tools)
        assert make is not None  # the draft is not empty
        now, greedy = _begun(self.path.nodes()), SamplingParams(temperature=0)
        return replace(make(), cache_key=self.chat_id, now=now, sampling=greedy)


def would_send(
    path: ShownPath, draft: Draft, replaces: str | None, settings: ChatSettings, tools: Sequence[ToolInfo] = ()
) -> Callable[[], GenerateRequest] | None:
    """Makes the request that sending the draft now would come to; None: there is nothing to send.

    `replaces`: the message in whose place the draft will stand. What takes time is left to the callable.
    """
    shown = before_draft(path, replaces, is_empty=draft.is_empty)
    messages = path.tree.messages(shown[-1].id, settings.system_prompt) if shown else []
    if not shown and settings.system_prompt.strip():
        messages = [Message("system", settings.system_prompt)]
    if draft.is_empty and not messages:
        return None

    def make() -> GenerateRequest:
        sent = list(messages)
        if not draft.is_empty:
            said, where = compose(draft.text, draft.files, draft.sources)
            message = Message("user", said, images=images_in(said, where))
            if sent and sent[-1].role == "user":  # two turns of one role in a row are refused by many templates
                message = joined_messages(sent.pop(), message)
            sent.append(message)
        overflow = settings.overflow or "drop_oldest"
        return GenerateRequest(
            messages=sent,
            max_tokens=settings.max_tokens,
            overflow=overflow,
            thinking=settings.thinking,
            tools=schemas(offered(tools)) or None,
        )

    return make


def before_draft(path: ShownPath, replaces: str | None, *, is_empty: bool = False) -> list[Node]:
    """The messages behind which a draft will stand. `replaces`: the message in whose place it will."""
    shown = path.nodes()
    place = next((index for index, node in enumerate(shown) if node.id == replaces), len(shown))
    shown = shown[:place]
    if shown and not is_empty and shown[-1].role == "user" and shown[-1].status == "failed":
        shown.pop()  # the draft takes its place
    return shown


def _begun(nodes: Sequence[Node]) -> datetime:
    """When a conversation began, which stays its present: another date would change its prompt from the start."""
    return datetime.fromtimestamp(nodes[0].created) if nodes else datetime.now()


def _once_more(recipe: Recipe, more: int | None) -> int | None:
    """How many tokens an answer that goes on may have; those that it has count, too."""
    if recipe.finish_reason != "length":
        return recipe.max_tokens
    return None if more is None else len(recipe.token_ids) + more
