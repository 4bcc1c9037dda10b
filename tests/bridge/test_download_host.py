"""The queue of downloads behind the window."""

import threading
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from llama_gui.bridge.download_host import DownloadHost
from llama_gui.library import download_queue
from llama_gui.library.access import HubAccess


def test_a_queue_that_opens_while_the_window_closes_is_closed(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    opening, may_open = threading.Event(), threading.Event()

    class Slow(download_queue.DownloadQueue):
        def __init__(self, *args, **kwargs):
            opening.set()
            assert may_open.wait(10)
            super().__init__(*args, **kwargs)

    monkeypatch.setattr(download_queue, "DownloadQueue", Slow)
    host = DownloadHost(tmp_path / "downloads.json", lambda: HubAccess("http://127.0.0.1:9", tmp_path))
    host.open()
    assert opening.wait(10)
    threading.Timer(0.2, may_open.set).start()
    assert host.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "downloads"]
