"""The routes: each reads its request, asks, and answers. Nothing in a request is ever taken for a path or a file."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from llama_gui.server.about import load, tokenizer_info, version
from llama_gui.server.asgi import App, Receive, Scope, Send
from llama_gui.server.asked import Asked
from llama_gui.server.body import HungUpError, read_body, unless_gone
from llama_gui.server.elsewhere import why_not
from llama_gui.server.embedding import (
    EmbedAsked,
    answer_embeddings,
    read_embed,
    read_embeddings,
    read_old_embeddings,
)
from llama_gui.server.error_shapes import in_words, refusal_body
from llama_gui.server.generating import Generator, send_json
from llama_gui.server.json_body import dump, read_object
from llama_gui.server.limits import ServerLimits
from llama_gui.server.messages.count import count_tokens
from llama_gui.server.messages.errors import in_these_words as in_words_of_messages
from llama_gui.server.messages.errors import is_of_anthropic
from llama_gui.server.messages.models import listed, model_fields
from llama_gui.server.messages.request import read_message
from llama_gui.server.metrics import Metrics
from llama_gui.server.ollama.routes import OllamaRoutes
from llama_gui.server.refusal import RefusedError, refusal_of
from llama_gui.server.request_fields import Fields
from llama_gui.server.responses.request import in_these_words as in_words_of_responses
from llama_gui.server.responses.request import read_response
from llama_gui.server.schema import read_chat, read_completion
from llama_gui.server.served import Models, ServedEngine, name_for, refusal_by
from llama_gui.server.tokens import detokenize, tokenize
from llama_gui.server.visits import refuse, visit_of

Handler = Callable[[Scope, Receive, Send], Awaitable[None]]

_log = logging.getLogger(__name__)


class RouteApp:
    """A route as an ASGI application: whatever goes wrong in it becomes an error in the protocol's shape."""

    def __init__(self, handler: Handler, metrics: Metrics, name: str) -> None:
        self._handler = handler
        self._metrics = metrics
        self._name = name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        visit = visit_of(scope)
        visit.route = self._name
        try:
            await self._handler(scope, receive, send)
        except HungUpError:
            visit.hung_up = visit.code is None  # else we did, because its body was no HTTP
            self._metrics.hung_up += visit.hung_up
        except Exception as error:
            refused = refusal_of(error)
            if visit.status:  # the answer has begun, so it cannot be another one; the connection ends in the middle
                visit.code = refused.code
                raise
            await refuse(refused, scope, send)


class Routes:
    """What can be asked. `app` is without any protection, see `security.Guard`, and behind a `visits.Reception`."""

    def __init__(self, models: Models, limits: ServerLimits) -> None:
        self._models = models
        self._limits = limits
        self._started = int(time.time())
        self.metrics = Metrics()
        self.generator = Generator(models, limits, self.metrics)

    def app(self) -> App:
        """The ASGI application."""
        counting = self._asking(count_tokens, stands_in=True)
        routes = [
            self._route("GET", "/health", self._health),
            self._route("GET", "/ping", self._health),
            self._route("GET", "/version", self._telling(version)),
            self._route("GET", "/load", self._telling(lambda: load(self.generator.gate))),
            self._route("GET", "/metrics", self._metrics_text),
            self._route("GET", "/v1/models", self._list_models),
            self._route("GET", "/v1/models/{name:path}", self._show_model),
            self._route("POST", "/v1/chat/completions", self._generating(read_chat)),
            self._route("POST", "/v1/completions", self._generating(read_completion)),
            self._route("POST", "/v1/embeddings", self._embedding(read_embeddings)),
            self._route("POST", "/api/embed", self._embedding(read_embed)),
            self._route("POST", "/api/embeddings", self._embedding(read_old_embeddings)),
            self._route("POST", "/v1/responses", in_words(self._generating(read_response), in_words_of_responses)),
            self._route("POST", "/v1/messages", in_words(self._generating(read_message), in_words_of_messages)),
            self._route("POST", "/v1/messages/count_tokens", in_words(counting, in_words_of_messages)),
            self._route("GET", "/tokenizer_info", self._tokenizer_info),
            self._route("POST", "/tokenize", self._asking(tokenize)),
            self._route("POST", "/detokenize", self._asking(detokenize)),
        ]
        ollama = OllamaRoutes(self._models, self._limits, self.generator, self._started)
        routes += [self._route(*named) for named in ollama.handlers()]
        app = Starlette(routes=routes, exception_handlers={HTTPException: _refuse_unknown})
        app.router.redirect_slashes = False
        return _without_end_slash(app)

    def _route(self, method: str, path: str, handler: Handler) -> Route:
        return Route(path, RouteApp(handler, self.metrics, path), methods=[method])

    # --- what is there

    async def _health(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send_json(send, dump({"status": "ok"}))

    def _telling(self, tell: Callable[[], dict[str, Any]]) -> Handler:
        async def handle(scope: Scope, receive: Receive, send: Send) -> None:
            await send_json(send, dump(tell()))

        return handle

    async def _metrics_text(self, scope: Scope, receive: Receive, send: Send) -> None:
        gate = self.generator.gate
        text = self.metrics.text(self._models.loaded(), gate.taken, gate.waiting)
        kind = "text/plain; version=0.0.4; charset=utf-8"
        await Response(text, media_type=kind)(scope, receive, send)

    async def _list_models(self, scope: Scope, receive: Receive, send: Send) -> None:
        entries = [self._model_fields(name, scope) for name in self._models.names()]
        told = listed(entries) if is_of_anthropic(scope) else {"object": "list", "data": entries}
        await send_json(send, dump(told))

    async def _show_model(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = name_for(self._models, scope["path_params"]["name"])
        await send_json(send, dump(self._model_fields(name, scope)))

    def _model_fields(self, name: str, scope: Scope) -> dict[str, Any]:
        engine = self._models.loaded().get(name)
        max_context = None if engine is None else engine.info.max_context
        if is_of_anthropic(scope):
            return model_fields(name, self._started, max_context)
        fields = {"id": name, "object": "model", "created": self._started, "owned_by": "llama-gui"}
        return fields if max_context is None else {**fields, "max_model_len": max_context}

    # --- generation

    def _generating(self, read: Callable[[Mapping[str, Any]], Asked]) -> Handler:
        async def handle(scope: Scope, receive: Receive, send: Send) -> None:
            body = await read_body(scope, receive, self._limits)
            # In another thread, because a large body would hold up everybody's streams.
            asked = await asyncio.to_thread(lambda: read(read_object(body)))
            await unless_gone(self.generator.answer(asked, visit_of(scope), send), receive)

        return handle

    def _embedding(self, read: Callable[[Mapping[str, Any]], EmbedAsked]) -> Handler:
        async def handle(scope: Scope, receive: Receive, send: Send) -> None:
            body = await read_body(scope, receive, self._limits)
            asked = await asyncio.to_thread(lambda: read(read_object(body)))
            await unless_gone(answer_embeddings(self.generator, asked, visit_of(scope), send), receive)

        return handle

    # --- tokens

    async def _tokenizer_info(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = name_for(self._models, Request(scope).query_params.get("model"))
        engine = await self.generator.engines.engine(name)
        await send_json(send, dump(tokenizer_info(engine)))

    def _asking(self, work: Callable[[ServedEngine, Fields], dict[str, Any]], *, stands_in: bool = False) -> Handler:
        """A route that asks a model and generates nothing. `stands_in`: see `name_for`."""

        async def handle(scope: Scope, receive: Receive, send: Send) -> None:
            body = await read_body(scope, receive, self._limits)
            fields = Fields(await asyncio.to_thread(read_object, body))
            name = name_for(self._models, fields.text("model"), stands_in=stands_in)
            engine = await self.generator.engines.engine(name)

            def answer() -> bytes:
                try:
                    return dump(work(engine, fields))
                except Exception as error:
                    raise refusal_by(engine, error, is_chat=fields.has("messages")) from error

            await send_json(send, await asyncio.to_thread(answer))

        return handle


def _without_end_slash(app: App) -> App:
    """The same routes with a slash behind them: some clients join addresses so. A redirection would lose the body."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, "path": scope["path"].rstrip("/") or "/"}, receive, send)

    return answer


async def _refuse_unknown(request: Request, error: Exception) -> Response:
    """What Starlette refuses by itself: unknown routes and wrong methods."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    path, method = request.url.path[:100], request.method
    words = f"{path} does not take {method}." if status == 405 else f"There is no {path} here."
    words = why_not(path) or words if status == 404 else words
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    refused = RefusedError(status, words, code="not_found" if status == 404 else "method_not_allowed")
    visit = visit_of(request.scope)
    visit.code = refused.code
    body = dump(refusal_body(refused, request.scope, visit.id))
    return Response(body, status, headers, media_type="application/json")
