"""HTML."""

import pytest

from llama_gui.chats.documents.web_page import read_web_page


def read(text: str) -> str:
    return read_web_page(text.encode())


def test_headings_lists_and_paragraphs_without_scripts():
    page = """<!doctype html><html><head><title>Site – page</title><style>p{}</style></head><body>
<nav><a href="x">Home</a></nav><h1>Gr&ouml;&szlig;e</h1><script>if (a < b) {"</p>"}</script>
<p>One   <b>two</b>
three<br>four<ol><li>first<li><p>second</p><ul><li>deep</ul></ol><pre>a
  b</pre><p>end"""
    assert read(page) == (
        "Home\n\n# Größe\n\nOne two three\nfour\n\n1. first\n2. second\n  - deep\n\n```\na\n  b\n```\n\nend\n"
    )


def test_the_title_stands_above_a_page_without_headings():
    assert read("<title>The &amp; title</title><p>x") == "# The & title\n\nx\n"
    assert read("<html><head><title>T</title><body>x") == "# T\n\nx\n"


def test_tables():
    page = "<table><tr><th>a<th>b<tr><td>1 | 2<td><table><tr><td>in<td>side</table></table>after"
    assert read(page) == "| a | b |\n| --- | --- |\n| 1 \\| 2 | in side |\n\nafter\n"
    assert read("<table><tr><td>only for looks</table>x") == "only for looks\n\nx\n"


@pytest.mark.parametrize(
    "content",
    [
        b'<meta charset="iso-8859-1"><p>Stra\xdfe',
        b'<meta http-equiv=Content-Type content="text/html; charset=windows-1252"><p>Stra\xdfe',
        b"<p>Stra\xdfe",
        '<meta charset="no such"><p>Straße'.encode(),
        b"\xff\xfe" + "<p>Straße".encode("utf-16-le"),
        '<?xml version="1.0" encoding="utf-8"?><p>Straße</p>'.encode(),
    ],
)
def test_encodings(content: bytes):
    assert read_web_page(content) == "Straße\n"


def test_a_page_of_scripts_only_has_no_text():
    assert read("<script>document.write(1)</script>") == ""
