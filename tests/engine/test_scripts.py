"""Every script of the world, token by token: what is shown so far is always what can be known so far."""

import itertools
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
import tokenizers
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers
from torch import Tensor

from llama_gui.engine import Engine, GenerateRequest, Job, TokenOutput
from llama_gui.engine.detokenizer import ByteDetokenizer, WindowDetokenizer, byte_alphabet
from llama_gui.engine.tokenizer import Tokenizer
from tests.fakes.tiny_llama import write_tiny_llama
from tests.fakes.tiny_tokenizers import byte_level_tokenizer, sentencepiece_tokenizer, write_tokenizer

SCRIPTS = {
    "latin": "Grüße, žluťoučký kůň, Đường, İstanbul, ﬁn, Łódź",
    "latin with dots below": "Ṭhāṇāṃ ẓāhir ḥaqīqa",
    "greek": "Ὦ ξεῖν᾽, ἀγγέλλειν Λακεδαιμονίοις",
    "coptic": "Ⲁⲛⲟⲕ ⲡⲉ",
    "cyrillic": "Ђурђевдан, їжак, Ўзбекистон, ѵ",
    "glagolitic": "Ⰳⰾⰰⰳⱁⰾⰹⱌⰰ",
    "armenian": "Բոլոր մարդիկ ծնվում են ազատ։",
    "hebrew with points": "בְּרֵאשִׁית בָּרָא אֱלֹהִים",
    "arabic with points": "بِسْمِ ٱللَّهِ، ٤٢ لا ﷲ",
    "urdu": "تمام انسان آزاد، نستعلیق۔",
    "syriac": "ܒܪܫܝܬ ܐܝܬܘܗܝ ܗܘܐ",
    "thaana": "ދިވެހިރާއްޖެ",
    "nko": "ߒߞߏ ߞߊ߲",
    "devanagari": "सभी मनुष्यों को क्षत्रिय ज्ञान।",
    "bengali": "সমস্ত মানুষ স্বাধীনভাবে র‍্যাব",
    "gurmukhi": "ਸਾਰਾ ਮਨੁੱਖੀ ਪਰਿਵਾਰ",
    "gujarati": "પ્રતિષ્ઠા અને અધિકારો",
    "oriya": "ସମସ୍ତ ମନୁଷ୍ୟ ଜନ୍ମକାଳରୁ",
    "tamil": "மனிதப் பிறவியினர் ஸ்ரீ",
    "telugu": "ప్రతిపత్తిస్వత్వముల",
    "kannada": "ಎಲ್ಲಾ ಮಾನವರೂ ಸ್ವತಂತ್ರರಾಗಿಯೇ",
    "malayalam": "മനുഷ്യരെല്ലാവരും തുല്യ ൽ ന്‍",
    "sinhala": "සියලු මනුෂ්‍යයෝ ශ්‍රී",
    "thai": "มนุษย์ทั้งหลายเกิดมามีอิสระ น้ำ",
    "lao": "ມະນຸດທຸກຄົນເກີດມາມີກຽດ",
    "tibetan": "འགྲོ་བ་མིའི་རིགས་རྒྱུད་ཡོངས་ལ།",
    "myanmar": "လူတိုင်းသည် တူညီ လွတ်လပ်သော",
    "georgian": "ყველა ადამიანი იბადება ᲗᲐᲕᲘ",
    "ethiopic": "የሰው፡ልጅ፡ሁሉ፡ሲወለድ።",
    "cherokee": "ᏂᎦᏓ ᎠᏂᏴᏫ ꮒꭶꮣ",
    "canadian syllabics": "ᐃᓅᔪᓕᒫᑦ ᐊᓂᖅᑎᕐᖃᑦᑕᕐᒥᔪᑦ",
    "ogham": "᚛ᚑᚌᚐᚋ᚜",
    "runes": "ᚠᛇᚻ᛫ᛒᛦᚦ",
    "khmer": "មនុស្សទាំងអស់ កើតមក ស្រី",
    "mongolian": "ᠬᠦᠮᠦᠨ ᠪᠦᠷ ᠲᠥᠷᠥᠵᠦ",
    "hiragana": "すべてのにんげんは、が゙ゟ",
    "katakana": "スベテノ ニンゲンハ ｶﾞ ㌔",
    "bopomofo": "ㄅㄆㄇㄈ ㄓㄨˋ",
    "han": "人人生而自由，龘 𠮷野家 𪚥 㐂",
    "hangul": "모든 인간은 태어날 때부터 한 ㅋㅋ",
    "yi": "ꊿꂷꃅꄿꐨꐥ",
    "tifinagh": "ⵉⵎⴷⴰⵏⴻⵏ ⴰⴽⴽⵏ",
    "vai": "ꕉꕜꕮ ꔔꘋ",
    "javanese": "ꦱꦧꦼꦤ꧀ꦮꦺꦴꦁ",
    "cham": "ꨌꩌ ꨯꨱꩆ",
    "gothic": "𐌰𐍄𐍄𐌰 𐌿𐌽𐍃𐌰𐍂",
    "deseret": "𐐔𐐯𐑅𐐨𐑉𐐯𐐻",
    "linear b": "𐀀𐀁𐀂 𐀒𐀜𐀰",
    "cuneiform": "𒀭𒂗𒆤 𒌷𒆠",
    "hieroglyphs": "𓀀𓂋𓏤𓈖",
    "adlam": "𞤀𞤣𞤤𞤢𞤥",
    "braille": "⠓⠑⠇⠇⠕",
    "mathematical": "𝒜𝔅ℂ ∀x∈ℝ: ⌈x⌉ ≠ ∅",
}
MARKS = {
    "family": "👨‍👩‍👧‍👦👩🏿‍❤️‍💋‍👨🏻",
    "skin tones": "👍👍🏻👍🏼👍🏽👍🏾👍🏿",
    "flags": "🇺🇳🇰🇪🇯🇵🏴‍☠️🏳️‍⚧️",
    "flag of tags": "🏴󠁧󠁢󠁳󠁣󠁴󠁿",
    "keycaps": "1️⃣#️⃣*️⃣🔟",
    "professions": "👩‍🚀🧑🏽‍🌾🦸🏾‍♀️",
    "new ones": "🫠🪿🫨🦙",
    "text and picture": "☎︎☎️ ❤︎❤️",
    "many marks": "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘",
    "decomposed": unicodedata.normalize("NFD", "Ǟ ệ が 한글 ñ"),
    "marks alone": "\u0301 \u0308\u0323",
    "joiners alone": "a\u200db\u200cc\u2060d\ufe0f",
    "directions": "abc \u202eאבג\u202c \u2067د\u2069 \u200f.",
    "byte order marks": "\ufeffa\ufeff",
    "private use": "\ue000 \uf8ff \U000f0000 \U0010fffd",
    "no characters": "\ufdd0 \uffff \U0001fffe \U0010ffff",
    "controls": "\x00\x01\x1b[31m\x7f\x85\u2028\u2029",
    "edges of lengths": "\x7f\x80\u07ff\u0800\uffff\U00010000\U0010ffff",
    "replacement characters": "\ufffd\ufffd a\ufffd🦙\ufffd",
    "spaces": "\u00a0\u2003\u3000 \t\u200b",
}
TEXTS = SCRIPTS | MARKS
assert len(SCRIPTS) >= 30

# Well-formed beginnings of a character at the end of bytes, by table 3-7 of the Unicode standard. Python waits for the
# third byte of a surrogate (0xED 0xA0…) too, which is broken already: one token late, but the same text.
_UNFINISHED = re.compile(
    rb"(?:[\xc2-\xdf]|\xe0[\xa0-\xbf]?|[\xe1-\xec\xee\xef][\x80-\xbf]?|\xed[\x80-\xbf]?"
    rb"|\xf0(?:[\x90-\xbf][\x80-\xbf]?)?|[\xf1-\xf3](?:[\x80-\xbf]{1,2})?|\xf4(?:[\x80-\x8f][\x80-\xbf]?)?)\Z"
)


def known_text(data: bytes) -> str:
    """What is certain of a text of which these bytes have come."""
    unfinished = _UNFINISHED.search(data)
    return data[: unfinished.start() if unfinished else len(data)].decode("utf-8", "replace")


# --- tokenizers of every kind


def byte_level(folder: Path) -> Tokenizer:
    """As Llama 3."""
    write_tokenizer(folder, byte_level_tokenizer(), bos="<|begin_of_text|>", eos="<|eot_id|>")
    return Tokenizer.load(folder)


def sentencepiece(folder: Path) -> Tokenizer:
    """As Llama 2: a token for each byte that is no character of the vocabulary."""
    write_tokenizer(folder, sentencepiece_tokenizer(), bos="<s>", eos="</s>")
    return Tokenizer.load(folder)


def merged_bytes(folder: Path) -> Tokenizer:
    """Byte-level, with tokens that begin and end within characters, as large vocabularies have them."""
    state = json.loads(byte_level_tokenizer().to_str())
    vocab, merges = state["model"]["vocab"], state["model"]["merges"]
    letter = {byte: character for character, byte in byte_alphabet().items()}
    for pair in itertools.product(b"\xe0\xe1\xf0\x9f\xa6\xb8\x80\x81\xcc\xd7", repeat=2):
        left, right = letter[pair[0]], letter[pair[1]]
        if left + right not in vocab:
            vocab[left + right] = len(vocab)
            merges.append([left, right])
    (folder / "tokenizer.json").write_text(json.dumps(state))
    return Tokenizer.load(folder)


def metaspace(folder: Path) -> Tokenizer:
    """As T5 has it, with bytes: Unigram, and a decoder that knows nothing but "▁"."""
    pieces = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", "▁the", "a", "é", "日本", "🦙", "👨\u200d"]
    model = models.Unigram([(piece, -1.0 - len(pieces) / (9 + n)) for n, piece in enumerate(pieces)], 0, True)
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(split=False)  # type: ignore[assignment]
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])  # type: ignore[assignment]
    tokenizer.save(str(folder / "tokenizer.json"))
    return Tokenizer.load(folder)


def gemma(folder: Path) -> Tokenizer:
    """As `sentencepiece`, but without a space in front that nobody wrote."""
    tokenizer = sentencepiece_tokenizer()
    tokenizer.normalizer = normalizers.Replace(" ", "▁")  # type: ignore[assignment]
    parts = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    tokenizer.decoder = decoders.Sequence(parts)  # type: ignore[assignment]
    tokenizer.save(str(folder / "tokenizer.json"))
    return Tokenizer.load(folder)


def added_tokens(folder: Path) -> Tokenizer:
    """Byte-level, with tokens in plain writing that are no control tokens: a fine-tune's."""
    tokenizer = byte_level_tokenizer()
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in ("<tool>", "日本", "🦙", " न", "ا")])
    tokenizer.save(str(folder / "tokenizer.json"))
    return Tokenizer.load(folder)


def unknown_decoder(folder: Path) -> Tokenizer:
    """Byte-level behind another name: text comes from the library, with a window of the last tokens."""
    tokenizer = byte_level_tokenizer()
    tokenizer.decoder = decoders.Sequence([decoders.ByteLevel(), decoders.Fuse()])  # type: ignore[assignment]
    tokenizer.save(str(folder / "tokenizer.json"))
    return Tokenizer.load(folder)


def unknown_fallback(folder: Path) -> Tokenizer:
    """As `sentencepiece` behind another name. Its decoder writes whole characters beside half ones as U+FFFD too."""
    tokenizer = sentencepiece_tokenizer()
    parts = [decoders.Replace("▁", " "), decoders.Replace("<unk>", ""), decoders.ByteFallback(), decoders.Fuse()]
    tokenizer.decoder = decoders.Sequence([*parts, decoders.Strip(" ", 1, 0)])  # type: ignore[assignment]
    tokenizer.save(str(folder / "tokenizer.json"))
    return Tokenizer.load(folder)


BYTES = (byte_level, sentencepiece, merged_bytes, metaspace, gemma, added_tokens)


@pytest.fixture(scope="module", params=BYTES)
def tokenizer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """One whose tokens are known bytes."""
    made = request.param(tmp_path_factory.mktemp("tokenizer"))
    assert isinstance(made.detokenizer(), ByteDetokenizer)
    return made


@pytest.fixture(scope="module", params=[unknown_decoder, unknown_fallback])
def windowed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """One whose tokens are not known."""
    made = request.param(tmp_path_factory.mktemp("tokenizer"))
    assert isinstance(made.detokenizer(), WindowDetokenizer)
    return made


@pytest.fixture(scope="module")
def lossy(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """Not known either, but a broken character costs only itself."""
    return unknown_decoder(tmp_path_factory.mktemp("tokenizer"))


def pieces(tokenizer: Tokenizer, ids: Sequence[int]) -> list[str]:
    """What each token sets free, and the rest."""
    detokenizer = tokenizer.detokenizer()
    return [*(detokenizer.push(token_id) for token_id in ids), detokenizer.flush()]


def byte_ids(tokenizer: Tokenizer, data: bytes) -> list[int]:
    """A token for each byte."""
    letter = {byte: character for character, byte in byte_alphabet().items()}
    found = [tokenizer.id_of(f"<0x{byte:02X}>") or tokenizer.id_of(letter[byte]) for byte in data]
    return [token_id for token_id in found if token_id is not None]


def assert_prompt_and_exact(tokenizer: Tokenizer, ids: Sequence[int]) -> None:
    """After each token, what is shown is what is certain of the bytes so far; at the end it is the whole."""
    shown = pieces(tokenizer, ids)
    strips = tokenizer.detokenizer().push(space_of(tokenizer)) == ""
    data, got = b"", ""
    for token_id, piece in zip(ids, shown[:-2], strict=False):
        data, got = data + tokenizer._bytes_of(token_id), got + piece
        known = known_text(data)
        assert got == (known.removeprefix(" ") if strips else known)
    whole = b"".join(map(tokenizer._bytes_of, ids)).decode("utf-8", "replace")
    assert "".join(shown) == (whole.removeprefix(" ") if strips else whole)
    assert "".join(shown) == tokenizer.decode(ids)
    for piece in shown:
        assert piece == piece.encode("utf-8").decode("utf-8")  # no half of a surrogate pair


def as_read(tokenizer: Tokenizer, text: str) -> str:
    """`text` but for the first space, where the tokenizer takes it for the one that it puts there itself."""
    reads_a_and_space_a_alike = len({tuple(tokenizer.encode(t, add_special_tokens=False)) for t in ("a", " a")}) == 1
    return text.removeprefix(" ") if reads_a_and_space_a_alike else text


def space_of(tokenizer: Tokenizer) -> int:
    """The token of a space."""
    return next(i for text in ("▁", "Ġ") if (i := tokenizer.id_of(text)) is not None)


# --- texts


@pytest.mark.sampled(3)
def test_a_text_comes_whole_and_as_early_as_it_can(tokenizer: Tokenizer) -> None:
    for text in TEXTS.values():
        for written in (text, f" {text} ", f"a{text}\n{text}"):
            ids = tokenizer.encode(written, add_special_tokens=False)
            assert_prompt_and_exact(tokenizer, ids)
            assert tokenizer.decode(ids) == tokenizer._library_decode(ids) == as_read(tokenizer, written)
            assert pieces(tokenizer, ids)[-1] == "", written


def test_a_text_in_single_bytes_comes_character_by_character(tokenizer: Tokenizer) -> None:
    for text in TEXTS.values():
        ids = byte_ids(tokenizer, text.encode())
        assert len(ids) == len(text.encode()), text
        assert [piece for piece in pieces(tokenizer, ids) if piece] == list(text)


def test_a_window_shows_no_half_characters(windowed: Tokenizer) -> None:
    for text in TEXTS.values():
        ids = windowed.encode(text, add_special_tokens=False)
        shown = pieces(windowed, ids)
        assert "".join(shown) == windowed.decode(ids) == windowed._library_decode(ids) == text
        if "\ufffd" not in text:
            assert [piece for piece in shown if "\ufffd" in piece] == []
            assert shown[-1] == "", text


def test_the_texts_are_in_as_many_scripts_as_they_say() -> None:
    letters = {character for text in SCRIPTS.values() for character in text if character.isalpha()}
    assert len({unicodedata.name(letter).split()[0] for letter in letters}) >= 45


# --- bytes that are no text


LLAMA = "🦙".encode()


@pytest.mark.parametrize("length", range(5))
def test_every_cut_of_a_character_is_one_broken_character(tokenizer: Tokenizer, length: int) -> None:
    for text in ("é", "日", "🦙", "𒀭"):
        part = text.encode()[:length]
        shown = pieces(tokenizer, byte_ids(tokenizer, b"x" + part))
        assert "".join(shown) == "x" + part.decode("utf-8", "replace")
        assert "".join(shown[:-1]).rstrip(text) == "x"  # what is cut is not shown before the end
        follow = pieces(tokenizer, byte_ids(tokenizer, b"x" + part + b"y"))
        assert "".join(follow[:-1]) == "x" + part.decode("utf-8", "replace") + "y"


def test_every_single_byte_and_every_pair(tokenizer: Tokenizer) -> None:
    odd = [0x20, 0x41, 0x7F, 0x80, 0xBF, 0xC0, 0xC2, 0xDF, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xFF]
    for data in [bytes([byte]) for byte in range(256)] + [bytes(pair) for pair in itertools.product(odd, repeat=2)]:
        assert_prompt_and_exact(tokenizer, byte_ids(tokenizer, data))


@pytest.mark.parametrize("place", range(len(LLAMA)))
def test_a_lost_byte_costs_no_character_beside_it(tokenizer: Tokenizer, place: int) -> None:
    data = "日".encode() + LLAMA[:place] + LLAMA[place + 1 :] + "日".encode()
    text = "".join(pieces(tokenizer, byte_ids(tokenizer, data)))
    assert text[0] == text[-1] == "日"
    assert set(text[1:-1]) == {"\ufffd"}


def test_control_tokens_within_a_character_do_not_break_it(tokenizer: Tokenizer) -> None:
    """An end of one turn that is not the end of the answer, for example; the library skips them as well."""
    for special in tokenizer.special_ids:
        ids = byte_ids(tokenizer, LLAMA)
        assert "".join(pieces(tokenizer, [*ids[:2], special, *ids[2:], special])) == "🦙"


def test_a_long_run_of_broken_bytes_is_shown_as_it_comes(tokenizer: Tokenizer) -> None:
    """A model that went mad: its reader sees it at once, not at the end."""
    shown = pieces(tokenizer, byte_ids(tokenizer, b"\xff\x80\xf0" * 500))
    assert [len(piece) for piece in shown[:6]] == [1, 1, 0, 2, 1, 0]
    assert "".join(shown) == "\ufffd" * 1500


def test_a_window_shows_a_long_run_of_broken_bytes_too(lossy: Tokenizer) -> None:
    data = b"x" + b"\xff" * 60 + LLAMA + b"\xff" * 8
    shown = pieces(lossy, byte_ids(lossy, data))
    assert "".join(shown) == data.decode("utf-8", "replace")
    for count in range(len(data)):
        assert len(data[: count + 1].decode("utf-8", "replace")) - len("".join(shown[: count + 1])) <= 16
    assert shown[64].endswith("🦙")  # a character at the end of such a run is still whole


# --- by chance


chance = settings(max_examples=150, deadline=None, derandomize=True, database=None)


@chance
@given(data=st.data())
@pytest.mark.sampled(3)
def test_random_ids_show_what_is_certain_and_nothing_else(tokenizer: Tokenizer, data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.integers(0, tokenizer.vocab_size - 1), max_size=30))
    assert_prompt_and_exact(tokenizer, ids)


@chance
@given(data=st.binary(max_size=24))
def test_random_bytes_show_what_is_certain_and_nothing_else(tokenizer: Tokenizer, data: bytes) -> None:
    assert_prompt_and_exact(tokenizer, byte_ids(tokenizer, data))


@chance
@given(text=st.text(st.characters(exclude_characters="▁", exclude_categories=["Cs"]), max_size=20))
def test_random_texts_come_back(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text, add_special_tokens=False)
    assert "".join(pieces(tokenizer, ids)) == as_read(tokenizer, text)
    assert_prompt_and_exact(tokenizer, ids)


@chance
@given(text=st.text(st.characters(exclude_characters="▁", exclude_categories=["Cs"]), max_size=20))
def test_random_texts_come_back_through_a_window(windowed: Tokenizer, text: str) -> None:
    shown = pieces(windowed, windowed.encode(text, add_special_tokens=False))
    assert "".join(shown) == text
    if "\ufffd" not in text:
        assert [piece for piece in shown if "\ufffd" in piece] == []


@chance
@given(data=st.data())
def test_a_window_joins_to_what_the_library_decodes(lossy: Tokenizer, data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.integers(0, lossy.vocab_size - 1), max_size=30))
    shown = pieces(lossy, ids)
    whole = lossy._library_decode(ids)
    assert "".join(shown) == lossy.decode(ids) == whole
    done = 0
    for count, piece in enumerate(shown[:-1], 1):
        done += len(piece)
        assert lossy._library_decode(ids[:count])[:done] == whole[:done]  # nothing is taken back


# --- the same through a whole engine


@pytest.fixture(scope="module", params=["llama-3.2", "tinyllama"])
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """One layer is enough to write what it is told to."""
    folder = write_tiny_llama(tmp_path_factory.mktemp("model"), request.param, num_hidden_layers=1)
    with Engine.load(folder, dtype="float32", device="cpu", threads=1) as made:
        made.warmup()  # its thread belongs to all the tests
        yield made


def writing(engine: Engine, text: str, **options: object) -> GenerateRequest:
    """A request whose answer is `text`."""
    wanted = [*engine.tokenizer.encode(text, add_special_tokens=False), min(engine.tokenizer.eos_ids)]

    def processor(ids: list[int], logits: Tensor) -> Tensor:
        return torch.full_like(logits, -60.0).index_fill(0, torch.tensor(wanted[len(ids) - 1]), 60.0)

    return GenerateRequest(token_ids=[1], logits_processor=processor, **options)  # type: ignore[arg-type]


def test_an_answer_in_every_script(engine: Engine) -> None:
    jobs = {text: engine.submit(writing(engine, text)) for text in TEXTS.values()}
    for text, job in jobs.items():
        shown = [output.text for output in job]
        assert shown == pieces(engine.tokenizer, job.result(60).token_ids)[:-1]
        assert "".join(shown) == job.result(60).text == text
        assert job.result(60).finish_reason == "stop"


def test_a_stop_string_in_every_script(engine: Engine) -> None:
    stops = {text: text[len(text) // 2 :][:3] for text in TEXTS.values()}
    jobs = {text: engine.submit(writing(engine, text, stop=[stop, "never"])) for text, stop in stops.items()}
    for text, job in jobs.items():
        before = text[: text.index(stops[text])]
        assert "".join(output.text for output in job) == job.result(60).text == before
        assert job.result(60).finish_reason == "stop"


def test_an_answer_that_is_cut_at_each_token(engine: Engine) -> None:
    """At its greatest length half a character is said to be one; a cancel shows what was whole."""
    text = "a🦙日é👩‍🚀"
    ids = engine.tokenizer.encode(text, add_special_tokens=False)
    for count in range(1, len(ids)):
        cut = engine.submit(writing(engine, text, max_tokens=count))
        assert cut.result(60).text == engine.tokenizer.decode(ids[:count])
        stopped = engine.submit(writing(engine, text), on_output=cancelling_at(count - 1)).result(60)
        assert (stopped.finish_reason, len(stopped.token_ids)) == ("cancelled", count)
        assert text.startswith(stopped.text)
        assert stopped.text == cut.result(60).text.removesuffix("\ufffd")


def cancelling_at(index: int) -> Callable[[Job, TokenOutput], None]:
    """A callback that cancels its job at one token."""
    return lambda job, output: job.cancel() if output.index == index else None
