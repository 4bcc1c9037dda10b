"""The call that waits in one chat: asked above its composer, and answered there."""

from typing import cast

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from llama_gui.bridge.chat_session import ChatSession
from llama_gui.ui.composer import Composer
from llama_gui.ui.tools.question_bar import ToolQuestionBar
from llama_gui.vocabulary import ToolDecision, ToolQuestion


class TabQuestion(QObject):
    """Keeps the bar and the session's question the same."""

    def __init__(self, session: ChatSession, bar: ToolQuestionBar, composer: Composer, tab: QWidget) -> None:
        super().__init__(tab)
        self._session = session
        self._bar = bar
        self._model = ""
        session.tool_asked.connect(self._show)
        bar.decided.connect(self._decide)
        bar.left.connect(composer.edit.setFocus)
        self._show(session.tool_question)

    def set_model(self, name: str) -> None:
        """What the model is called that asks."""
        self._model = name

    @Slot(object)
    def _show(self, question: ToolQuestion | None) -> None:
        if question is None:
            self._bar.clear()
        else:
            self._bar.ask(question, self._model)

    @Slot(str)
    def _decide(self, decision: str) -> None:
        self._session.decide(cast(ToolDecision, decision))
