"""The tokenizer of a GGUF file beside the tokenizer.json that it was made from: the same ids, and the same text."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers.convert_slow_tokenizer import generate_merges
from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS
from transformers.models.qwen3_5.tokenization_qwen3_5 import PRETOKENIZE_REGEX

from llama_gui.engine.detokenizer import byte_alphabet
from llama_gui.engine.gguf_pre import PRE_TOKENIZERS
from llama_gui.engine.gguf_tokenizer import load_tokenizer
from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.errors import BrokenModelError
from tests.engine.test_scripts import TEXTS
from tests.fakes.gguf_files import tokenizer_fields
from tests.fakes.tiny_tokenizers import CORPUS, LLAMA3_SPECIALS, sentencepiece_tokenizer, write_tokenizer

HARD = [
    "", " ", "  two  spaces ", "\n\n\n", "a\r\nb\t\tc", "I'll WE'VE don't 'S", "3.14159 1234567 ½ ² ٣٤٥ Ⅻ",
    "x=1;//y\n}\n", "<|eot_id|> in the <|begin_of_text|>middle", "</s><s> <unk>", "▁already▁there",
    "<0x41> is no byte", "e\u0301 é \ufb01", "HelloWORLD camelCase ABCdef", "#$%^ ~|`<=> +++", "日本語。日本語、",
    "👩‍👩‍👧", "\ufeff\u200b\u00a0", "a" * 300,
]  # fmt: skip
STARTER = Path(__file__).parents[2] / "resources" / "starter_model"
SAMPLES = [*TEXTS.values(), *HARD, *CORPUS]


def vocabulary(folder: Path, pre: str = "gpt-2") -> dict[str, Any]:
    """The fields of a GGUF file for the tokenizer in `folder`, as they are read: numbers in arrays."""
    fields = tokenizer_fields(folder, pre)
    return {
        key: np.array(value) if isinstance(value, list) and not isinstance(value[0], str) else value
        for key, value in fields.items()
    }


def rebuilt(folder: Path, pre: str = "gpt-2", **fields: Any) -> Tokenizer:
    """What we make of the fields of a GGUF file, made of the tokenizer in `folder`."""
    return load_tokenizer(folder / "x.gguf", vocabulary(folder, pre) | fields)


def agree(ours: Tokenizer, theirs: Tokenizer, text: str) -> None:
    """Both say the same of `text`, in every way that generation uses."""
    for special in (True, False):
        ids = theirs.encode(text, add_special_tokens=special)
        assert ours.encode(text, add_special_tokens=special) == ids, text
        for skip in (True, False):
            assert ours.decode(ids, skip_special_tokens=skip) == theirs.decode(ids, skip_special_tokens=skip)
    literal = theirs.encode_literally(text)
    assert ours.encode_literally(text) == literal
    assert [ours.token_text(i) for i in literal] == [theirs.token_text(i) for i in literal]


def byte_level(pre_tokenizer: Any, *, nfc: bool = False, ignore_merges: bool = False, bos: bool = True) -> Any:
    """Byte-level BPE, trained on texts in many scripts."""
    tokenizer = tokenizers.Tokenizer(models.BPE(ignore_merges=ignore_merges))
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.normalizer = normalizers.NFC() if nfc else None
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=1500,
        special_tokens=[AddedToken(text, special=True, normalized=False) for text in LLAMA3_SPECIALS],
        initial_alphabet=sorted(byte_alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(SAMPLES * 2, trainer)
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in ("<tool_call>", "日本")])
    if bos:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<|begin_of_text|> $A", special_tokens=[("<|begin_of_text|>", 0)]
        )
    return tokenizer


def split(expression: str) -> Any:
    """As a tokenizer.json of Llama 3 or Qwen2 cuts."""
    parts = [pre_tokenizers.Split(Regex(expression), "isolated"), pre_tokenizers.ByteLevel(False, use_regex=False)]
    return pre_tokenizers.Sequence(parts)


def smollm() -> Any:
    """As the tokenizer.json of SmolLM2 cuts."""
    return pre_tokenizers.Sequence([pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(False)])


MADE: dict[str, Callable[[], Any]] = {
    "llama-bpe": lambda: byte_level(split(GGUF_PRE_TOKENIZER_SPLITS["llama-bpe"]), ignore_merges=True),
    "qwen2": lambda: byte_level(split(GGUF_PRE_TOKENIZER_SPLITS["qwen2"]), nfc=True, bos=False),
    "qwen35": lambda: byte_level(split(PRETOKENIZE_REGEX), nfc=True, bos=False),
    "deepseek-r1-qwen": lambda: byte_level(split(GGUF_PRE_TOKENIZER_SPLITS["qwen2"])),
    "tekken": lambda: byte_level(split(GGUF_PRE_TOKENIZER_SPLITS["tekken"]), ignore_merges=True),
    "gpt-4o": lambda: byte_level(split(GGUF_PRE_TOKENIZER_SPLITS["gpt-4o"]), bos=False),
    "smollm": lambda: byte_level(smollm(), bos=False),
    "gpt-2": lambda: byte_level(pre_tokenizers.ByteLevel(False)),
}


@pytest.fixture(scope="module", params=list(MADE))
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Tokenizer, Tokenizer]:
    """Ours and theirs, for each way to cut words."""
    folder = tmp_path_factory.mktemp("tokenizer")
    write_tokenizer(folder, MADE[request.param](), bos="<|begin_of_text|>", eos="<|eot_id|>")
    return rebuilt(folder, request.param), Tokenizer.load(folder)


def test_byte_level_tokens_are_the_same_in_every_script(pair):
    for text in SAMPLES:
        agree(*pair, text)
    ours, theirs = pair
    assert ours.fingerprint == theirs.fingerprint
    assert (ours.special_ids, ours.eos_ids) == (theirs.special_ids, theirs.eos_ids)
    assert ours.special_tokens_map == theirs.special_tokens_map


@settings(max_examples=60, deadline=None)
@given(text=st.text(max_size=60))
def test_byte_level_tokens_are_the_same_for_any_text(pair, text):
    agree(*pair, text)


def test_the_names_of_one_way_to_cut_are_the_same_way():
    for name in ("llama3", "llama-v3", "falcon3", "pixtral", "smaug-bpe", "dbrx"):
        assert PRE_TOKENIZERS[name].steps == PRE_TOKENIZERS["llama-bpe"].steps
    assert PRE_TOKENIZERS["starcoder"] == PRE_TOKENIZERS["refact"] == PRE_TOKENIZERS["smollm"]


def test_the_starter_model():
    ours, theirs = rebuilt(STARTER, "llama-bpe"), Tokenizer.load(STARTER)
    for text in SAMPLES:
        agree(ours, theirs, text)


# --- SentencePiece


def sentencepiece(*, prefix: bool = True) -> Any:
    """As Llama 2: the merges are those of the pieces' scores, as `transformers` makes them of a tokenizer.model."""
    tokenizer = sentencepiece_tokenizer()
    trained = tokenizers.Tokenizer(models.BPE(unk_token="<unk>"))
    trained.pre_tokenizer = pre_tokenizers.Metaspace()
    trained.train_from_iterator(SAMPLES * 2, trainers.BpeTrainer(vocab_size=1500, show_progress=False))
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    found = trained.get_vocab()
    pieces += [piece for piece in sorted(found, key=found.__getitem__) if piece not in pieces]
    vocab = {piece: number for number, piece in enumerate(pieces)}
    merges = generate_merges(vocab, {piece: -float(number) for piece, number in vocab.items()}, pieces[:259])
    tokenizer.model = models.BPE(vocab, merges, unk_token="<unk>", byte_fallback=True, fuse_unk=True)
    if not prefix:
        tokenizer.normalizer = normalizers.Replace(" ", "▁")
        tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_tokens([AddedToken("<tool>", normalized=False)])
    return tokenizer


@pytest.fixture(scope="module", params=[True, False], ids=["a space in front", "none"])
def spm_pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Tokenizer, Tokenizer]:
    """Ours and theirs, with the space that Llama 2 puts in front of a text and without."""
    folder = tmp_path_factory.mktemp("tokenizer")
    write_tokenizer(folder, sentencepiece(prefix=request.param), bos="<s>", eos="</s>")
    fields = {} if request.param else {"tokenizer.ggml.add_space_prefix": False}
    return rebuilt(folder, **fields), Tokenizer.load(folder)


def test_sentencepiece_tokens_are_the_same_in_every_script(spm_pair):
    for text in SAMPLES:
        agree(*spm_pair, text)
    ours, theirs = spm_pair
    assert ours.fingerprint == theirs.fingerprint
    assert (ours.special_ids, ours.eos_ids) == (theirs.special_ids, theirs.eos_ids)
    assert len(ours.encode("the dog does not mind", add_special_tokens=False)) < 15  # it merges


@settings(max_examples=60, deadline=None)
@given(text=st.text(max_size=60))
def test_sentencepiece_tokens_are_the_same_for_any_text(spm_pair, text):
    agree(*spm_pair, text)


def test_merges_that_the_file_gives_are_taken(tmp_path):
    write_tokenizer(tmp_path, sentencepiece_tokenizer(), bos="<s>", eos="</s>")
    theirs = Tokenizer.load(tmp_path)
    merges = json.loads(theirs.to_json())["model"]["merges"]
    ours = rebuilt(tmp_path, **{"tokenizer.ggml.merges": [" ".join(merge) for merge in merges]})
    for text in SAMPLES:
        agree(ours, theirs, text)


# --- what files leave out, and what they get wrong


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One with a tokenizer as Llama 2's."""
    write_tokenizer(tmp_path, sentencepiece_tokenizer(), bos="<s>", eos="</s>")
    return tmp_path


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
@pytest.mark.parametrize(("before", "behind"), [(True, True), (True, False), (False, True), (False, False)])
def test_what_is_put_around_a_text(tmp_path, kind, before, behind):
    made = sentencepiece_tokenizer() if kind == "llama" else byte_level(pre_tokenizers.ByteLevel(False))
    bos, eos = ("<s>", "</s>") if kind == "llama" else ("<|begin_of_text|>", "<|eot_id|>")
    write_tokenizer(tmp_path, made, bos=bos, eos=eos)
    ours = rebuilt(tmp_path, **{"tokenizer.ggml.add_bos_token": before, "tokenizer.ggml.add_eos_token": behind})
    plain = ours.encode("the dog", add_special_tokens=False)
    around = [made.token_to_id(bos)] * before + plain + [made.token_to_id(eos)] * behind
    assert ours.encode("the dog", add_special_tokens=True) == around


@pytest.mark.parametrize(("pre", "adds"), [("llama-bpe", True), ("tekken", True), ("qwen2", False), ("smollm", False)])
def test_whether_the_beginning_is_put_in_front_where_the_file_does_not_say(tmp_path, pre, adds):
    write_tokenizer(tmp_path, byte_level(smollm()), bos="<|begin_of_text|>", eos="<|eot_id|>")
    fields = vocabulary(tmp_path, pre)
    del fields["tokenizer.ggml.add_bos_token"]
    ids = load_tokenizer(tmp_path / "x.gguf", fields).encode("a", add_special_tokens=True)
    assert (ids[0] == 0) == adds


def test_a_file_from_before_the_ways_to_cut_had_names(tmp_path):
    write_tokenizer(tmp_path, byte_level(smollm()), bos="<|begin_of_text|>", eos="<|eot_id|>")
    fields = vocabulary(tmp_path, "x")
    del fields["tokenizer.ggml.pre"]
    ours = load_tokenizer(tmp_path / "x.gguf", fields)
    for text in SAMPLES:
        ids = ours.encode_literally(text)
        assert ours.decode(ids) == text.encode("utf-8", "replace").decode()
    assert [ours.token_text(i) for i in ours.encode_literally("12345")][:1] != ["12345"]


def test_roles_that_nobody_has(folder):
    ours = rebuilt(folder, **{"tokenizer.ggml.padding_token_id": 2**32 - 1, "tokenizer.ggml.eot_token_id": -1})
    assert "pad_token" not in ours.special_tokens_map


def test_a_role_makes_a_control_token(folder):
    ours = rebuilt(folder, **{"tokenizer.ggml.eot_token_id": 70})
    assert 70 in ours.special_ids


def test_a_text_that_stands_twice(folder):
    fields = vocabulary(folder)
    tokens = fields["tokenizer.ggml.tokens"]
    tokens[300], tokens[301] = tokens[299], ""
    ours = load_tokenizer(folder / "x.gguf", fields)
    assert ours.decode(ours.encode("The dog", add_special_tokens=False)) == "The dog"
    assert ours.token_text(300) == ours.token_text(301) == ""


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"tokens": None}, "tokenizer.ggml.tokens is missing or no list of texts"),
        ({"tokens": []}, "tokenizer.ggml.tokens is missing or no list of texts"),
        ({"tokens": "abc"}, "tokenizer.ggml.tokens is missing or no list of texts"),
        ({"scores": [1.0]}, "tokenizer.ggml.scores is no list of"),
        ({"token_type": "x"}, "tokenizer.ggml.token_type is no list of"),
        ({"merges": ["a b c"]}, "'a b c' is no merge of two tokens"),
        ({"merges": ["zz qq"]}, "x.gguf cannot be used"),
        ({"bos_token_id": "<s>"}, "tokenizer.ggml.bos_token_id is '<s>', but it must be a token id"),
        ({"add_bos_token": 7}, "tokenizer.ggml.add_bos_token is 7, but it must be true or false"),
    ],
)
def test_a_damaged_vocabulary_is_named(folder, changes, text):
    fields = vocabulary(folder) | {f"tokenizer.ggml.{key}": value for key, value in changes.items()}
    with pytest.raises(BrokenModelError) as caught:
        load_tokenizer(folder / "x.gguf", {key: value for key, value in fields.items() if value is not None})
    assert str(caught.value).startswith(str(folder / "x.gguf"))
    assert text in str(caught.value)


def test_tokens_that_are_too_long_to_look_for_merges_in(folder):
    fields = vocabulary(folder)
    fields["tokenizer.ggml.tokens"][-1] = "x" * 2**15
    with pytest.raises(BrokenModelError, match="tokens are far too long"):
        load_tokenizer(folder / "x.gguf", fields)


def test_control_tokens_of_phi3_take_the_blanks_behind_them(tmp_path: Path):
    write_tokenizer(tmp_path, sentencepiece_tokenizer(), bos="<s>", eos="</s>")
    phi, llama = (rebuilt(tmp_path, **{"general.architecture": name}) for name in ("phi3", "llama"))
    assert phi.encode("</s>\n\n a") == phi.encode("</s>a") != llama.encode("</s>\n\n a")
    assert phi.encode("<s>\na") == llama.encode("<s>\na")
