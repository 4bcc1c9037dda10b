"""``llama-gui serve``: the models for other programs, over HTTP, without a window."""

import argparse
import contextlib
import logging
import secrets
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from llama_gui.errors import InvalidRequestError, ServerError
from llama_gui.library.shelf import STARTER_NAME
from llama_gui.model_choice import ModelsHere
from llama_gui.paths import Paths
from llama_gui.terminal import engine_options, importing_torch, in_terminal
from llama_gui.vocabulary import STARTER

if TYPE_CHECKING:
    from llama_gui.server.serve import ApiServer, ServerOptions
    from llama_gui.server.served import Models

MAX_BATCH = 64
"""As many answers run at once as the server lets in."""
_LEAST_FOR_OTHERS = 20  # letters of a key that other machines can try


def run_serve(options: argparse.Namespace, paths: Paths) -> int:
    """Serve until Ctrl+C or SIGTERM; the exit status."""
    return in_terminal(lambda: _serve(options, paths))


def _serve(options: argparse.Namespace, paths: Paths) -> int:
    from llama_gui.server.serve import ServerOptions

    server_options = ServerOptions(
        # Until everything is checked and loaded: a key is shown once, when it is made, and then the server must start.
        key=options.api_key if options.api_key is not None else secrets.token_hex(),
        host=options.host,
        port=options.port,
        allowed_hosts=tuple(options.allow_host),
        allowed_origins=tuple(options.allow_origin),
    )
    loading = engine_options(options, paths)
    folders = _named(options.model or [None], ModelsHere(paths))

    with importing_torch():
        from llama_gui.engine import ModelPool
        from llama_gui.engine.load_plan import plan_load
        from llama_gui.server.served import LazyModels

    for folder in folders.values():  # what is wrong is told now, not to the first client
        plan_load(folder, options.dtype, cache_dtype=options.cache_dtype)
    ending = threading.Event()
    with ModelPool(max_batch=MAX_BATCH, dtype=options.dtype, max_context=options.max_context, **loading) as pool:
        models = LazyModels(folders, lambda path: pool.engine(path, is_cancelled=ending.is_set))
        models.engine(models.names()[0])
        try:
            with _access_log() if options.access_log else contextlib.nullcontext():
                _serve_models(models, server_options, None if options.api_key is not None else paths.server_key_file)
        finally:
            ending.set()  # a load that is under way would keep the process
    return 0


@contextlib.contextmanager
def _access_log() -> Iterator[None]:
    """A line for each request on standard error, meanwhile."""
    from llama_gui.server.visits import access_log

    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    access_log.addHandler(handler)
    access_log.setLevel(logging.INFO)
    try:
        yield
    finally:
        access_log.removeHandler(handler)


def _serve_models(models: "Models", options: "ServerOptions", key_file: Path | None) -> None:
    """Serve until the end. `key_file`: where the key is, or will be; None: it is in `options`."""
    from llama_gui.server.api_key import load_or_make_key
    from llama_gui.server.serve import ApiServer

    is_new = False
    if key_file is not None:
        key, is_new = load_or_make_key(key_file)
        options = replace(options, key=key)
    server = ApiServer(models, options)
    try:
        server.start()
    except ServerError:  # the port is taken; the next time the key would not be shown
        if key_file is not None and is_new:
            _tell_key(options.key, key_file, is_new=is_new)
        raise
    with server:
        print(f"llama-gui serves {', '.join(models.names())} at {server.url}", flush=True)
        if key_file is not None:
            _tell_key(options.key, key_file, is_new=is_new)
        if server.is_for_others:
            _tell_others(server, options.key)
        _wait_for_the_end(server)


def _named(models: Sequence[str | None], here: ModelsHere) -> dict[str, str]:
    """The names under which clients ask for these models, and where each lies."""
    named: dict[str, str] = {}
    for path in map(here.chosen, models):
        name = here.name_of(path)
        name = STARTER if name == STARTER_NAME else name
        if name in named:
            raise InvalidRequestError("--model", path, f"of another name than {named[name]}: clients ask by name")
        named[name] = str(Path(path))
    return named


def _tell_key(key: str, file: Path, *, is_new: bool) -> None:
    """The key is shown once, when it is made: terminals are looked at, and logs are kept."""
    if is_new:
        print(f"The key, which requests must bring: {key}\nIt is kept in {file}", flush=True)
    else:
        print(f"The key is in {file}", flush=True)


def _tell_others(server: "ApiServer", key: str) -> None:
    """Where other machines find the server, and what that means."""
    warning = (
        "llama-gui: other machines can reach this server. Who has the key can use the models, and what is said is not "
        "encrypted on its way."
    )
    if len(key) < _LEAST_FOR_OTHERS:
        warning += " The key is short, so others may guess it: take a long random one, or leave --api-key out."
    print(warning, file=sys.stderr, flush=True)
    where = " or ".join(server.urls_for_others) or "no address yet: this machine is in no network"
    print(f"From other machines: {where}", flush=True)


def _wait_for_the_end(server: "ApiServer") -> None:
    end = threading.Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        end.set()

    former = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        while server.is_running and not end.wait(0.5):  # without a limit, Windows does not see Ctrl+C
            pass
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
