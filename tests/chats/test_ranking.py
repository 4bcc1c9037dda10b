"""Which texts have most to say about a question."""

from hypothesis import given, settings
from hypothesis import strategies as st

from llama_gui.chats.ranking import best, scores


def places(texts: list[str], question: str, *before: str) -> list[int]:
    return [place for _score, place in best(texts, question, before)]


PRICES = [
    "The llama: wool.",
    "The llama: its price is 90.",
    "The quokka: its price is 5.",
    *["Nothing of the sort."] * 5,
]


def test_what_was_asked_before_says_what_it_is_about():
    assert places(PRICES, "And its price?", "Tell me of the llama")[0] == 1
    assert places(PRICES, "And its price?", "Tell me of the quokka")[0] == 2
    assert places(PRICES, "And its price?", "Of the quokka?", "Tell me of the llama")[:2] == [2, 1]
    assert places(PRICES, "And its price?", *["wool " * 50] * 3) == [1, 2]  # the question itself comes first


def test_what_does_not_say_what_it_asks_about_finds_nothing():
    for question in ("Thank you!", "the", "And what is it then?", "Danke, und warum?", "", "Zebras?"):
        assert places(PRICES, question, "Tell me of the llama") == []
    assert places(["The war.", *["Peace."] * 9], "And the war?") == [0]
    assert best([], "llama") == []
    assert places(["The llama."], "llama") == [0]


def test_a_rare_word_counts_more_than_many_frequent_ones():
    texts = ["second quarter numbers, second quarter", "a wombat digs", *["the second quarter"] * 20, *["other"] * 20]
    assert places(texts, "What did the wombat do in the second quarter?")[0] == 1
    assert places(texts, "What of the second quarter?")[0] == 0


def test_what_says_far_less_than_the_best_is_left_out():
    texts = ["wombats dig tunnels", "wombats and more", *["many words, and tunnels now and then"] * 9, *["other"] * 20]
    assert places(texts, "Do wombats dig tunnels?") == [0, 1]


def test_scores_of_a_question_alone_know_no_empty_words():
    assert scores(["what is it", "a llama"], "what") != [0.0, 0.0]


TEXT = st.text(st.sampled_from("ab the llama.\\n") | st.characters(exclude_categories=("Cs",)), max_size=200)


@settings(deadline=None, max_examples=100)
@given(st.lists(TEXT, max_size=8), TEXT, st.lists(TEXT, max_size=4))
def test_any_texts_can_be_ranked(texts: list[str], question: str, before: list[str]):
    found = best(texts, question, before)
    assert sorted({place for _score, place in found}) == sorted(place for _score, place in found)
    assert all(score > 0 for score, _place in found)
    assert [score for score, _place in found] == sorted((score for score, _place in found), reverse=True)
