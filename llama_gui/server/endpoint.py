"""Somebody else's server: its address, its key, and what it says about itself."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx2

from llama_gui.certificates import certificates
from llama_gui.errors import InvalidRequestError
from llama_gui.hosts import is_nearby, is_this_machine

Dialect = Literal["openai", "vllm", "sglang", "llama.cpp", "ollama", "lmstudio", "llama-gui", "other"]

_OWNERS: dict[str, Dialect] = {
    "vllm": "vllm",
    "sglang": "sglang",
    "llamacpp": "llama.cpp",
    "library": "ollama",
    "organization_owner": "lmstudio",
    "llama-gui": "llama-gui",
    "openai": "openai",
    "openai-internal": "openai",
    "system": "openai",
}

_HOST = re.compile(r"[A-Za-z0-9._-]+|\[?[0-9A-Fa-f:.]+\]?")


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds. `first`: until the first word, for which a server may have to load a model; `idle`: between words;
    `after`: for what may still come behind the last one.
    """

    connect: float = 10.0
    first: float = 600.0
    idle: float = 120.0
    after: float = 5.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible server. `base_url` is what its clients are given, mostly ending in ``/v1``.

    Plain http, on which everybody on the way reads along, is for this machine, unless `allow_plain_http`.

    Raises:
        InvalidRequestError: the address or the key cannot be used.
    """

    name: str
    base_url: str
    key: str = field(default="", repr=False)
    allow_plain_http: bool = False
    timeouts: Timeouts = field(default_factory=Timeouts)

    def __post_init__(self) -> None:
        url = self._parsed()
        allowed = "an address like https://server.example/v1"
        is_host = _HOST.fullmatch(url.raw_host.decode("latin-1"))
        if url.scheme not in ("http", "https") or not is_host or not 0 < (url.port or 80) < 65536:
            raise InvalidRequestError("base_url", self.base_url[:200], allowed)
        if url.userinfo or url.query or url.fragment:
            raise InvalidRequestError("base_url", url.host, f"{allowed}, without a name, a question mark or a hash")
        if url.scheme == "http" and not self.is_on_this_machine and not self.allow_plain_http:
            raise InvalidRequestError(
                "base_url", self.base_url[:200], "https, unless plain http to another machine is allowed by you"
            )
        if not all("!" <= letter <= "~" for letter in self.key):
            raise InvalidRequestError("key", "of another form", "visible ASCII letters without spaces")

    def _parsed(self) -> httpx2.URL:
        try:
            return httpx2.URL(self.base_url)
        except (httpx2.InvalidURL, TypeError) as error:
            raise InvalidRequestError("base_url", self.base_url[:200], "an address") from error

    @property
    def is_on_this_machine(self) -> bool:
        """Whether it is reached without leaving this machine."""
        return is_this_machine(self._parsed().host)

    @property
    def is_on_internet(self) -> bool:
        """Whether it is neither on this machine nor in a network around it, as far as the address tells."""
        return not is_nearby(self._parsed().host)

    def url(self, path: str) -> str:
        """The address of one of its routes."""
        return f"{self.base_url.rstrip('/')}/{path}"

    @property
    def headers(self) -> dict[str, str]:
        """What every request to it says; the key is sent to no other host, because redirects are not followed."""
        plain = {"Accept-Encoding": "identity", "User-Agent": "llama-gui"}
        return {**plain, "Authorization": f"Bearer {self.key}"} if self.key else plain

    @property
    def client_options(self) -> dict[str, Any]:
        """How httpx2 is to reach it. Proxies are for encrypted connections to elsewhere."""
        trust_env = self._parsed().scheme == "https" and not self.is_on_this_machine
        return {
            "headers": self.headers,
            "follow_redirects": False,
            "trust_env": trust_env,
            "verify": certificates(trust_env=trust_env),
            "timeout": httpx2.Timeout(None, connect=self.timeouts.connect, write=30.0),
        }


@dataclass(frozen=True, slots=True)
class RemoteModel:
    """A model that a server has. `max_context` 0: it does not say."""

    name: str
    dialect: Dialect
    max_context: int = 0


def read_models(reply: Any, endpoint: Endpoint) -> list[RemoteModel]:
    """The models in the reply of ``/models``, and by their owner what kind of server it is."""
    entries = reply.get("data") if isinstance(reply, Mapping) else reply  # some send the bare list
    found = [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []
    return [
        RemoteModel(entry["id"], _dialect(entry, endpoint), _context(entry))
        for entry in found[:10_000]
        if isinstance(entry.get("id"), str)
    ]


def _dialect(entry: Mapping[str, Any], endpoint: Endpoint) -> Dialect:
    if httpx2.URL(endpoint.base_url).host == "api.openai.com":
        return "openai"
    owner = entry.get("owned_by")
    return _OWNERS.get(owner, "other") if isinstance(owner, str) else "other"


def _context(entry: Mapping[str, Any]) -> int:
    meta = entry.get("meta")
    meta = meta if isinstance(meta, Mapping) else {}
    said = [entry.get(name) for name in ("max_model_len", "max_context_length", "context_length", "context_window")]
    places = (said[0], meta.get("n_ctx"), *said[1:], meta.get("n_ctx_train"))
    return next((value for value in places if isinstance(value, int) and 0 < value < 2**31), 0)
