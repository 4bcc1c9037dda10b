"""XML of strangers."""

import pytest

from llama_gui.chats.documents import markup
from llama_gui.chats.documents.faults import DocumentError
from llama_gui.chats.documents.markup import MOST_DEPTH, Node, parse, parse_each

LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY a{at} "{f"&a{at - 1 if at else str()};" * 10}">' for at in range(10))
    + "]><a>&a9;</a>"
)


def test_nodes_have_local_names_and_texts_in_order():
    root = parse(b'<x:a xmlns:x="u" xmlns:r="http://z/relationships" id="1" r:id="2">one<x:b>two</x:b>three</x:a>')
    assert (root.name, root.get("id"), root.get("r:id"), root.get("none")) == ("a", "1", "2", "")
    assert [child.name if isinstance(child, Node) else child for child in root.children] == ["one", "b", "three"]
    assert root.text() == "onetwothree"
    assert parse("<a>ä</a>".encode("utf-16")).text() == "ä"


@pytest.mark.parametrize(
    "content",
    [
        LAUGHS.encode(),
        LAUGHS.encode("utf-16"),
        b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
        b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
        b"<a>&unknown;</a>",
        b"<a><b></a>",
        b"",
        b"no markup",
        b'<?xml version="1.0" encoding="no-such"?><a/>',
        b"<a>" * (MOST_DEPTH + 1) + b"</a>" * (MOST_DEPTH + 1),
        b"<a>" * 1_000_000,
    ],
)
def test_bombs_and_damage_are_refused(content: bytes):
    with pytest.raises(DocumentError, match="damaged"):
        parse(content)
    with pytest.raises(DocumentError, match="damaged"):
        list(parse_each([content], "z"))


def test_too_many_nodes_are_refused(monkeypatch):
    monkeypatch.setattr(markup, "MOST_NODES", 10)
    with pytest.raises(DocumentError, match="too_large"):
        parse(b"<a>" + b"<b/>" * 11 + b"</a>")


def test_elements_are_given_out_as_they_are_read():
    pieces = iter([b"<a><row n='1'><c/></row><row n='2'>", b"x</row>", b"<other/></a>"])
    rows = parse_each(pieces, "row")
    assert next(rows).get("n") == "1"
    assert next(rows).text() == "x"
    assert list(rows) == []
