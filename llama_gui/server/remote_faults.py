"""What it means when a remote server cannot be reached or refuses, in words for a person. Pure."""

import httpx2

from llama_gui.server.endpoint import Endpoint


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
        wait = str(response.headers.get("retry-after", ""))[:20]
        return f"{endpoint.name} has too much to do{f'; try again in {wait} s' if wait.isdigit() else ''}.{said}"
    return f"{endpoint.name} refuses the request with status {status}.{said}"
