"""Every field that vLLM, llama.cpp's server, LM Studio and OpenAI list: done, refused by name, or of no meaning here.

A field that nobody has thought of would be ignored in silence, and the answer be another one than was asked for.
"""

import json

import pytest

from llama_gui.server.refusal import RefusedError
from llama_gui.server.refused_fields import CANNOT
from llama_gui.server.schema import read_chat, read_completion
from llama_gui.server.serve import ApiServer
from llama_gui.vocabulary import SamplingParams
from tests.server.conftest import Serve, ServedScript, ask, exchange, head, post, question

PROMPT = {"prompt": "Hi"}

DONE = {
    "stop_token_ids": [5],
    "include_stop_str_in_output": True,
    "ignore_eos": True,
    "min_tokens": 2,
    "thinking_token_budget": 5,
    "thinking_budget_tokens": 5,
    "skip_special_tokens": False,
    "truncate_prompt_tokens": 3,
    "prompt_logprobs": 2,
    "allowed_token_ids": [1],
    "bad_words": ["a"],
    "structured_outputs": {"json": {}},
    "guided_json": {},
    "guided_regex": "a",
    "guided_choice": ["a"],
    "json_schema": {},
    "regex": "a",
    "return_tokens_as_token_ids": True,
    "return_token_ids": True,
    "top_k": 3,
    "min_p": 0.2,
    "repetition_penalty": 1.2,
    "best_of": 2,
    "logit_bias": {"1": 3},
    "max_completion_tokens": 3,
    "max_tokens": 3,
    "n": 2,
    "seed": 3,
    "stop": ["a"],
    "temperature": 0.3,
    "top_p": 0.3,
    "frequency_penalty": 1,
    "presence_penalty": 1,
    "n_predict": 3,
    "n_cmpl": 2,
    "typical_p": 0.5,
    "repeat_penalty": 1.3,
    "repeat_last_n": 7,
    "dry_multiplier": 0.5,
    "dry_base": 2,
    "dry_allowed_length": 3,
    "dry_penalty_last_n": 9,
    "dry_sequence_breakers": ["a"],
    "xtc_probability": 0.4,
    "xtc_threshold": 0.2,
    "response_format": {"type": "json_object", "schema": {"type": "array"}},
}
DONE_IN_CHATS = {
    "add_special_tokens": True,
    "add_generation_prompt": False,
    "documents": [{"title": "a", "text": "b"}],
    "chat_template_kwargs": {"a": 1},
    "reasoning_effort": "low",
}
REFUSED = {
    "functions": [{"name": "f"}],
    "audio": {},
    "modalities": ["text", "audio"],
    "web_search_options": {},
    "use_beam_search": True,
    "guided_grammar": "a",
    "ebnf": "a",
    "guided_whitespace_pattern": " ",
    "stop_regex": "a",
    "truncation_side": "right",
    "logprob_token_ids": [1],
    "logits_processors": ["x"],
    "repetition_detection": {"max_pattern_size": 3, "min_count": 2},
    "include_reasoning": False,
    "reasoning": {"effort": "low"},
    "chat_template": "{{ messages }}",
    "prompt_embeds": "x",
    "return_prompt_text": True,
    "cache_salt": "x",
    "kv_transfer_params": {"a": 1},
    "ec_transfer_params": {"a": 1},
    "vllm_xargs": {"a": 1},
    "watermarking": True,
    "grammar": "root ::= x",
    "samplers": ["top_k"],
    "dynatemp_range": 0.5,
    "mirostat": 2,
    "top_n_sigma": 1.0,
    "adaptive_target": 0.5,
    "min_keep": 2,
    "n_indent": 2,
    "t_max_predict_ms": 5,
    "reasoning_format": "deepseek",
    "reasoning_control": True,
    "thinking_budget_message": "Enough.",
    "n_probs": 3,
    "post_sampling_probs": True,
    "return_tokens": True,
    "response_fields": ["content"],
    "lora": [{"id": 0, "scale": 1}],
}
NOTHING = {
    "spaces_between_special_tokens": False,
    "guided_decoding_backend": "x",
    "priority": 3,
    "request_id": "x",
    "session_id": "x",
    "stream_interval": 4,
    "length_penalty": 2.0,
    "media_io_kwargs": {"a": {}},
    "mm_processor_kwargs": {"a": 1},
    "user": "x",
    "metadata": {"a": "b"},
    "store": True,
    "service_tier": "flex",
    "prediction": {"type": "content", "content": "x"},
    "verbosity": "low",
    "safety_identifier": "x",
    "prompt_cache_key": "x",
    "dynatemp_exponent": 2,
    "n_keep": 3,
    "n_cache_reuse": 4,
    "mirostat_tau": 3,
    "mirostat_eta": 0.2,
    "id_slot": 1,
    "cache_prompt": False,
    "timings_per_token": True,
    "return_progress": True,
    "sse_ping_interval": 4,
    "ttl": 5,
    "draft_model": "x",
}


@pytest.mark.parametrize("name", sorted({**DONE, **DONE_IN_CHATS}))
def test_what_is_done(name):
    value = {**DONE, **DONE_IN_CHATS}[name]
    assert read_chat(question(**{name: value})) != read_chat(question())
    if name in DONE:
        assert read_completion({**PROMPT, name: value}) != read_completion(PROMPT)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_is_refused_by_name(name):
    for read, body in ((read_chat, question()), (read_completion, PROMPT)):
        with pytest.raises(RefusedError) as caught:
            read({**body, name: REFUSED[name]})
        assert (caught.value.status, caught.value.param, caught.value.code) == (400, name, "unsupported_parameter")
        for harmless in (None, *CANNOT[name][1]):
            assert read({**body, name: harmless}) == read(body)


@pytest.mark.parametrize("name", sorted(NOTHING))
def test_what_changes_nothing_about_an_answer(name):
    assert read_chat(question(**{name: NOTHING[name]})) == read_chat(question())
    assert read_completion({**PROMPT, name: NOTHING[name]}) == read_completion(PROMPT)


def test_numbers_that_ask_for_nothing_may_be_written_with_a_point():
    assert read_chat(question(mirostat=0.0, dynatemp_range=0.0, min_keep=0.0)) == read_chat(question())
    with pytest.raises(RefusedError):
        read_chat(question(mirostat=False))


def test_other_servers_names_mean_the_same():
    sampling = (
        read_chat(question(repeat_penalty=1.5, repeat_last_n=-1, dry_penalty_last_n=9, typ_p=0.5)).requests[0].sampling
    )
    assert sampling == SamplingParams(repetition_penalty=1.5, penalty_window=-1, dry_window=9, typical_p=0.5)
    assert read_chat(question(n_predict=5)).requests[0].max_tokens == 5
    assert read_chat(question(n_predict=-1)).requests[0].max_tokens is None
    assert read_chat(question(n_predict=5, max_tokens=6)).requests[0].max_tokens == 6
    assert read_completion({**PROMPT, "max_completion_tokens": 5}).requests[0].max_tokens == 5
    assert (
        read_chat(question(repeat_penalty=1.5, repetition_penalty=1.2)).requests[0].sampling.repetition_penalty == 1.2
    )
    for name in ("thinking_token_budget", "thinking_budget_tokens"):
        assert read_chat(question(**{name: 0})).requests[0].thinking_budget == 0
        assert read_completion({**PROMPT, name: -1}).requests[0].thinking_budget is None
    with pytest.raises(RefusedError) as caught:
        read_chat(question(repeat_penalty="x"))
    assert caught.value.param == "repeat_penalty"


def test_schemas_where_llama_cpp_has_them():
    for form in (
        {"type": "json_object", "schema": {"type": "array"}},
        {"type": "json_schema", "schema": {"type": "array"}},
    ):
        assert read_chat(question(response_format=form)).form.schema == {"type": "array"}
    assert read_chat(question(json_schema='{"type": "array"}')).form.schema == {"type": "array"}
    with pytest.raises(RefusedError):
        read_chat(question(json_schema={}, guided_json={}))


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"stop_token_ids": [-1]}, "stop_token_ids"),
        ({"stop_token_ids": "5"}, "stop_token_ids"),
        ({"bad_words": "a"}, "bad_words"),
        ({"bad_words": [""]}, "bad_words"),
        ({"bad_words": ["a"] * 257}, "bad_words"),
        ({"skip_special_tokens": "no"}, "skip_special_tokens"),
        ({"truncate_prompt_tokens": 0}, "truncate_prompt_tokens"),
        ({"truncate_prompt_tokens": -2}, "truncate_prompt_tokens"),
        ({"add_special_tokens": 1}, "add_special_tokens"),
        ({"prompt_logprobs": 21}, "prompt_logprobs"),
        ({"prompt_logprobs": 1, "stream": True}, "prompt_logprobs"),
        ({"return_token_ids": 1}, "return_token_ids"),
        ({"structured_outputs": {"json": {}, "whitespace_pattern": " "}}, "structured_outputs.whitespace_pattern"),
        (
            {"structured_outputs": {"json": {}, "disable_any_whitespace": True}},
            "structured_outputs.disable_any_whitespace",
        ),
    ],
)
def test_what_is_wrong_is_named(body, param):
    for read, base in ((read_chat, question()), (read_completion, PROMPT)):
        with pytest.raises(RefusedError) as caught:
            read({**base, **body})
        assert caught.value.param == param


def test_what_belongs_to_the_other_route():
    with pytest.raises(RefusedError) as caught:
        read_chat(question(suffix="x"))
    assert caught.value.param == "suffix"
    assert read_completion({**PROMPT, "suffix": "x"}).requests[0].suffix == "x"
    for name, value in (("documents", [{}]), ("tools", [{}]), ("messages", [{}])):
        with pytest.raises(RefusedError) as caught:
            read_completion({**PROMPT, name: value})
        assert caught.value.param == name
    for name, value in (("truncate_prompt_tokens", 5), ("suffix", "x")):
        with pytest.raises(RefusedError) as caught:
            read_completion({**PROMPT, "echo": True, name: value})
        assert caught.value.param == name
    messages = [*question()["messages"], {"role": "assistant", "content": "I"}]
    going_on = {"messages": messages, "continue_final_message": True}
    with pytest.raises(RefusedError) as caught:
        read_chat({**going_on, "prompt_logprobs": 0})
    assert caught.value.param == "prompt_logprobs"
    # Whoever goes on with a message sends this beside it, and means nothing more by it.
    assert read_chat({**going_on, "add_generation_prompt": False}) == read_chat(going_on)


# --- routes


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/embeddings", "/v1/embeddings"),
        ("/embedding", "/v1/embeddings"),
        ("/v1/rerank", "ranks"),
        ("/v1/audio/speech", "text only"),
        ("/v1/images/generations", "text only"),
        ("/v1/responses/resp_1", "keeps nothing"),
        ("/v1/files", "keeps nothing"),
        ("/completion", "/v1/completions"),
        ("/props", "/v1/completions"),
        ("/chat/completions", "begin with /v1"),
        ("/models", "begin with /v1"),
        ("/v1/complete", "Anthropic"),
        ("/v1/rerankers", "There is no"),
    ],
)
def test_what_is_not_here_is_said(plain_server: ApiServer, path: str, words: str):
    for request in (post(path, plain_server, {}), head(path, plain_server)):
        status, _, body = exchange(plain_server, request)
        error = json.loads(body)["error"]
        assert (status, error["code"], words in error["message"]) == (404, "not_found", True)


def test_what_is_told_of_the_server(plain_server: ApiServer):
    def get(path: str):
        status, _, body = exchange(plain_server, head(path, plain_server))
        assert status == 200
        return json.loads(body)

    assert get("/version")["version"]
    assert get("/load") == {"server_load": 0}
    assert get("/tokenizer_info?model=Scripted")["model_max_length"] == 4096
    assert exchange(plain_server, head("/tokenizer_info?model=nobody", plain_server))[0] == 404


@pytest.mark.parametrize("knows", [True, False])
def test_documents_go_where_the_template_has_a_place(serve: Serve, knows: bool):
    class Reader(ServedScript):
        def apply_chat_template(self, messages, *, documents=None, **more):
            text = super().apply_chat_template(messages, **more)
            return text + str(documents) if knows and documents else text

    engine = Reader()
    status, reply = ask(serve(engine), question("one two", documents=[{"text": "A duck."}]))
    assert (status, reply.get("error", {}).get("param")) == ((200, None) if knows else (400, "documents"))
    if knows:
        assert engine.requests[0].chat_template_kwargs == {"documents": [{"text": "A duck."}]}
