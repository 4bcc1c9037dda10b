"""Pieces join to the whole text, whatever the tokens and wherever they cut; nothing half is ever shown."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llama_gui.engine.detokenizer import WindowDetokenizer, byte_alphabet, spelling_of
from llama_gui.engine.tokenizer import Tokenizer
from tests.fakes.tiny_tokenizers import byte_level_tokenizer, sentencepiece_tokenizer, write_tokenizer

FAMILY = "👨‍👩‍👧‍👦"
SCRIPTS = {
    "latin": "Naïve façade, Žluťoučký kůň",
    "greek": "Ξεσκεπάζω τὴν ψυχοφθόρα",
    "cyrillic": "Съешь же ещё этих мягких булок",
    "hebrew": "דג סקרן שט בים",
    "arabic": "نص حكيم له سر قاطع",
    "devanagari": "ऋषियों को सताने वाले",
    "bengali": "বিশ্ববিদ্যালয়",
    "tamil": "யாமறிந்த மொழிகளிலே",
    "thai": "เป็นมนุษย์สุดประเสริฐ",
    "tibetan": "བོད་སྐད་",
    "georgian": "ქართული ენა",
    "armenian": "Հայոց լեզու",
    "ethiopic": "ሰላም ለዓለም",
    "khmer": "ភាសាខ្មែរ",
    "japanese": "いろはにほへと 片仮名カタカナ",
    "chinese": "天地玄黃 宇宙洪荒",
    "korean": "다람쥐 헌 쳇바퀴에",
    "emoji": f"🦙 {FAMILY} 🏳️‍🌈 👍🏽 🇺🇳 1️⃣",
    "beyond": "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𐍈 𒀀",
    "combining": "e\u0301 a\u0323\u0302 Z\u0351\u036b\u0343",
    "code": "if x:\n\treturn  [1, 2]\r\n\n# _ end  ",
    "replacement": "a \ufffd b",
}


@pytest.fixture(scope="module", params=["byte level", "sentencepiece"])
def tokenizer(request, tmp_path_factory) -> Tokenizer:
    folder = tmp_path_factory.mktemp("tokenizer")
    if request.param == "byte level":
        write_tokenizer(folder, byte_level_tokenizer(), bos="<|begin_of_text|>", eos="<|eot_id|>")
    else:
        write_tokenizer(folder, sentencepiece_tokenizer(), bos="<s>", eos="</s>")
    return Tokenizer.load(folder)


def pieces(tokenizer: Tokenizer, ids: list[int]) -> list[str]:
    detokenizer = tokenizer.detokenizer()
    return [*(detokenizer.push(token_id) for token_id in ids), detokenizer.flush()]


@pytest.mark.parametrize("text", SCRIPTS.values(), ids=SCRIPTS)
def test_every_script(tokenizer: Tokenizer, text: str):
    ids = tokenizer.encode(text, add_special_tokens=True)
    shown = pieces(tokenizer, ids)
    assert "".join(shown) == tokenizer.decode(ids) == text
    assert shown[-1] == ""  # nothing was held longer than its character
    if "\ufffd" not in text:
        assert not any("\ufffd" in piece for piece in shown)


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_random_ids_beside_the_librarys_own_decoding(tokenizer: Tokenizer, data: st.DataObject):
    """Ids that no text has: broken characters everywhere, control tokens in between, ids beyond the vocabulary."""
    ids = data.draw(st.lists(st.integers(0, tokenizer.vocab_size + 2), max_size=40))
    text = "".join(pieces(tokenizer, ids))
    whole = b"".join(map(tokenizer._bytes_of, ids)).decode("utf-8", "replace")
    assert text in (whole, whole.removeprefix(" "))
    assert text == tokenizer.decode(ids)
    theirs = tokenizer._library_decode([token_id for token_id in ids if token_id < tokenizer.vocab_size])
    if "\ufffd" not in theirs:  # for one broken byte the library gives up the whole ones beside it
        assert text == theirs


def test_a_character_in_four_tokens_comes_with_the_last(tokenizer: Tokenizer):
    ids = tokenizer.encode("a🦙b", add_special_tokens=False)
    shown = [piece for piece in pieces(tokenizer, ids) if piece]
    assert "🦙" in shown
    assert len(ids) > len(shown)


def test_a_broken_character_costs_only_itself(tokenizer: Tokenizer):
    llama = tokenizer.encode("🦙", add_special_tokens=False)[-4:]
    tail = tokenizer.encode("x", add_special_tokens=False)[-1:]
    assert "".join(pieces(tokenizer, llama[:3])) == "\ufffd"
    assert "".join(pieces(tokenizer, [*llama[:2], *tail])).lstrip() == "\ufffdx"
    assert "".join(pieces(tokenizer, [*llama[:1], *llama])) == "\ufffd🦙"


def test_control_tokens_are_not_text(tokenizer: Tokenizer):
    special = min(tokenizer.special_ids)
    ids = tokenizer.encode("hello there", add_special_tokens=False)
    assert "".join(pieces(tokenizer, [special, *ids[:1], special, *ids[1:], special])) == "hello there"
    assert tokenizer.token_text(special) in tokenizer.decode([special, *ids], skip_special_tokens=False)


def test_control_tokens_are_text_on_demand(tokenizer: Tokenizer):
    special = min(tokenizer.special_ids)
    name = tokenizer.token_text(special)
    ids = tokenizer.encode("hello there 🦙", add_special_tokens=False)
    detokenizer = tokenizer.detokenizer(skip_special_tokens=False)
    shown = [detokenizer.push(token_id) for token_id in [*ids, special]]
    assert "".join([*shown, detokenizer.flush()]).lstrip() == f"hello there 🦙{name}"


def test_the_alphabet_stands_for_every_byte():
    assert sorted(byte_alphabet().values()) == list(range(256))
    assert byte_alphabet()["Ġ"] == ord(" ")


@pytest.mark.parametrize(
    "decoder",
    [
        None,
        {"type": "WordPiece", "prefix": "##", "cleanup": True},
        {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]},
        {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "_"}, "content": " "}]},
    ],
)
def test_a_spelling_that_is_not_known_is_left_to_the_library(decoder: object):
    assert spelling_of(decoder) is None


def test_the_window_joins_to_the_whole_too():
    """For other tokenizers: here one whose words are joined by spaces, and one token is half a character."""
    words = {0: "one", 1: "two", 2: "\ufffd", 3: "三"}

    def decode(ids) -> str:
        text = " ".join(words[token_id] for token_id in ids)
        return text.replace("\ufffd 三", "三")

    window = WindowDetokenizer(decode)
    shown = [*(window.push(token_id) for token_id in [0, 1, 2, 3, 1, 2]), window.flush()]
    assert shown == ["one", " two", "", " 三", " two", "", " \ufffd"]
    assert WindowDetokenizer(decode, [0, 0, 1]).push(1) == " two"
    half = WindowDetokenizer(decode, [0, 2])
    assert [half.push(3), half.push(1), half.flush()] == ["三", " two", ""]
