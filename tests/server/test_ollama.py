"""Ollama's /api/chat and its neighbours, over the wire."""

import json
from dataclasses import replace
from typing import Any

import pytest

import llama_gui
from llama_gui.engine import Engine, GenerateRequest, Message, SamplingParams
from llama_gui.server.limits import ServerLimits
from llama_gui.server.ollama.request import read_ollama_chat, read_ollama_generate
from llama_gui.server.refusal import RefusedError
from llama_gui.server.serve import ApiServer
from llama_gui.server.served import LazyModels
from tests.server.conftest import Serve, ServedScript, ask, connect, exchange, head, post, question
from tests.server.test_connection import eventually
from tests.server.test_routes import dechunk

CHAT = "/api/chat"
PNG = "iVBORw0KGgo="
"""How a PNG begins, in base64."""
GENERATE = "/api/generate"
ASKED = "What is this application?"
FUNCTION = {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
WEATHER: Any = {"type": "function", "function": FUNCTION}
CALL = '<tool_call>{"name": "weather", "arguments": {"city": "Århus"}}</tool_call>'


def lines(server: ApiServer, path: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    status, headers, raw = exchange(server, post(path, server, body))
    assert (status, headers["content-type"]) == (200, "application/x-ndjson")
    return [json.loads(line) for line in dechunk(raw).decode().splitlines()]


def both(server: ApiServer, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """What is answered, which is the same whether it streams; streaming is what who says nothing gets."""
    status, whole = ask(server, {**body, "stream": False}, path)
    assert (status, whole["done"]) == (200, True)
    *told, last = lines(server, path, body)
    assert [line["done"] for line in (*told, last)] == [*[False] * len(told), True]
    assert {line["model"] for line in told} <= {whole["model"]}
    joined: dict[str, Any] = {}
    for line in (*told, last):
        for key, value in line.get("message", {"content": line.get("response")}).items():
            if key != "role":
                joined[key] = joined[key] + value if key in joined else value
    message = whole.get("message", {"role": "assistant", "content": whole.get("response")})
    assert {"role": "assistant", **joined} == message
    for key in ("done_reason", "prompt_eval_count", "eval_count"):
        assert last[key] == whole[key]
    return whole


def test_an_answer_is_the_librarys(serve: Serve, starter: Engine):
    server, options = serve(starter), {"num_predict": 20, "temperature": 1.2, "top_p": 0.9, "seed": 5, "num_ctx": 99}
    sampling = SamplingParams(temperature=1.2, top_p=0.9, seed=5)
    messages = [Message("system", "Be brief."), Message("user", ASKED)]
    expected = starter.generate(GenerateRequest(messages=messages, max_tokens=20, sampling=sampling))
    turns = [{"role": m.role, "content": m.content} for m in messages]
    chat = both(server, CHAT, {"model": "starter_model:latest", "messages": turns, "options": options})
    assert chat["message"]["content"] == expected.text
    assert (chat["eval_count"], chat["prompt_eval_count"]) == (20, expected.usage.prompt_tokens)
    assert chat["done_reason"] == "length"
    assert chat["total_duration"] >= chat["eval_duration"] > 0
    said = both(server, GENERATE, {"prompt": ASKED, "system": "Be brief.", "options": options})
    assert said["response"] == expected.text
    raw = both(server, GENERATE, {"prompt": ASKED, "raw": True, "options": options})
    assert raw["response"] == starter.generate(GenerateRequest(prompt=ASKED, max_tokens=20, sampling=sampling)).text


def test_thoughts_and_calls_stand_apart(serve: Serve):
    pieces = ["<think>\n", "Hm", ".\n</think>", "\n\nI ", "look.", CALL[:9], CALL[9:], CALL]
    engine = ServedScript({"Rain?": pieces})
    reply = both(serve(engine), CHAT, {**question("Rain?"), "tools": [WEATHER], "think": True})
    assert (reply["message"]["thinking"], reply["message"]["content"].strip()) == ("Hm.", "I look.")
    calls = [call["function"] for call in reply["message"]["tool_calls"]]
    assert calls == [{"index": index, "name": "weather", "arguments": {"city": "Århus"}} for index in (0, 1)]
    assert engine.requests[0].thinking is True
    assert engine.requests[0].tools == [WEATHER]


@pytest.mark.parametrize("text", ["    return 1\n", "<think>\nHm\n</think>\n\nNo.", "\n \n"])
@pytest.mark.parametrize("way", [{"raw": True}, {"suffix": "\n"}])
def test_what_goes_on_with_a_text_stays_as_it_is(serve: Serve, way: dict[str, Any], text: str):
    """No template made its prompt: nothing in it is thought."""
    engine = ServedScript({"def f():\n": [text[at : at + 3] for at in range(0, len(text), 3)]})
    engine.info = replace(engine.info, thinking=True, thinking_tag="<think>\n")
    reply = both(serve(engine), GENERATE, {"prompt": "def f():\n", **way})
    assert (reply["response"], "thinking" in reply) == (text, False)


def test_what_is_asked_comes_to_the_engine():
    called = {"role": "assistant", "content": "", "thinking": "Hm.", "tool_calls": [{"function": {"name": "weather"}}]}
    told = {"role": "tool", "content": "rain", "tool_name": "weather"}
    asked = {"role": "user", "content": "Rain?", "images": []}
    (request,) = read_ollama_chat({"messages": [asked, called, told]}).requests
    call = {"id": "", "type": "function", "function": {"name": "weather", "arguments": {}}}
    assert request.messages == [
        Message("user", "Rain?"), Message("assistant", "", tool_calls=(call,)), Message("tool", "rain", name="weather")
    ]  # fmt: skip
    assert (request.max_tokens, request.thinking, request.overflow) == (None, None, "drop_oldest")
    options = {
        "num_predict": -2,
        "repeat_penalty": 1.1,
        "repeat_last_n": -1,
        "stop": ["a"],
        "mirostat": 0,
        "min_p": 0.1,
    }
    body = {**question(), "options": options, "truncate": False, "think": "low", "keep_alive": "5m", "format": ""}
    asked_for = read_ollama_chat(body)
    (request,) = asked_for.requests
    sampling = request.sampling
    assert (sampling.repetition_penalty, sampling.penalty_window, sampling.min_p) == (1.1, -1, 0.1)
    assert (request.stop, request.max_tokens, request.overflow, request.thinking) == (("a",), None, "error", True)
    assert (asked_for.stream, request.chat_template_kwargs) == (True, {"reasoning_effort": "low"})
    assert len(read_ollama_chat({**question(), "options": {"n": 2, "num_ctx": 5, "messages": 5}}).requests) == 1
    begun = {"messages": [*question()["messages"], {"role": "assistant", "content": "Well"}], "think": False}
    (request,) = read_ollama_chat(begun).requests
    assert (request.answer_text, request.thinking) == ("Well", False)
    (request,) = read_ollama_generate({"prompt": "a", "options": {"num_predict": 0}}).requests
    assert request.max_tokens is None  # as Ollama's runner has it
    (request,) = read_ollama_generate({"prompt": "a", "suffix": "b"}).requests
    assert (request.prompt, request.suffix) == ("a", "b")
    (request,) = read_ollama_generate({"prompt": "", "suffix": "b"}).requests
    assert (request.prompt, request.suffix) == ("", "b")


def test_an_answer_has_the_form_that_is_asked_for(serve: Serve, starter: Engine):
    schema = {"type": "object", "properties": {"n": {"enum": [1, 2]}}, "required": ["n"]}
    server = serve(starter)
    reply = both(server, CHAT, {**question(ASKED), "format": schema, "options": {"temperature": 0}})
    assert json.loads(reply["message"]["content"])["n"] in (1, 2)
    status, reply = ask(server, {**question(), "format": {"type": "bogus"}}, CHAT)
    assert (status, reply["error"][:28]) == (400, "format is {'type': 'bogus'},")
    schema = read_ollama_generate({"prompt": "x", "format": "json"}).requests[0].json_schema
    assert schema is not None
    assert schema["type"] == "object"


@pytest.mark.parametrize(
    ("read", "change", "param"),
    [
        (read_ollama_chat, {"messages": [{"role": "king", "content": "x"}]}, "messages[0].role"),
        (read_ollama_chat, {"messages": [{"role": "user", "content": "x", "images": ["x"]}]}, "messages[0].images[0]"),
        (read_ollama_chat, {"options": 5}, "options"),
        (read_ollama_chat, {"options": {"num_predict": "many"}}, "options.num_predict"),
        (read_ollama_chat, {"options": {"mirostat": 2}}, "mirostat"),
        (read_ollama_chat, {"think": "hard"}, "think"),
        (read_ollama_chat, {"format": "xml"}, "format"),
        (read_ollama_chat, {"logprobs": True}, "logprobs"),
        (read_ollama_chat, {"stream": "no"}, "stream"),
        (read_ollama_generate, {"prompt": 5}, "prompt"),
        (read_ollama_generate, {"images": ["x"]}, "images[0]"),
        (read_ollama_generate, {"images": "x"}, "images"),
        (read_ollama_generate, {"images": [PNG], "raw": True}, "images"),
        (read_ollama_generate, {"template": "{{ .Prompt }}"}, "template"),
        (read_ollama_generate, {"context": [1]}, "context"),
    ],
)
def test_what_is_wrong_is_named(read: Any, change: dict[str, Any], param: str):
    with pytest.raises(RefusedError) as caught:
        read({"prompt": "Hi", **question(), **change})
    assert (caught.value.status, caught.value.param) == (400, param)


@pytest.mark.parametrize(
    ("path", "change", "words"),
    [
        (CHAT, {"options": {"num_predict": 2.5}}, "options.num_predict is 2.5, but"),
        (CHAT, {"options": {"repeat_penalty": 0.0}}, "options.repeat_penalty is 0.0, but"),
        (CHAT, {"options": {"repeat_penalty": "x"}}, "options.repeat_penalty is 'x', but"),
        (CHAT, {"options": {"repeat_last_n": -2}}, "options.repeat_last_n is -2, but"),
        (CHAT, {"options": {"top_k": "stop"}}, "options.top_k is 'stop', but"),
        (CHAT, {"options": {"stop": 5}}, "options.stop is 5, but"),
        (CHAT, {"options": {"mirostat": 2}}, "options.mirostat is not supported"),
        (CHAT, {"think": "max"}, "think is 'max', but it must be true, false, or one of low, medium, high."),
        (CHAT, question("word " * 60), "However, your messages resulted in"),
        (GENERATE, {"prompt": "word " * 60}, "However, your prompt resulted in"),
        (GENERATE, {"prompt": "word " * 60, "raw": True}, "However, your prompt resulted in"),
        (GENERATE, {"prompt": "", "raw": True, "system": "x"}, "prompt is '', but it must be a text that is not empty"),
    ],
)
def test_what_is_refused_is_called_as_it_was_sent(serve: Serve, path: str, change: dict[str, Any], words: str):
    asked = question() if path == CHAT else {"prompt": "Hi"}
    server = serve(ServedScript(max_context=50))
    status, reply = ask(server, {**asked, "stream": False, "truncate": False, **change}, path)
    assert (status, words in reply["error"]) == (400, True), reply
    for name in ("max_tokens", "repetition_penalty", "penalty_window", "response_format", "token ids"):
        assert name not in reply["error"]


def test_who_asks_nothing_gets_the_model_ready(serve: Serve):
    one, two = ServedScript(name="one"), ServedScript(name="two")
    engines, loads = {"/1": one, "/2": two}, []

    def load(path: str) -> Any:
        loads.append(path)
        return engines[path]

    server = serve(one, LazyModels({"one": "/1", "two": "/2"}, load))
    assert ask(server, {"model": "two"}, "/api/show")[1]["capabilities"] == ["completion"]
    tags = json.loads(exchange(server, head("/api/tags", server))[2])
    assert [(model["name"], model["size"]) for model in tags["models"]] == [("one", 0), ("two", 0)]
    assert loads == []  # to tell of a model is no reason to load it
    for path, told in ((CHAT, "message"), (GENERATE, "response")):
        status, reply = ask(server, {"model": "two:latest", "keep_alive": "10m"}, path)
        assert (status, reply["done_reason"], told in reply) == (200, "load", True)
    assert set(loads) == {"/2"}
    status, shown = ask(server, {"name": "two"}, "/api/show")
    assert shown["capabilities"] == ["completion", "tools"]
    assert shown["model_info"]["ScriptedForCausalLM.context_length"] == 4096
    status, reply = ask(server, {"model": "two", "keep_alive": 0}, GENERATE)
    assert (status, "when memory is short" in reply["error"]) == (400, True)
    assert json.loads(exchange(server, head("/api/version", server))[2]) == {"version": llama_gui.__version__}


@pytest.mark.parametrize("how", [{"thinking": False}, {"thinking_tag": "<think>"}, {"marks_thoughts": True}])
def test_a_model_that_may_think_says_so(serve: Serve, how: dict[str, Any]):
    engine = ServedScript()
    engine.info = replace(engine.info, **how)
    assert "thinking" in ask(serve(engine), {}, "/api/show")[1]["capabilities"]


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded"])
def test_the_kind_of_the_body_may_go_unsaid(serve: Serve, kind: str):
    """As LiteLLM and the examples of Ollama say it. The key is wanted all the same."""
    server = serve()
    assert exchange(server, post(CHAT, server, question(), Content_Type=kind))[0] == 200
    assert exchange(server, post(CHAT, server, question(), Content_Type=kind, Authorization=""))[0] == 401
    assert exchange(server, post(CHAT, server, b"messages=1", Content_Type=kind))[0] == 400
    assert exchange(server, post("/v1/chat/completions", server, question(), Content_Type=kind))[0] == 415


def test_errors_are_one_sentence(serve: Serve):
    server = serve(ServedScript(fail_at=2, max_context=50))
    for request, status, words in (
        (post(CHAT, server, question(model="nobody")), 404, "There is no model"),
        (post(CHAT, server, question(options=5)), 400, "options"),
        (post(CHAT, server, {**question(), "stream": False}), 500, "not finite"),
        (post(CHAT, server, question("word " * 60)), 400, "maximum context length"),
        (post("/api/embed", server, {}), 400, "input is None"),
        (post("/api/pull", server, {}), 404, "chosen where the server is started"),
        (head("/api/ps", server), 404, "/api/tags"),
        (head(CHAT, server, Authorization=""), 401, "key"),
    ):
        got, _, raw = exchange(server, request)
        assert (got, [*json.loads(raw)]) == (status, ["error"])
        assert words in json.loads(raw)["error"]
    *_, last = lines(server, CHAT, question())
    assert list(last) == ["error"]


def test_who_waits_or_goes_away(serve: Serve):
    """Each line is JSON, the one that says that nobody is forgotten, too."""
    engine = ServedScript(hang_at=1)
    engine.info = replace(engine.info, thinking=True)
    server = serve(engine, limits=ServerLimits(ping_seconds=0.05))
    data = b""
    with connect(server) as client:
        client.sendall(post(CHAT, server, question()))
        while data.count(b'"content":""},"done":false}\n') < 3:
            data += client.recv(65536)
    gate = server._routes.generator.gate  # type: ignore[union-attr]
    assert eventually(lambda: gate.taken == 0 and not engine._jobs)
