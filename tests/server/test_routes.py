"""What the routes answer, over an engine that answers from a script."""

import concurrent.futures
import json
import re
from dataclasses import replace
from typing import Any

import openai
import pytest

from llama_gui.engine import Engine
from llama_gui.errors import ChatTemplateError, EngineClosedError
from llama_gui.server.limits import ServerLimits
from llama_gui.server.refusal import refusal_of
from llama_gui.server.serve import ApiServer
from llama_gui.server.served import FixedModels
from tests.server.conftest import (
    CHAT,
    Serve,
    ServedScript,
    ask,
    client_of,
    connect,
    exchange,
    head,
    post,
    question,
    read_reply,
)
from tests.server.test_connection import eventually


def dechunk(body: bytes) -> bytes:
    """The body that chunks carry."""
    out = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        out, body = out + body[: int(size, 16)], body[int(size, 16) + 2 :]
    return out


def events(server: ApiServer, body: dict, path: str = CHAT) -> list:
    """The events of a stream, their JSON read; "[DONE]" stays a text."""
    status, headers, raw = exchange(server, post(path, server, {**body, "stream": True}))
    assert (status, headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    parts = dechunk(raw).decode().split("\n\n")
    assert parts[-1] == ""
    data = [part.removeprefix("data: ") for part in parts[:-1] if not part.startswith(":")]
    return [part if part == "[DONE]" else json.loads(part) for part in data]


def said(chunks: list) -> str:
    return "".join(c["choices"][0]["delta"].get("content") or "" for c in chunks if c != "[DONE]" and "choices" in c)


def test_a_stream_from_beginning_to_end(plain_server: ApiServer):
    chunks = events(plain_server, question("one two three"))
    assert chunks[-1] == "[DONE]"
    assert said(chunks) == "one two three"
    assert [c["choices"][0]["finish_reason"] for c in chunks[:-1]] == [None] * 4 + ["stop"]
    assert all("usage" not in c for c in chunks[:-1])


def test_health_and_models(plain_server: ApiServer):
    assert json.loads(exchange(plain_server, head("/health", plain_server))[2]) == {"status": "ok"}
    listed = json.loads(exchange(plain_server, head("/v1/models", plain_server))[2])
    assert [entry["id"] for entry in listed["data"]] == ["Scripted"]
    for path in ("/v1/models/..%2f..%2fetc%2fpasswd", "/v1/models/%2fetc%2fpasswd", "/v1/models/models/Scripted"):
        assert exchange(plain_server, head(path, plain_server))[0] == 404, path


@pytest.mark.parametrize("slashes", ["/", "//"])
def test_a_slash_behind_a_route_changes_nothing(plain_server: ApiServer, slashes: str):
    for path in ("/v1/models", "/v1/models/Scripted", "/health"):
        plain, more = (exchange(plain_server, head(path + end, plain_server)) for end in ("", slashes))
        assert (more[0], more[2]) == (200, plain[2])
    for path, body in ((CHAT, question("one two")), ("/tokenize", {"prompt": "a"})):
        assert ask(plain_server, body, path + slashes)[0] == 200
    assert exchange(plain_server, head(slashes, plain_server))[0] == 404


def test_unknown_routes_and_methods_have_the_shape_of_errors(plain_server: ApiServer):
    status, _, body = exchange(plain_server, head("/v2/nothing", plain_server))
    assert (status, json.loads(body)["error"]["code"]) == (404, "not_found")
    status, headers, body = exchange(plain_server, head(CHAT, plain_server))
    assert (status, json.loads(body)["error"]["code"]) == (405, "method_not_allowed")
    assert "POST" in headers["allow"]


@pytest.mark.parametrize("name", ["/etc/passwd", "../Scripted", "/models/Scripted", "scripted", " ", "Scripted\u0000"])
def test_only_known_names_are_models(plain_server: ApiServer, name: str):
    status, reply = ask(plain_server, question(model=name))
    assert (status, reply["error"]["param"], reply["error"]["code"]) == (404, "model", "model_not_found")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"prompt": "a b"}, [0, 1, 2]),
        ({"prompt": "a b", "add_special_tokens": False}, [0, 1]),
        ({"content": "a b"}, [0, 1]),
        ({"content": "a b", "add_special": True}, [0, 1, 2]),
        ({"messages": [{"role": "user", "content": "a b"}]}, [0, 1, 2, 3]),
        ({"messages": [{"role": "user", "content": "a b"}], "chat_template_kwargs": {"more": "c d"}}, [*range(6)]),
        (
            {
                "messages": [{"role": "user", "content": "a b"}],
                "tools": [{"type": "function", "function": {"name": "f"}}],
            },
            [*range(8)],
        ),
    ],
)
def test_tokenize(plain_server: ApiServer, body, expected):
    status, reply = ask(plain_server, body, "/tokenize")
    plain = {"tokens": expected, "count": len(expected), "max_model_len": 4096, "token_strs": None}
    assert (status, reply) == (200, plain)
    status, reply = ask(plain_server, {**body, "return_token_strs": True, "model": "Scripted"}, "/tokenize")
    assert (status, reply) == (200, {**plain, "token_strs": [f"_{token_id}" for token_id in expected]})


@pytest.mark.parametrize(("ids", "expected"), [([5, 6], [0, 5, 6]), ([0, 5], [0, 5])])
def test_tokens_of_the_beginning_are_added_to_a_chat_on_demand(serve: Serve, ids, expected):
    class Plain(ServedScript):
        def apply_chat_template(self, messages: Any, **_: Any) -> Any:
            return ids

    server = serve(Plain())
    assert ask(server, question(), "/tokenize")[1]["tokens"] == ids
    assert ask(server, question(add_special_tokens=True), "/tokenize")[1]["tokens"] == expected


def test_tokens_are_spelled_as_in_the_vocabulary(serve: Serve, starter: Engine):
    reply = ask(serve(starter), {"prompt": "The side bar", "return_token_strs": True}, "/tokenize")[1]
    assert reply["token_strs"] == [starter.tokenizer._library.id_to_token(token_id) for token_id in reply["tokens"]]


def test_tokens_as_llama_cpp_tells_them(serve: Serve, starter: Engine):
    server, tokenizer = serve(starter), starter.tokenizer
    tokens = ask(server, {"content": "The side 🦙", "with_pieces": True}, "/tokenize")[1]["tokens"]
    assert [token["id"] for token in tokens] == tokenizer.encode("The side 🦙", add_special_tokens=False)
    pieces = [token["piece"] for token in tokens]
    assert (
        bytes(b for piece in pieces for b in (piece.encode() if isinstance(piece, str) else piece))
        == "The side 🦙".encode()
    )
    assert any(isinstance(piece, list) for piece in pieces)
    end = tokenizer.token_text(min(starter.eos_token_ids))
    plain = ask(server, {"content": end, "parse_special": False}, "/tokenize")[1]["tokens"]
    assert plain == tokenizer.encode_literally(end) != ask(server, {"content": end}, "/tokenize")[1]["tokens"]
    begun = ask(server, {"content": end, "parse_special": False, "add_special": True}, "/tokenize")[1]["tokens"]
    assert begun == [*tokenizer.encode("", add_special_tokens=True), *plain]
    status, reply = ask(server, question(chat_template="{{ messages }}"), "/tokenize")
    assert (status, reply["error"]["param"]) == (400, "chat_template")


def test_detokenize(plain_server: ApiServer):
    assert ask(plain_server, {"tokens": [1, 2]}, "/detokenize") == (200, {"prompt": "1 2", "content": "1 2"})
    for wrong in (None, "x", [-1], [1.5], [True], [2**40]):
        status, reply = ask(plain_server, {"tokens": wrong}, "/detokenize")
        assert (status, reply["error"]["param"]) == (400, "tokens")
    assert ask(plain_server, {}, "/tokenize")[0] == 400
    assert ask(plain_server, question(continue_final_message=True), "/tokenize")[0] == 400


def test_the_metrics_count(serve: Serve):
    server = serve()
    ask(server, question("one two three"))
    ask(server, question(temperature=-1))
    exchange(server, head("/nobody/<script>", server))
    exchange(server, head(CHAT, server))
    exchange(server, head("/v1/models", server, Authorization="Bearer wrong"))
    exchange(server, head("/v1/models", server, Host="evil.example"))
    exchange(server, post(CHAT, server, question(), Content_Type="text/plain"))
    status, headers, body = exchange(server, head("/metrics", server))
    text = body.decode()
    assert (status, headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert "llama_gui_prompt_tokens_total 3\n" in text
    assert "llama_gui_completion_tokens_total 3\n" in text
    assert f'llama_gui_http_requests_total{{route="{CHAT}",status="200"}} 1\n' in text
    assert f'llama_gui_http_requests_total{{route="{CHAT}",status="400"}} 1\n' in text
    for refused in (401, 403, 404, 405, 415):
        assert f'llama_gui_http_requests_total{{route="none",status="{refused}"}} 1\n' in text
    assert 'llama_gui_engine_running{model="Scripted"} 0\n' in text
    assert 'llama_gui_first_token_seconds_bucket{le="+Inf"} 1\n' in text
    assert "script>" not in text
    line = re.compile(r'(# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? -?[\d.e+-]+)')
    assert [text for text in text.splitlines() if not line.fullmatch(text)] == []


# --- failures


@pytest.mark.parametrize("fail_at", [0, 2])
def test_an_answer_that_fails_has_no_false_end(serve: Serve, fail_at: int):
    server = serve(ServedScript(fail_at=fail_at))
    status, reply = ask(server, question())
    assert (status, reply["error"]["code"]) == (500, "generation_failed")
    *chunks, last = events(server, question())
    assert said(chunks) == " ".join(["one", "two"][:fail_at])
    assert [c["choices"][0]["finish_reason"] for c in chunks if c["choices"][0]["finish_reason"]] == []
    assert last["error"]["code"] == "generation_failed"


def test_openais_client_raises_what_a_stream_tells(serve: Serve):
    server = serve(ServedScript(fail_at=2))
    with client_of(server) as client:
        stream = client.chat.completions.create(model="Scripted", messages=question()["messages"], stream=True)
        with pytest.raises(openai.APIError, match="not finite"):
            list(stream)


def test_a_closed_engine_is_503(serve: Serve):
    engine = ServedScript()
    server = serve(engine)
    engine.stop()
    status, reply = ask(server, question())
    assert (status, reply["error"]["code"]) == (503, "model_closed")


@pytest.mark.parametrize("stream", [False, True])
def test_a_model_that_made_room_for_another_is_loaded_again(serve: Serve, stream: bool):
    class Evicted(ServedScript):
        times = 0

        def submit(self, *args, **kwargs):
            self.times += 1
            if self.times == 1:
                raise EngineClosedError("made room")
            return super().submit(*args, **kwargs)

    server = serve(Evicted())
    if stream:
        assert said(events(server, question("one two"))) == "one two"
    else:
        assert ask(server, question("one two"))[1]["choices"][0]["message"]["content"] == "one two"


def test_an_engine_closed_in_the_middle_is_no_end(serve: Serve):
    engine = ServedScript(hang_at=2)
    server = serve(engine)
    with connect(server) as client:
        client.sendall(post(CHAT, server, question(stream=True)))
        assert eventually(lambda: engine._jobs and engine._jobs[0]._drawn == 2)
        engine.stop()
        _, _, raw = read_reply(client)
    assert b"[DONE]" not in raw
    assert b"model_closed" in raw


def test_a_fault_of_ours_tells_nothing_of_the_inside(serve: Serve, caplog):
    class Broken(ServedScript):
        def submit(self, *_args, **_kwargs):
            raise RuntimeError("secret /home/somebody/model")

    status, reply = ask(serve(Broken()), question())
    assert (status, reply["error"]["code"]) == (500, "bug")
    assert "secret" not in str(reply)
    assert "secret" in caplog.text  # but our own log has it


@pytest.mark.parametrize("is_broken", [False, True])
def test_a_broken_template_is_not_the_callers_fault(serve: Serve, is_broken: bool):
    class Picky(ServedScript):
        def apply_chat_template(self, messages, **_):
            if is_broken or messages[0].content != "Hi":
                raise ChatTemplateError(f"{self.info.path}/chat_template.jinja: the chat template fails.")
            return "Hi"

        def submit(self, request, *_args):
            return self.apply_chat_template(request.messages)

    server = serve(Picky())
    for body, path in ((question(), CHAT), (question(stream=True), CHAT), (question(), "/tokenize")):
        status, reply = ask(server, body, path)
        assert (status, "Scripted" in reply["error"]["message"]) == ((500, True) if is_broken else (400, False))
        assert "/models/Scripted" not in str(reply)


def test_where_the_model_lies_is_not_told():
    assert "/models/x" not in refusal_of(EngineClosedError("at /models/x"), "/models/x").message


# --- much at once


def test_a_full_server_says_429_and_when_to_come_again(serve: Serve):
    engine = ServedScript(hang_at=1)
    server = serve(engine, limits=ServerLimits(streams=2, queue=1))
    gate = lambda: server._routes.generator.gate  # noqa: E731
    with connect(server) as first, connect(server) as second, connect(server) as third:
        for number, client in enumerate((first, second, third)):
            client.sendall(post(CHAT, server, question(stream=True)))
            assert eventually(lambda number=number: gate().taken + gate().waiting == number + 1)
        status, headers, body = exchange(server, post(CHAT, server, question()))
        assert (status, json.loads(body)["error"]["type"]) == (429, "rate_limit_error")
        assert 1 <= int(headers["retry-after"]) <= 60
        assert exchange(server, head("/health", server))[0] == 200
        first.close()
        assert eventually(lambda: (gate().taken, gate().waiting) == (2, 0))  # the third has its turn
    assert eventually(lambda: gate().taken == 0)


def test_requests_over_the_limit_wait_for_their_turn_and_are_all_right(serve: Serve):
    engine = ServedScript(tokens_per_second=500)
    server = serve(engine, limits=ServerLimits(streams=4, queue=64))
    texts = [f"question number {number} of many" for number in range(40)]
    with concurrent.futures.ThreadPoolExecutor(40) as pool:
        answers = list(pool.map(lambda text: said(events(server, question(text))), texts))
    assert answers == texts


def test_silence_is_filled_with_comments(serve: Serve):
    engine = ServedScript(hang_at=1)
    server = serve(engine, limits=ServerLimits(ping_seconds=0.05))
    with connect(server) as client:
        client.sendall(post(CHAT, server, question(stream=True)))
        data = b""
        while data.count(b": still here\n\n") < 3:
            data += client.recv(65536)


def test_who_names_no_model_gets_the_first(serve: Serve):
    first, second = ServedScript(), ServedScript()
    server = serve(first, models=FixedModels({"a": first, "b": second}))
    assert [ask(server, question(**named))[1]["model"] for named in ({}, {"model": None}, {"model": ""})] == ["a"] * 3


# --- tools

WEATHER: list = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]


def tool_server(serve: Serve, *pieces: str) -> tuple[ApiServer, ServedScript]:
    engine = ServedScript({"Rain?": list(pieces)})
    return serve(engine), engine


def test_calls_reach_openais_client_whole_and_streaming(serve: Serve):
    server, engine = tool_server(
        serve, "I look.", "\n<tool", '_call>{"name": "weather", "arg', 'uments": {"city": "Oslo"}}', "</tool_call>"
    )
    messages: list = [{"role": "user", "content": "Rain?"}]
    with client_of(server) as client:
        reply = client.chat.completions.create(model="Scripted", messages=messages, tools=WEATHER)
        choice = reply.choices[0]
        assert (choice.finish_reason, choice.message.content) == ("tool_calls", "I look.")
        call = choice.message.tool_calls[0]
        assert (call.function.name, json.loads(call.function.arguments)) == ("weather", {"city": "Oslo"})
        assert re.fullmatch("[A-Za-z0-9]{9}", call.id)
        assert engine.requests[0].tools == WEATHER

        chunks = list(client.chat.completions.create(model="Scripted", messages=messages, tools=WEATHER, stream=True))
        deltas = [chunk.choices[0].delta for chunk in chunks]
        assert "".join(delta.content or "" for delta in deltas).strip() == "I look."
        (streamed,) = [call for delta in deltas for call in delta.tool_calls or ()]
        assert (streamed.index, streamed.function.name) == (0, "weather")
        assert chunks[-1].choices[0].finish_reason == "tool_calls"

        messages += [choice.message, {"role": "tool", "tool_call_id": call.id, "content": "It rains."}]
        client.chat.completions.create(model="Scripted", messages=messages, tools=WEATHER)
        told = engine.requests[-1].messages
        assert told[1].tool_calls[0]["function"] == {"name": "weather", "arguments": {"city": "Oslo"}}
        assert (told[2].role, told[2].tool_call_id, told[2].content) == ("tool", call.id, "It rains.")


def test_calls_between_tags_have_arguments_of_their_schema(serve: Serve):
    """As Qwen3-Coder writes them: "0301" is a text, and 1 a number, because the schema says so."""
    written = (
        "<tool_call>\n<function=weather>\n<parameter=zip>\n0301\n</parameter>\n<parameter=days>\n1\n</parameter>\n"
    )
    server, _ = tool_server(serve, "I look.\n", written, "</function>\n</tool_call>")
    properties = {"zip": {"type": "string"}, "days": {"type": "integer"}}
    parameters: dict = {"type": "object", "properties": properties}
    tools: list = [{"type": "function", "function": {"name": "weather", "parameters": parameters}}]
    messages: list = [{"role": "user", "content": "Rain?"}]
    with client_of(server) as client:
        message = client.chat.completions.create(model="Scripted", messages=messages, tools=tools).choices[0].message
        chunks = list(client.chat.completions.create(model="Scripted", messages=messages, tools=tools, stream=True))
    assert message.content == "I look."
    (call,) = message.tool_calls
    (streamed,) = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or ()]
    for one in (call, streamed):
        assert json.loads(one.function.arguments) == {"zip": "0301", "days": 1}
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks).strip() == "I look."


def test_only_one_call_when_the_client_wants_no_more(serve: Serve):
    two = '[{"name": "weather", "arguments": {"city": "Oslo"}}, {"name": "weather", "arguments": {"city": "Rome"}}]'
    server, _ = tool_server(serve, two)
    both = ask(server, question("Rain?", tools=WEATHER))[1]["choices"][0]["message"]
    one = ask(server, question("Rain?", tools=WEATHER, parallel_tool_calls=False))[1]["choices"][0]["message"]
    assert (len(both["tool_calls"]), len(one["tool_calls"]), both["content"]) == (2, 1, None)


CALL_HEAD = '{"name": "weather", "arguments": '
NAMED = {"type": "function", "function": {"name": "weather"}}


def called(chunks: list) -> tuple[str, list[str], str]:
    """Of the one call of a stream: name, pieces of its arguments; and how the answer ended."""
    choices = [chunk["choices"][0] for chunk in chunks if chunk != "[DONE]"]
    first, *others = [call for choice in choices for call in choice["delta"].get("tool_calls", ())]
    assert first["type"] == "function"
    assert re.fullmatch("[A-Za-z0-9]{9}", first["id"])
    assert [(call["index"], set(call), set(call["function"])) for call in others] == (
        [(0, {"index", "function"}, {"arguments"})] * len(others)
    )
    pieces = [call["function"]["arguments"] for call in (first, *others)]
    return first["function"]["name"], pieces, choices[-1]["finish_reason"]


@pytest.mark.parametrize(
    ("choice", "pieces"),
    [
        (NAMED, ['{"city":', ' "Os', 'lo"}']),
        ("required", ['{"name": "wea', 'ther", "arguments":{"city":', ' "Os', 'lo"}', "}"]),
    ],
)
def test_a_call_that_must_be_is_told_as_it_is_written(serve: Serve, choice: Any, pieces: list[str]):
    server, engine = tool_server(serve, *pieces)
    body = question("Rain?", tools=WEATHER, tool_choice=choice)
    reply = ask(server, body)[1]["choices"][0]
    assert (reply["message"]["content"], reply["finish_reason"]) == (None, "tool_calls")
    assert reply["message"]["tool_calls"][0]["function"] == {"name": "weather", "arguments": '{"city": "Oslo"}'}
    chunks = events(server, body)
    assert said(chunks) == ""
    assert called(chunks) == ("weather", ['{"city":', ' "Os', 'lo"}'], "tool_calls")
    assert engine.requests[-1].json_schema is not None


@pytest.mark.parametrize(
    ("choice", "pieces"), [(NAMED, ['{"city":', ' "Oslo"}']), ("required", [CALL_HEAD + '{"city":', ' "Oslo"}}'])]
)
def test_a_call_that_is_cut_is_told_as_far_as_it_was_written(serve: Serve, choice: Any, pieces: list[str]):
    """vLLM does so, too: with the reason that the answer was too long, nobody takes it for a whole call."""
    server, _ = tool_server(serve, *pieces)
    body = question("Rain?", tools=WEATHER, tool_choice=choice, max_tokens=1)
    reply = ask(server, body)[1]["choices"][0]
    assert reply["message"]["tool_calls"][0]["function"] == {"name": "weather", "arguments": '{"city":'}
    assert reply["finish_reason"] == "length"
    assert called(events(server, body)) == ("weather", ['{"city":'], "length")


def test_an_answer_in_json_is_no_call(serve: Serve):
    server, _ = tool_server(serve, '{"name":', ' "Ada"}')
    assert said(events(server, question("Rain?", tools=WEATHER))) == '{"name": "Ada"}'
    choice = ask(server, question("Rain?", tools=WEATHER))[1]["choices"][0]
    assert (choice["message"]["content"], choice["finish_reason"]) == ('{"name": "Ada"}', "stop")


def test_the_tag_that_the_prompt_ends_with_begins_the_answer(serve: Serve):
    engine = ServedScript()
    engine.info = replace(engine.info, thinking=True, thinking_tag="<think>\n")
    server = serve(engine)

    def said(**fields: Any) -> str:
        return ask(server, question("one two", **fields))[1]["choices"][0]["message"]["content"]

    assert said() == "<think>\none two"
    assert said(chat_template_kwargs={"enable_thinking": False}) == "one two"
    going_on = [{"role": "user", "content": "one two"}, {"role": "assistant", "content": "<think>\none"}]
    assert "<think>" not in said(messages=going_on, continue_final_message=True, add_generation_prompt=False)
    first = events(server, question("one two", stream=True))[0]
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": "<think>\n"}
