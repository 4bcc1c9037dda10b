"""What is sent to a server, in its dialect; and what is refused because it could not be asked for."""

import json
from dataclasses import replace

import pytest

from llama_gui.errors import InvalidRequestError
from llama_gui.server.remote_request import remote_body
from llama_gui.server.schema import read_chat, read_completion
from llama_gui.vocabulary import GenerateRequest, Image, Message, SamplingParams

HI = [Message("system", "Be brief."), Message("user", "Hi")]
DIALECTS = ("openai", "vllm", "sglang", "llama.cpp", "ollama", "lmstudio", "llama-gui", "other")


def body(dialect="other", *, messages=HI, sampling=None, **fields):
    request = GenerateRequest(messages=messages, sampling=SamplingParams(**(sampling or {})), **fields)
    return remote_body(request, "m", dialect)[1]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_plain_question_says_nothing_that_was_not_asked(dialect):
    assert remote_body(GenerateRequest(messages=HI), "m", dialect) == (
        "chat/completions",
        {
            "model": "m",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
            "stream": True,
            "stream_options": {"include_usage": True},
        },
    )


def test_the_limit_has_another_name_at_openai():
    assert body("openai", max_tokens=5)["max_completion_tokens"] == 5
    assert body("vllm", max_tokens=5)["max_tokens"] == 5


@pytest.mark.parametrize(
    ("dialect", "sampling", "sent"),
    [
        ("vllm", {"top_k": 5, "min_p": 0.1, "repetition_penalty": 1.2},
         {"top_k": 5, "min_p": 0.1, "repetition_penalty": 1.2}),
        ("vllm", {"top_k": 0}, {"top_k": -1}),
        ("sglang", {"top_k": 0}, {"top_k": -1}),
        ("llama.cpp", {"top_k": 0, "repetition_penalty": 1.2, "penalty_window": 64, "dry_window": -1},
         {"top_k": 0, "repeat_penalty": 1.2, "repeat_last_n": 64, "dry_penalty_last_n": -1}),
        ("lmstudio", {"repetition_penalty": 1.2}, {"repeat_penalty": 1.2}),
        ("openai", {"top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0}, {}),
        ("openai", {"temperature": 0.5, "seed": 3, "logit_bias": {5: -100}},
         {"temperature": 0.5, "seed": 3, "logit_bias": {"5": -100}}),
        ("llama-gui", {"typical_p": 0.9, "banned_token_ids": (1, 2)}, {"typical_p": 0.9, "banned_token_ids": [1, 2]}),
    ],
)  # fmt: skip
def test_parameters_have_the_servers_names(dialect, sampling, sent):
    assert body(dialect, sampling=sampling) == {**body(dialect), **sent}


@pytest.mark.parametrize(
    ("dialect", "fields", "name"),
    [
        ("openai", {"sampling": {"top_k": 5}}, "top_k"),
        ("ollama", {"sampling": {"min_p": 0.1}}, "min_p"),
        ("ollama", {"sampling": {"logit_bias": {1: 1}}}, "logit_bias"),
        ("lmstudio", {"sampling": {"typical_p": 0.5}}, "typical_p"),
        ("vllm", {"sampling": {"banned_token_ids": (1,)}}, "banned_token_ids"),
        ("vllm", {"sampling": {"xtc_probability": 0.5}}, "xtc_probability"),
        ("openai", {"regex": "a+"}, "regex"),
        ("openai", {"min_tokens": 5}, "min_tokens"),
        ("openai", {"stop_token_ids": [5]}, "stop_token_ids"),
        ("ollama", {"ignore_eos": True}, "ignore_eos"),
        ("vllm", {"messages": None, "prompt": "a", "suffix": "b"}, "suffix"),
        ("sglang", {"truncate_prompt_tokens": 5}, "truncate_prompt_tokens"),
        ("sglang", {"sampling": {"bad_words": ["a"]}}, "bad_words"),
        ("openai", {"answer_text": "I"}, "answer_text"),
        ("ollama", {"chat_template_kwargs": {"enable_thinking": False}}, "chat_template_kwargs"),
        ("vllm", {"answer_token_ids": [1]}, "answer_token_ids"),
        ("vllm", {"prompt_logprobs": 1}, "prompt_logprobs"),
        ("vllm", {"logits_processor": lambda ids, logits: logits}, "logits_processor"),
    ],
)
def test_what_the_server_cannot_do_is_named(dialect, fields, name):
    with pytest.raises(InvalidRequestError) as caught:
        body(dialect, **fields)
    assert caught.value.field == name


def test_forms_of_answers():
    schema = {"type": "object"}
    form = body("vllm", json_schema=schema)["response_format"]
    assert form == {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}
    assert body("vllm", regex="a+")["structured_outputs"] == {"regex": "a+"}
    assert body("sglang", regex="a+")["regex"] == "a+"


def test_calls_and_their_results():
    call = {"id": "abc", "type": "function", "function": {"name": "f", "arguments": {"city": "Zürich"}}}
    sent = body(messages=[*HI, Message("assistant", "", tool_calls=(call,)), Message("tool", "5", tool_call_id="abc")])
    assert sent["messages"][2]["content"] is None
    assert json.loads(sent["messages"][2]["tool_calls"][0]["function"]["arguments"]) == {"city": "Zürich"}
    assert sent["messages"][3] == {"role": "tool", "content": "5", "tool_call_id": "abc"}


def test_images_are_parts_of_what_the_user_says():
    png, jpg = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0"
    said = Message("user", "Is this or this red?", images=[Image(png, 8), Image(jpg, 16)])
    texts = ["Is this ", None, "or this ", None, "red?"]
    parts = body(messages=[said])["messages"][0]["content"]
    assert [part.get("text") for part in parts] == texts
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    assert urls == ["data:image/png;base64,iVBORw0KGgo=", "data:image/jpeg;base64,/9j/4A=="]
    (request,) = read_chat(body("llama-gui", messages=[said])).requests
    assert request.messages == [said]
    alone = body(messages=[Message("user", "", images=[Image(png)])])["messages"][0]["content"]
    assert [part["type"] for part in alone] == ["image_url"]


def test_an_answer_goes_on():
    sent = body("vllm", answer_text="I am")
    assert sent["messages"][-1] == {"role": "assistant", "content": "I am"}
    assert (sent["continue_final_message"], sent["add_generation_prompt"]) == (True, False)
    assert "continue_final_message" not in body("llama.cpp", answer_text="I am")


def test_prompts_and_ids():
    route, sent = remote_body(GenerateRequest(prompt="Once", answer_text=" upon", logprobs=2), "m", "other")
    assert (route, sent["prompt"], sent["logprobs"]) == ("completions", "Once upon", 2)
    assert remote_body(GenerateRequest(token_ids=[1, 2]), "m", "vllm")[1]["prompt"] == [1, 2]
    with pytest.raises(InvalidRequestError):
        remote_body(GenerateRequest(token_ids=[1, 2]), "m", "openai")


def test_our_own_server_reads_what_we_send_to_it():
    request = GenerateRequest(
        messages=[*HI, Message("assistant", "", tool_calls=({"id": "1", "type": "function",
                  "function": {"name": "f", "arguments": {"x": 1}}},)), Message("tool", "5", tool_call_id="1")],
        max_tokens=7, min_tokens=2, stop=("a", "b"), logprobs=3, answer_text="Well",
        chat_template_kwargs={"enable_thinking": False}, overflow="error",
        sampling=SamplingParams(temperature=0.5, top_k=3, top_p=0.5, min_p=0.25, repetition_penalty=1.5, seed=9,
                                frequency_penalty=1.0, presence_penalty=2.0, penalty_window=5, logit_bias={7: 1.5},
                                typical_p=0.5, xtc_probability=0.5, xtc_threshold=0.25, dry_multiplier=0.5,
                                dry_base=1.5, dry_allowed_length=3, dry_window=9, dry_sequence_breakers=("x",),
                                banned_token_ids=(5,), bad_words=("y", " z")),
        stop_token_ids=(3, 4), ignore_eos=True, include_stop_str_in_output=True, skip_special_tokens=False,
        add_special_tokens=False, truncate_prompt_tokens=8,
    )  # fmt: skip
    assert read_chat(remote_body(request, "m", "llama-gui")[1]).requests == (replace(request, asker="server"),)
    request = GenerateRequest(prompt="Once", max_tokens=5, overflow="error", regex="a+", suffix="end")
    assert read_completion(remote_body(request, "m", "llama-gui")[1]).requests == (replace(request, asker="server"),)


def test_thinking_is_chosen_where_the_server_has_a_template():
    both = {"enable_thinking": False, "thinking": False}
    for dialect in ("vllm", "sglang", "llama.cpp", "llama-gui"):
        assert body(dialect, thinking=False)["chat_template_kwargs"] == both
    for dialect in ("openai", "ollama", "lmstudio", "other"):
        assert body(dialect, thinking=False) == body(dialect)
    named = body("vllm", thinking=False, chat_template_kwargs={"thinking": True, "mood": "calm"})
    assert named["chat_template_kwargs"] == {"enable_thinking": False, "thinking": True, "mood": "calm"}


def test_a_budget_of_thoughts_has_the_servers_name():
    assert body("vllm", thinking_budget=5) == {**body("vllm"), "thinking_token_budget": 5}
    assert body("llama.cpp", thinking_budget=5) == {**body("llama.cpp"), "thinking_budget_tokens": 5}
    asked = GenerateRequest(messages=HI, thinking_budget=5)
    assert read_chat(remote_body(asked, "m", "llama-gui")[1]).requests[0].thinking_budget == 5
    with pytest.raises(InvalidRequestError, match="thinking_budget"):
        body("openai", thinking_budget=5)
