"""llama.cpp's own server at the other end, where llama-cpp-python is installed.

`LLAMA_CPP_PYTHON` names an interpreter that has ``llama-cpp-python[server]``; without it, the one of the tests is
asked. The model is the starter model as a GGUF file, so that both engines must write the same.
"""

import importlib.util
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from llama_gui.engine import Engine
from llama_gui.errors import EndpointError
from llama_gui.server.endpoint import Endpoint
from llama_gui.server.remote import RemoteEngine, list_models
from llama_gui.vocabulary import GenerateRequest, Message, SamplingParams
from tests.fakes.gguf_files import write_gguf
from tests.server.conftest import KEY, STARTER

HERE = sys.executable if importlib.util.find_spec("llama_cpp") else None
PYTHON = os.environ.get("LLAMA_CPP_PYTHON") or HERE
GREEDY = SamplingParams(temperature=0, seed=1)

pytestmark = pytest.mark.skipif(PYTHON is None, reason="llama-cpp-python is not installed")


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    folder = tmp_path_factory.mktemp("llamacpp")
    model = write_gguf(STARTER, folder / "starter.gguf", pre="llama-bpe")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [str(PYTHON), "-m", "llama_cpp.server", "--model", str(model), "--host", "127.0.0.1", "--port", str(port)]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen([*command, "--api_key", KEY, "--n_ctx", "2048"], stdout=log, stderr=log)
    endpoint = Endpoint("llama.cpp", f"http://127.0.0.1:{port}/v1", KEY)
    try:
        deadline = time.monotonic() + 90
        while not is_there(endpoint):
            assert process.poll() is None, (folder / "log").read_text(encoding="utf-8")[-2000:]
            assert time.monotonic() < deadline
            time.sleep(0.2)
        yield endpoint
    finally:
        process.kill()
        process.wait()


def is_there(endpoint: Endpoint) -> bool:
    try:
        return bool(list_models(endpoint))
    except EndpointError:
        return False


@pytest.mark.parametrize(
    "asked",
    [
        {"messages": [Message("user", "What is this application?")]},
        {"messages": [Message("user", "What is a seed?")]},
        {"prompt": "The side bar"},
    ],
)
def test_both_engines_write_the_same(endpoint: Endpoint, starter: Engine, asked: dict):
    request = GenerateRequest(**asked, max_tokens=16, sampling=GREEDY)
    with RemoteEngine.connect(endpoint) as engine:
        result = engine.generate(request)
    local = starter.generate(request)
    assert (result.text, result.error) == (local.text, None)
    assert result.finish_reason == local.finish_reason


def test_cancel_and_many_in_turn(endpoint: Endpoint):
    request = GenerateRequest(messages=[Message("user", "What can you do?")], max_tokens=200, sampling=GREEDY)
    with RemoteEngine.connect(endpoint) as engine:
        job = engine.submit(request)
        for output in job:
            if output.index == 2:
                job.cancel()
        assert job.result(10).finish_reason == "cancelled"
        assert job.result().text
        again = [engine.generate(request) for _ in range(2)]
    assert again[0].text == again[1].text
    assert again[0].text.startswith(job.result().text)


def test_a_wrong_key_and_too_long_a_prompt_are_said(endpoint: Endpoint):
    with pytest.raises(EndpointError, match="does not take the key"):
        list_models(Endpoint("llama.cpp", endpoint.base_url, "wrong-wrong"))
    with RemoteEngine.connect(endpoint) as engine:
        result = engine.generate(GenerateRequest(prompt="word " * 4000, max_tokens=5, sampling=GREEDY))
        assert result.error is not None
        assert "too long" in str(result.error)  # it says nothing at all
