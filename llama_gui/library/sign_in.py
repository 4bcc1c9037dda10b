"""The hub's token: from the environment, the system's own safe, or the file that all Hugging Face tools read."""

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from llama_gui.errors import HubError, InvalidRequestError
from llama_gui.files import write_whole
from llama_gui.library.access import clean_token, hub_home

Place = Literal["environment", "keyring", "file", "nowhere"]

_SERVICE = "llama-gui hub"
_LONGEST = 500


class Safe(Protocol):
    """What we use of the keyring library."""

    def get_password(self, service_name: str, username: str, /) -> str | None:
        """The secret, if it holds one."""
        ...

    def set_password(self, service_name: str, username: str, password: str, /) -> None:
        """Keep a secret."""
        ...

    def delete_password(self, service_name: str, username: str, /) -> None:
        """Forget it."""
        ...


@dataclass(frozen=True, slots=True)
class SignedIn:
    """The token, where it is kept, and the same in words for the user."""

    token: str | None = field(repr=False)
    place: Place
    words: str


class TokenKeeper:
    """Keeps one token for one hub. `safe` None: this system has none that we could use."""

    def __init__(self, endpoint: str, safe: Safe | None = None, environment: Mapping[str, str] = os.environ) -> None:
        self._endpoint = endpoint
        self._safe = safe
        self._environment = environment

    @property
    def file(self) -> Path:
        """The file of all Hugging Face tools."""
        named = self._environment.get("HF_TOKEN_PATH")
        return Path(named).expanduser() if named else hub_home(self._environment) / "token"

    def read(self) -> SignedIn:
        """The token that counts: HF_TOKEN, then the safe, then the file."""
        token = clean_token(self._environment.get("HF_TOKEN"))
        if token:
            return SignedIn(token, "environment", "The token comes from the environment variable HF_TOKEN.")
        token = self._from_safe()
        if token:
            return SignedIn(token, "keyring", "The token is kept in this system's safe for passwords.")
        token = self._from_file()
        if token:
            words = f"The token is kept in the file {self.file}, which other Hugging Face tools read too."
            return SignedIn(token, "file", words)
        return SignedIn(None, "nowhere", "Nobody is signed in.")

    def keep(self, text: str) -> SignedIn:
        """Keep the token that was entered, and say where: in the safe, else in the file, for its owner's eyes only.

        Raises:
            InvalidRequestError: it cannot be a token.
            HubError: it can be kept nowhere.
        """
        token = clean_token(text)
        if token is None or len(token) > _LONGEST or not token.isascii() or not token.isprintable():
            # Not shown: what was pasted may be another secret.
            raise InvalidRequestError("token", "…", "the text that the hub shows once, which begins with hf_")
        if self._safe is not None:
            with contextlib.suppress(Exception):  # each system's safe has errors of its own: locked, refused, gone
                self._safe.set_password(_SERVICE, self._endpoint, token)
                if self._safe.get_password(_SERVICE, self._endpoint) == token:
                    return SignedIn(token, "keyring", "The token is kept in this system's safe for passwords.")
        try:
            write_whole(self.file, token.encode())
        except OSError as error:
            raise HubError(f"The token cannot be kept in {self.file}: {error.strerror or error}.") from error
        words = f"This system has no safe for passwords that can be used, so the token is kept in the file {self.file}"
        return SignedIn(token, "file", f"{words}, which only your own account can read.")

    def forget(self) -> SignedIn:
        """Remove the token from the safe and the file, and what counts then: HF_TOKEN stays.

        Raises:
            HubError: the file cannot be removed.
        """
        if self._safe is not None:
            with contextlib.suppress(Exception):
                self._safe.delete_password(_SERVICE, self._endpoint)
        try:
            self.file.unlink(missing_ok=True)
        except OSError as error:
            raise HubError(f"The token in {self.file} cannot be removed: {error.strerror or error}.") from error
        return self.read()

    def _from_safe(self) -> str | None:
        if self._safe is None:
            return None
        with contextlib.suppress(Exception):
            return clean_token(self._safe.get_password(_SERVICE, self._endpoint))
        return None

    def _from_file(self) -> str | None:
        with contextlib.suppress(OSError, ValueError):
            return clean_token(self.file.read_text(encoding="utf-8")[: 2 * _LONGEST])
        return None


def system_safe() -> Safe | None:
    """The system's safe for passwords; None where the keyring library is missing or finds none."""
    try:
        import keyring
        from keyring.backends import chainer, fail, null

        chosen = keyring.get_keyring()
    except Exception:  # whatever its backends raise while they look around
        return None
    if isinstance(chosen, (fail.Keyring, null.Keyring)) or (
        isinstance(chosen, chainer.ChainerBackend) and not chosen.backends
    ):
        return None
    return chosen
