"""What a new question gets of the documents that stand further up in its conversation."""

from dataclasses import replace

from llama_gui.chats.attachments import Attachment, Draft, fitted
from llama_gui.chats.message_files import compose, cut_files, sources_of, sources_text
from llama_gui.chats.passages import PASSAGE, SMALLEST
from llama_gui.chats.recall import Documents, recalled
from llama_gui.chats.tree import Node, new_node

FILLER = "Words about nothing at all, again and again. " * 17
BOOK = "".join(
    f"[page {n}]\n{said}{FILLER}\n\n"
    for n, said in enumerate(
        ["The book of animals. "]
        + [""] * 8
        + ["The blue llama lives in Köln. ", "", "Quokkas eat grass. "]
        + [""] * 30,
        1,
    )
)


def asked(text: str, *files: Attachment) -> Node:
    content, where = compose(text, files)
    return replace(new_node("chat", "user", content, "complete", None), attachments=where)


def cut_down(text: str) -> Node:
    """A question with as much of the book as a short context takes."""
    draft = fitted(
        Draft(text, (Attachment("book.pdf", BOOK, 9),)), lambda tried: len(compose(tried.text, tried.files)[0]), 3000
    )
    assert draft is not None
    return asked(draft.text, *draft.files)


def test_a_follow_up_gets_the_passages_that_fit_it_and_none_twice():
    first = cut_down("Where does the llama live?")
    assert "lives in Köln" in first.content
    assert "Quokkas eat" not in first.content
    found = recalled(
        Draft("And what do quokkas eat?"),
        Documents([first], "And what do quokkas eat?"),
        [first.content],
        500,
        lambda text: len(text) // 4,
    )
    content, where = compose(found.text, found.files, found.sources)
    assert content.startswith(
        "From the file “book.pdf”, 1 of its 42 passages:\n```\n[…]\n[page 12]\nQuokkas eat grass."
    )
    assert content.endswith("```\n\nAnd what do quokkas eat?")
    assert sources_of(where) == found.sources
    second = replace(new_node("chat", "user", content, "complete", None), attachments=where)
    seen = [first.content, second.content]
    again = Documents([first, second], "What do llamas and quokkas eat?")
    assert again.chosen(seen, 10**6) == ()
    assert again.chosen([first.content], 10**6) == found.sources
    assert [source.name for source in again.chosen([], 10**6)] == ["book.pdf"]


def test_passages_of_several_documents_are_ranked_together():
    nodes = [cut_down("?"), asked("and this", Attachment("short.txt", "A quokka weighs 3 kg.", 9))]
    found = Documents(nodes, "How much does the quokka weigh, and what do quokkas eat?").chosen([], 10**6)
    assert [(source.name, source.excerpt.chosen) for source in found] == [("short.txt", 1), ("book.pdf", 1)]
    assert not Documents(nodes, "").are_whole
    assert Documents(nodes[1:], "").are_whole
    assert Documents(nodes, "").are_before(["x", f"before\n\n{nodes[1].content}"])
    assert not Documents(nodes, "").are_before(["x"])


def test_no_more_tokens_are_taken_than_there_is_room_for():
    first = cut_down("?")
    documents = Documents([first], "nothing about quokkas or llamas")
    for most in (0, 10, 300, 600, 2000):
        found = recalled(Draft("x"), documents, [], most, len)
        assert len(sources_text(found.sources)) <= most
    assert recalled(Draft("x"), documents, [], 2000, len).sources[0].excerpt.chosen == 2


def test_a_message_knows_how_its_files_went_along():
    first = cut_down("Where does the llama live?")
    (file,) = cut_files(first.content, first.attachments)
    assert file.text == BOOK
    assert file.excerpt is not None
    assert file.excerpt.text in first.content
    assert (file.excerpt.total, file.excerpt.size) == (42, PASSAGE)
    for written, size in ((', "cut": 400', 400), ("", PASSAGE), (', "cut": -1', SMALLEST)):  # "": by an older version
        where = first.attachments.replace(f', "cut": {PASSAGE}', written)
        assert where != first.attachments
        assert cut_files(first.content, where)[0].excerpt == replace(file.excerpt, size=size)
    for damaged in (
        "",
        "{",
        '{"sources": 3}',
        '{"sources": [{}]}',
        '{"sources": [{"name": 1, "text": "", "chosen": []}]}',
    ):
        assert sources_of(damaged) == ()
        assert cut_files("x", damaged) == ()
