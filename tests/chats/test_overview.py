"""What a question about all documents gets of them."""

from collections.abc import Sequence

import pytest

from llama_gui.chats.attachments import Attachment, Draft
from llama_gui.chats.message_files import compose, sources_of, sources_text, was_in_vain
from llama_gui.chats.overview import is_asked_for
from llama_gui.chats.passages import Beginning, Found, cut
from llama_gui.chats.recall import Documents, recalled
from tests.chats.test_recall import asked, cut_down


class Folder:
    """Texts by their names, among which nothing is found."""

    name = "Papers"

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts

    def find(self, question: str, former: Sequence[str] = ()) -> Sequence[Found]:
        return ()

    def names(self) -> Sequence[str]:
        return list(self.texts)

    def beginnings(self, names: Sequence[str], most: int) -> Sequence[Beginning]:
        passages = {name: cut(self.texts[name]) for name in names}
        return [Beginning(name, dict(enumerate(of_file)), len(of_file)) for name, of_file in passages.items()]


WORDS = "Many words about nothing in particular. "
PAPERS = Folder({"long.txt": f"The first of {WORDS * 200}", "short.txt": "Nine words.", "b.txt": f"B: {WORDS * 200}"})


@pytest.mark.parametrize(
    "question",
    [
        "What is in this folder?",
        "Summarise these documents",
        "Please summarize the files in three sentences.",
        "Give me an overview of the contents",
        "What's this about?",
        "What are these documents all about?",
        "What files are there?",
        "Fasse die Dokumente kurz zusammen.",
        "Worum geht es hier?",
        "Was steht in den Dateien?",
        "Gib mir eine Übersicht über den Ordner",
    ],
)
def test_questions_about_all_documents(question: str):
    assert is_asked_for(question)


@pytest.mark.parametrize(
    "question",
    [
        "",
        "Thanks!",
        "Hello",
        "How are you?",
        "Shorter, please.",
        "Make a list",
        "What is this contract about?",
        "Which document is about quokkas?",
        "Summarise chapter nine of the report on heat pumps",
        "And the other one?",
        "Was hat Anna über den Ordner gesagt?",
        f"What is this about?\n\n{WORDS}",
    ],
)
def test_questions_about_something(question: str):
    assert not is_asked_for(question)


def test_it_is_the_beginnings_in_fair_shares():
    chosen = Documents([], "Summarise these documents", PAPERS).chosen([], 3000)
    assert [source.name for source in chosen] == ["long.txt", "short.txt", "b.txt"]
    texts = [source.excerpt.text for source in chosen]
    assert texts[0].startswith("The first of Many words")
    assert texts[1] == "Nine words.\n"
    assert texts[0].endswith(" […]")
    assert not texts[0].removesuffix(" […]").endswith("word")  # cut between words
    assert abs(len(texts[0]) - len(texts[2])) < 50
    assert 2400 < sum(map(len, texts)) <= 3000
    assert (chosen[1].excerpt.chosen, chosen[1].excerpt.total) == (1, 1)


def test_of_too_many_some_begin_and_all_are_named():
    many = Folder({f"{n:03}.txt": f"Note {n}. {WORDS * 9}" for n in range(500)})
    listing, *beginnings = Documents([], "What is in this folder?", many).chosen([], 4000)
    assert listing.is_listing
    assert listing.excerpt.text.startswith("000.txt\n004.txt\n")
    assert listing.excerpt.text.splitlines()[-1] > "490.txt"
    assert 900 < len(listing.excerpt.text) <= 1000
    names = [source.name for source in beginnings]
    assert names[0] == "000.txt"
    assert len(names) == 10
    assert names[-1] > "440.txt"
    assert sources_text([listing]).startswith("The folder “Papers” has 500 files, among them:\n```\n000.txt")
    found = compose("What is in this folder?", (), (listing, *beginnings))
    assert sources_of(found[1]) == (listing, *beginnings)
    assert len(found[0]) < 4200


def test_what_was_sent_of_it_is_not_sent_again():
    documents = Documents([], "Summarise these documents", PAPERS)
    seen = [sources_text(documents.chosen([], 3000))]
    assert documents.chosen(seen, 1500) == ()


def test_of_a_document_that_was_sent_in_part_the_rest_of_the_beginning_comes():
    book = cut_down("Where does the llama live?")
    (source,) = Documents([book], "Summarise the document").chosen([book.content], 3000)
    assert (source.name, source.excerpt.chosen) == ("book.pdf", 4)
    assert source.excerpt.text.startswith("[…]\n[page 2]\n")
    assert "The book of animals." in book.content


def test_files_of_the_chat_are_in_it_too():
    nodes = [asked("this", Attachment("notes.md", "Some notes.", 9), Attachment("b.txt", "another b", 9))]
    chosen = Documents(nodes, "Summarise the files", PAPERS).chosen([], 3000)
    assert [source.name for source in chosen] == ["notes.md", "b.txt", "long.txt", "short.txt"]
    assert chosen[1].excerpt.text == "another b\n"


def test_it_takes_no_more_tokens_than_there_is_room_for():
    for most in (0, 40, 300, 2000):
        documents = Documents([], "Summarise these documents", PAPERS)
        draft = recalled(Draft("x"), documents, [], most, len)
        assert len(sources_text(draft.sources)) <= most
    assert len(draft.sources) == 3


@pytest.mark.parametrize(
    ("question", "folder", "is_silent"),
    [
        ("Who is Zaphod?", PAPERS, True),
        ("Thanks!", PAPERS, False),
        ("Summarise these documents", PAPERS, False),
        ("Summarise these documents", Folder({}), True),
        ("Who is Zaphod?", None, False),
    ],
)
def test_a_question_without_any_passage_is_marked(question: str, folder: Folder | None, is_silent: bool):
    draft = recalled(Draft(question), Documents([], question, folder), [], 500, len)
    content, where = compose(draft.text, draft.files, draft.sources, in_vain=draft.in_vain)
    assert was_in_vain(where) == is_silent
    if is_silent:
        assert content == question
    own = Draft(question, (Attachment("own.txt", "text", 4),))
    assert not recalled(own, Documents([], question, folder), [], 500, len).in_vain


def test_marks_that_cannot_be_read_are_none():
    for where in ("", "{", "[]", '{"sources": null}', '{"sources": [1]}', "5"):
        assert not was_in_vain(where)
