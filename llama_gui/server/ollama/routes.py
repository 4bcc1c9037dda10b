"""The routes of this protocol."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from llama_gui.server.about import version
from llama_gui.server.asgi import Receive, Scope, Send
from llama_gui.server.asked import Asked
from llama_gui.server.body import read_body, unless_gone
from llama_gui.server.error_shapes import in_words
from llama_gui.server.generating import Generator, send_json
from llama_gui.server.json_body import dump, read_object
from llama_gui.server.limits import ServerLimits
from llama_gui.server.ollama.about import show, tags
from llama_gui.server.ollama.lines import LineForm
from llama_gui.server.ollama.request import (
    in_words_of_chat,
    in_words_of_generate,
    read_ollama_chat,
    read_ollama_generate,
    wants_only_a_load,
)
from llama_gui.server.refusal import RefusedError
from llama_gui.server.request_fields import Fields
from llama_gui.server.served import Models, name_for
from llama_gui.server.visits import visit_of

Handler = Callable[[Scope, Receive, Send], Awaitable[None]]


class OllamaRoutes:
    """What can be asked. `since`: when the server began, in seconds since 1970."""

    def __init__(self, models: Models, limits: ServerLimits, generator: Generator, since: int) -> None:
        self._models = models
        self._limits = limits
        self._generator = generator
        self._since = since

    def handlers(self) -> list[tuple[str, str, Handler]]:
        """Each with its method and path."""
        chat = self._answering(read_ollama_chat, is_chat=True)
        generate = self._answering(read_ollama_generate, is_chat=False)
        return [
            ("POST", "/api/chat", in_words(chat, in_words_of_chat)),
            ("POST", "/api/generate", in_words(generate, in_words_of_generate)),
            ("POST", "/api/show", self._show),
            ("GET", "/api/tags", self._tags),
            ("GET", "/api/version", self._version),
        ]

    def _answering(self, read: Callable[[Mapping[str, Any]], Asked], *, is_chat: bool) -> Handler:
        async def handle(scope: Scope, receive: Receive, send: Send) -> None:
            body = await self._body(scope, receive)
            if wants_only_a_load(body):
                await unless_gone(self._load(Fields(body), send, is_chat=is_chat), receive)
                return
            asked = await asyncio.to_thread(read, body)
            await unless_gone(self._generator.answer(asked, visit_of(scope), send), receive)

        return handle

    async def _load(self, fields: Fields, send: Send, *, is_chat: bool) -> None:
        """Get a model ready. When it goes, this server decides: others may be using it."""
        if fields.get("keep_alive") in (0, "0", "0s"):
            raise RefusedError(400, "keep_alive is 0, but models are unloaded here when memory is short.")
        name = name_for(self._models, fields.text("model"))
        await self._generator.engines.engine(name)
        await send_json(send, dump(LineForm(name, is_chat).line(done=True, done_reason="load")))

    async def _show(self, scope: Scope, receive: Receive, send: Send) -> None:
        fields = Fields(await self._body(scope, receive))
        name = name_for(self._models, fields.text("model") or fields.text("name"))
        await send_json(send, dump(show(self._models.loaded().get(name))))

    async def _tags(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send_json(send, dump(tags(self._models.names(), dict(self._models.loaded()), self._since)))

    async def _version(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send_json(send, dump(version()))

    async def _body(self, scope: Scope, receive: Receive) -> dict[str, Any]:
        return await asyncio.to_thread(read_object, await read_body(scope, receive, self._limits))
