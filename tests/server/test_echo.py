"""Prompts that are returned before their answers, through OpenAI's own client, and how likely their tokens are."""

import openai
import pytest
import torch

from llama_gui.engine import Engine, GenerateRequest, Message, SamplingParams
from llama_gui.server.echo import Echo, echo_logprobs
from llama_gui.server.serve import ApiServer
from llama_gui.vocabulary import TokenOutput
from tests.server.conftest import Serve, ServedScript, ask, connect, post
from tests.server.test_connection import eventually

PROMPT = "The side bar – naïve 😀 – shows"


@pytest.fixture
def asked(starter: Engine) -> dict:
    return {"model": starter.info.name, "prompt": PROMPT, "echo": True, "temperature": 0}


def expected_logprobs(engine: Engine, ids: list[int]) -> list[float]:
    """By the library's one full forward."""
    rows = torch.log_softmax(engine.logits(ids)[:, : engine.tokenizer.vocab_size].double(), -1)
    return [float(rows[place, token_id]) for place, token_id in enumerate(ids[1:])]


@pytest.mark.parametrize("max_tokens", [0, 1, 5])
@pytest.mark.parametrize("as_ids", [False, True])
def test_a_prompts_tokens_have_their_probabilities(client, starter: Engine, asked, max_tokens: int, as_ids: bool):
    ids = starter.tokenizer.encode(PROMPT, add_special_tokens=True)
    prompt = ids if as_ids else PROMPT
    reply = client.completions.create(**{**asked, "prompt": prompt}, logprobs=1, max_tokens=max_tokens)
    (choice,) = reply.choices
    alone = starter.generate(
        GenerateRequest(prompt=PROMPT, max_tokens=max_tokens or 1, sampling=SamplingParams(temperature=0))
    )
    drawn = list(alone.token_ids) if max_tokens else []
    said = starter.tokenizer.decode(ids, skip_special_tokens=False) if as_ids else PROMPT
    assert choice.text == said + (alone.text if max_tokens else "")
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (len(ids), len(drawn))
    told = choice.logprobs
    assert told.tokens == [starter.tokenizer.token_text(token_id) for token_id in [*ids, *drawn]]
    assert told.token_logprobs[0] is told.top_logprobs[0] is None
    assert told.token_logprobs[1:] == pytest.approx(expected_logprobs(starter, [*ids, *drawn]), abs=1e-3)
    for token, logprob, tops in list(zip(told.tokens, told.token_logprobs, told.top_logprobs, strict=True))[1:]:
        assert len(tops) <= 2  # the likeliest, and the one that came
        assert tops[token] == logprob or "\ufffd" in token  # two of those may read alike
    assert told.text_offset == sorted(told.text_offset)
    for token, offset in zip(told.tokens, told.text_offset, strict=True):
        assert "\ufffd" in token or token in starter.tokenizer.special_texts or choice.text.startswith(token, offset)


def test_what_was_drawn_greedily_is_the_likeliest(client, starter: Engine, asked):
    """lm-evaluation-harness asks whether an answer is greedy by comparing the numbers for equality."""
    ids = starter.apply_chat_template([Message("user", "What is this application?")], tokenize=True)
    greedy = SamplingParams(temperature=0, repetition_penalty=1)
    drawn = starter.generate(GenerateRequest(token_ids=ids, max_tokens=20, sampling=greedy)).token_ids
    whole = client.completions.create(**{**asked, "prompt": [*ids, *drawn]}, logprobs=1, max_tokens=0)
    told = whole.choices[0].logprobs
    values, tops = told.token_logprobs[len(ids) :], told.top_logprobs[len(ids) :]
    assert [max(top.values()) for top in tops] == values
    assert len(values) == len(drawn) > 3


def test_prompts_of_a_batch_are_told_apart(client, starter: Engine, asked):
    prompts = [f"Number {number} is" for number in range(20)]
    reply = client.completions.create(**{**asked, "prompt": prompts}, logprobs=0, max_tokens=0)
    assert [choice.text for choice in reply.choices] == prompts
    one = client.completions.create(**{**asked, "prompt": prompts[7]}, logprobs=0, max_tokens=0)
    assert reply.choices[7].logprobs == one.choices[0].logprobs
    assert all(len(tops) == 1 for tops in one.choices[0].logprobs.top_logprobs[1:])


@pytest.mark.parametrize("logprobs", [None, 2])
@pytest.mark.parametrize("max_tokens", [0, 6])
def test_a_stream_begins_with_the_prompt(client, asked, logprobs: int | None, max_tokens: int):
    options = {**asked, "prompt": [PROMPT, "A tab"], "max_tokens": max_tokens, "logprobs": logprobs}
    whole = client.completions.create(**options)
    texts, tokens, values, offsets, reasons = ["", ""], [[], []], [[], []], [[], []], ["", ""]
    usage = None
    for chunk in client.completions.create(**options, stream=True, stream_options={"include_usage": True}):
        usage = chunk.usage or usage
        for choice in chunk.choices:
            texts[choice.index] += choice.text
            reasons[choice.index] = choice.finish_reason
            if choice.logprobs:
                tokens[choice.index] += choice.logprobs.tokens
                values[choice.index] += choice.logprobs.token_logprobs
                offsets[choice.index] += choice.logprobs.text_offset
    assert texts == [choice.text for choice in whole.choices]
    assert reasons == [choice.finish_reason for choice in whole.choices]
    assert usage.completion_tokens == whole.usage.completion_tokens
    if logprobs:
        assert tokens == [choice.logprobs.tokens for choice in whole.choices]
        assert values == [choice.logprobs.token_logprobs for choice in whole.choices]
        assert offsets == [choice.logprobs.text_offset for choice in whole.choices]


@pytest.mark.parametrize("stream", [False, True])
def test_the_token_that_ends_an_answer_counts(client, starter: Engine, asked, stream: bool):
    """Whoever asked for one token more than the prompt takes the last one off."""
    bias = {str(token_id): 100 for token_id in starter.eos_token_ids}
    reply = client.completions.create(**asked, logprobs=1, max_tokens=1, logit_bias=bias, stream=stream)
    choices = [chunk.choices[0] for chunk in reply] if stream else reply.choices
    tokens = [token for choice in choices if choice.logprobs for token in choice.logprobs.tokens]
    assert len(tokens) == len(starter.tokenizer.encode(PROMPT, add_special_tokens=True)) + 1
    assert "".join(choice.text for choice in choices) == PROMPT
    assert choices[-1].finish_reason == "stop"


def test_a_client_that_goes_away_is_read_for_no_longer(serve: Serve, starter: Engine):
    server = serve(starter)
    gate = server._routes.generator.gate  # type: ignore[union-attr]
    body = {"prompt": ["The side bar " * 400] * 32, "echo": True, "logprobs": 5, "max_tokens": 0}
    with connect(server) as client:
        client.sendall(post("/v1/completions", server, body))
        assert eventually(lambda: gate.taken == 32 and starter.stats().running > 0)
    assert eventually(lambda: gate.taken == 0 and starter.stats().running + starter.stats().waiting == 0)


def test_nothing_at_all_is_no_completion(client, asked):
    for change in ({"echo": False, "max_tokens": 0}, {"max_tokens": -2}):
        with pytest.raises(openai.BadRequestError) as raised:
            client.completions.create(**{**asked, **change})
        assert raised.value.param == "max_tokens"


def test_a_prompt_is_told_without_numbers_too(serve: Serve):
    server: ApiServer = serve(ServedScript())
    for body, text in (({"max_tokens": 2}, "one two threeone two"), ({"max_tokens": 0}, "one two three")):
        status, reply = ask(server, {"prompt": "one two three", "echo": True, **body}, "/v1/completions")
        assert (status, reply["choices"][0]["text"], reply["choices"][0]["logprobs"]) == (200, text, None)
        assert reply["choices"][0]["finish_reason"] == "length"


def test_an_answer_that_fails_is_no_prompt_alone(serve: Serve):
    body = {"prompt": "one two", "echo": True, "max_tokens": 0}
    assert ask(serve(ServedScript(fail_at=0)), body, "/v1/completions")[0] == 500


def test_places_in_the_text_follow_what_tokens_set_free():
    class Tokens:
        texts = ("<s>", " A", "\ufffd", "\ufffd", "b", "<x>")

        def token_text(self, token_id: int) -> str:
            return self.texts[token_id]

    freed = [None, "A", "", "é", "b", ""]
    outputs = [None if text is None else TokenOutput(text, i, i, -1.0) for i, text in enumerate(freed)]
    for text, expected in (("Aéb<x>", [0, 0, 1, 1, 2, 3]), ("<s>Aéb", [0, 3, 4, 4, 5, 6])):
        assert echo_logprobs(Echo(text, 0), outputs, Tokens())["text_offset"] == expected  # type: ignore[arg-type]
