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

from llama_gui.server.body import HungUpError, read_body, unless_gone
from llama_gui.server.generating import Generator, send_json
from llama_gui.server.json_body import dump, read_object
from llama_gui.server.limits import ServerLimits
from llama_gui.server.metrics import Metrics
from llama_gui.server.refusal import RefusedError, refusal_of, wrong
from llama_gui.server.request_fields import Fields
from llama_gui.server.schema import Asked, read_chat, read_completion, template_variables
from llama_gui.server.security import Receive, Scope, Send, send_refusal
from llama_gui.server.served import Models, ServedEngine, name_for, refusal_by
from llama_gui.server.tools import read_tools
from llama_gui.server.turns import read_messages

Handler = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_IDS = 1_000_000

_log = logging.getLogger(__name__)


class RouteApp:
    """A route as an ASGI application: whatever goes wrong in it becomes an error in the protocol's shape."""

    def __init__(self, handler: Handler, metrics: Metrics, name: str) -> None:
        self._handler = handler
        self._metrics = metrics
        self._name = name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        status = 0

        async def noting_send(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._handler(scope, receive, noting_send)
        except HungUpError:
            self._metrics.hung_up += 1
        except Exception as error:
            refused = refusal_of(error)
            if status:  # the answer has begun, so it cannot be another one; the connection ends in the middle
                raise
            await send_refusal(refused, noting_send)
        finally:
            self._metrics.requests[self._name, status] += 1


class Routes:
    """What can be asked. `app` is without any protection: see `security.Guard`."""

    def __init__(self, models: Models, limits: ServerLimits) -> None:
        self._models = models
        self._limits = limits
        self._started = int(time.time())
        self.metrics = Metrics()
        self.generator = Generator(models, limits, self.metrics)

    def app(self) -> Starlette:
        """The ASGI application."""
        routes = [
            self._route("GET", "/health", self._health),
            self._route("GET", "/metrics", self._metrics_text),
            self._route("GET", "/v1/models", self._list_models),
            self._route("GET", "/v1/models/{name:path}", self._show_model),
            self._route("POST", "/v1/chat/completions", self._generating(read_chat)),
            self._route("POST", "/v1/completions", self._generating(read_completion)),
            self._route("POST", "/tokenize", self._asking(self._tokenize)),
            self._route("POST", "/detokenize", self._asking(self._detokenize)),
        ]
        app = Starlette(routes=routes, exception_handlers={HTTPException: _on_http_exception})
        app.router.redirect_slashes = False
        return app

    def _route(self, method: str, path: str, handler: Handler) -> Route:
        return Route(path, RouteApp(handler, self.metrics, path), methods=[method])

    # --- what is there

    async def _health(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send_json(send, dump({"status": "ok"}))

    async def _metrics_text(self, scope: Scope, receive: Receive, send: Send) -> None:
        gate = self.generator.gate
        text = self.metrics.text(self._models.loaded(), gate.taken, gate.waiting)
        kind = "text/plain; version=0.0.4; charset=utf-8"
        await Response(text, media_type=kind)(scope, receive, send)

    async def _list_models(self, scope: Scope, receive: Receive, send: Send) -> None:
        entries = [self._model_fields(name) for name in self._models.names()]
        await send_json(send, dump({"object": "list", "data": entries}))

    async def _show_model(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = name_for(self._models, scope["path_params"]["name"])
        await send_json(send, dump(self._model_fields(name)))

    def _model_fields(self, name: str) -> dict[str, Any]:
        fields = {"id": name, "object": "model", "created": self._started, "owned_by": "llama-gui"}
        engine = self._models.loaded().get(name)
        return {**fields, "max_model_len": engine.info.max_context} if engine is not None else fields

    # --- generation

    def _generating(self, read: Callable[[Mapping[str, Any]], Asked]) -> Handler:
        async def handle(scope: Scope, receive: Receive, send: Send) -> None:
            body = await read_body(scope, receive, self._limits)
            # In another thread, because a large body would hold up everybody's streams.
            asked = await asyncio.to_thread(lambda: read(read_object(body)))
            await unless_gone(self.generator.answer(asked, send), receive)

        return handle

    # --- tokens

    def _asking(self, work: Callable[[ServedEngine, Fields], dict[str, Any]]) -> Handler:
        """A route that asks a model and generates nothing."""

        async def handle(scope: Scope, receive: Receive, send: Send) -> None:
            body = await read_body(scope, receive, self._limits)
            fields = Fields(await asyncio.to_thread(read_object, body))
            engine = await self.generator.engines.engine(name_for(self._models, fields.text("model")))

            def answer() -> bytes:
                try:
                    return dump(work(engine, fields))
                except Exception as error:
                    raise refusal_by(engine, error, is_chat=fields.has("messages")) from error

            await send_json(send, await asyncio.to_thread(answer))

        return handle

    @staticmethod
    def _tokenize(engine: ServedEngine, fields: Fields) -> dict[str, Any]:
        """As vLLM has it (`prompt` or `messages`), and as llama.cpp does (`content`)."""
        if fields.has("messages"):
            generation = fields.get("add_generation_prompt") is None or fields.flag("add_generation_prompt")
            tools, variables = read_tools(fields), template_variables(fields) or {}
            if fields.flag("continue_final_message"):
                raise fields.wrong("continue_final_message", "false: only /v1/chat/completions goes on with a message")
            ids = engine.apply_chat_template(
                read_messages(fields),
                tokenize=True,
                **{"add_generation_prompt": generation, "tools": tools.schemas if tools else None, **variables},
            )
        else:
            name = "prompt" if fields.has("prompt") else "content"
            text = fields.text(name)
            if text is None:
                raise RefusedError(400, "Give prompt, content or messages.", param="prompt")
            asked = fields.has("add_special_tokens") or fields.has("add_special")
            special = fields.flag("add_special_tokens") or fields.flag("add_special") if asked else name == "prompt"
            ids = engine.tokenizer.encode(text, add_special_tokens=special)
        return {"tokens": ids, "count": len(ids), "max_model_len": engine.info.max_context}

    @staticmethod
    def _detokenize(engine: ServedEngine, fields: Fields) -> dict[str, Any]:
        """`prompt` is vLLM's name for the text, `content` llama.cpp's."""
        ids = fields.get("tokens")
        if not isinstance(ids, list) or len(ids) > MOST_IDS or not all(type(i) is int and 0 <= i < 2**31 for i in ids):
            raise wrong("tokens", ids, "a list of token ids")
        text = engine.tokenizer.decode(ids, skip_special_tokens=False)
        return {"prompt": text, "content": text}


async def _on_http_exception(request: Request, error: Exception) -> Response:
    """What Starlette refuses by itself: unknown routes and wrong methods."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    path, method = request.url.path[:100], request.method
    words = f"{path} does not take {method}." if status == 405 else f"There is no {path} here."
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    refused = RefusedError(status, words, code="not_found" if status == 404 else "method_not_allowed")
    return Response(dump(refused.body), status, headers, media_type="application/json")
