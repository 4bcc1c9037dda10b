"""Images in messages: kept with them, sent with them, exported and brought back with them."""

import json
from pathlib import Path

import pytest

from llama_gui.chats.attachments import Attachment, Draft
from llama_gui.chats.export import to_json, to_markdown
from llama_gui.chats.export_html import to_html
from llama_gui.chats.importers import ours
from llama_gui.chats.message_files import compose, cut_files, listed, split
from llama_gui.chats.message_images import file_name, images_in, joined_messages, without_images
from llama_gui.chats.record import ChatRecord
from llama_gui.chats.store import ChatStore
from llama_gui.chats.tree import ChatTree, Node
from llama_gui.vocabulary import Image, Message
from tests.fakes.tiny_pixtral import picture

PHOTO, DRAWING = picture(40, 30, 1, "JPEG").data, picture(20, 20, 2).data
FILES = (
    Attachment("a.jpg", "", len(PHOTO), image=PHOTO),
    Attachment("notes.txt", "Red is red.\n", 12),
    Attachment("b*.png", "", len(DRAWING), image=DRAWING),
)


def node_of(text: str, files: tuple[Attachment, ...], name: str = "1", parent: str | None = None) -> Node:
    content, where = compose(text, files)
    return Node(name, "c", parent, "user", content, "complete", 0.0, attachments=where)


def test_what_is_sent_comes_back_to_be_edited():
    node = node_of("Which is red?", FILES)
    assert split(node.content, node.attachments) == ("Which is red?", FILES)
    assert cut_files(node.content, node.attachments) == FILES
    assert [(line.name, line.size, line.image) for line in listed(node.attachments)] == [
        (file.name, file.size, file.image) for file in FILES
    ]
    assert "a.jpg" not in node.content


def test_images_stand_before_the_words_and_behind_texts():
    node = node_of("Which is red?", FILES)
    place = node.content.index("Which is red?")
    assert images_in(node.content, node.attachments) == (Image(PHOTO, place), Image(DRAWING, place))
    assert images_in("Hi", "") == ()


def test_what_is_damaged_is_left_out():
    node = node_of("Hi", FILES[:1])
    for damaged in (
        "{",
        "[]",
        '{"files": [5]}',
        node.attachments.replace("/9j/", "%%%%"),
        '{"files": [{"image": "AAAA"}]}',
    ):
        assert images_in(node.content, damaged) == ()
        listed(damaged)
        split(node.content, damaged)


def test_the_model_gets_them_with_their_message():
    first, second = node_of("Which is red?", FILES[:1]), node_of("", FILES[2:], "2", "1")
    tree = ChatTree([first, second])
    (message,) = tree.messages("2")
    assert message == Message(
        "user", "Which is red?\n\n", images=[Image(PHOTO), Image(DRAWING, len("Which is red?\n\n"))]
    )


def test_two_turns_become_one():
    one, two = Message("user", "a", images=[Image(PHOTO)]), Message("user", "b", images=[Image(DRAWING, 1)])
    assert joined_messages(one, two) == Message("user", "a\n\nb", images=[Image(PHOTO), Image(DRAWING, 4)])
    assert without_images(joined_messages(one, two)) == Message("user", "[Image]\n\na\n\nb[Image]\n\n")
    assert without_images(Message("user", "a")) == Message("user", "a")


def test_a_draft_of_nothing_but_an_image_is_not_empty():
    assert not Draft("", FILES[:1]).is_empty


@pytest.mark.parametrize(
    ("name", "kind", "called"),
    [
        ("a.b.png", "PNG", "a.b.png"),
        ("a.JPEG", "JPEG", "a.JPEG"),
        ("a.webp", "JPEG", "a.jpg"),
        ("scan", "PNG", "scan.png"),
    ],
)
def test_a_name_tells_what_kind_it_is(name: str, kind: str, called: str):
    assert file_name(name, picture(9, 9, kind=kind).data) == called


def test_drafts_are_kept(store: ChatStore, path: Path):
    store.save_draft_files("c", FILES)
    store.close()
    again = ChatStore.open(path)
    assert again.draft_files("c") == FILES
    again.close()


def chat() -> ChatRecord:
    return ChatRecord("c", "Colours", 0.0, (node_of("Which is <red>?", FILES),))


def test_our_export_brings_them_back(tmp_path: Path):
    file = tmp_path / "chats.json"
    file.write_text("".join(to_json([chat()])), encoding="utf-8")
    (values,) = ours.conversations(json.loads(file.read_text(encoding="utf-8"))) or ()
    back = ours.read(values, {})
    assert split(back.nodes[0].content, back.nodes[0].attachments) == ("Which is <red>?", FILES)


def test_web_pages_show_them_and_load_nothing():
    page = "".join(to_html([chat()]))
    assert page.count('<img alt="" src="data:image/') == 2
    assert "img-src data:" in page
    assert "<red>" not in page


def test_markdown_has_them_in_it():
    text = "".join(to_markdown([chat()]))
    assert "![a.jpg](data:image/jpeg;base64,/9j/" in text
    assert r"![b\*.png](data:image/png;base64," in text
