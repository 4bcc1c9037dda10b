"""A client program that we did not write: Claude Code, when CLAUDE_COMMAND names it (npm i @anthropic-ai/claude-code).

It is not looked for on the PATH: there it is somebody's own, with an account.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from llama_gui.server.serve import ApiServer
from tests.server.conftest import KEY, Serve, ServedScript

CLAUDE = os.environ.get("CLAUDE_COMMAND")

pytestmark = pytest.mark.skipif(CLAUDE is None, reason="CLAUDE_COMMAND is not set; see the top of this file")

CALL = json.dumps({"name": "Bash", "arguments": {"command": "echo 'grüße 🎉'", "description": "Say it"}})


class Acting(ServedScript):
    """Thinks, and runs a command when it is asked to; says then what came of it."""

    def submit(self, request: Any, *callbacks: Any) -> Any:
        last = request.messages[-1]
        if last.role == "tool":
            pieces = ["It said: ", last.content]
        elif any("run it" in message.content for message in request.messages):
            pieces = ["<think>\nI run", " it.\n</think>\n\n", "I look.\n", "<tool_call>", *CALL, "</tool_call>"]
        else:
            pieces = ["Hi", " there."]
        self._script[last.content] = pieces
        return super().submit(request, *callbacks)


def run_claude(server: ApiServer, folder: Path, question: str, *arguments: str) -> dict[str, Any]:
    """What it prints at the end of `claude -p`."""
    (folder / "project").mkdir()
    done = subprocess.run(
        [str(CLAUDE), "-p", question, "--output-format", "json", *arguments],
        cwd=folder / "project",
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "NO_PROXY": "127.0.0.1",
            "ANTHROPIC_BASE_URL": server.url.removesuffix("/v1"),
            "ANTHROPIC_AUTH_TOKEN": KEY,
            "ANTHROPIC_MODEL": "Scripted",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    return json.loads(done.stdout)


def test_it_answers(serve: Serve, tmp_path: Path):
    engine = Acting(max_context=100_000)
    reply = run_claude(serve(engine), tmp_path, "hi")
    assert (reply["result"], reply["is_error"]) == ("Hi there.", False)
    assert reply["usage"]["input_tokens"] > 500


def test_it_runs_what_the_model_calls(serve: Serve, tmp_path: Path):
    engine = Acting(max_context=100_000)
    reply = run_claude(serve(engine), tmp_path, "run it", "--allowedTools", "Bash")
    assert reply["result"] == "It said: grüße 🎉"
    first, second = engine.requests[-2:]
    known = len(first.messages or ())
    assert list(second.messages or ())[:known] == first.messages  # so it is found in the cache
    called, told = (second.messages or ())[known:]
    assert called.content.startswith("<think>\nI run it.\n</think>\n\nI look.")
    assert (told.role, told.name, told.content) == ("tool", "Bash", "grüße 🎉")


def test_it_knows_that_a_conversation_is_too_long(serve: Serve, tmp_path: Path):
    reply = run_claude(serve(Acting(max_context=500)), tmp_path, "hi")
    assert reply["is_error"]
    assert "prompt is too long" in reply["result"].lower()
