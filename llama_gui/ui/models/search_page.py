"""Live search of the hub. Nothing is sent before the user has typed or pressed."""

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QLineEdit

from llama_gui.bridge.hub_search import SearchQuery, SearchResult
from llama_gui.bridge.model_desk import ModelDesk
from llama_gui.ui.choice_box import ChoiceBox
from llama_gui.ui.icons import Icons
from llama_gui.ui.models.contents import details_content, failed_content, found_row, waiting_content
from llama_gui.ui.models.detail_pane import PaneAction
from llama_gui.ui.models.page import ModelPage
from llama_gui.ui.models.row_list import ModelRow
from llama_gui.ui.models.states import ModelStates
from llama_gui.ui.models.words import plain
from llama_gui.ui.problem_words import problem_text
from llama_gui.ui.theme import TINY_PX
from llama_gui.ui.widgets import plain_label

if TYPE_CHECKING:
    from llama_gui.library.hub import FoundModel, ModelDetails


class SearchPage(ModelPage):
    """A field, what to sort by, and what was found."""

    def __init__(self, desk: ModelDesk, states: ModelStates, icons: Icons) -> None:
        super().__init__(desk, states, icons, "")
        self.list.setAccessibleName(self.tr("Found models"))
        self._found: dict[str, FoundModel] = {}
        self._file = ""  # that is asked for by its address
        self._rows: list[ModelRow] = []
        self._details: dict[str, ModelDetails] = {}
        self._failed: dict[str, str] = {}
        self._has_searched = False
        self._make_head(icons)
        # Later: the pane is made anew, and with it the button that was pressed.
        self.pane.file_chosen.connect(self._show_pane, Qt.ConnectionType.QueuedConnection)
        self.message.pressed.connect(self._on_pressed)
        self.list.end_reached.connect(desk.search.more)
        desk.search.found.connect(self._on_found)
        desk.search.failed.connect(self._on_search_failed)
        desk.search.more_failed.connect(self.trouble)
        desk.search.busy_changed.connect(self._on_busy)
        desk.search.details_found.connect(self._on_details)
        desk.search.details_failed.connect(self._on_details_failed)
        desk.adviser.measured.connect(self.refresh)
        desk.shelf.changed.connect(self.refresh)
        desk.downloads.changed.connect(self.refresh_states)
        desk.downloads.asking_changed.connect(self.refresh_states)
        desk.account.changed.connect(self._forget_details)
        desk.account.offline_changed.connect(self._on_offline)
        self._say_begin()

    def _make_head(self, icons: Icons) -> None:
        self.field = QLineEdit()
        self.field.setPlaceholderText(self.tr("Search the Hugging Face hub"))
        self.field.setAccessibleName(self.tr("Search the Hugging Face hub for models"))
        self.field.setClearButtonEnabled(True)
        self.list.steer_by(self.field)
        self.field.textEdited.connect(self._on_edited)
        self.field.returnPressed.connect(self.search_now)
        self.sort = ChoiceBox(icons)
        self.sort.setAccessibleName(self.tr("Sort by"))
        for value, text in (
            ("downloads", self.tr("Most downloads")),
            ("trendingScore", self.tr("Trending")),
            ("likes", self.tr("Most likes")),
            ("lastModified", self.tr("Changed last")),
            ("createdAt", self.tr("Newest")),
        ):
            self.sort.addItem(text, value)
        self.form = ChoiceBox(icons)
        self.form.setAccessibleName(self.tr("Form of the files"))
        # First what most people have and want: a model of few bits in one file, of a third of the size.
        self.form.addItem(self.tr("GGUF"), True)
        self.form.addItem(self.tr("Safetensors"), False)
        for box in (self.sort, self.form):
            box.currentIndexChanged.connect(self._on_choice)
        self._count = plain_label("", "muted", TINY_PX)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.sort)
        row.addWidget(self.form)
        row.addStretch(1)
        row.addWidget(self._count)
        self.head.addWidget(self.field)
        self.head.addLayout(row)

    def enter(self) -> None:
        """The keyboard goes to the field."""
        self.field.setFocus()
        self._show_rows()
        self._show_pane()

    @property
    def _query(self) -> SearchQuery:
        return SearchQuery(self.field.text(), self.sort.currentData(), self.form.currentData())

    # Asking

    @Slot()
    def _on_edited(self) -> None:
        if self.field.text().strip():
            self._has_searched = True
            self.desk.search.search(self._query)
        elif not self._found:
            self.desk.search.stop()
            self._has_searched = False
            self._say_begin()

    @Slot()
    def search_now(self) -> None:
        """Enter: also without words, which lists what is most downloaded."""
        self._has_searched = True
        self.desk.search.search(self._query, at_once=True)

    @Slot()
    def _on_choice(self) -> None:
        if self._has_searched:
            self.search_now()

    @Slot(str)
    def _on_pressed(self, name: str) -> None:
        if name == "search":
            self.search_now()
        elif name == "other form":
            self.form.setCurrentIndex(self.form.findData(not self.form.currentData()))

    def _say_begin(self) -> None:
        if self.desk.account.is_offline:
            self.say(self.tr("Offline mode is on, so the hub is not asked. Turn it off under “Options” to search."))
        else:
            text = self.tr("Type a name, or look at what others download. Only then is the hub asked.")
            self.say(text, self.tr("Show popular models"), "search")

    @Slot()
    def _on_offline(self) -> None:
        if not self._found:
            self._say_begin()

    # Answers

    @Slot(bool)
    def _on_busy(self, is_busy: bool) -> None:
        self._count.setText(self.tr("asking the hub…") if is_busy else self._count_words())
        if is_busy and not self._found:
            self.say(self.tr("Asking the hub…"))

    def _count_words(self) -> str:
        return self.tr("{} shown").format(len(self._found)) if self._found else ""

    @Slot(object)
    def _on_found(self, result: SearchResult) -> None:
        self._found = {found.repo: found for found in result.models}
        if result.file != self._file:  # what was chosen before counts no longer
            self._file = result.file
            self.pane.show_content(None)
        self._count.setText(self._count_words())
        self._show_rows()
        if self._found:
            self.show_rows()
            self.show_current()
            return
        words = plain(result.query.words.strip(), 60)
        text = self.tr("No model that runs here is called “{}”.").format(words) if words else self.tr("Nothing found.")
        others = self.tr("Look for safetensors") if result.query.gguf else self.tr("Look for GGUF files")
        self.say(text, others, "other form")
        self.pane.show_content(None)

    @Slot(str)
    def _on_search_failed(self, problem: str) -> None:
        self._found = {}
        self._show_rows()
        self.pane.show_content(None)
        self.say(problem_text(problem), self.tr("Try again"), "search")

    @Slot(str, object)
    def _on_details(self, repo: str, details: "ModelDetails") -> None:
        self._details[repo] = details
        self._failed.pop(repo, None)
        if repo == self.list.current_key():
            self._show_pane()

    @Slot(str, str)
    def _on_details_failed(self, repo: str, problem: str) -> None:
        self._failed[repo] = problem
        if repo == self.list.current_key():
            self._show_pane()

    @Slot()
    def _forget_details(self) -> None:
        self._details.clear()
        if self._found:
            self.show_current()

    # Showing

    @Slot()
    def refresh(self) -> None:
        """The memory that is free, or what is on the shelf, is another. Nobody looks: nothing is done."""
        if self.isVisible():
            self._show_rows()
            self._show_pane()

    @Slot()
    def refresh_states(self) -> None:
        """Only how far the downloads are, some times a second."""
        if self.isVisible():
            self.show_states(self._rows)
            self._show_actions()

    @Slot()
    def _show_actions(self) -> None:
        content, repo = self.pane.content, self.list.current_key()
        if content is not None and content.subtitle == plain(repo) and repo in self._details:
            self.pane.show_content(replace(content, actions=self._actions(self._details[repo])))

    def _show_rows(self) -> None:
        gguf = self.form.currentData()
        self._rows = [found_row(found, self.desk.adviser, gguf=gguf) for found in self._found.values()]
        self.show_states(self._rows)

    def show_current(self) -> None:
        """Ask for the current model, and show what is known of it."""
        repo = self.list.current_key()
        if repo and repo not in self._details:
            self._failed.pop(repo, None)
            self.desk.search.ask_details(repo)
        self._show_pane()

    @Slot()
    def _show_pane(self) -> None:
        found = self._found.get(self.list.current_key())
        if found is None:
            self.pane.show_content(None)
        elif problem := self._failed.get(found.repo):
            self.pane.show_content(failed_content(found.repo, problem))
        elif details := self._details.get(found.repo):
            content = details_content(details, self.desk.adviser, self._wanted(found.repo))
            if not details.problem and self.states.path_of(found.repo):
                content = replace(content, warning="", page="")  # it was allowed
            self.pane.show_content(replace(content, actions=self._actions(details)))
            self._show_actions()  # the file that is chosen first is known only now
        else:
            self.pane.show_content(waiting_content(found))

    def _wanted(self, repo: str) -> str:
        """The file that is chosen in the pane, if it shows this model; else the one that was looked for."""
        content = self.pane.content
        is_shown = content is not None and content.subtitle == plain(repo) and content.files
        return self.pane.chosen_file() if is_shown else self._file

    def _actions(self, details: "ModelDetails") -> tuple[PaneAction, ...]:
        gguf = self.pane.chosen_file()
        size = next((file.size for file in details.gguf if file.path == gguf), details.size)
        return self.states.actions(details.found.repo, size, gguf, can_download=not details.problem)
