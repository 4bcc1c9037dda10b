"""Where the hub is, who we are there, and where its cache lies: what HF_ENDPOINT, HF_HOME and HF_TOKEN say."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self
from urllib.parse import parse_qs, quote, unquote, urlsplit

from llama_gui.errors import HubError, HubOfflineError
from llama_gui.hosts import is_this_machine

PUBLIC_ENDPOINT = "https://huggingface.co"
_PUBLIC_HOSTS = frozenset({"huggingface.co", "www.huggingface.co", "hf.co"})

_BELOW_MODELS = frozenset({"tree", "blob", "resolve", "raw"})

_TAGGED = re.compile(r"(?P<repo>[^/:\\]+/[^/:\\]+):(?P<kind>[\w.-]+)")
"""A model and one of its kinds; no web address, which would have a second stroke, and no path of Windows."""

_TRUE = {"1", "ON", "YES", "TRUE"}
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class HubPlace:
    """What an address of the hub is of: a model, at a `revision` or ""; `file`: one GGUF file of it, or "".

    `file` is its path, or only its kind; see `plan.named_gguf`.
    """

    repo: str = ""
    revision: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class HubAccess:
    """How the hub is reached. `cache` is the folder that every Hugging Face tool shares; `token` None: as anybody."""

    endpoint: str
    cache: Path
    token: str | None = field(default=None, repr=False)
    is_offline: bool = False

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ, token: str | None = None) -> Self:
        """As the environment says; `token` is for when it names none."""
        home = hub_home(environment)
        cache = environment.get("HF_HUB_CACHE") or environment.get("HUGGINGFACE_HUB_CACHE")
        return cls(
            endpoint=(environment.get("HF_ENDPOINT") or PUBLIC_ENDPOINT).rstrip("/"),
            cache=Path(cache).expanduser() if cache else home / "hub",
            token=clean_token(environment.get("HF_TOKEN")) or token,
            is_offline=any(environment.get(n, "").upper() in _TRUE for n in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")),
        )

    def page(self, repo: str) -> str:
        """The web page of a model."""
        return f"{self.endpoint}/{repo}"

    def place_at(self, address: str) -> "HubPlace":
        """The model whose page, or something below it, is at this web address of the hub; no `repo`: there is none.

        People copy it from their browser, with or without the scheme. ``hf.co/OWNER/NAME:Q4_K_M``, as Ollama has it, is
        one, too, and so is what llama.cpp's ``-hf`` takes: ``OWNER/NAME:Q4_K_M``.
        """
        address = address.strip()
        if any(mark.isspace() for mark in address):
            return HubPlace()
        if tagged := _TAGGED.fullmatch(address):
            return HubPlace(tagged["repo"], file=_kind(tagged["kind"]))
        whole = address if "://" in address else f"https://{address}"
        if origin(whole)[1] not in _PUBLIC_HOSTS | {origin(self.endpoint)[1]}:
            return HubPlace()
        parts = urlsplit(whole)
        owner, name, *below = [*parts.path.strip("/").split("/"), ""]
        name, _, kind = name.partition(":")
        if not name:
            return HubPlace()
        repo, (below_models, revision, *path) = f"{owner}/{name}", [*below, "", "", ""]
        if below_models not in _BELOW_MODELS:
            revision, path = "", []
        shown = parse_qs(parts.query).get("show_file_info", [""])[0]  # the hub's page opens a pane about that file
        file = unquote("/".join(path).strip("/")) or shown
        return HubPlace(repo, unquote(revision), file if file.endswith(".gguf") else _kind(kind))

    def file_url(self, repo: str, commit: str, path: str) -> str:
        """Where the bytes of a file are asked for."""
        return f"{self.endpoint}/{repo}/resolve/{commit}/{quote(path)}"

    def headers_for(self, url: str) -> dict[str, str]:
        """What to send to `url`: the token goes to the hub itself and to nobody whom it redirects to."""
        headers = {"User-Agent": "llama-gui", "Accept-Encoding": "identity"}
        if self.token and origin(url) == origin(self.endpoint):
            headers["Authorization"] = f"Bearer {self.token}"
        return headers

    def check_online(self) -> None:
        """Before the first question.

        Raises:
            HubOfflineError: offline mode is on.
            HubError: the address of the hub is none, or the token would go there for everybody to read.
        """
        if self.is_offline:
            raise HubOfflineError("Offline mode is on, so the hub was not asked. Turn it off to search or download.")
        scheme, host, _ = origin(self.endpoint)
        if scheme not in _PORTS or not host:
            raise HubError(f"HF_ENDPOINT is {self.endpoint[:100]!r}, but it must be an address like {PUBLIC_ENDPOINT}.")
        if self.token and scheme == "http" and not is_this_machine(host):
            raise HubError(
                f"{self.endpoint} is not encrypted, so the token was not sent to {host}. Use an https address for "
                "HF_ENDPOINT, or sign out."
            )


def _kind(tag: str) -> str:
    """What stands behind the colon; "latest" is how Ollama says nothing."""
    return "" if tag.lower() == "latest" else tag


def hub_home(environment: Mapping[str, str] = os.environ) -> Path:
    """The folder of all Hugging Face tools: HF_HOME, else in the user's cache."""
    home = environment.get("HF_HOME")
    if home:
        return Path(home).expanduser()
    return Path(environment.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "huggingface"


def clean_token(text: str | None) -> str | None:
    """A token without the line breaks that come with copying; None when nothing is left."""
    return "".join((text or "").split()) or None


def origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port."""
    try:
        parts = urlsplit(url)
        return parts.scheme, (parts.hostname or "").lower(), parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:  # a port that is none, half an address of IPv6
        return "", "", 0
