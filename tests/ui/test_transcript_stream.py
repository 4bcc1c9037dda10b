"""Markdown in pieces ends as Markdown at once, and nothing outside the text is ever read."""

import random

import pytest
from PySide6.QtGui import QTextCursor, QTextDocument

from llama_gui.ui.markdown.breaks import breakable, without_breaks
from llama_gui.ui.markdown.document_writer import DocumentWriter
from llama_gui.ui.markdown.formats import Formats
from llama_gui.ui.markdown.parts import AT_ONCE, write_markdown
from llama_gui.ui.markdown.stream import MAX_FORMATTED, MarkdownStream
from llama_gui.ui.theme import LIGHT
from tests.ui.transcripts import picture_of

DOCUMENTS = [
    "Plain words, nothing else.",
    "# Title\n\nText with **bold**, *slanted*, `code`, ~~gone~~ and [a link](https://example.org).\n\n## More\ntext",
    "para\n#tag is no heading\n# but this is\n#\n",
    "Setext\n===\n\nafter\n---\nmore\n\n---\n\nend",
    "- one\n- two\n  - deep\n  - deeper\n\n    still deeper\n- three\n\n1. a\n2. b\n\n7) c\n8) d\n\nend",
    "- a\n--\n\n- loose\n\n- items\n\n* other\n+ list\n",
    "| a | b |\n|---|:-:|\n| 1 | **2** |\n| 3 | `4` |\nnot a row\n\ntext | with | bars\n\n| a |\n|---|\n| 1 |\n",
    "```python\nx = 1\n\nif x:\n    print('`')\n```\n\nafter\n\n~~~\nplain\n~~~\n\n    indented\n\n    code\n\nend",
    "1. step\n   ```sh\n   ls -l\n   ```\n2. next\n\n   | a | b |\n   |---|---|\n   | 1 | 2 |\n3. last",
    "> quote\n> goes on\nlazily\n>\n> > deeper\n>\n> - item\n\nend\n> again",
    "See [later] and [first][x].\n\n[x]: https://example.org/x\n\nUse [x] again.\n\n[later]: https://example.org/later\n",
    "line\r\nwith\r\n\r\n- windows\r\n- ends\r\n",
    "日本語 🐙 שלום\n\n👩‍👩‍👧 end\n\n<b>html</b> &amp; <script>alert(1)</script>\n\n<div>\nblock\n</div>\n",
    "![picture](file:///etc/passwd) and ![x](/etc/hostname)\n\n[bad](javascript:alert(1)) [file](file:///etc/passwd)",
    "```\nopen fence\nnever closed",
    "text\n***\ntext\n\n" + "word " * 300 + "\n\n" + "x" * 500,
    "-\n  text\n-\n- \n\n1.\n2. b",
]


def new_writer() -> tuple[QTextDocument, DocumentWriter]:
    document = QTextDocument()
    return document, DocumentWriter(document, Formats(LIGHT), "secret")


def at_once(source: str) -> list[tuple]:
    document, writer = new_writer()
    write_markdown(writer, source, at_once=10**9)
    return picture_of(document)


def in_pieces(source: str, rng: random.Random, *, finish: bool) -> list[tuple]:
    document, writer = new_writer()
    stream = MarkdownStream(writer)
    position = 0
    while position < len(source):
        size = rng.choice((1, 1, 2, 3, 5, 8, 40))
        stream.append(source[position : position + size])
        position += size
        if rng.random() < 0.8:
            stream.flush()
    stream.flush()
    if finish:
        stream.finish()
    return picture_of(document)


@pytest.mark.parametrize("source", DOCUMENTS, ids=range(len(DOCUMENTS)))
def test_a_stream_ends_as_the_whole_text(qapp, source):
    expected = at_once(source.replace("\r\n", "\n"))
    for seed in range(6):
        assert in_pieces(source, random.Random(seed), finish=True) == expected


@pytest.mark.parametrize("source", [d for d in DOCUMENTS if "[later]" not in d], ids=lambda d: d[:12])
@pytest.mark.sampled(8)
def test_while_it_streams_it_already_looks_like_the_whole(qapp, source):
    # All but a reference that is used before it is defined is right before the end.
    expected = at_once(source.replace("\r\n", "\n"))
    for seed in range(6):
        assert in_pieces(source, random.Random(seed), finish=False) == expected
    document, writer = new_writer()
    stream = MarkdownStream(writer)
    for character in source:  # no state in between may leave a trace
        stream.append(character)
        stream.flush()
    assert picture_of(document) == expected


def test_mixed_documents_in_random_pieces(qapp):
    rng = random.Random(11)
    for _ in range(40):
        source = "\n\n".join(rng.choice(DOCUMENTS).replace("\r\n", "\n") for _ in range(3))
        assert in_pieces(source, rng, finish=True) == at_once(source)


def test_a_long_open_fence_grows_without_being_written_again(qapp):
    lines = [f"value_{n} = {n}" for n in range(1000)]
    source = "Look:\n\n```python\n" + "\n".join(lines) + "\n```\n\nDone."
    document, writer = new_writer()
    stream = MarkdownStream(writer)
    for start in range(0, len(source), 97):
        stream.append(source[start : start + 97])
        stream.flush()
    assert "\n".join(lines) in document.toPlainText()
    assert "\n".join(lines) in writer.codes.values()
    stream.finish()
    assert picture_of(document) == at_once(source)


def test_code_that_was_written_again_is_kept_once(qapp):
    _document, writer = new_writer()
    stream = MarkdownStream(writer)
    for line in ["```python", *(f"x = {n}" for n in range(50)), "```", "", "- a", "", "```", "y", "```", ""]:
        stream.append(line + "\n")
        stream.flush()
    stream.finish()
    assert sorted(writer.codes.values()) == sorted(["\n".join(f"x = {n}" for n in range(50)), "y"])


@pytest.mark.parametrize("marker", ["-", "{n}."])
def test_a_long_list_is_frozen_item_by_item(qapp, marker):
    items = [f"{marker.format(n=n)} item {n} with *some* words and more of them" for n in range(3, 203)]
    source = "\n".join(items) + "\n\nafter"
    document, writer = new_writer()
    stream = MarkdownStream(writer)
    for start in range(0, len(source), 61):
        stream.append(source[start : start + 61])
        stream.flush()
    assert 0 < len(stream._source) - stream._frozen < 2_100
    stream.finish()
    shown, whole = picture_of(document), at_once(source)
    assert [block[0] for block in shown] == [block[0] for block in whole]
    assert [block[3] for block in shown] == [block[3] for block in whole]
    cursor = QTextCursor(document.find("item 150 "))
    assert cursor.block().textList().itemText(cursor.block()) in ("150.", ".")


def test_no_html_is_made(qapp):
    document, writer = new_writer()
    write_markdown(writer, "<img src='/etc/passwd'> <b>x</b>\n\n<script>y</script>")
    assert "<img src='/etc/passwd'> <b>x</b>" in document.toPlainText()
    assert "<script>y</script>" in document.toPlainText()


def test_a_run_without_spaces_stays_fast_and_copies_as_it_was(qapp):
    run = "x" * (AT_ONCE - 1)
    document, writer = new_writer()
    write_markdown(writer, run)
    document.setTextWidth(600)
    assert document.size().height() > 600
    assert without_breaks(document.toPlainText()) == run
    assert breakable("short words only") == "short words only"


@pytest.mark.parametrize("run", ["https://example.com/" + "abcdefghij" * 40, "Donaudampfschifffahrt" * 24])
def test_a_long_run_fills_its_lines(qapp, run):
    document, writer = new_writer()
    write_markdown(writer, run)
    document.setTextWidth(600)
    document.size()  # lays it out
    layout = document.firstBlock().layout()
    lines = [layout.lineAt(number) for number in range(layout.lineCount())]
    assert len(lines) > 3
    # A line may end behind the host of an address, as at a word.
    assert all(line.naturalTextWidth() > 0.95 * line.width() for line in lines[run.startswith("https") : -1])


def test_a_giant_answer_is_plain_text(qapp):
    source = "**bold** line\n\n" * (MAX_FORMATTED // 10)
    document, writer = new_writer()
    stream = MarkdownStream(writer)
    for start in range(0, len(source), 50_000):
        stream.append(source[start : start + 50_000])
        stream.flush()
    shown = document.toPlainText()
    assert shown.startswith("bold line\nbold line")
    assert "bold" in shown[-20:]
    assert shown.count("bold") == source.count("bold")


@pytest.mark.parametrize(
    "source", ["- item\n" * 8000, "| a " * 40 + "\n" + "|--" * 40 + "\n" + ("| b " * 40 + "\n") * 300]
)
def test_thousands_of_items_are_plain_text(qapp, source):
    document, writer = new_writer()
    stream = MarkdownStream(writer)
    for part in (source[:500], source[500:], "\nend"):
        stream.append(part)
        stream.flush()
    assert document.toPlainText().strip() == source + "\nend"


@pytest.mark.parametrize(
    "bomb", [">" * 10_000, "[" * 20_000, "[a](b" * 5_000, "`" * 50_000, "```\nx\n" * 500, "*a " * 5_000, "<" * 50_000]
)
@pytest.mark.sampled(4)
def test_hostile_markdown_is_written(qapp, bomb):
    document, writer = new_writer()
    stream = MarkdownStream(writer)
    stream.append(bomb)
    stream.flush()
    stream.finish()
    assert document.blockCount() > 0


def test_reading_direction_tricks_in_code_become_visible(qapp):
    document, writer = new_writer()
    write_markdown(writer, "```python\naccess = '\u202euser'\n```")
    assert "<U+202E>" in document.toPlainText()
    assert "\u202e" in next(iter(writer.codes.values()))
