"""The bytes of one file: asked for where the last attempt ended, until they are all there."""

import asyncio
import contextlib
import random
import ssl
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

import httpx2

from llama_gui.certificates import certificates
from llama_gui.errors import DamagedDownloadError, DownloadError, GatedModelError, HubError, NotOnHubError
from llama_gui.library.access import HubAccess, origin
from llama_gui.library.pace import SpeedLimit
from llama_gui.library.part_file import PartFile
from llama_gui.library.plan import RemoteFile

_MOST_REDIRECTS = 6
_LONGEST_ORDERED_WAIT_S = 300.0


@dataclass(frozen=True, slots=True)
class Patience:
    """When to try again and when to give up. Seconds; `attempts` are those in a row that brought nothing new."""

    attempts: int = 8
    first_wait: float = 1.0
    longest_wait: float = 30.0
    connect: float = 10.0
    silence: float = 20.0

    def wait_before(self, attempt: int) -> float:
        """Twice as long each time, and not in step with everybody else whom the same fault hit."""
        return min(self.first_wait * 2 ** (attempt - 1), self.longest_wait) * random.uniform(0.75, 1.0)


class _AgainError(Exception):
    """This attempt is over, the next may be better. `wait`: for how long the server wants to be left alone."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


def new_client(patience: Patience) -> httpx2.AsyncClient:
    """A client that follows no redirects by itself: whoever follows decides who sees the token."""
    timeout = httpx2.Timeout(patience.silence, connect=patience.connect)
    return httpx2.AsyncClient(verify=certificates(trust_env=True), timeout=timeout, follow_redirects=False)


class Transfer:
    """One file on its way into a `PartFile`. `on_bytes` hears of each piece, `on_wait` why nothing comes just now."""

    def __init__(
        self,
        access: HubAccess,
        client: httpx2.AsyncClient,
        repo: str,
        commit: str,
        file: RemoteFile,
        *,
        limit: SpeedLimit,
        patience: Patience,
        on_bytes: Callable[[int], None],
        on_wait: Callable[[str], None],
    ) -> None:
        self._access = access
        self._client = client
        self._repo = repo
        self._file = file
        self._url = access.file_url(repo, commit, file.path)
        self._limit = limit
        self._patience = patience
        self._on_bytes = on_bytes
        self._on_wait = on_wait

    async def fetch(self, part: PartFile) -> None:
        """Bring all bytes of the file into the open `part`. Nothing is said about whether they are the right ones.

        Raises:
            DownloadError: no attempt brought anything new any more.
            HubError: the hub refuses the file.
            OSError: the disk refuses.
        """
        task = asyncio.current_task()
        assert task is not None
        cancelled_before = task.cancelling()
        failed = 0
        while part.offset < self._file.size:
            before = part.offset
            try:
                with _network_faults():
                    await self._attempt(part)
            except _AgainError as fault:
                # A cancellation that comes while a time-out ends is lost in anyio before 4.16: only the time-out is
                # told. Who pauses then would see the download go on.
                if task.cancelling() > cancelled_before:
                    raise asyncio.CancelledError from fault
                failed = 1 if part.offset > before else failed + 1
                if failed >= self._patience.attempts:
                    raise DownloadError(
                        f"{self._name} could not be fetched from {urlsplit(self._url).hostname}: {fault}. What is "
                        "there is kept. Look after the network, then resume the download."
                    ) from fault
                wait = self._patience.wait_before(failed) if fault.wait is None else fault.wait
                self._on_wait(f"{fault}; trying again in {wait:.0f} s")
                await asyncio.sleep(wait)
                self._on_wait("")

    @property
    def _name(self) -> str:
        return f"{self._file.path} of {self._repo}"

    async def _attempt(self, part: PartFile) -> None:
        url = self._url
        for _ in range(_MOST_REDIRECTS):
            headers = self._access.headers_for(url)
            if part.offset:
                headers["Range"] = f"bytes={part.offset}-"
            async with self._client.stream("GET", url, headers=headers) as response:
                is_hub = origin(url) == origin(self._access.endpoint)
                if is_hub and response.status_code < 400:
                    self._check_version(response.headers)
                if not response.has_redirect_location:
                    self._check_status(response, is_hub, part)
                    return await self._receive(response, part)
                url = self._next_url(url, response.headers["Location"])
        raise _AgainError("the hub sends us round in circles")

    def _next_url(self, url: str, location: str) -> str:
        following = urljoin(url, location)
        scheme = urlsplit(following).scheme
        if scheme not in ("http", "https") or (scheme == "http" and urlsplit(url).scheme == "https"):
            raise DownloadError(
                f"{self._name}: {urlsplit(url).hostname} leads to {following[:100]!r}, which is not safe. "
                "It was not followed."
            )
        return following

    def _check_version(self, headers: Mapping[str, str]) -> None:
        told = headers.get("X-Linked-Etag") or (headers.get("ETag") if "X-Repo-Commit" in headers else None)
        if told and told.removeprefix("W/").strip('"') != self._file.checksum:
            raise DamagedDownloadError(
                f"{self._name} is not the file any more that the hub promised when the download began. "
                "Remove the download and start it again."
            )

    def _check_status(self, response: httpx2.Response, is_hub: bool, part: PartFile) -> None:
        status = response.status_code
        if status in (200, 206):
            return
        code = response.headers.get("X-Error-Code", "")
        if is_hub and (code == "GatedRepo" or status in (401, 403)):
            raise gated(self._access, self._repo)
        if is_hub and status in (404, 410):
            raise NotOnHubError(f"{self._name} is not on the hub any more. Remove the download and start it again.")
        if status == 416:
            self._begin_again(part)
            raise _AgainError("the server has less of the file than we do, so it begins again")
        if status in (429, 503):
            raise _AgainError(f"the server is busy ({status})", _ordered_wait(response.headers))
        if status in (401, 403, 404, 410):  # the link that the hub gave has expired: ask for another
            raise _AgainError(f"{response.url.host} refuses ({status})")
        if status >= 500 or status in (408, 425):
            raise _AgainError(f"the server failed ({status})")
        if status == 451:
            raise HubError(f"{self._name} is not given out by {response.url.host}, for reasons of law. Choose another.")
        raise HubError(f"{self._name}: {response.url.host} answers {status}, which it never should. Try again later.")

    async def _receive(self, response: httpx2.Response, part: PartFile) -> None:
        self._check_body(response, part)
        # As they come: pieces of a fixed size would be lost unfilled when the connection breaks.
        async for piece in response.aiter_raw():
            if part.offset + len(piece) > self._file.size:
                raise _AgainError("the server sends more than the file has")
            part.write(piece)
            self._on_bytes(len(piece))
            await self._limit.wait(len(piece))
        if part.offset < self._file.size:
            raise _AgainError("the connection ended early")

    def _check_body(self, response: httpx2.Response, part: PartFile) -> None:
        """What comes is the file from where we are; before a byte that we have is given up for it."""
        headers = response.headers
        if headers.get("Content-Encoding", "identity") != "identity":
            raise _AgainError("something between here and the server packs the bytes")
        if response.status_code == 206:
            if headers.get("Content-Range", "").removeprefix("bytes ").partition("-")[0] != str(part.offset):
                raise _AgainError("the server sends another part of the file than was asked for")
            return
        if headers.get("Content-Length") is None and "html" in headers.get("Content-Type", ""):
            raise _AgainError("a web page came instead of the file; maybe this network wants a sign-in")
        if headers.get("Content-Length", str(self._file.size)) != str(self._file.size):
            raise _AgainError("something of another size came; maybe this network wants a sign-in")
        if part.offset:
            self._begin_again(part)

    def _begin_again(self, part: PartFile) -> None:
        self._on_bytes(-part.offset)
        part.restart()


def gated(access: HubAccess, repo: str) -> GatedModelError:
    """The error for a model that this token, or nobody without one, may fetch."""
    page = access.page(repo)
    if access.token:
        text = f"{repo} may not be fetched with this token. Open {page}, accept its licence there (the button below "
        text += "the licence text) with the account of your token, wait until it is granted, then resume."
    else:
        text = f"{repo} is only for those who are signed in. Open {page}, sign in, accept its licence there, make a "
        text += f"token of type Read at {access.endpoint}/settings/tokens, and sign in with it (in a terminal: set "
        text += "HF_TOKEN); then resume."
    return GatedModelError(text, page)


def _ordered_wait(headers: Mapping[str, str]) -> float | None:
    with contextlib.suppress(ValueError, KeyError):
        return min(max(0.0, float(headers["Retry-After"])), _LONGEST_ORDERED_WAIT_S)  # in this order, "nan" is 0
    return None


@contextlib.contextmanager
def _network_faults() -> Iterator[None]:
    try:
        yield
    except httpx2.TimeoutException as error:
        raise _AgainError("the server is silent") from error
    except httpx2.UnsupportedProtocol as error:
        raise HubError(f"The address of the hub is no web address ({error}). Check HF_ENDPOINT.") from error
    except httpx2.TransportError as error:
        if _is_about_certificates(error):
            raise HubError(
                f"{error.request.url.host} cannot prove who it is ({error}). Nothing was sent. "
                "Check the date of this computer and whether a proxy stands between."
            ) from error
        raise _AgainError(f"the connection broke ({str(error) or type(error).__name__})") from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise HubError(f"The hub cannot be understood: {error}. Try again later.") from error


def _is_about_certificates(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False
