"""Signing in to the hub: one field for a token, and the sentence that says where it is kept."""

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from llama_gui.bridge.hub_account import HubAccount
from llama_gui.library.sign_in import SignedIn
from llama_gui.ui.dialog_button import DialogButton
from llama_gui.ui.problem_words import problem_text
from llama_gui.ui.theme import FRAME_PX, SMALL_PX
from llama_gui.ui.widgets import plain_label


class SignInDialog(QDialog):
    """Takes a token, shows where it is kept, forgets it again."""

    link_wanted = Signal(str)

    def __init__(self, account: HubAccount, parent: QWidget) -> None:
        super().__init__(parent)
        self._account = account
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Sign in to the hub"))
        why = self.tr(
            "Some models are only for those who have accepted their licence. Make a token of type “Read” on the hub's "
            "page of tokens, and paste it here. It is sent to the hub and to nobody else."
        )
        self._why = plain_label(why, "text", FRAME_PX)
        self._why.setWordWrap(True)
        self.field = QLineEdit()
        self.field.setEchoMode(QLineEdit.EchoMode.Password)
        self.field.setPlaceholderText("hf_…")
        self.field.setAccessibleName(self.tr("Token"))
        self.field.setMaxLength(1000)
        self.state = plain_label("", "muted", SMALL_PX)
        self.state.setWordWrap(True)
        self.state.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeading)
        self.state.setMinimumHeight(3 * self.state.fontMetrics().lineSpacing())  # where it is kept is a long sentence
        self.page_button = DialogButton(self.tr("Page of tokens…"))
        self.forget_button = DialogButton(self.tr("Sign out"))
        self.keep_button = QPushButton(self.tr("Sign in"))
        self.keep_button.setDefault(True)
        self.keep_button.setEnabled(False)
        self._lay_out()
        self.field.textChanged.connect(self._on_text)
        self.page_button.clicked.connect(self._open_page)
        self.forget_button.clicked.connect(account.forget)
        self.keep_button.clicked.connect(self._keep)
        account.changed.connect(self._show)
        account.failed.connect(self._show_problem)
        account.read()

    def _lay_out(self) -> None:
        close = DialogButton(self.tr("Close"), self.accept)
        self.forget_button.hide()
        foot = QHBoxLayout()
        foot.addWidget(self.page_button)
        foot.addStretch(1)
        foot.addWidget(self.forget_button)
        foot.addWidget(close)
        foot.addWidget(self.keep_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(28, 24, 28, 20)
        layout.setSpacing(12)
        layout.addWidget(self._why)
        layout.addWidget(self.field)
        layout.addWidget(self.state)
        layout.addStretch(1)
        layout.addLayout(foot)

    def sizeHint(self) -> QSize:
        return QSize(540, 290)

    @Slot(str)
    def _on_text(self, text: str) -> None:
        self.keep_button.setEnabled(bool(text.strip()))

    @Slot()
    def _keep(self) -> None:
        self._account.keep(self.field.text())

    @Slot()
    def _open_page(self) -> None:
        self.link_wanted.emit(f"{self._account.endpoint}/settings/tokens")

    @Slot(object)
    def _show(self, signed_in: SignedIn) -> None:
        if signed_in.token:
            self.field.clear()
        self.state.set_role("muted")
        self.state.setText(self._words(signed_in))
        self.forget_button.setVisible(signed_in.place in ("keyring", "file"))

    def _words(self, signed_in: SignedIn) -> str:
        """Where the token is; a file is named by the keeper itself."""
        told = {
            "environment": self.tr("The token comes from the environment variable HF_TOKEN."),
            "keyring": self.tr("The token is kept in this system's safe for passwords."),
            "nowhere": self.tr("Nobody is signed in."),
        }
        return told.get(signed_in.place) or problem_text(signed_in.words)

    @Slot(str)
    def _show_problem(self, text: str) -> None:
        self.state.set_role("error")
        self.state.setText(problem_text(text))
