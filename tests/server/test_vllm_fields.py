"""What vLLM's clients send beside OpenAI's fields, over the starter model, by OpenAI's own client."""

from typing import Any

import openai
import pytest

from llama_gui.engine import Engine, GenerateRequest, SamplingParams
from tests.engine.test_middle import write_coder
from tests.fakes.tiny_llama import write_tiny_llama
from tests.server.conftest import Serve, ask, question
from tests.server.test_routes import events

PROMPT = "The side bar"
ASKED = "What is this application?"
GREEDY = SamplingParams(temperature=0)
PATHS = ("/v1/chat/completions", "/v1/completions")


@pytest.fixture
def complete(client: openai.OpenAI, starter: Engine):
    """Complete `PROMPT` greedily, with these fields of vLLM's."""

    def complete(max_tokens: int = 12, *, echo: bool = False, stream: bool = False, **fields: Any) -> Any:
        own = {name: fields.pop(name) for name in ("logprobs", "stop", "n", "best_of") if name in fields}
        return client.completions.create(
            model=starter.info.name, prompt=PROMPT, max_tokens=max_tokens, echo=echo, stream=stream,
            **{"temperature": 0, **own}, extra_body=fields,
        )  # fmt: skip

    return complete


def plain(starter: Engine, max_tokens: int = 12):
    return starter.generate(GenerateRequest(prompt=PROMPT, max_tokens=max_tokens, sampling=GREEDY))


# --- where an answer ends


def test_stop_tokens(complete, starter):
    free = plain(starter)
    stop = free.token_ids[5]
    assert stop not in free.token_ids[:5]
    before = starter.tokenizer.decode(free.token_ids[:5])
    for stream in (False, True):
        reply = complete(stop_token_ids=[stop], stream=stream)
        last = list(reply)[-1].choices[0] if stream else reply.choices[0]
        assert (last.finish_reason, last.stop_reason) == ("stop", stop)
        text = "".join(c.choices[0].text for c in complete(stop_token_ids=[stop], stream=True)) if stream else last.text
        assert text == before
    shown = complete(stop_token_ids=[stop], include_stop_str_in_output=True).choices[0]
    assert shown.text == starter.tokenizer.decode(free.token_ids[:6])


def test_the_stop_text_is_told_and_shown_on_demand(complete, starter):
    word = plain(starter).text.split()[2]
    hidden, shown = (complete(stop=[word], include_stop_str_in_output=shown).choices[0] for shown in (False, True))
    assert (hidden.stop_reason, shown.stop_reason) == (word, word)
    assert shown.text == hidden.text + word


def test_bad_words(complete, starter):
    word = plain(starter).text.split()[1]
    assert word not in complete(bad_words=[word]).choices[0].text


def test_the_end_is_ignored_and_shown(server, starter):
    asked = question(ASKED, temperature=0, max_tokens=300)
    free = ask(server, asked)[1]
    assert free["choices"][0]["finish_reason"] == "stop"
    assert free["choices"][0]["stop_reason"] is None
    more = free["usage"]["completion_tokens"] + 5
    fields = {"ignore_eos": True, "max_tokens": more, "skip_special_tokens": False, "logprobs": True}
    status, reply = ask(server, {**asked, **fields})
    choice = reply["choices"][0]
    assert (status, choice["finish_reason"], reply["usage"]["completion_tokens"]) == (200, "length", more)
    ends = [starter.tokenizer.token_text(end) for end in starter.eos_token_ids]
    rest = choice["message"]["content"].removeprefix(free["choices"][0]["message"]["content"])
    assert rest.startswith(tuple(ends))
    assert len(choice["logprobs"]["content"]) == more  # what ended nothing is a token like others


# --- the prompt


def test_the_beginning_and_the_end_of_a_prompt(complete, starter):
    with_start, without = (starter.tokenizer.encode(PROMPT, add_special_tokens=special) for special in (True, False))
    assert len(with_start) > len(without) > 2
    for fields, expected in (
        ({}, with_start),
        ({"add_special_tokens": False}, without),
        ({"truncate_prompt_tokens": 3}, [with_start[0], *with_start[-2:]]),
        ({"truncate_prompt_tokens": 2, "add_special_tokens": False}, without[-2:]),
        ({"truncate_prompt_tokens": -1}, with_start),
    ):
        reply = complete(return_token_ids=True, **fields)
        assert reply.choices[0].prompt_token_ids == expected
        assert reply.usage.prompt_tokens == len(expected)
        request = GenerateRequest(token_ids=expected, max_tokens=12, sampling=GREEDY)
        assert reply.choices[0].text == starter.generate(request).text
    echoed = complete(echo=True, add_special_tokens=False, logprobs=0).choices[0]
    assert echoed.text.startswith(PROMPT)
    assert echoed.logprobs.tokens[: len(without)] == [starter.tokenizer.token_text(i) for i in without]


def test_a_chat_without_its_last_words(server):
    asked = question(ASKED, max_tokens=1, return_token_ids=True)
    ids = {
        generation: ask(server, {**asked, "add_generation_prompt": generation})[1]["prompt_token_ids"]
        for generation in (True, False)
    }
    assert ids[True][: len(ids[False])] == ids[False]
    assert ids[True] == ask(server, question(ASKED), "/tokenize")[1]["tokens"]
    assert ids[False] == ask(server, question(ASKED, add_generation_prompt=False), "/tokenize")[1]["tokens"]
    assert len(ids[False]) < len(ids[True])


def test_what_a_chat_goes_on_with_is_a_part_of_its_prompt(server, starter):
    messages = [*question(ASKED)["messages"], {"role": "assistant", "content": "This is"}]
    asked = {"messages": messages, "continue_final_message": True, "max_tokens": 1, "return_token_ids": True}
    ids = ask(server, asked)[1]["prompt_token_ids"]
    begun = ask(server, question(ASKED), "/tokenize")[1]["tokens"]
    assert ids == [*begun, *starter.tokenizer.encode_literally("This is")]


def test_documents(serve: Serve, starter: Engine, kernel_notes, tmp_path):
    folder = write_tiny_llama(tmp_path / "tiny")
    source = "{% for d in documents or [] %}{{ d.text }}{% endfor %}{{ messages[0].content }}"
    (folder / "chat_template.jinja").write_text(source)
    asked = question("Hi", documents=[{"title": "a", "text": "A duck. "}], max_tokens=1, return_token_ids=True)
    with Engine.load(folder, dtype="float32", kernel_notes=kernel_notes) as engine:
        server = serve(engine)
        ids = ask(server, asked)[1]["prompt_token_ids"]
        assert engine.tokenizer.decode(ids) == "A duck. Hi"
        server.stop()
    status, reply = ask(serve(starter), asked)
    assert (status, reply["error"]["param"]) == (400, "documents")


# --- what is told


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("logprobs", [True, False])
def test_token_ids_in_a_stream_and_whole(client, starter, path, logprobs):
    model = starter.info.name
    extra = {"return_token_ids": True}
    if path == PATHS[0]:
        asked: Any = {"messages": question(ASKED)["messages"], "logprobs": logprobs}
        create, text = client.chat.completions.create, lambda choice: choice.delta.content or ""
    else:
        asked = {"prompt": [PROMPT, "A tab"], **({"logprobs": 1} if logprobs else {})}
        create, text = client.completions.create, lambda choice: choice.text
    asked |= {"model": model, "max_tokens": 8, "temperature": 0, "extra_body": extra}
    whole = create(**asked)
    chunks = list(create(stream=True, **asked))
    for choice in whole.choices:
        own = [chunk for chunk in chunks if chunk.choices[0].index == choice.index]
        ids = [i for chunk in own for i in getattr(chunk.choices[0], "token_ids", None) or ()]
        assert ids == choice.token_ids
        said = choice.message.content if path == PATHS[0] else choice.text
        assert starter.tokenizer.decode(ids) == said == "".join(text(chunk.choices[0]) for chunk in own)
        holder, first = (whole, own[0]) if path == PATHS[0] else (choice, own[0].choices[0])
        assert holder.prompt_token_ids == first.prompt_token_ids
        assert not [c for c in own[1:] if getattr(c, "prompt_token_ids", None)]
    assert "token_ids" not in str(create(**{**asked, "extra_body": {}}).to_dict())


def test_only_a_prompt_has_no_tokens_of_an_answer(complete, starter):
    choice = complete(0, echo=True, return_token_ids=True).choices[0]
    assert (choice.text, choice.token_ids) == (PROMPT, [])
    assert starter.tokenizer.decode(choice.prompt_token_ids) == PROMPT


def test_tokens_are_named_by_their_ids(complete, server, starter):
    names = [f"token_id:{i}" for i in plain(starter).token_ids]
    named = complete(logprobs=2, return_tokens_as_token_ids=True).choices[0].logprobs
    assert named.tokens == names
    assert all(name in tops for name, tops in zip(names, named.top_logprobs, strict=True))
    streamed = list(complete(logprobs=2, return_tokens_as_token_ids=True, stream=True))
    assert [n for chunk in streamed for n in (chunk.choices[0].logprobs or named).tokens[:1]][: len(names)] == names
    echoed = complete(0, echo=True, logprobs=0, return_tokens_as_token_ids=True).choices[0].logprobs.tokens
    assert echoed == [f"token_id:{i}" for i in starter.tokenizer.encode(PROMPT, add_special_tokens=True)]
    fields = {"logprobs": True, "top_logprobs": 2, "return_tokens_as_token_ids": True, "return_token_ids": True}
    choice = ask(server, question(ASKED, max_tokens=5, temperature=0, **fields))[1]["choices"][0]
    told = choice["logprobs"]["content"]
    assert [entry["token"] for entry in told] == [f"token_id:{i}" for i in choice["token_ids"]]
    assert all(entry["top_logprobs"][0]["token"].startswith("token_id:") for entry in told)


def test_prompts_are_scored(complete, server, starter):
    request = GenerateRequest(prompt=PROMPT, max_tokens=1, sampling=GREEDY, prompt_logprobs=2)
    wanted = starter.generate(request).prompt_logprobs
    told = complete(prompt_logprobs=2).choices[0].prompt_logprobs
    assert told[0] is None
    for entry, output in zip(told[1:], wanted[1:], strict=True):
        assert entry[str(output.token_id)]["logprob"] == output.logprob
        assert entry[str(output.token_id)]["decoded_token"] == starter.tokenizer.token_text(output.token_id)
        ranked = {place["rank"]: int(token_id) for token_id, place in entry.items() if place["rank"]}
        assert [ranked[1], ranked[2]] == [top.token_id for top in output.top_logprobs]
    chat = ask(server, question(ASKED, max_tokens=1, prompt_logprobs=0, n=2))[1]
    assert len(chat["prompt_logprobs"]) == chat["usage"]["prompt_tokens"]
    assert "prompt_logprobs" not in chat["choices"][0]


@pytest.mark.parametrize("path", PATHS)
def test_the_likeliest_of_several_answers(server, path):
    asked: dict[str, Any] = question(ASKED) if path == PATHS[0] else {"prompt": [PROMPT, "A tab"]}
    asked |= {"max_tokens": 8, "temperature": 1.5, "top_k": 0, "top_p": 1, "min_p": 0, "seed": 3}
    asked |= {"logprobs": True, "return_token_ids": True} if path == PATHS[0] else {"logprobs": 0}

    def likely(choice: dict[str, Any]) -> float:
        logprobs = choice["logprobs"]
        return sum(logprobs.get("token_logprobs") or [entry["logprob"] for entry in logprobs["content"]])

    def said(choice: dict[str, Any]) -> str:
        return choice["text"] if "text" in choice else choice["message"]["content"]

    status, every = ask(server, {**asked, "n": 5}, path)
    _, some = ask(server, {**asked, "n": 2, "best_of": 5}, path)
    prompts = len(every["choices"]) // 5
    assert (status, prompts) == (200, 1 if path == PATHS[0] else 2)
    assert [choice["index"] for choice in some["choices"]] == [*range(2 * prompts)]
    for prompt in range(prompts):
        ranked = sorted(every["choices"][5 * prompt : 5 * prompt + 5], key=likely, reverse=True)
        assert [said(c) for c in some["choices"][2 * prompt : 2 * prompt + 2]] == [said(c) for c in ranked[:2]]
    paid = [{key: answer["usage"][key] for key in ("prompt_tokens", "completion_tokens")} for answer in (some, every)]
    assert paid[0] == paid[1]  # what was written is paid for, told or not


def test_a_remote_tokenizer(client, starter, server):
    """As lm-evaluation-harness has it: what it needs to know, then text to tokens and back."""
    info = client.get("/../tokenizer_info", cast_to=object)
    assert info["eos_token"] == starter.tokenizer.eos_token
    assert info["chat_template"] == starter.chat_template
    assert "{%" in info["chat_template"]
    (end,) = ask(server, {"prompt": info["eos_token"], "add_special_tokens": False}, "/tokenize")[1]["tokens"]
    assert end in starter.eos_token_ids


def test_the_middle_of_a_text(serve: Serve, starter: Engine, kernel_notes, tmp_path):
    name = "<|fim_{}|>"
    folder = write_coder(tmp_path / "coder", name)
    with Engine.load(folder, dtype="float32", kernel_notes=kernel_notes) as engine:
        server = serve(engine)
        asked = {"prompt": ["one", ""], "suffix": "three", "max_tokens": 2, "return_token_ids": True}
        for choice, before in zip(ask(server, asked, PATHS[1])[1]["choices"], asked["prompt"], strict=True):
            shown = engine.tokenizer.decode(choice["prompt_token_ids"], skip_special_tokens=False)
            assert shown.endswith(f"<|fim_prefix|>{before}<|fim_suffix|>three<|fim_middle|>")
        (choice,) = ask(server, {**asked, "prompt": ""}, PATHS[1])[1]["choices"]
        assert engine.tokenizer.decode(choice["prompt_token_ids"]).endswith("three")
        assert ask(server, {**asked, "prompt": "", "suffix": ""}, PATHS[1])[1]["error"]["param"] == "prompt"
        server.stop()
    status, reply = ask(serve(starter), asked, PATHS[1])
    assert (status, reply["error"]["param"]) == (400, "suffix")


# --- what a stream tells of its tokens


USAGE = {"include_usage": True, "continuous_usage_stats": True}


@pytest.mark.parametrize("path", PATHS)
def test_each_chunk_tells_how_many_tokens_there_were(server, path: str):
    body: dict = {"max_tokens": 4, "ignore_eos": True, "n": 2, "seed": 1, "stream": True, "stream_options": USAGE}
    prompt: dict = question(ASKED) if path == PATHS[0] else {"prompt": [PROMPT, "Hi there, all"]}
    *chunks, last, _ = events(server, {**prompt, **body}, path)
    last = last["usage"]
    counts: dict[int, list[tuple[int, int]]] = {}
    for chunk in chunks:
        usage = chunk["usage"]
        assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
        counts.setdefault(chunk["choices"][0]["index"], []).append((usage["prompt_tokens"], usage["completion_tokens"]))
    assert all(told == sorted(told) and told[-1][1] == 4 for told in counts.values())
    assert sum(counts[choice][0][0] for choice in range(0, len(counts), 2)) == last["prompt_tokens"]
    assert last["completion_tokens"] == 4 * len(counts)
    assert all(len({count for _, count in told}) > 2 for told in counts.values())


def test_a_message_that_is_continued_counts_as_prompt_from_the_first_chunk(server):
    messages = [{"role": "user", "content": ASKED}, {"role": "assistant", "content": "This is"}]
    body = {"messages": messages, "continue_final_message": True, "max_tokens": 3, "stream": True}
    first, *_, last, _ = events(server, {**body, "stream_options": USAGE})
    assert first["usage"]["prompt_tokens"] == last["usage"]["prompt_tokens"]


def test_a_stream_that_tells_no_tokens_at_its_end_tells_none_before(server):
    chunks = events(server, question(ASKED, max_tokens=2, stream=True, stream_options={"continuous_usage_stats": True}))
    assert not any("usage" in chunk for chunk in chunks[:-1])
