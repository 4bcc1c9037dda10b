"""A client program that we did not write: Simon Willison's `llm`, when it is installed (pip install llm).

It brings its own OpenAI client, so it lives in an environment of its own: on the PATH, or named in LLM_COMMAND.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from llama_gui.engine import Engine, GenerateRequest, Message, SamplingParams
from llama_gui.server.serve import ApiServer
from tests.server.conftest import KEY, Serve

LLM = os.environ.get("LLM_COMMAND") or shutil.which("llm")

pytestmark = pytest.mark.skipif(LLM is None, reason="llm is not installed; see the top of this file")


def run_llm(server: ApiServer, folder: Path, *arguments: str) -> str:
    name = server._models.names()[0]
    common = f"  model_name: {name}\n  api_base: {server.url}\n  api_key_name: ours\n"
    (folder / "extra-openai-models.yaml").write_text(
        f"- model_id: ours\n{common}  supports_schema: true\n- model_id: plain\n{common}  completion: true\n"
    )
    done = subprocess.run(
        [str(LLM), *arguments, "--key", KEY, "--no-log"],
        env={**os.environ, "LLM_USER_PATH": str(folder), "NO_PROXY": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("how", [[], ["--no-stream"]])
def test_it_streams_and_waits(serve: Serve, starter: Engine, tmp_path: Path, how: list[str]):
    server = serve(starter)
    options = ["-o", "seed", "3", "-o", "temperature", "1.2", "-o", "max_tokens", "20"]
    out = run_llm(server, tmp_path, "-m", "ours", "What is this application?", *options, *how)
    request = GenerateRequest(
        messages=[Message("user", "What is this application?")],
        max_tokens=20,
        sampling=SamplingParams(temperature=1.2, seed=3),
    )
    assert out.strip() == starter.generate(request).text.strip()


def test_it_gets_what_its_schema_asks_for(serve: Serve, starter: Engine, tmp_path: Path):
    out = run_llm(
        serve(starter), tmp_path, "-m", "ours", "--schema", '{"type":"object","properties":{"n":{"enum":[1,2]}},'
        '"required":["n"],"additionalProperties":false}', "How many?",
    )  # fmt: skip
    assert json.loads(out)["n"] in (1, 2)


def test_it_writes_on(serve: Serve, starter: Engine, tmp_path: Path):
    out = run_llm(serve(starter), tmp_path, "-m", "plain", "The side bar", "-o", "max_tokens", "5", "-o",
                  "temperature", "0")  # fmt: skip
    request = GenerateRequest(prompt="The side bar", max_tokens=5, sampling=SamplingParams(temperature=0))
    assert out.strip() == starter.generate(request).text.strip()
