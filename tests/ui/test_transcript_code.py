"""Colours for code: short code at once, long code in the next frames and never for long; streams end coloured too."""

from llama_gui.ui.markdown import code_block
from llama_gui.ui.markdown.code_block import colour, highlight, plain_lines
from llama_gui.ui.theme import LIGHT
from llama_gui.ui.transcript.view import TranscriptView
from tests.ui.transcripts import answer, look_of, user

LINE = "return call(12, 'wörd 🐙')  # note"
LONG = "\n".join(f"def f{n}():\n    {LINE}" for n in range(200))


def colours(view: TranscriptView, line: str) -> dict[str, str]:
    """Of the last line with these words: its runs and their colours."""
    found, block = {}, view.document().begin()
    while block.isValid():
        if line in block.text():
            found = {}
            iterator = block.begin()
            while not iterator.atEnd():
                chars = iterator.fragment().charFormat()
                found[iterator.fragment().text().strip()] = chars.foreground().color().name().upper()
                iterator += 1
        block = block.next()
    return found


def test_bit_by_bit_is_as_at_once(monkeypatch):
    code = "x = '''a\n\nb'''\n\n\nif x:\n    pass\n"
    whole = highlight("python", code)
    assert tuple(tuple(piece for piece in line if piece[0]) for line in colour("python", code)) == whole
    assert ["".join(text for text, _ in line) for line in whole] == code.split("\n")
    monkeypatch.setattr(code_block, "AT_ONCE", 3)
    assert highlight("python", code) == plain_lines(code)
    assert highlight("no such language", "x = 1") == plain_lines("x = 1")


def test_long_code_is_coloured_in_the_next_frames(view, qtbot):
    view.show_path([user(1), answer(1, f"```python\n{LONG}\n```\n\nend")])
    assert view.page.has_coats
    assert set(colours(view, "return call").values()) == {LIGHT.text}
    text = view.toPlainText()
    qtbot.waitUntil(lambda: not view.page.has_coats and not view.page.folds())
    found = colours(view, "return call")
    assert found["return"] == LIGHT.code_keyword
    assert found["12"] == LIGHT.code_number
    assert found["'wörd 🐙'"] == LIGHT.accent
    assert found["# note"] == LIGHT.muted
    assert LONG in view.toPlainText()
    assert view.toPlainText().startswith(text[:1000])


def test_one_frame_of_colours_ends_in_time(view):
    view.show_path([user(1), answer(1, f"```python\n{LONG}\n```")])
    while view.page.next_fold() is not None:
        view._draw_rest()
    view.page.paint_code(0)
    assert view.page.has_coats
    assert colours(view, "f0").get("def") == LIGHT.code_keyword
    assert "def" not in colours(view, "f199")


def test_code_that_streamed_ends_coloured(view, qtbot):
    source = f"Look:\n\n```python\n{LONG}\n```\n\nDone."
    view.show_path([user(1), answer(1, status="streaming")])
    for start in range(0, len(source), 400):
        view.add_text("a1", source[start : start + 400])
        view.flush()
    view.replace_node(answer(1, source))
    qtbot.waitUntil(lambda: not view.page.has_coats)
    streamed = look_of(view)
    assert colours(view, "f199")["def"] == LIGHT.code_keyword
    view.show_path([user(1), answer(1, source)])
    qtbot.waitUntil(lambda: not view.page.has_coats and not view.page.folds())
    assert look_of(view) == streamed


def test_code_that_goes_away_takes_its_colours_along(view, qtbot):
    view.show_path([user(1), answer(1, f"```python\n{LONG}\n```")])
    assert view.page.has_coats or view.page.folds()
    view.show_path([user(1), answer(1, "Nothing.")])
    qtbot.waitUntil(lambda: not view.page.has_coats)
    assert view.toPlainText().startswith("Question\nTiny\nNothing.")
