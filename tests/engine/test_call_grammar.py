"""Calls are well-formed once they are begun, whatever is drawn; and until then nothing is bound."""

import json
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tokenizers

from llama_gui.engine import AnswerState, Engine, GenerateRequest, Message, SamplingParams, parse_tool_calls
from llama_gui.engine.call_forms import CallForms
from llama_gui.engine.call_grammar import CallGrammar
from llama_gui.engine.chat_template import ChatTemplate
from llama_gui.engine.structured_output import GrammarCompiler
from llama_gui.engine.thinking_watch import TagWatch
from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.tool_calls import MANNERS, Manner, call_schema, parameters_of
from llama_gui.tool_calls.manners import (
    BARE,
    FUNCTOOLS,
    HERMES,
    MISTRAL,
    MISTRAL_NAMED,
    NEMOTRON,
    PYTHON_TAG,
    TOOL_CALL_TOKEN,
)
from tests.fakes.tiny_llama import write_tiny_llama
from tests.fakes.tiny_tokenizers import LLAMA3_TEMPLATE, byte_level_tokenizer, sentencepiece_tokenizer, write_tokenizer

pytest.importorskip("llguidance")

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "now",
            "description": "",
            "parameters": {
                "type": "object",
                "properties": {"zone": {"$ref": "#/$defs/Zone"}, "digits": {"type": "integer", "maximum": 9}},
                "required": ["zone"],
                "$defs": {"Zone": {"enum": ["Oslo", "Rome", "São Paulo"]}},
            },
        },
    },
    {"type": "function", "function": {"name": "stop", "description": "", "parameters": {"properties": {}}}},
    {
        "type": "function",
        "function": {
            "name": "write_note",
            "description": "",
            "parameters": {
                "type": "object",
                "properties": {"text": {"type": "string", "maxLength": 8}, "close": {"const": "</tool_call>"}},
                "required": ["text"],
            },
        },
    },
]
NAMES = ["now", "stop", "write_note"]
QWEN = (Path(__file__).parents[1] / "fakes" / "chat_templates" / "qwen2.5.jinja").read_text(encoding="utf-8")
TOOL_TEMPLATE = (
    "{% if tools %}<tool_call> {{ tools | tojson }}{% endif %}"
    + LLAMA3_TEMPLATE
    + "{% if thinks %}<think>\n{% endif %}"
)


def check_call(name: str, arguments: dict[str, Any]) -> None:
    if name == "now":
        assert arguments["zone"] in ("Oslo", "Rome", "São Paulo")
        assert set(arguments) <= {"zone", "digits"}
        assert arguments.get("digits", 0) <= 9
    elif name == "stop":
        assert arguments == {}
    else:
        assert name == "write_note"
        assert set(arguments) <= {"text", "close"}
        assert isinstance(arguments["text"], str)


def check_calls(text: str) -> int:
    """How many calls there are, all of them as they must be."""
    found = parse_tool_calls(text, NAMES)
    for call in found.calls:
        check_call(call.name, json.loads(call.arguments))
    return len(found.calls)


def read_tokenizer(folder: Path, library: tokenizers.Tokenizer, marks: Sequence[str], *, special: bool) -> Tokenizer:
    library.add_tokens([tokenizers.AddedToken(mark, special=special, normalized=False) for mark in marks])
    folder.mkdir(exist_ok=True)
    write_tokenizer(folder, library, bos="<s>", eos="</s>" if library.token_to_id("</s>") else "<|eot_id|>")
    return Tokenizer.load(folder)


@pytest.fixture(params=["text", "added tokens", "control tokens"])
def tokenizer_for(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Manner], Tokenizer]:
    def tokenizer_for(manner: Manner) -> Tokenizer:
        marks = manner.marks if request.param != "text" else ()
        return read_tokenizer(tmp_path, byte_level_tokenizer(), marks, special=request.param == "control tokens")

    return tokenizer_for


def forms_of(tokenizer: Tokenizer, *manners: Manner) -> CallForms:
    return CallForms(GrammarCompiler(tokenizer, tokenizer.vocab_size, sorted(tokenizer.eos_ids)), tokenizer, manners)


def grammar_of(tokenizer: Tokenizer, manner: Manner, tools: Any = TOOLS, thinking: str = "") -> CallGrammar:
    forms = forms_of(tokenizer, manner).of(tools)
    watch = TagWatch(tokenizer, tokenizer.vocab_size, thinking)
    return CallGrammar(forms, tokenizer.token_bytes, tokenizer.vocab_size, watch)


def walk(tokenizer: Tokenizer, grammar: CallGrammar, opening: str, seed: int) -> str:
    """An answer that begins with `opening`, and goes on by chance as long as it is bound."""
    chance = random.Random(seed)
    ids = tokenizer.encode(opening, add_special_tokens=False)
    for token_id in ids:
        assert grammar.accept(token_id)
    while not grammar.is_finished:
        mask = grammar.allowed()
        if mask is None:
            break
        allowed = [int(i) for i in mask.nonzero().flatten()]
        ending = tokenizer.eos_ids.intersection(allowed)
        if ending and chance.random() < 0.3:
            break
        token_id = chance.choice([i for i in allowed if i not in tokenizer.eos_ids])
        assert grammar.accept(token_id)
        ids.append(token_id)
    detokenizer = tokenizer.detokenizer(forms_of(tokenizer, *MANNERS).shown)
    return "".join(detokenizer.push(token_id) for token_id in ids) + detokenizer.flush()


OPENINGS = [
    (HERMES, "<tool_call>"),
    (HERMES, "Let me look.\n<tool_call>\n"),
    (HERMES, '<tool_call>\n{"name": "write_note", "arguments": {"text": "'),
    (TOOL_CALL_TOKEN, "<|tool_call|>"),
    (TOOL_CALL_TOKEN, "<|tool_call|>["),
    (MISTRAL, "I look. [TOOL_CALLS]"),
    (MISTRAL_NAMED, "[TOOL_CALLS]"),
    (MISTRAL_NAMED, 'I look. [TOOL_CALLS]write_note[ARGS]{"text": "'),
    (MISTRAL_NAMED, "[TOOL_CALLS]now[CALL_ID]"),
    (NEMOTRON, "<TOOLCALL>"),
    (NEMOTRON, 'I look.\n<TOOLCALL>[{"name": "now"'),
    (FUNCTOOLS, "functools["),
    (PYTHON_TAG, "<|python_tag|>"),
    (BARE, '{"name":'),
    (BARE, ' \n{"type": "function", "name":'),
]


@pytest.mark.parametrize(("manner", "opening"), OPENINGS)
@pytest.mark.sampled(20)
def test_what_is_begun_becomes_a_call(tokenizer_for: Callable[[Manner], Tokenizer], manner: Manner, opening: str):
    tokenizer = tokenizer_for(manner)
    for seed in range(3):
        text = walk(tokenizer, grammar_of(tokenizer, manner), opening, seed)
        assert check_calls(text) >= 1, text


def test_every_manner_is_tried():
    assert {manner for manner, _ in OPENINGS} == set(MANNERS)


@pytest.mark.parametrize("manner", [HERMES, MISTRAL, MISTRAL_NAMED, BARE])
def test_with_sentencepiece_too(tmp_path: Path, manner: Manner):
    tokenizer = read_tokenizer(tmp_path, sentencepiece_tokenizer(), [], special=False)
    opening = {HERMES: "Look: <tool_call>", BARE: '{"name":'}.get(manner, "[TOOL_CALLS]")
    for seed in range(3):
        assert check_calls(walk(tokenizer, grammar_of(tokenizer, manner), opening, seed)) >= 1


FREE = [
    (HERMES, "I would write <tool_call and <tool_calls>"),
    (HERMES, '{"name": "Ada"}'),
    (MISTRAL, "TOOL_CALLS [TOOL_CALL] tools"),
    (FUNCTOOLS, "import functools\nfunctools.cache"),
    (BARE, 'Well: {"name": "Ada"}'),
    (BARE, '{"age": 3, "name": "Ada"}'),
    (BARE, '[{"name": "Ada"}]'),
    (HERMES, "<think>I could say <tool_call>"),
    (HERMES, " \n<think>a</thin <tool_call> `</think>` <tool_call>"),
]


@pytest.mark.parametrize(("manner", "text"), FREE)
def test_free_text_is_not_bound(tmp_path: Path, manner: Manner, text: str):
    tokenizer = read_tokenizer(tmp_path, byte_level_tokenizer(), [], special=False)
    grammar = grammar_of(tokenizer, manner)
    for token_id in tokenizer.encode_literally(text):
        assert grammar.accept(token_id)
        assert grammar.allowed() is None


def test_behind_thoughts_it_is_bound_again(tmp_path: Path):
    tokenizer = read_tokenizer(tmp_path, byte_level_tokenizer(), [], special=False)
    for manner, opening in ((HERMES, "Well <tool_call>"), (BARE, '\n\n{"name":')):
        text = walk(tokenizer, grammar_of(tokenizer, manner), f"<think>\n<tool_call>{{\n</think>{opening}", 1)
        assert check_calls(text) >= 1
        begun = grammar_of(tokenizer, manner, thinking="<think>\n")
        text = walk(tokenizer, begun, f"<tool_call>{{\n</think>{opening}", 1)
        assert check_calls(f"<think>{text}") >= 1


def test_behind_a_call_the_answer_is_free_until_the_next_one(tmp_path: Path):
    tokenizer = read_tokenizer(tmp_path, byte_level_tokenizer(), [], special=False)
    grammar = grammar_of(tokenizer, HERMES)
    call = '<tool_call>{"name": "stop", "arguments": {}}</tool_call>'
    for token_id in tokenizer.encode_literally(f"{call}\nAnd "):
        assert grammar.accept(token_id)
    assert grammar.allowed() is None
    for token_id in tokenizer.encode_literally("<tool_call>"):
        assert grammar.accept(token_id)
    assert grammar.allowed() is not None


def test_a_token_with_more_than_the_mark_must_begin_a_call(tmp_path: Path):
    library = byte_level_tokenizer()
    library.add_tokens(["l>Hello", 'l>\n{"name'])
    tokenizer = read_tokenizer(tmp_path, library, [], special=False)
    bad, good = tokenizer.id_of("l>Hello"), tokenizer.id_of('l>\n{"name')
    assert bad is not None
    assert good is not None
    grammar = grammar_of(tokenizer, HERMES)
    for token_id in tokenizer.encode_literally("So <tool_cal"):
        assert grammar.accept(token_id)
    assert not grammar.accept(bad)
    mask = grammar.allowed()
    assert mask is not None
    assert not mask[bad]
    assert mask[good]
    assert grammar.accept(good)
    assert check_calls(walk(tokenizer, grammar, "", 3)) == 0  # the text of the walk lacks the mark
    other = grammar_of(tokenizer, HERMES)
    for token_id in [*tokenizer.encode_literally("So <tool_cal"), bad]:
        other.follow(token_id)
    assert other.allowed() is None


@pytest.mark.parametrize(
    "parameters",
    [
        {"type": "object", "properties": {"zone": {"type": "string", "pattern": "("}}},
        {"$ref": "#/nowhere"},
        {"type": "object", "properties": {"zone": {"type": "nonsense"}}},
        {"type": "string"},
        {"type": "object", "not": {"required": ["a"]}},
    ],
)
def test_a_schema_that_cannot_be_followed_is_any_object(tmp_path: Path, parameters: dict[str, Any]):
    tokenizer = read_tokenizer(tmp_path, byte_level_tokenizer(), [], special=False)
    odd = {"type": "function", "function": {"name": "odd", "parameters": parameters}}
    grammar = grammar_of(tokenizer, HERMES, [odd, TOOLS[0]])
    ids = tokenizer.encode_literally('<tool_call>{"name": "odd", "arguments": {"a": [1, "b"]}}</tool_call>')
    for token_id in ids:
        mask = grammar.allowed()
        assert mask is None or mask[token_id]
        assert grammar.accept(token_id)
    for token_id in tokenizer.encode_literally('<tool_call>{"name": "now", "arguments": {"zone": "O'):
        assert grammar.accept(token_id)
    mask = grammar.allowed()
    assert mask is not None
    assert not mask[tokenizer.encode_literally("z")[0]]  # the other one is still followed


def test_of_a_schema_is_followed_what_can_be(tmp_path: Path):
    tokenizer = read_tokenizer(tmp_path, byte_level_tokenizer(), [], special=False)
    set_of_paths = {"type": "array", "items": {"type": "string", "format": "path"}, "uniqueItems": True}
    parameters = {"type": "object", "properties": {"paths": set_of_paths}, "required": ["paths"]}
    odd = {"type": "function", "function": {"name": "odd", "parameters": parameters}}
    grammar = grammar_of(tokenizer, HERMES, [odd])
    for token_id in tokenizer.encode_literally('<tool_call>{"name": "odd", "arguments": {"'):
        assert grammar.accept(token_id)
    mask = grammar.allowed()
    assert mask is not None
    assert [mask[tokenizer.encode_literally(letter)[0]] for letter in "pq"] == [True, False]


@pytest.mark.parametrize(
    "tools", [[], [{"type": "function"}], [{"name": 3}], [{"name": "f", "parameters": {"a": {1}}}]]
)
def test_what_is_no_tool_has_no_grammar(tmp_path: Path, tools: Any):
    tokenizer = read_tokenizer(tmp_path, byte_level_tokenizer(), [], special=False)
    assert forms_of(tokenizer, HERMES).of(tools) == ()


# --- in the engine


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A random model whose template knows tools."""
    folder = write_tiny_llama(tmp_path / "model", max_position_embeddings=4096)
    (folder / "chat_template.jinja").write_text(TOOL_TEMPLATE)
    return folder


def request(seed: int = 0, **options: Any) -> GenerateRequest:
    sampling = SamplingParams(temperature=1.5, top_k=0, top_p=1.0, min_p=0.0, seed=seed)
    fields = {"messages": [Message("user", "Go")], "tools": TOOLS, "max_tokens": 500, "sampling": sampling, **options}
    return GenerateRequest(**fields)


def forced(engine: Engine, text: str, at: int = 3, **template: Any) -> Callable[[list[int], Any], Any]:
    """A processor that has the answer say `text` from its token `at` on; the rest is the model's own."""
    ids = engine.tokenizer.encode_literally(text)
    template = template or {"tools": TOOLS}
    begin = at + len(engine.apply_chat_template([Message("user", "Go")], tokenize=True, **template))

    def process(known: list[int], logits: Any) -> Any:
        place = len(known) - begin
        if 0 <= place < len(ids):
            logits[ids[place]] = 1e9
        return logits

    return process


def test_the_model_calls_as_it_must(load, model: Path):
    engine = load(folder=model)
    answers = engine.generate_batch([request(n, logits_processor=forced(engine, "<tool_call>{")) for n in range(6)])
    for answer in answers:
        assert answer.error is None
        assert check_calls(answer.text) == 1, answer.text


def test_an_answer_that_calls_nothing_is_the_same_bits(load, model: Path):
    engine = load(folder=model)
    prompt = engine.apply_chat_template([Message("user", "Go")], tools=TOOLS, tokenize=True)
    for seed in range(4):
        with_tools = list(engine.submit(request(seed, max_tokens=120, logprobs=3)))
        without = list(
            engine.submit(request(seed, max_tokens=120, logprobs=3, messages=None, tools=None, token_ids=prompt))
        )
        assert with_tools == without
        assert "<tool_call>" not in "".join(out.text for out in with_tools)


def test_in_thoughts_nothing_is_bound(load, model: Path):
    engine = load(folder=model)
    template = {"tools": TOOLS, "thinks": True}
    prompt = engine.apply_chat_template([Message("user", "Go")], tokenize=True, **template)
    process = forced(engine, "<tool_call>", **template)
    asked = request(2, max_tokens=60, chat_template_kwargs={"thinks": True}, logits_processor=process)
    bound = engine.generate(asked)
    free = engine.generate(replace(asked, messages=None, tools=None, chat_template_kwargs=None, token_ids=prompt))
    assert "<tool_call>" in bound.text
    assert bound.token_ids == free.token_ids


@pytest.mark.parametrize("draft", [None, "ngram"])
def test_the_same_bits_beside_others_with_guesses_and_after_an_interruption(load, model: Path, draft: str | None):
    engine = load(folder=model, draft=draft)
    process = forced(engine, "<tool_call>{")
    asked = request(5, logprobs=1, logits_processor=process, max_tokens=160)
    whole = list(load(folder=model).submit(asked))
    jobs = [engine.submit(one) for one in (asked, replace(asked, sampling=replace(asked.sampling, seed=9)), request(1))]
    assert list(jobs[0]) == whole
    for job in jobs:
        job.result(60)
    text = "".join(out.text for out in whole)
    assert check_calls(text) == 1
    state = jobs[0].answer_state
    for cut in (5, 12, 20, 40, len(whole) - 2):
        kept = AnswerState.from_json(replace(state, token_ids=state.token_ids[:cut]).to_json())
        assert list(engine.resume(kept, logits_processor=process)) == whole[cut:]


def test_a_state_of_an_earlier_version_is_read(load, model: Path):
    engine = load(folder=model)
    job = engine.submit(request(max_tokens=4))
    job.result(60)
    values = json.loads(job.answer_state.to_json())
    assert [tool["function"]["name"] for tool in values.pop("tools")] == NAMES
    assert AnswerState.from_json(json.dumps(values)).tools is None


def test_a_request_that_leaves_no_token_of_a_call_is_free_and_no_error(load, model: Path):
    engine = load(folder=model)
    texts = map(engine.tokenizer.token_text, range(engine.vocab_size))
    banned = [token_id for token_id, text in enumerate(texts) if "{" in text or "[" in text]
    process = forced(engine, "<tool_call>")
    sampling = replace(request(3).sampling, banned_token_ids=banned)
    result = engine.generate(request(sampling=sampling, logits_processor=process, max_tokens=40))
    assert result.error is None
    assert "<tool_call>" in result.text
    assert parse_tool_calls(result.text, NAMES).calls == ()


def test_a_call_that_must_be_made_may_have_references_in_its_schema(load):
    parameters = dict(filter(None, map(parameters_of, TOOLS)))
    sampling = request(1).sampling
    for seed in range(3):
        answer = load().generate(
            GenerateRequest(
                prompt="Go", json_schema=call_schema(parameters), max_tokens=300, sampling=replace(sampling, seed=seed)
            )
        )
        assert answer.error is None
        assert check_calls(answer.text) == 1


def test_an_answer_that_is_cut_within_a_call_is_no_error(load, model: Path):
    engine = load(folder=model)
    result = engine.generate(request(3, logits_processor=forced(engine, "<tool_call>"), max_tokens=25))
    assert (result.finish_reason, result.error) == ("length", None)


def test_without_the_package_everything_is_as_it_was(load, model: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "llguidance", None)
    engine = load(folder=model)
    result = engine.generate(request(3, logits_processor=forced(engine, "<tool_call>"), max_tokens=60))
    assert result.error is None
    assert parse_tool_calls(result.text, NAMES).calls == ()


def test_which_manners_a_model_has(tmp_path: Path):
    templates = Path(__file__).parents[1] / "fakes" / "chat_templates"

    def template_of(name: str, *tokens: str) -> ChatTemplate:
        tokenizer = read_tokenizer(tmp_path / name, byte_level_tokenizer(), tokens, special=True)
        (tmp_path / name / "chat_template.jinja").write_text((templates / f"{name}.jinja").read_text(encoding="utf-8"))
        template = ChatTemplate.load(tmp_path / name, tokenizer)
        assert template is not None
        return template

    def manners(name: str, *tokens: str) -> tuple[Manner, ...]:
        return template_of(name, *tokens).call_manners

    assert [template_of(name).lists_calls for name in ("qwen3", "mistral-v0.3", "llama-3.2", "gemma3")] == [
        False, True, False, False,
    ]  # fmt: skip
    assert manners("qwen2.5") == manners("qwen3") == (HERMES,)
    assert manners("mistral-v0.3") == (MISTRAL,)
    assert manners("llama-3.2") == (BARE,)
    assert manners("llama-3.2", "<|python_tag|>") == (PYTHON_TAG, BARE)
    assert manners("mistral-v0.3", "[ARGS]") == (MISTRAL_NAMED,)
    assert manners("gemma3") == ()
