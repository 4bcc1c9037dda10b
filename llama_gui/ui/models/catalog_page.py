"""The models that we recommend. All that is shown comes with llama-gui; the hub is asked only on a press."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot

from llama_gui.bridge.model_desk import ModelDesk
from llama_gui.library.catalog import CatalogEntry
from llama_gui.ui.icons import Icons
from llama_gui.ui.models.contents import ORIGINAL, catalog_content, catalog_row, gguf_of, usual_catalog_fit
from llama_gui.ui.models.detail_pane import PaneAction
from llama_gui.ui.models.page import ModelPage
from llama_gui.ui.models.row_list import ModelRow
from llama_gui.ui.models.states import ModelStates
from llama_gui.ui.problem_words import problem_text

if TYPE_CHECKING:
    from llama_gui.library.hub import ModelDetails

_QUICK, _READ, _THOUGHT = 10.0, 6.0, 4.0
"""Tokens per second: faster than people read, so that a long answer is no wait; about as fast as they read; and so many
times as much is thought before it is said.
"""
_GOOD = 1_000_000_000
"""Weights: a smaller model is worth less than the wait for one that is slower."""


class CatalogPage(ModelPage):
    """Lists the catalogue, the smallest models first."""

    def __init__(self, desk: ModelDesk, states: ModelStates, icons: Icons) -> None:
        super().__init__(desk, states, icons, "")
        self.list.setAccessibleName(self.tr("Recommended models"))
        self.note = self.add_note(self.tr("Open models that run here, from the smallest to the largest."))
        entries, self._problem = desk.catalog()
        self._entries: dict[str, CatalogEntry] = {entry.repo: entry for entry in entries}
        self._details: dict[str, ModelDetails] = {}
        self._card_problem: dict[str, str] = {}
        self._rows: list[ModelRow] = []
        self._asked = ""
        self._proposed = ""
        self._has_begun = False  # the user has chosen something, or pressed a button
        # Later: the pane is made anew, and with it the button that was pressed.
        self.pane.file_chosen.connect(self.show_current, Qt.ConnectionType.QueuedConnection)
        self.pane.file_chosen.connect(self._on_touched)
        self.list.touched.connect(self._on_touched)
        desk.adviser.measured.connect(self._propose)
        desk.shelf.changed.connect(self.refresh)
        desk.downloads.changed.connect(self.refresh_states)
        desk.downloads.asking_changed.connect(self.refresh_states)
        desk.search.details_found.connect(self._on_details)
        desk.search.details_failed.connect(self._on_failed)

    def enter(self) -> None:
        """Show the list with what is known by now."""
        if self._problem:
            self.say(problem_text(self._problem))
        else:
            self._show_all()
            self.list.setFocus()

    @Slot()
    def _on_touched(self) -> None:
        self._has_begun = True

    @Slot()
    def _propose(self) -> None:
        """Speeds are known now: begin with the largest that writes quickly here, unless the user was faster.

        Which that is must not change with what else is open: people come back and look for it.
        """
        self._proposed = self._first_choice()
        self.refresh()
        if self._proposed and not self._has_begun and self.list.currentIndex().row() <= 0:
            self.list.select(self._proposed)

    def _first_choice(self) -> str:
        """The largest that is quick here, or else the largest that is no slower than people read; "" for none."""
        paces = {entry.repo: self._pace(entry) for entry in self._entries.values()}
        for pace, size in ((_QUICK, _GOOD), (_READ, 0)):
            quick = [
                e for e in self._entries.values() if paces[e.repo] >= pace and e.shape.comparable_parameters >= size
            ]
            if quick:
                return max(quick, key=lambda entry: entry.shape.comparable_parameters).repo
        return ""

    def _pace(self, entry: CatalogEntry) -> float:
        """Tokens of what it says a second; 0 where it does not run well, or says nothing."""
        fit = usual_catalog_fit(entry, self.desk.adviser)
        pace = fit.tokens_per_second or 0 if fit.verdict == "runs" and not entry.embeds else 0
        return pace / _THOUGHT if entry.thinks else pace

    @Slot()
    def refresh(self) -> None:
        """The memory that is free, or what is on the shelf, is another. Nobody looks: nothing is done."""
        if self.isVisible():
            self._show_all()

    def _show_all(self) -> None:
        self._show_rows()
        self.show_current()

    @Slot()
    def refresh_states(self) -> None:
        """Only how far the downloads are, some times a second."""
        if not self.isVisible():
            return
        self.show_states(self._rows)
        content = self.pane.content
        if content is not None and content.subtitle == self.list.current_key():
            repo = content.subtitle
            self.pane.show_content(replace(content, actions=self._actions(repo), hint=self._hint(repo)))

    def _show_rows(self) -> None:
        self._rows = [catalog_row(entry, self.desk.adviser) for entry in self._entries.values()]
        self.show_states(self._rows)

    def show_states(self, rows: Sequence[ModelRow]) -> None:
        """The same rows, each with what happens to its model now, in whichever form."""
        self.list.show_rows([replace(row, state=self._word(row.key)) for row in rows])

    def _word(self, repo: str) -> str:
        gguf = self._entries[repo].gguf
        return self.states.word(repo) or (self.states.word(gguf.repo) if gguf else "")

    def _file(self, repo: str) -> str:
        """What is chosen in the pane, if it shows this model; else what is here, or on its way."""
        content, gguf = self.pane.content, self._entries[repo].gguf
        if content is not None and content.subtitle == repo:
            return self.pane.chosen_file()
        has_original = self.states.path_of(repo, "") or self.states.download_of(repo, "")
        has_gguf = gguf and (self.states.path_of(gguf.repo) or self.states.download_of(gguf.repo))
        return ORIGINAL if has_original and not has_gguf else ""

    @Slot()
    def show_current(self) -> None:
        """The current model in the pane."""
        entry = self._entries.get(self.list.current_key())
        if entry is None:
            self.pane.show_content(None)
            return
        page = f"{self.desk.account.endpoint}/{entry.repo}"
        file = self._file(entry.repo)
        content = catalog_content(entry, self.desk.adviser, page, self._details.get(entry.repo), file)
        if self.states.path_of(entry.repo):
            content = replace(content, warning="", page="")  # it was allowed
        self.pane.show_content(replace(content, actions=self._actions(entry.repo), hint=self._hint(entry.repo)))

    def _hint(self, repo: str) -> str:
        if repo == self._proposed and not self._word(repo):
            return self._card_problem.get(repo) or self.tr("A good first choice for this computer.")
        return self._card_problem.get(repo, "")

    def _actions(self, repo: str) -> tuple[PaneAction, ...]:
        entry = self._entries[repo]
        gguf = gguf_of(entry, self._file(repo))
        made = (
            self.states.actions(gguf.repo, gguf.download, gguf.path) if gguf else self.states.actions(repo, entry.size)
        )
        if repo in self._details:
            return made
        is_asked = self._asked == repo
        text = self.tr("Reading…") if is_asked else self.tr("Read its card")
        return (
            *made,
            PaneAction("card", text, enabled=not is_asked),
        )

    def act(self, name: str) -> None:
        """A button of the pane."""
        self._has_begun = True
        if name == "card":
            self._asked = self.list.current_key()
            self._card_problem.pop(self._asked, None)
            self.desk.search.ask_details(self._asked)
            self.show_current()
        elif entry := self._entries.get(self.list.current_key()):
            gguf = gguf_of(entry, self.pane.chosen_file())
            self._act_on(gguf.repo if gguf else entry.repo, gguf.path if gguf else "", name)

    @Slot(str, object)
    def _on_details(self, repo: str, details: "ModelDetails") -> None:
        if repo == self._asked:
            self._asked = ""
            self._details[repo] = details
            self.show_current()

    @Slot(str, str)
    def _on_failed(self, repo: str, problem: str) -> None:
        if repo == self._asked:
            self._asked = ""
            self._card_problem[repo] = problem_text(problem)
            self.show_current()
