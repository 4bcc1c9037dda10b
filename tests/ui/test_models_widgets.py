"""The list, the pane and the rows of downloads, each alone."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from llama_gui.bridge.download_host import DownloadHost
from llama_gui.library.access import HubAccess
from llama_gui.library.download import DownloadProgress
from llama_gui.library.download_queue import QueuedDownload
from llama_gui.library.fit import Fit
from llama_gui.library.plan import DownloadPlan, RemoteFile
from llama_gui.ui.icons import Icons
from llama_gui.ui.models.detail_pane import DetailPane, FileChoice, PaneAction, PaneContent
from llama_gui.ui.models.download_list import DownloadList, DownloadRow
from llama_gui.ui.models.row_list import ModelRow, RowList

FITS = (
    Fit("bfloat16", 1, 1, 3_000_000_000, 8_000_000_000, 4.0, "runs", ""),
    Fit("int8", 1, 1, 2_000_000_000, 8_000_000_000, 7.0, "runs", ""),
)
FILES = (FileChoice("a-Q4_K_M.gguf", "Q4_K_M", "small"), FileChoice("a-Q8_0.gguf", "Q8_0", "exact"))
CONTENT = PaneContent(
    title="<b>Model</b>",
    subtitle="owner/model",
    excerpt="<img src='http://127.0.0.1:9/x.png'> an excerpt",
    fits=FITS,
    best="int8",
    files=FILES,
    file="a-Q8_0.gguf",
    actions=(PaneAction("other", "Other"), PaneAction("download", "Download", main=True)),
)
PLAN = DownloadPlan("owner/model", "main", "a" * 40, (RemoteFile("config.json", 1000, "b" * 40),))


@pytest.fixture
def rows(qtbot: QtBot, icons: Icons) -> RowList:
    view = RowList(icons, "Models")
    qtbot.addWidget(view)
    view.resize(400, 300)
    view.show()
    return view


@pytest.fixture
def pane(qtbot: QtBot, icons: Icons) -> DetailPane:
    pane = DetailPane(icons)
    qtbot.addWidget(pane)
    pane.resize(500, 600)
    pane.show()
    return pane


def make(*keys: str) -> list[ModelRow]:
    return [ModelRow(key, key.upper(), "facts", "lead", "note") for key in keys]


def test_the_current_row_stays_when_others_come(rows: RowList, qtbot: QtBot):
    chosen: list[str] = []
    rows.chosen.connect(chosen.append)
    rows.show_rows(make("a", "b"))
    assert rows.current_key() == "a"
    rows.select("b")
    rows.show_rows(make("a", "b", "c"))
    assert rows.current_key() == "b"
    rows.show_rows([replace(row, state="5 %") for row in make("a", "b", "c")])
    assert rows.current_key() == "b"
    assert chosen == ["a", "b"]
    rows.show_rows(make("z", "b"))
    assert rows.current_key() == "b"
    rows.show_rows(make("z"))
    assert rows.current_key() == "z"
    rows.show_rows([])
    assert rows.current_key() == ""
    assert not rows.select("b")


def test_a_row_is_read_aloud_in_full(rows: RowList):
    rows.show_rows([ModelRow("a", "Name", "2 GB", "good at sums", "about 9 tok/s", state="34 %")])
    words = rows.rows.index(0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert words == "Name, good at sums, 2 GB, 34 %"


def test_scrolling_to_the_end_is_told(rows: RowList, qtbot: QtBot):
    rows.show_rows(make(*"abcdefghijklmnop"))
    with qtbot.waitSignal(rows.end_reached):
        rows.verticalScrollBar().setValue(rows.verticalScrollBar().maximum())


def test_the_pane_shows_foreign_words_as_they_are(pane: DetailPane):
    pane.show_content(CONTENT)
    labels = {label.text(): label.textFormat() for label in pane.findChildren(QLabel)}
    assert labels["<b>Model</b>"] == Qt.TextFormat.PlainText
    assert set(labels.values()) == {Qt.TextFormat.PlainText}


def test_the_pane_says_what_each_dtype_costs_and_where_it_is_chosen(pane: DetailPane):
    pane.show_content(replace(CONTENT, best="bfloat16"))
    texts = [label.text() for label in pane.findChildren(QLabel)]
    assert "the best choice, as exact as the original" in texts
    assert texts[texts.index("int8") :][2:4] == ["7 tok/s", "nearly as exact as the original"]
    assert any("“Context length, precision”" in text for text in texts)
    pane.show_content(replace(CONTENT, is_rounded=True))
    texts = [label.text() for label in pane.findChildren(QLabel)]
    assert "the best choice" in texts
    assert not any("exact" in text for text in texts if not text.startswith("exact"))


def test_the_proposed_file_is_chosen_until_the_user_chooses(pane: DetailPane, qtbot: QtBot):
    pane.show_content(CONTENT)
    assert pane.chosen_file() == "a-Q8_0.gguf"
    with qtbot.waitSignal(pane.file_chosen):
        pane._files.buttons()[0].click()
    pane.show_content(replace(CONTENT, facts=(("Size", "2 GB"),)))
    assert pane.chosen_file() == "a-Q4_K_M.gguf"
    pane.show_content(replace(CONTENT, subtitle="another/one"))
    assert pane.chosen_file() == "a-Q8_0.gguf"
    pane.show_content(replace(CONTENT, files=()))
    assert pane.chosen_file() == ""


def test_buttons_keep_the_keyboard_while_words_change(pane: DetailPane, qtbot: QtBot):
    pane.show_content(CONTENT)
    assert list(pane.buttons) == ["download", "other"]  # the main one first
    pane.activateWindow()
    pane.buttons["other"].setFocus()
    qtbot.waitUntil(pane.buttons["other"].hasFocus)
    pane.show_content(replace(CONTENT, hint="5 %", actions=(PaneAction("other", "Others"),)))
    assert pane.buttons["other"].hasFocus()
    assert pane.buttons["other"].text() == "Others"
    pane.show_content(replace(CONTENT, actions=(PaneAction("pause", "Pause"), PaneAction("open", "Open", main=True))))
    assert pane.buttons["open"].hasFocus()
    pane.show_content(CONTENT)
    with qtbot.waitSignal(pane.acted) as acted:
        pane.buttons["other"].click()
    assert acted.args == ["other"]


def shown(row: DownloadRow) -> set[str]:
    return {verb for verb, button in row.buttons.items() if not button.isHidden()}


def test_a_download_offers_what_can_be_done(qtbot: QtBot, icons: Icons):
    progress = DownloadProgress("owner/model", "downloading", 500, 1000, 2_500_000.0, 200.0)
    item = QueuedDownload(7, PLAN, "running", progress=progress)
    row = DownloadRow(item, icons)
    qtbot.addWidget(row)
    assert shown(row) == {"pause", "remove"}
    assert row._words.text() == "500 B of 1 kB · 2.5 MB/s · 3 min left"
    row.show_item(replace(item, progress=replace(progress, bytes_per_second=0.0, seconds_left=None, note="no network")))
    assert row._words.text() == "500 B of 1 kB – no network"
    row.show_item(replace(item, state="paused"))
    assert shown(row) == {"resume", "remove"}
    row.show_item(replace(item, state="failed", problem="The disk is full. Make room, then resume."))
    assert shown(row) == {"retry", "remove"}
    assert "Make room" in row._words.text()
    row.show_item(replace(item, state="failed", problem="Gated.", page="https://hub/owner/model"))
    assert shown(row) == {"retry", "remove", "page", "sign_in"}
    with qtbot.waitSignal(row.did) as did:
        row.buttons["retry"].click()
    assert did.args == [7, "resume"]
    row.show_item(replace(item, state="finished", folder="/models/x"))
    assert shown(row) == {"open", "remove"}


def test_every_download_has_room_below(qtbot: QtBot, icons: Icons, tmp_path: Path):
    host = DownloadHost(tmp_path / "downloads.json", lambda: HubAccess("http://127.0.0.1:9", tmp_path))
    view = DownloadList(host, icons)
    qtbot.addWidget(view)
    view.resize(700, 300)
    assert view.isHidden()
    item = QueuedDownload(1, PLAN, "finished", folder="/models/x")
    view._show((item,))
    view.show()
    row = view.rows[1]
    assert view._area.height() >= row.sizeHint().height() > 20
    problem = "The hub cannot be reached. Check the network, then resume. " * 4
    view._show((item, QueuedDownload(2, PLAN, "failed", problem=problem)))
    assert view._area.height() >= row.sizeHint().height() + view.rows[2].heightForWidth(650)
    assert list(view.rows) == [1, 2]
    view._show(())
    assert view.isHidden()
    assert view.rows == {}
    host.close()
