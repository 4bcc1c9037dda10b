"""Who the user is on the hub, and whether it may be asked at all."""

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace

from PySide6.QtCore import QObject, Signal, Slot

from llama_gui.bridge.lanes import Lanes
from llama_gui.library.access import HubAccess
from llama_gui.library.sign_in import Safe, SignedIn, TokenKeeper, system_safe


class HubAccount(QObject):
    """Keeps the token and the offline switch. `access` may be called from any thread; the rest on the GUI thread.

    Nothing is read before it is needed: a keyring may ask to be unlocked.
    """

    changed = Signal(object)
    """`SignedIn`: who is signed in from now on, and where the token is kept."""
    known = Signal(object)
    """The same, when the token was read for the first time because the hub is to be asked."""
    offline_changed = Signal(bool)
    failed = Signal(str)

    def __init__(
        self,
        *,
        is_offline: bool = False,
        environment: Mapping[str, str] = os.environ,
        find_safe: Callable[[], Safe | None] = system_safe,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._environment = environment
        self._find_safe = find_safe
        self._is_offline = is_offline
        self._lock = threading.Lock()
        self._keeper: TokenKeeper | None = None
        self._signed_in: SignedIn | None = None
        self._lanes = Lanes(self)

    # --- from any thread

    def access(self) -> HubAccess:
        """How the hub is reached now. The first call reads the token, which can take a moment."""
        access = HubAccess.from_environment(self._environment, self._who().token)
        return replace(access, is_offline=access.is_offline or self._is_offline)

    def _who(self) -> SignedIn:
        with self._lock:
            is_new = self._signed_in is None
            signed_in = self._signed_in = self._signed_in or self._safe_keeper().read()
        if is_new:
            self.known.emit(signed_in)
        return signed_in

    def _safe_keeper(self) -> TokenKeeper:
        if self._keeper is None:
            endpoint = HubAccess.from_environment(self._environment).endpoint
            self._keeper = TokenKeeper(endpoint, self._find_safe(), self._environment)
        return self._keeper

    def _change(self, act: Callable[[TokenKeeper], SignedIn]) -> SignedIn:
        with self._lock:
            self._signed_in = act(self._safe_keeper())
            return self._signed_in

    # --- what the window asks

    @property
    def cache(self) -> str:
        """The folder that all Hugging Face tools share."""
        return str(HubAccess.from_environment(self._environment).cache)

    @property
    def endpoint(self) -> str:
        """The address of the hub."""
        return HubAccess.from_environment(self._environment).endpoint

    @property
    def is_offline(self) -> bool:
        """Whether the user, or the environment, wants no connection."""
        return self._is_offline or self.is_offline_by_environment

    @property
    def is_offline_by_environment(self) -> bool:
        """Whether HF_HUB_OFFLINE is set: then no switch of ours helps."""
        return HubAccess.from_environment(self._environment).is_offline

    def set_offline(self, is_offline: bool) -> None:
        """Ask the hub nothing from now on; or let it be asked again."""
        if is_offline != self._is_offline:
            self._is_offline = is_offline
            self.offline_changed.emit(self.is_offline)

    def read(self) -> None:
        """Find out who is signed in; `changed` tells."""
        self._run(self._who)

    def keep(self, token: str) -> None:
        """Sign in with this token; `changed` tells where it is kept, or `failed` why it is not."""
        self._run(lambda: self._change(lambda keeper: keeper.keep(token)))

    def forget(self) -> None:
        """Sign out."""
        self._run(lambda: self._change(lambda keeper: keeper.forget()))

    def close(self) -> bool:
        """End the thread; False: it did not end in time."""
        return self._lanes.close()

    def _run(self, work: Callable[[], SignedIn]) -> None:
        self._lanes.run("hub-account", work, self.changed.emit, self._on_failed)

    @Slot(object)
    def _on_failed(self, error: Exception) -> None:
        self.failed.emit(str(error))
