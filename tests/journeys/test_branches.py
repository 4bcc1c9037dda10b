"""A conversation as a tree, by keys: edit, versions, fork, delete and undo, go on, run again."""

import pytest
from PySide6.QtCore import QPoint, Qt

from llama_gui.ui.message_actions import fork_title
from llama_gui.ui.transcript.branch_map import BranchMap
from llama_gui.ui.widgets import Button
from tests.fakes.scripted_engine import ScriptedEngine, pieces_of
from tests.journeys.driving import ask, shown, trigger


def texts(tab) -> list[str]:
    return [node.content for node in tab.session.path()]


def two_turns(open_window, qtbot):
    window = open_window(ScriptedEngine())
    tab = window.deck.current()
    for text in ("first", "second"):
        ask(qtbot, tab, text)
        qtbot.waitUntil(lambda text=text: texts(tab)[-1:] == [text] and not tab.session.answering)
    return window, tab


def test_the_last_message_is_edited_in_the_composer_and_the_draft_comes_back(open_window, qtbot):
    window, tab = two_turns(open_window, qtbot)
    qtbot.keyClicks(tab.composer.edit, "a draft")
    trigger(window, "edit_last")
    assert tab.composer.text() == "second"
    assert "Editing your message" in tab.bar.text()
    assert tab.bar.isVisible()
    qtbot.keyClicks(tab.composer.edit, " thought")
    qtbot.keyClick(tab.composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: texts(tab) == ["first", "first", "second thought", "second thought"])
    assert tab.composer.text() == "a draft"
    assert not tab.bar.isVisible()
    qtbot.waitUntil(lambda: not tab.session.answering)
    trigger(window, "previous_version")
    assert texts(tab)[2:] == ["second", "second"]
    assert "second thought" not in shown(tab)
    trigger(window, "next_version")
    assert texts(tab)[2] == "second thought"


def test_esc_leaves_an_edit(open_window, qtbot):
    window, tab = two_turns(open_window, qtbot)
    qtbot.keyClicks(tab.composer.edit, "a draft")
    trigger(window, "edit_last")
    assert window.actions_["stop"].isEnabled()
    trigger(window, "stop")
    assert tab.composer.text() == "a draft"
    assert not tab.bar.isVisible()
    assert texts(tab) == ["first", "first", "second", "second"]


def test_an_answer_is_edited_and_another_one_follows_from_it(open_window, qtbot):
    window, tab = two_turns(open_window, qtbot)
    trigger(window, "edit_answer")
    tab.composer.edit.selectAll()
    qtbot.keyClicks(tab.composer.edit, "better")
    qtbot.keyClick(tab.composer.edit, Qt.Key.Key_Return)
    assert texts(tab) == ["first", "first", "second", "better"]
    assert tab.composer.text() == ""
    assert "better" in shown(tab)


def test_an_answer_is_replaced_by_a_long_text_and_takes_no_files(open_window, qtbot, qapp, tmp_path):
    window, tab = two_turns(open_window, qtbot)
    long = "\n".join(f"line {number}" for number in range(60))
    (tmp_path / "notes.md").write_text("notes", encoding="utf-8")
    trigger(window, "edit_answer")
    tab.files.attach([str(tmp_path / "notes.md")])
    assert "No file" in tab.notice.text()
    tab.composer.edit.selectAll()
    qapp.clipboard().setText(long)
    tab.composer.edit.paste()
    assert [button.text() for button in tab.bar.findChildren(Button) if button.isVisible()] == ["Leave"]
    qtbot.mouseClick(tab.composer.button, Qt.MouseButton.LeftButton)
    assert texts(tab) == ["first", "first", "second", long]
    assert tab.composer.button.text() == "Send"


def test_a_deleted_branch_comes_back_by_undo(open_window, qtbot):
    _window, tab = two_turns(open_window, qtbot)
    qtbot.waitUntil(lambda: tab.session.is_settled)
    tab.messages.run("delete", tab.session.path()[2].id)
    qtbot.waitUntil(tab.bar.isVisible)
    assert texts(tab) == ["first", "first"]
    assert "in the bin" in tab.bar.text()
    tab.bar.accepted.emit()
    qtbot.waitUntil(lambda: texts(tab) == ["first", "first", "second", "second"])


def test_deleting_the_first_message_shows_the_greeting_again(open_window, qtbot):
    _window, tab = two_turns(open_window, qtbot)
    qtbot.waitUntil(lambda: tab.session.is_settled)
    tab.messages.run("delete", tab.session.path()[0].id)
    qtbot.waitUntil(tab.welcome.isVisible)
    assert texts(tab) == []
    ask(qtbot, tab, "anew")
    qtbot.waitUntil(lambda: texts(tab) == ["anew", "anew"] and not tab.session.answering)


def test_a_fork_opens_in_a_new_tab(open_window, qtbot):
    window, tab = two_turns(open_window, qtbot)
    tab.messages.run("fork", tab.session.path()[1].id)
    qtbot.waitUntil(lambda: len(window.deck.tabs()) == 2)
    fork = window.deck.current()
    qtbot.waitUntil(lambda: texts(fork) == ["first", "first"])
    assert fork is not tab
    assert fork.session.title == "first (fork)"
    assert texts(tab) == ["first", "first", "second", "second"]
    for title in ("first (fork 2)", "first (fork 3)"):
        trigger(window, "fork")
        qtbot.waitUntil(lambda title=title: window.deck.current().session.title == title)


@pytest.mark.parametrize(
    ("title", "fork"),
    [
        ("Tides", "Tides (Abzweig)"),
        ("Tides (Abzweig)", "Tides (Abzweig 2)"),
        ("Tides (Abzweig 9)", "Tides (Abzweig 10)"),
        ("(Abzweig)", "(Abzweig) (Abzweig)"),
        (r"a.* {} \1 (x)", r"a.* {} \1 (x) (Abzweig)"),
    ],
)
def test_forks_are_counted(title, fork):
    assert fork_title(title, "{} (Abzweig)", "{} (Abzweig {})") == fork


def test_copy_and_run_again(open_window, qtbot, qapp):
    window, tab = two_turns(open_window, qtbot)
    tab.messages.run("copy", tab.session.path()[1].id)
    assert qapp.clipboard().text() == "first"
    trigger(window, "run_again")
    qtbot.waitUntil(lambda: "letter for letter" in window.status.state.text())
    assert len(tab.session.versions()) == 1


def test_what_an_answering_chat_cannot_do_loses_nothing(open_window, qtbot):
    window = open_window(ScriptedEngine({"go": pieces_of("on and on " * 500)}, tokens_per_second=100))
    tab = window.deck.current()
    ask(qtbot, tab, "go")
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2)
    for verb in ("edit", "delete", "previous", "regenerate", "continue"):
        tab.messages.run(verb, tab.session.path()[0].id)
    assert not tab.messages.editing
    assert "still being written" in tab.notice.text()
    tab.session.stop()
    qtbot.waitUntil(lambda: tab.session.is_settled)
    tab.messages.run("nonsense", tab.session.path()[0].id)
    tab.messages.run("edit", "nobody")


def test_the_map_opens_below_the_field_that_finds(open_window, qtbot):
    window, tab = two_turns(open_window, qtbot)
    trigger(window, "find")
    trigger(window, "branches")
    branch_map = tab.findChild(BranchMap)
    found = tab.find_bar.rect().translated(tab.find_bar.mapTo(tab, QPoint(0, 0)))
    assert tab.find_bar.isVisible()
    assert not branch_map.geometry().intersects(found)
    assert tab.rect().contains(branch_map.geometry())
