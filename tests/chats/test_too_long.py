"""Who has sent too much is told what of it takes the room."""

from dataclasses import replace

import pytest

from llama_gui.chats.attachments import Attachment, Source
from llama_gui.chats.message_files import compose
from llama_gui.chats.passages import Excerpt
from llama_gui.chats.too_long import too_long_text
from llama_gui.chats.tree import Node
from llama_gui.errors import PromptTooLongError
from llama_gui.vocabulary import GenerateRequest, Image, Message
from llama_gui.vocabulary.requests import Overflow
from tests.chats.samples import answer, question
from tests.fakes.tiny_pixtral import picture

ERROR = PromptTooLongError(5000, 2048)
LONG = "many words " * 100
FILE = Attachment("Pasted text 1.txt", LONG, len(LONG))


def told(*path: Node, system: str = "", overflow: Overflow = "drop_oldest", tools: list[dict] | None = None) -> str:
    messages = [Message("system", system or "Be brief."), Message("user", path[-1].content)]
    return too_long_text(ERROR, GenerateRequest(messages=messages, overflow=overflow, tools=tools), path)


def asked(text: str, *files: Attachment, sources: tuple[Source, ...] = ()) -> Node:
    content, where = compose(text, files, sources)
    return replace(question(), content=content, attachments=where)


def test_what_was_pasted_is_named_and_not_the_message():
    text = told(asked("Why?", FILE))
    assert text.startswith("The conversation is 5,000 tokens long, but this model reads at most 2,048")
    assert "Most of that is “Pasted text 1.txt”. Take it out, or attach a part of it." in text
    assert "hort" not in text
    assert "let passages of it go along" in told(asked("Why?", FILE), overflow="error")


def test_of_a_file_that_was_cut_counts_what_was_sent():
    cut = replace(FILE, excerpt=Excerpt("many words", 1, 50, 200))
    assert "Most of that is your message." in told(asked("Why? " * 20, cut))


@pytest.mark.parametrize(("overflow", "helps"), [("drop_oldest", "as a file"), ("error", "Shorten it.")])
def test_a_long_message_can_be_attached_where_files_are_cut(overflow: Overflow, helps: str):
    text = told(asked(LONG), overflow=overflow)
    assert "Most of that is your message. Shorten it" in text
    assert helps in text


def test_the_other_parts_are_named():
    assert "Most of that is the system prompt." in told(asked("Why?"), system=LONG)
    assert "Most of that describes the tools" in told(asked("Why?"), tools=[{"name": LONG}])
    sources = (Source("book.txt", Excerpt(LONG, 1, 2, 200)),)
    assert "Most of that are passages of documents." in told(asked("Why?", sources=sources))
    reply = replace(answer("t", "a", LONG), role="tool")
    assert "Most of that is what tools have replied." in told(asked("Why?"), answer(), reply)


def test_images_are_named_where_they_take_most():
    images = [Image(picture(9, 9).data)] * 3
    request = GenerateRequest(messages=[Message("user", "Why?", images=images)])
    assert "Most of that are images. Leave some of them out." in too_long_text(ERROR, request, [asked("Why?")])
    long = GenerateRequest(messages=[Message("user", LONG * 10, images=images)])
    assert "Most of that is your message." in too_long_text(ERROR, long, [asked(LONG * 10)])


def test_what_was_said_earlier_counts_where_it_must_be_sent():
    path = (replace(question("q0"), content=LONG), answer("a0", "q0", LONG), asked("Why? " * 20))
    assert "Most of that was said earlier." in told(*path, overflow="error")
    assert "Most of that is your message." in told(*path)


def test_where_nothing_stands_out_the_general_sentence_is_said():
    assert told(asked("Why? " * 20, Attachment("a.txt", "w " * 40, 80)), system="Be brief. " * 10) == str(ERROR)


def test_an_answer_that_is_to_go_on_is_named_and_not_the_question():
    request = GenerateRequest(messages=[Message("user", "Write a novel.")], answer_text=LONG)
    assert "Most of that is the answer so far." in too_long_text(ERROR, request, [asked("Write a novel.")])
    drawn = GenerateRequest(messages=[Message("user", "Write a novel.")], answer_token_ids=[1] * 500)
    assert "Most of that is the answer so far." in too_long_text(ERROR, drawn, [asked("Write a novel.")])


def test_what_the_model_wrote_between_its_calls_is_not_blamed_on_tools():
    reply = replace(answer("t", "a", "ok"), role="tool")
    assert "Most of that is the answer so far." in told(asked("Why?"), replace(answer(), content=LONG), reply)
