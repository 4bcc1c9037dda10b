"""Tool servers as other applications keep them: their text, pasted."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from llama_gui.bridge.tool_desk import ToolDesk
from llama_gui.errors import UserError
from llama_gui.ui.problem_words import problem_text
from llama_gui.ui.theme import SMALL_PX, code_font
from llama_gui.ui.widgets import FittingDialog, form_foot, plain_label

_KEY = '"mcpServers"'
_EXAMPLE = """{
  "mcpServers": {
    "fetch": {"command": "uvx", "args": ["mcp-server-fetch"]}
  }
}"""


class PasteDialog(FittingDialog):
    """It stays open with what was pasted until its servers are kept. What the clipboard has is there at once, if it is
    such a text.
    """

    added = Signal(object)
    """The names, as a tuple."""

    def __init__(self, desk: ToolDesk, parent: QWidget) -> None:
        super().__init__(parent)
        self._desk = desk
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Paste tool servers"))
        note = plain_label(
            self.tr(
                "Claude Desktop, LM Studio, Jan and others keep their servers in this form, and the instructions of "
                "most servers show it. Nothing of it is started yet."
            ),
            "muted",
            SMALL_PX,
        )
        note.setWordWrap(True)
        self.text = QPlainTextEdit()
        self.text.setProperty("field", True)
        self.text.setFont(code_font(SMALL_PX))
        self.text.setTabChangesFocus(True)
        self.text.setPlaceholderText(_EXAMPLE)
        self.text.setAccessibleName(self.tr("Servers as JSON"))
        self.text.setMinimumHeight(160)
        self.problem = plain_label("", "error", SMALL_PX)
        self.problem.setWordWrap(True)
        self.problem.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.problem.hide()
        self.add_button = QPushButton(self.tr("Add"))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(28, 24, 28, 20)
        layout.setSpacing(12)
        layout.addWidget(note)
        layout.addWidget(self.text, 1)
        layout.addWidget(self.problem)
        layout.addLayout(form_foot(self, self.add_button))
        self.resize(520, 360)
        self.text.textChanged.connect(self._check)
        copied = QGuiApplication.clipboard().text()
        self.text.setPlainText(copied if _KEY in copied else "")
        self._check()

    @Slot()
    def _check(self) -> None:
        self.problem.hide()
        self.add_button.setEnabled(bool(self.text.toPlainText().strip()))
        self.fit()

    def accept(self) -> None:
        """Keep the servers of the text, or say why not."""
        try:
            names = self._desk.add_text(self.text.toPlainText())
        except UserError as error:
            self.problem.setText(problem_text(str(error)))
            self.problem.show()
            self.fit()
            self.text.setFocus()
            return
        self.added.emit(names)
        super().accept()
