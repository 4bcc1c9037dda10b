"""What is said while an answer is awaited."""

from unittest.mock import MagicMock

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from llama_gui.bridge.chat_news import ChatNews
from llama_gui.ui import long_wait
from llama_gui.ui.tab_news import TabNews
from llama_gui.vocabulary import JobProgress


class Session(ChatNews):
    answering = True


@pytest.fixture
def said(qtbot, monkeypatch):
    """A session, and the texts that stand where its answer will be."""
    monkeypatch.setattr(long_wait, "STEP_MS", 50)
    session, transcript, tab = Session(), MagicMock(), QWidget()
    qtbot.addWidget(tab)
    TabNews(session, transcript, MagicMock(), MagicMock(), MagicMock(), tab)  # pyright: ignore[reportArgumentType]
    return session, lambda: [call.args[0] for call in transcript.set_waiting.call_args_list]


def test_only_who_waits_longer_than_a_step_is_told_of_memory(said):
    session, texts = said
    session.held_up.emit()
    assert texts() == []
    QTest.qWait(60)
    session.held_up.emit()
    assert texts() == ["Waiting for its turn: other chats use the memory…"]


@pytest.mark.parametrize(
    "end",
    [
        lambda session: session.progress_changed.emit(JobProgress(0, 0, 0.0, None)),
        lambda session: session.answering_changed.emit(True),
    ],
)
def test_the_next_wait_begins_anew(said, end):
    session, texts = said
    session.held_up.emit()
    QTest.qWait(60)
    end(session)
    session.held_up.emit()
    assert all("memory" not in text for text in texts())
