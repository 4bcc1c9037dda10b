"""The address of a remote server as its user types it -> the one that is meant."""

import ipaddress
import re
from urllib.parse import urlsplit

from llama_gui.hosts import is_nearby

_BARE = re.compile(r"(\[[0-9a-fA-F:]+\]|[A-Za-z0-9._-]+):\d+(/.*)?")
"""A host and a port, as people type them."""
_NAME = re.compile(r"(?:[A-Za-z0-9_-]+\.)+[A-Za-z0-9-]{2,}(/.*)?")
"""A host with a dot, as addresses are written elsewhere; the last part of a number may be shorter."""
_NO_PATH = re.compile(r"https?://[^/?#]+", re.IGNORECASE)
_PATHS = {
    "api.anthropic.com": "/v1",
    "api.cerebras.ai": "/v1",
    "api.fireworks.ai": "/inference/v1",
    "api.groq.com": "/openai/v1",
    "api.mistral.ai": "/v1",
    "api.openai.com": "/v1",
    "api.together.xyz": "/v1",
    "api.x.ai": "/v1",
    "integrate.api.nvidia.com": "/v1",
    "openrouter.ai": "/api/v1",
    "router.huggingface.co": "/v1",
}
"""Where services have OpenAI's protocol that are known by the name of their host alone."""


def whole_address(typed: str, kept: str = "") -> str:
    """The address of a server as it was typed, or as it was meant. `kept`: the one it has; that is never changed.

    127.0.0.1:8000 is http://127.0.0.1:8000/v1, and so is http://127.0.0.1:8000: programs print where they listen
    without the path that clients need. Services on the internet print the whole address, and some have no path; there
    `with_path` is for when it does not answer. A slash at the end says that there is none. api.openai.com is
    https://api.openai.com/v1.
    """
    typed = typed.strip()
    if typed == kept:
        return typed
    if _BARE.fullmatch(typed):
        typed = f"http://{typed}"
    elif _NAME.fullmatch(typed) or _is_number(typed.partition("/")[0]):
        typed = f"{'http' if is_nearby(typed.partition('/')[0]) else 'https'}://{typed}"
    return typed + _path(typed) if _NO_PATH.fullmatch(typed) else typed


def with_path(address: str) -> str:
    """The address that may be meant when one without a path does not answer; "" where one has a path."""
    return f"{address}/v1" if _NO_PATH.fullmatch(address) else ""


def name_of_address(typed: str) -> str:
    """What a server is called that was given no name: its host, and its port where it has one; "" where none is."""
    try:
        return urlsplit(whole_address(typed)).netloc.rpartition("@")[2]
    except ValueError:  # half an address is being typed
        return ""


def _is_number(host: str) -> bool:
    """Whether it is an address of the internet's protocol; one of version 6 stands in brackets."""
    kind = ipaddress.IPv6Address if host.startswith("[") and host.endswith("]") else ipaddress.IPv4Address
    try:
        kind(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def _path(address: str) -> str:
    """What is missing at an address that has no path; "" where that cannot be known."""
    try:
        parts = urlsplit(address)
        host, has_port = parts.hostname or "", parts.port is not None
    except ValueError:  # half an address, or a port that cannot be: it is refused as it is
        return ""
    return _PATHS.get(host) or ("/v1" if has_port or is_nearby(host) else "")
