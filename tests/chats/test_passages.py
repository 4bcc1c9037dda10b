"""Which passages of a long document fit a question."""

from hypothesis import given, settings
from hypothesis import strategies as st

from llama_gui.chats.passages import PASSAGE, Excerpt, Passages

FILLER = "Ein Absatz, der von gar nichts handelt und nur den Platz füllt. " * 11


def book(**pages: str) -> str:
    """Twenty pages; those named have a sentence of their own."""
    return "".join(f"[page {n}]\n{pages.get(f'p{n}', '')}\n{FILLER}\n\n" for n in range(1, 21))


def test_the_passages_that_have_the_words_come_in_the_order_of_the_document():
    text = book(p17="Die Öffnungszeiten sind neu.", p9="Im Museum: Öffnungszeit und Preise.")
    found = Passages(text, "Welche ÖFFNUNGSZEITEN hat das Museum?").excerpt(3 * PASSAGE + 200)
    assert (found.chosen, found.total) == (3, 20)
    assert [line for line in found.text.split("\n") if line.startswith("[")] == [
        "[page 1]", "[…]", "[page 9]", "[…]", "[page 17]", "[…]",
    ]  # fmt: skip
    assert len(found.text) <= 3 * PASSAGE + 200


def test_where_no_word_is_found_they_come_from_the_beginning():
    found = Passages(book(), "Zusammenfassung bitte").excerpt(2 * PASSAGE + 200)
    assert found.text.startswith("[page 1]\n")
    assert "[page 2]" in found.text
    assert found.text.endswith("[…]")
    assert Passages(book(), "").excerpt(10**9) == Excerpt(book(), 20, 20)


def test_writing_without_spaces_is_found():
    text = "\n\n".join(["这是别的内容。" * 120] * 8 + ["羊驼住在山上。" + "其他。" * 200])
    assert "羊驼住在山上" in Passages(text, "羊驼住在哪里？").excerpt(1500).text


def test_a_rare_word_weighs_more_than_a_frequent_one():
    text = book(**{f"p{n}": "the llama the llama the llama" for n in range(2, 20)}, p20="a quokka")
    found = Passages(text, "the llama or the quokka").excerpt(PASSAGE + 600)
    assert "a quokka" in found.text


def test_passages_on_one_page_say_the_page_once():
    text = "[page 4]\n" + "".join(f"{FILLER}\n\n" for _ in range(5)) + f"needle\n{FILLER}"
    found = Passages(text, "needle").excerpt(PASSAGE + 500)
    assert found.text.count("[page 4]") == 1
    assert "needle" in found.text


TEXT = st.text(st.sampled_from("ab .\n[]page 1羊Ä") | st.characters(exclude_categories=("Cs",)), max_size=4000)


@settings(deadline=None, max_examples=150)
@given(TEXT, TEXT, st.integers(0, 5000))
def test_any_text_can_be_cut(text: str, question: str, most: int):
    passages = Passages(text, question)
    found = passages.excerpt(most)
    assert len(found.text) <= max(most, 1)
    assert found.chosen <= found.total
    everything = passages.excerpt(10**9)
    assert everything.chosen == everything.total or question


def test_long_lines_are_cut_too():
    found = Passages("x" * 100_000, "y").excerpt(2000)
    assert found.total == 125
    assert 0 < found.chosen < 5
