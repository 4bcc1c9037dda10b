"""Chats through the whole bridge for ever and says on standard output what was promised. Killed by test_kill.py."""

import sys
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QObject, Slot

from llama_gui.bridge.chat_book import ChatBook
from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.store_lane import StoreLane
from tests.fakes.scripted_engine import ScriptedEngine, loader


class Chatter(QObject):
    """Sends the next message as soon as the last answer is on disk."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.host = EngineHost(loader(ScriptedEngine(tokens_per_second=1000)))
        self.book = ChatBook(StoreLane(path, self), self.host)
        self.session = self.book.open_chat("chat")
        self.session.changed.connect(self.send)
        self.session.accepted.connect(self.on_accepted)
        self.session.settled.connect(self.on_settled)
        self.host.load("/models/scripted")

    @Slot()
    def send(self) -> None:
        self.session.send(f"message {len(self.session.path())} " + "word " * 20)

    @Slot()
    def on_accepted(self) -> None:
        print("accepted", flush=True)

    @Slot()
    def on_settled(self) -> None:
        if self.session.path():
            print("settled", len(self.session.path()), flush=True)
            self.session.changed.emit()


if __name__ == "__main__":
    app = QCoreApplication(sys.argv[:1])
    chatter = Chatter(Path(sys.argv[1]))
    app.exec()
