"""Small but complete tokenizers of the two great kinds, and the templates of their families."""

import json
from collections.abc import Sequence
from pathlib import Path

import tokenizers
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, processors, trainers

from llama_gui.engine.detokenizer import byte_alphabet

LLAMA3_TEMPLATE = (
    "{% for message in messages %}{% set content = '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'"
    " + message['content'] | trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}{% set content = bos_token + content %}"
    "{% endif %}{{ content }}{% endfor %}{% if add_generation_prompt %}"
    "{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}"
)
"""As Llama 3 has it: the beginning token is part of the template."""

ZEPHYR_TEMPLATE = (
    "{% for message in messages %}\n{% if message['role'] == 'user' %}\n"
    "{{ '<|user|>\n' + message['content'] + eos_token }}\n{% elif message['role'] == 'system' %}\n"
    "{{ '<|system|>\n' + message['content'] + eos_token }}\n{% elif message['role'] == 'assistant' %}\n"
    "{{ '<|assistant|>\n'  + message['content'] + eos_token }}\n{% endif %}\n"
    "{% if loop.last and add_generation_prompt %}\n{{ '<|assistant|>' }}\n{% endif %}\n{% endfor %}"
)
"""As TinyLlama has it: no beginning token."""

GEMMA2_TEMPLATE = (Path(__file__).parent / "chat_templates" / "gemma2.jinja").read_text(encoding="utf-8")
GEMMA4_TEMPLATE = (Path(__file__).parent / "chat_templates" / "gemma4.jinja").read_text(encoding="utf-8")
"""Of our own making; the variables, turns and marks are those of Gemma 4's."""
GEMMA4_SPECIALS = (
    "<|think|>", "<|channel>", "<channel|>", "<|tool>", "<tool|>", "<|tool_call>", "<tool_call|>", "<|tool_response>",
    "<tool_response|>", '<|"|>',
)  # fmt: skip
GEMMA_TEMPLATE = (Path(__file__).parent / "chat_templates" / "gemma3.jinja").read_text(encoding="utf-8")

CORPUS = [
    "Hello there, how are you? I am fine, thank you.",
    "One two three four five six seven. Stop the answer, please.",
    "The quick brown fox jumps over the lazy dog, and the dog does not mind.",
    "def main():\n    return [n for n in range(10)]\n\nEND of the text",
    "naïve café, Zoë, über, größer, señor, 日本語 and emoji 👩",
    "system user assistant message brief why because what where when",
]
HARMONY_TEMPLATE = (Path(__file__).parent / "chat_templates" / "harmony.jinja").read_text(encoding="utf-8")
"""Of our own making; the variables, turns and marks are those of gpt-oss's."""
HARMONY_SPECIALS = (
    "<|startoftext|>", "<|endoftext|>", "<|return|>", "<|constrain|>", "<|channel|>", "<|start|>", "<|end|>",
    "<|message|>", "<|call|>",
)  # fmt: skip
MAGISTRAL_TEMPLATE = (Path(__file__).parent / "chat_templates" / "magistral.jinja").read_text(encoding="utf-8")
MAGISTRAL_SPECIALS = (
    "<unk>", "<s>", "</s>", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[INST]",
    "[/INST]", "[TOOL_CALLS]", "[ARGS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[THINK]", "[/THINK]",
)  # fmt: skip
LFM2_TEMPLATE = (Path(__file__).parent / "chat_templates" / "lfm2.jinja").read_text(encoding="utf-8")
LFM2_SPECIALS = (
    "<|pad|>", "<|startoftext|>", "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|tool_list_start|>",
    "<|tool_list_end|>", "<|tool_call_start|>", "<|tool_call_end|>", "<|tool_response_start|>",
    "<|tool_response_end|>",
)  # fmt: skip
LLAMA3_SPECIALS = ("<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>")


def harmony_tokenizer() -> tokenizers.Tokenizer:
    """As gpt-oss: byte-level BPE, and nothing is put in front."""
    return _byte_level(HARMONY_SPECIALS)


def lfm2_tokenizer() -> tokenizers.Tokenizer:
    """As that of LFM2: it cuts texts as Llama 3 does."""
    return _byte_level(LFM2_SPECIALS)


def magistral_tokenizer(specials: Sequence[str] = MAGISTRAL_SPECIALS) -> tokenizers.Tokenizer:
    """As Mistral's reasoning models: byte-level BPE, and control tokens around what is thought."""
    return _byte_level(specials)


def byte_level_tokenizer() -> tokenizers.Tokenizer:
    """As Llama 3: byte-level BPE, five control tokens first, BOS put in front by the post-processor."""
    tokenizer = _byte_level(LLAMA3_SPECIALS)
    bos = LLAMA3_SPECIALS[0]
    tokenizer.post_processor = processors.TemplateProcessing(  # type: ignore[assignment]
        single=f"{bos} $A", special_tokens=[(bos, tokenizer.token_to_id(bos))]
    )
    return tokenizer


def _byte_level(specials: Sequence[str]) -> tokenizers.Tokenizer:
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)  # type: ignore[assignment]
    tokenizer.decoder = decoders.ByteLevel()  # type: ignore[assignment]
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=[AddedToken(text, special=True, normalized=False) for text in specials],
        initial_alphabet=sorted(byte_alphabet()),
        show_progress=False,
    )  # type: ignore[call-arg]
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def sentencepiece_tokenizer() -> tokenizers.Tokenizer:
    """As Llama 2 and TinyLlama: BPE over characters, a byte token for each byte, "▁" for a space."""
    specials = ["<unk>", "<s>", "</s>"]
    vocab = {text: number for number, text in enumerate([*specials, *(f"<0x{byte:02X}>" for byte in range(256))])}
    pieces = tokenizers.Tokenizer(models.BPE(unk_token="<unk>"))
    pieces.normalizer = normalizers.Sequence(  # type: ignore[assignment]
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    plain = [text for text in CORPUS if text.isascii()]  # what is not in the vocabulary falls back to bytes
    pieces.train_from_iterator(plain, trainers.BpeTrainer(vocab_size=120, show_progress=False))  # type: ignore[call-arg]
    trained = json.loads(pieces.to_str())["model"]
    for token in sorted(trained["vocab"], key=trained["vocab"].get):
        vocab.setdefault(token, len(vocab))
    merges = [tuple(merge) for merge in trained["merges"]]
    model = models.BPE(vocab, merges, unk_token="<unk>", byte_fallback=True, fuse_unk=True)
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.normalizer = pieces.normalizer
    tokenizer.decoder = decoders.Sequence(  # type: ignore[assignment]
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tokenizer.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in specials])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])  # type: ignore[assignment]
    return tokenizer


def gemma4_tokenizer(*more: str) -> tokenizers.Tokenizer:
    """As Gemma 4: turns have other marks, and there are more for thoughts, tools and texts within calls.

    `more`: further control tokens.
    """
    return gemma_tokenizer(*GEMMA4_SPECIALS, *more, turns=("<|turn>", "<turn|>"))


def gemma_tokenizer(*more: str, turns: tuple[str, str] = ("<start_of_turn>", "<end_of_turn>")) -> tokenizers.Tokenizer:
    """As Gemma 3: nothing in front of a text, a token for blanks beside one another, and tokens for turns.

    `more`: further control tokens.
    """
    specials = ["<pad>", "<eos>", "<bos>", "<unk>", *turns, *more]
    vocab = {text: number for number, text in enumerate([*specials, "\n\n", "▁▁", "▁▁▁", "\n"])}
    vocab |= {f"<0x{byte:02X}>": len(vocab) + byte for byte in range(256)}
    trained = json.loads(sentencepiece_tokenizer().to_str())["model"]
    for token in sorted(trained["vocab"], key=trained["vocab"].get):
        if not token.startswith("<"):
            vocab.setdefault(token, len(vocab))
    blanks = [("▁", "▁"), ("▁▁", "▁")]  # before all others
    merges = blanks + [tuple(merge) for merge in trained["merges"] if tuple(merge) not in blanks]
    tokenizer = tokenizers.Tokenizer(models.BPE(vocab, merges, unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")  # type: ignore[assignment]
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")  # type: ignore[assignment]
    parts = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    tokenizer.decoder = decoders.Sequence(parts)  # type: ignore[assignment]
    tokenizer.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in specials])
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in ("\n\n", "▁▁", "▁▁▁")])
    tokenizer.post_processor = processors.TemplateProcessing(single="<bos> $A", special_tokens=[("<bos>", 2)])  # type: ignore[assignment]
    return tokenizer


def write_tokenizer(
    folder: Path, tokenizer: tokenizers.Tokenizer, *, bos: str, eos: str, chat_template: str | None = None
) -> None:
    """tokenizer.json and tokenizer_config.json as transformers writes them."""
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": bos, "eos_token": eos}
    if chat_template is not None:
        settings["chat_template"] = chat_template
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
