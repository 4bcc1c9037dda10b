"""Calls of tools in the transcript: a line that unfolds, and answers that go on behind it."""

from dataclasses import replace

from llama_gui.chats.tool_use import ToolUse, use_to_json
from llama_gui.chats.tree import Node
from llama_gui.ui.transcript.hover_bar import verbs_of
from tests.ui.transcripts import answer, command_of, look_of, user

USE = ToolUse("id", "files", "read", "read", '{"path": "<b>notes</b>.txt", "lines": 3}', "Read a file")
CALLING = answer(1, "Let me look.")
REPLY = Node(
    "t1", "c", "a1", "tool", "<h1>one</h1>\n\n[two](file:///etc)", "complete", 0.0, "files/read", use_to_json(USE)
)
LAST = replace(answer(2, "It says *one*."), parent_id="t1")
PATH = [user(1), CALLING, REPLY, LAST]
LINE = "⚙ files · Read a file (path: <b>notes</b>.txt, lines: 3)"


def test_a_call_is_a_line_and_the_answer_goes_on_below(view):
    view.show_path(PATH)
    said = view.toPlainText().replace("\u00a0", " ")
    assert f"Tiny\nLet me look.\n{LINE}  Reply ▸\nIt says one." in said
    assert said.count("Tiny") == 1
    assert said.count("Copy") == 1


def test_it_unfolds_as_plain_text(view):
    view.show_path(PATH)
    folded = look_of(view)
    view.anchorClicked.emit(command_of(view, "reasoning"))
    said = view.toPlainText().replace("\u00a0", " ")
    assert "Reply ▾\npath: <b>notes</b>.txt\nlines: 3\n<h1>one</h1>\n[two](file:///etc)\n" in said
    assert "'file:" not in str(look_of(view))  # as an address
    view.anchorClicked.emit(command_of(view, "reasoning"))
    assert look_of(view) == folded


def test_a_call_that_runs_and_ends_looks_as_if_it_had_been_there(view):
    running = replace(REPLY, status="streaming", content="")
    view.show_path([user(1), answer(1, status="streaming")])
    view.add_text("a1", "Let me")
    view.flush()
    view.replace_node(CALLING)
    view.add_node(running)
    assert f"{LINE}  waiting …" in view.toPlainText()
    view.set_waiting("Reading…")
    view.replace_node(REPLY)
    view.flush()
    assert "Reading…" in view.toPlainText()
    view.add_node(replace(LAST, status="streaming", content=""))
    view.add_text(LAST.id, LAST.content)
    view.flush()
    view.replace_node(LAST)
    view.set_waiting("")
    view.flush()
    streamed = look_of(view)
    view.show_path(PATH)
    assert look_of(view) == streamed


def test_how_a_call_ended_is_told(view):
    for status, content, says in (
        ("failed", "no such file", "It went wrong ▸"),
        ("stopped", "The user did not allow this call.", "Declined ▸"),
        # It may have been made, and done something, before it was broken off.
        ("stopped", "", "No reply ▸"),
        ("interrupted", "", "No reply ▸"),
    ):
        view.show_path([user(1), CALLING, replace(REPLY, status=status, content=content)])
        assert says in view.toPlainText().replace("\u00a0", " ")


def test_a_damaged_call_and_a_long_reply_are_drawn(view):
    view.show_path([user(1), CALLING, replace(REPLY, recipe="", model="files/read", content="x" * 100_000)])
    assert "⚙ files/read  Reply" in view.toPlainText().replace("\u00a0", " ")
    view.toggle_reasoning("t1")
    assert 5_000 < len(view.toPlainText()) < 10_000


def test_what_can_be_done_with_a_call():
    assert "copy" in verbs_of(REPLY)
    assert "continue" not in verbs_of(REPLY)
    assert "continue" in verbs_of(replace(REPLY, content="", status="interrupted"))
    assert verbs_of(replace(REPLY, content="", status="streaming")) == ()


def test_what_is_folded_is_found(view):
    view.show_path(PATH)
    assert ("t1", REPLY.content) in [(hidden.key, hidden.text) for hidden in view.hidden_texts()]
