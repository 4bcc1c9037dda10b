"""One model in detail. What it shows is plain data; what the user wants is told by name."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, QSize, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QButtonGroup,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QRadioButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from llama_gui.library.fit import COUNTED_TOKENS, Fit
from llama_gui.ui.flow import FlowLayout
from llama_gui.ui.icons import Icons
from llama_gui.ui.models.words import exactness_words, size_words, verdict_role, verdict_words
from llama_gui.ui.numbers import dtype_text, number_text
from llama_gui.ui.theme import FRAME_PX, SMALL_PX, TINY_PX
from llama_gui.ui.widgets import Button, RoleLabel, Surface, plain_action, plain_label, plain_tip

_TITLE_PX = 18
_MARGIN = 28


@dataclass(frozen=True, slots=True)
class PaneAction:
    """A button at the foot, and a line in the menu of the row. `name` is what `acted` tells; the one that is `main`
    is filled. `keys` do the same in the list; `why_not`: why it cannot be done, "" where it can.
    """

    name: str
    text: str
    main: bool = False
    enabled: bool = True
    keys: str = ""
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class FileChoice:
    """One of several files of which one is taken."""

    path: str
    name: str
    words: str


@dataclass(frozen=True, slots=True)
class PaneContent:
    """All that is shown of one model, every text of it plain.

    `subtitle` is where it lies, `lead` what it is good at, `warning` what stands in the way and `page` where that is
    mended in the web; `fits` and `best` (a dtype) are the verdict, `is_rounded` says that its file holds few bits
    already, `counted` the tokens of the chat that the verdict counts with, `file` is the one of `files` that is
    proposed, `excerpt` is from its card, `hint` a word above the buttons.
    """

    title: str
    subtitle: str = ""
    lead: str = ""
    warning: str = ""
    page: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    fits: tuple[Fit, ...] = ()
    best: str = ""
    is_rounded: bool = False
    verdict_note: str = ""
    counted: int = COUNTED_TOKENS
    files: tuple[FileChoice, ...] = ()
    file: str = ""
    excerpt: str = ""
    actions: tuple[PaneAction, ...] = ()
    hint: str = ""


class DetailPane(Surface):
    """Shows a `PaneContent`."""

    acted = Signal(str)
    link_wanted = Signal(str)
    back_wanted = Signal()
    file_chosen = Signal()

    def __init__(self, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__("page", "left", parent)
        self._icons = icons
        self._content: PaneContent | None = None
        self._files = QButtonGroup(self)
        self.back = Button(icons, "chevron-left", self.tr("Back to the list"), height=28)
        self.back.clicked.connect(self.back_wanted)
        self.back.hide()
        self._area = QScrollArea()
        self._area.setAccessibleName(self.tr("About this model"))
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QScrollArea.Shape.NoFrame)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.viewport().setAutoFillBackground(False)
        self._foot = FlowLayout(spacing=8)
        self._hint = plain_label("", "muted", SMALL_PX)
        self._hint.setWordWrap(True)
        foot = QVBoxLayout()
        foot.setContentsMargins(_MARGIN, 10, _MARGIN, 16)
        foot.setSpacing(8)
        foot.addWidget(self._hint)
        foot.addLayout(self._foot)
        self.buttons: dict[str, Button] = {}
        top = QHBoxLayout()
        top.setContentsMargins(16, 8, 16, 0)
        top.addWidget(self.back)
        top.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(1, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(top)
        layout.addWidget(self._area, 1)
        layout.addLayout(foot)

    @property
    def content(self) -> PaneContent | None:
        """What is shown."""
        return self._content

    def chosen_file(self) -> str:
        """The path of the file that is chosen; "" where there is no choice."""
        button = self._files.checkedButton()
        return button.objectName() if button is not None else ""

    def show_content(self, content: PaneContent | None) -> None:
        """Show a model, or nothing. What is the same stays where it was scrolled to."""
        if content == self._content:
            return
        before, file = self._content, self.chosen_file()
        self._content = content
        self._show_foot(content.actions if content else (), content.hint if content else "")
        if content is not None and before is not None and _body(before) == _body(content):
            return
        is_same = before is not None and content is not None and before.subtitle == content.subtitle
        place = self._area.verticalScrollBar().value() if is_same else 0
        had_keyboard = is_same and any(button.hasFocus() for button in self._files.buttons())
        body = self._make_body(content, file if is_same else "") if content else QWidget()
        self._area.setWidget(body)
        if had_keyboard and (chosen := self._files.checkedButton()) is not None:
            chosen.setFocus()
        body.setAutoFillBackground(False)
        self._area.viewport().setAutoFillBackground(False)
        self._area.verticalScrollBar().setValue(place)

    # The body

    def _make_body(self, content: PaneContent, file: str) -> QWidget:
        body = _Body()
        column = QVBoxLayout(body)
        column.setContentsMargins(_MARGIN, 16, _MARGIN, 16)
        column.setSpacing(6)
        column.addWidget(_words(content.title, "text", _TITLE_PX, bold=True))
        if content.subtitle:
            column.addWidget(_words(content.subtitle, "muted", SMALL_PX))
        if content.lead:
            column.addSpacing(6)
            column.addWidget(_words(content.lead, "text", FRAME_PX))
        if content.warning:
            column.addSpacing(8)
            column.addWidget(_Warning(content.warning, content.page, self))
        if content.facts:
            column.addSpacing(10)
            column.addLayout(_facts(content.facts))
        self._files.deleteLater()
        self._files = QButtonGroup(self)
        if content.files:
            self._add_files(column, content.files, file or content.file)
        if content.fits:
            self._add_fits(column, content)
        if content.excerpt:
            self._add_heading(column, self.tr("From its card"))
            column.addWidget(_words(content.excerpt, "text", FRAME_PX))
        column.addStretch(1)
        return body

    def _add_heading(self, column: QVBoxLayout, text: str) -> None:
        column.addSpacing(16)
        column.addWidget(plain_label(text, "muted", SMALL_PX, bold=True))
        column.addSpacing(2)

    def _add_fits(self, column: QVBoxLayout, content: PaneContent) -> None:
        self._add_heading(column, self.tr("On this computer"))
        best = next((fit for fit in content.fits if fit.dtype == content.best), content.fits[0])
        column.addWidget(_words(verdict_words(best), verdict_role(best), FRAME_PX))
        note = self.tr("Counted with one chat of {} tokens.").format(content.counted)
        column.addWidget(_words(f"{content.verdict_note} {note}".strip(), "muted", TINY_PX))
        column.addSpacing(4)
        grid = QGridLayout()
        grid.setHorizontalSpacing(20)
        grid.setVerticalSpacing(5)
        grid.setColumnStretch(3, 1)
        for row, fit in enumerate(content.fits):
            is_best = fit.dtype == best.dtype
            role = "muted" if fit.verdict == "too large" else "text"
            pace = self.tr("{} tok/s").format(number_text(fit.tokens_per_second or 0))
            judged = {"runs": "", "tight": self.tr("just fits"), "too large": self.tr("too large")}[fit.verdict]
            has_pace = fit.tokens_per_second and fit.verdict != "too large"
            cells = (dtype_text(fit.dtype), size_words(fit.needed), pace if has_pace else judged)
            for place, text in enumerate(cells):
                grid.addWidget(plain_label(text, role, SMALL_PX, bold=is_best), row, place)
            notes = [self.tr("the best choice")] if is_best and fit.verdict != "too large" else []
            notes += [] if content.is_rounded else [exactness_words(fit.dtype)]
            grid.addWidget(_words(", ".join(notes), "muted", TINY_PX), row, 3)
        column.addLayout(grid)
        column.addSpacing(4)
        way = self.tr("This is chosen in the model’s menu, under “Context length, precision”.")
        column.addWidget(_words(way, "muted", TINY_PX))

    def _add_files(self, column: QVBoxLayout, files: Sequence[FileChoice], chosen: str) -> None:
        self._add_heading(column, self.tr("Which file"))
        for file in files:
            choice = QRadioButton(plain_action(file.name))
            choice.setObjectName(file.path)
            choice.setAccessibleDescription(file.words)
            choice.setToolTip(plain_tip(file.path))
            self._files.addButton(choice)
            words = plain_label(file.words, "muted", SMALL_PX)
            words.setContentsMargins(24, 0, 0, 2)
            words.setWordWrap(True)
            pair = QVBoxLayout()
            pair.setSpacing(0)
            pair.addWidget(choice)
            pair.addWidget(words)
            column.addLayout(pair)
            if file.path == chosen:
                choice.setChecked(True)
        if self._files.checkedButton() is None:
            self._files.buttons()[0].setChecked(True)
        self._files.buttonClicked.connect(self._on_file)

    @Slot()
    def _on_file(self) -> None:
        self.file_chosen.emit()

    # The foot

    def _show_foot(self, actions: Sequence[PaneAction], hint: str) -> None:
        self._hint.setText(hint)
        self._hint.setVisible(bool(hint))
        wanted = sorted(actions, key=lambda action: not action.main)
        if [action.name for action in wanted] != list(self.buttons):
            self._make_buttons(wanted)
        for action in wanted:
            button = self.buttons[action.name]
            button.setText(action.text)
            button.setAccessibleName(action.text)
            button.setEnabled(action.enabled)
            button.setToolTip(plain_tip(action.why_not))
            button.setAccessibleDescription(action.why_not)
            button.updateGeometry()

    def _make_buttons(self, actions: Sequence[PaneAction]) -> None:
        """Other buttons than before. The keyboard stays with the one of the same name, else it goes to the first."""
        focused = next((name for name, button in self.buttons.items() if button.hasFocus()), None)
        while (item := self._foot.takeAt(0)) is not None:
            if widget := item.widget():
                widget.hide()
                widget.deleteLater()
        self.buttons = {}
        for action in actions:
            look = "filled" if action.main else "outlined"
            button = Button(self._icons, text=action.text, look=look, height=32, pixels=FRAME_PX)
            button.setObjectName(action.name)
            button.clicked.connect(self._act)
            self.buttons[action.name] = button
            self._foot.addWidget(button)
            button.show()
        if focused is not None and self.buttons:
            self.buttons.get(focused, next(iter(self.buttons.values()))).setFocus()

    @Slot()
    def _act(self) -> None:
        sender: QObject = self.sender()
        self.acted.emit(sender.objectName())

    def sizeHint(self) -> QSize:
        return QSize(440, 500)


class _Body(QWidget):
    """What scrolls. Its height follows from its width alone: Qt would add up what its labels need when narrow."""

    def minimumSizeHint(self) -> QSize:
        return QSize(0, 0)


class _Warning(QWidget):
    """What stands in the way, and the page where that can be mended."""

    def __init__(self, text: str, page: str, pane: DetailPane) -> None:
        super().__init__()
        self._page = page
        self._pane = pane
        words = _words(text, "accent", FRAME_PX)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(words)
        if page:
            button = Button(pane._icons, text=self.tr("Open its page…"), look="outlined", height=28)
            button.setObjectName("page")
            button.setAccessibleName(self.tr("Open the page of this model in the browser"))
            button.clicked.connect(self._open)
            column.addWidget(button)

    @Slot()
    def _open(self) -> None:
        self._pane.link_wanted.emit(self._page)


def _body(content: PaneContent) -> tuple[object, ...]:
    """All but the foot."""
    return (
        content.title, content.subtitle, content.lead, content.warning, content.page, content.facts, content.fits,
        content.best, content.is_rounded, content.verdict_note, content.files, content.excerpt,
    )  # fmt: skip


def _words(text: str, role: str, pixels: float, *, bold: bool = False) -> RoleLabel:
    label = plain_label(text, role, pixels, bold=bold)
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
    return label


def _facts(facts: Sequence[tuple[str, str]]) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(20)
    grid.setVerticalSpacing(5)
    grid.setColumnStretch(1, 1)
    for row, (name, value) in enumerate(facts):
        label: QLabel = plain_label(name, "muted", SMALL_PX)
        grid.addWidget(label, row, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(_words(value, "text", SMALL_PX), row, 1)
    return grid
