"""What it means when a remote server cannot be reached or refuses, in words for a person. Pure."""

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx2

from llama_gui.server.endpoint import Endpoint

_PASSING = (502, 503, 504, 529)
"""It is loading a model, restarting or has too much to do; 529 is Anthropic's."""
_FEW_S, _LONGEST_S = 120, 24 * 3600


def unreachable(endpoint: Endpoint, error: httpx2.HTTPError, *, began: bool = False) -> str:
    """Why nothing, or nothing more, comes; one sentence."""
    if began:
        return f"The connection to {endpoint.name} broke in the middle of the answer."
    if isinstance(error, httpx2.ConnectTimeout | httpx2.ReadTimeout):
        return f"{endpoint.name} does not answer at {endpoint.base_url}."
    if isinstance(error, httpx2.ConnectError):
        return f"Nothing can be reached at {endpoint.base_url}. Is the server of {endpoint.name} running?"
    return f"{endpoint.name} ended the connection without an answer."


def refused(endpoint: Endpoint, response: httpx2.Response, words: str) -> str:
    """What a status means that is not 200; one sentence or two."""
    status, said = response.status_code, f" It says: {words}" if words else ""
    if 300 <= status < 400:
        place = str(response.headers.get("location", ""))[:200]
        unsent = ", and your key is not sent there" if endpoint.key else ""
        return f"{endpoint.name} sends to another address ({place}){unsent}. If you trust it, enter it yourself."
    if status == 401 and not endpoint.key:
        return f"{endpoint.name} wants a key.{said}"
    if status in (401, 403):
        return f"{endpoint.name} does not take the key.{said}"
    if status == 404:
        return f"{endpoint.name} does not know this model, or its address does not end in /v1.{said}"
    if status == 429:
        return f"{endpoint.name} has too much to do, or takes no more from you. {_when(response)}{said}"
    if status in _PASSING:
        return f"{endpoint.name} cannot answer just now (status {status}). {_when(response)}{said}"
    return f"{endpoint.name} refuses the request with status {status}.{said}"


def _when(response: httpx2.Response) -> str:
    """When to come again, as far as the server says it."""
    wait = _seconds(str(response.headers.get("retry-after", ""))[:40])
    if wait is None or wait > _LONGEST_S:
        return "Try again later, or choose another model."
    # No line ends between a number and its unit.
    return f"Try again in {wait}\u00a0s." if wait <= _FEW_S else f"Try again in {math.ceil(wait / 60)}\u00a0min."


def _seconds(text: str) -> int | None:
    """What the header Retry-After says, which has seconds or a date; None for anything else, and for the past."""
    if text.isascii() and text.isdigit():
        return int(text) or None
    try:
        wait = math.ceil((parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):  # TypeError: it names no zone
        return None
    return wait if wait > 0 else None
