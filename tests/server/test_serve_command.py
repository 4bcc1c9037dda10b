"""`llama-gui serve` as its user has it: another process, curl, Ctrl+C."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from llama_gui.__main__ import main
from llama_gui.library.shelf_notes import rename
from llama_gui.paths import Paths
from llama_gui.server.endpoint import Endpoint
from llama_gui.server.network import addresses_here
from llama_gui.server.remote import RemoteEngine
from llama_gui.server.serve import ApiServer
from llama_gui.vocabulary import GenerateRequest, Message, SamplingParams
from tests.fakes.tiny_llama import write_tiny_llama

STARTER = Path(__file__).parents[2] / "resources" / "starter_model"

Start = Callable[..., tuple["subprocess.Popen[str]", list[str]]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start `llama-gui serve`; the process, and the lines that it says up to `until`."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str, until: str) -> tuple["subprocess.Popen[str]", list[str]]:
        process = subprocess.Popen(
            [sys.executable, "-m", "llama_gui", "--profile", str(tmp_path / "profile"), "serve", "--port", "0",
             *arguments],
            env={**os.environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        started.append(process)
        lines: list[str] = []
        assert process.stdout is not None
        while not lines or not lines[-1].startswith(until):
            line = process.stdout.readline()
            assert line, process.stderr.read() if process.stderr else ""
            lines.append(line.strip())
        return process, lines

    yield start
    for process in started:
        process.kill()
        process.communicate()


def curl(url: str, key: str, *arguments: str) -> str:
    command = ["curl", "-sS", "--noproxy", "*", url, "-H", f"Authorization: Bearer {key}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not there")
def test_the_starter_model_answers_curl_until_ctrl_c(start: Start, tmp_path: Path, capsys):
    process, lines = start(until="It is kept in")
    url, key = lines[0].rpartition(" at ")[2], lines[1].rpartition(" ")[2]
    assert url.startswith("http://127.0.0.1:")
    assert (tmp_path / "profile" / "server-key").read_text(encoding="utf-8").strip() == key
    body = json.dumps({"messages": [{"role": "user", "content": "What is this application?"}], "seed": 1})
    asks = ["-H", "Content-Type: application/json", "-d", body]
    reply = json.loads(curl(f"{url}/chat/completions", key, *asks))
    assert "llama-gui" in reply["choices"][0]["message"]["content"]
    stream = curl(f"{url}/chat/completions", key, "-N", "-H", "Content-Type: application/json", "-d",
                  body.replace('"seed"', '"stream": true, "seed"'))  # fmt: skip
    assert stream.endswith("data: [DONE]\n\n")
    assert json.loads(curl(f"{url}/models", "wrong-wrong"))["error"]["code"] == "invalid_api_key"

    assert json.loads(curl(f"{url}/models", key))["data"][0]["id"] == "starter"
    # From another process, as a tab would ask it.
    with RemoteEngine.connect(Endpoint("Other", url, key=key)) as engine:
        request = GenerateRequest(messages=[Message("user", "What is this application?")], max_tokens=30)
        result = engine.generate(request)
        assert "llama-gui" in result.text
        again = replace(request, sampling=SamplingParams(seed=result.seed))
        assert engine.generate(again).text == result.text

    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "")
    told = r"[-\d]{10} [\d:,]{12} 127\.0\.0\.1:\d+ "
    first, _, refused, *_ = err.splitlines()
    chat = r'"POST /v1/chat/completions" 200, \d+\.\d{3} s, \d+ \+ \d+ tokens, req_[0-9a-f]{32}'
    assert re.fullmatch(told + chat, first)
    assert re.fullmatch(told + r'"GET /v1/models" 401, invalid_api_key, \d+\.\d{3} s, req_[0-9a-f]{32}', refused)
    assert key not in err
    assert "application" not in err
    # As any other process of this machine answers.
    assert main(["ask", "--seed", "1", "What is this application?"]) == 0
    assert capsys.readouterr().out.strip() == reply["choices"][0]["message"]["content"].strip()


def test_the_key_stays_and_is_not_shown_again(capsys, monkeypatch, tmp_path: Path):
    seen: list[tuple[str, str]] = []

    def ask_and_end(server: ApiServer) -> None:
        key = (tmp_path / "profile" / "server-key").read_text(encoding="utf-8").strip()
        with RemoteEngine.connect(Endpoint("Here", server.url, key=key)) as engine:
            seen.append((key, engine.info.name))

    monkeypatch.setattr("llama_gui.serve_command._wait_for_the_end", ask_and_end)
    said = [run(capsys, tmp_path, "--port", "0", "--no-access-log") for _ in range(2)]
    assert [(status, err) for status, _, err in said] == [(0, ""), (0, "")]
    (key, name), again = seen
    assert (key, name) == again
    assert name.startswith("starter")
    assert f"requests must bring: {key}\nIt is kept in" in said[0][1]
    assert "The key is in" in said[1][1]
    assert key not in said[1][1]


def test_several_models_for_other_machines_with_a_key_of_ones_own(start: Start, tmp_path: Path, kernel_notes: Path):
    notes = Paths.in_profile(tmp_path / "profile").kernel_notes
    if kernel_notes.exists():  # so that it need not try them again
        notes.parent.mkdir(parents=True)
        shutil.copy(kernel_notes, notes)
    folder = write_tiny_llama(tmp_path / "tiny", "llama-3.2")
    models = ("--model", str(folder), "--model", str(STARTER))
    process, lines = start("--host", "0.0.0.0", "--api-key", "my-own-key", *models, until="From other machines")
    assert "serves tiny, starter at http://127.0.0.1:" in lines[0]
    url = lines[0].rpartition(" at ")[2]
    port = url.split(":", 2)[2]
    where = " or ".join(f"http://{address}:{port}" for address in addresses_here())
    assert lines[-1] == f"From other machines: {where or 'no address yet: this machine is in no network'}"
    with RemoteEngine.connect(Endpoint("Other", url, key="my-own-key")) as engine:
        request = GenerateRequest(messages=[Message("user", "Hi")], max_tokens=3)
        assert engine.generate(request).usage.completion_tokens == 3
    assert not (tmp_path / "profile" / "server-key").exists()
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "not encrypted" in err
    assert "The key is short" in err


def run(capsys, tmp_path: Path, *arguments: str) -> tuple[int, str, str]:
    status = main(["--profile", str(tmp_path / "profile"), "serve", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--api-key", "two words"], ["api key", "1 to 512"]),
        (["--api-key", ""], ["api key", "1 to 512"]),
        (["--port", "70000"], ["port", "70000", "65535"]),
        (["--model", "/no/such/model"], [str(Path("/no/such/model"))]),
        (["--model", str(STARTER), "--model", "/no/such/model"], [str(Path("/no/such/model"))]),
        # On Windows that is a folder beside the home, which is not there.
        (["--model", "~nosuch/model"], ["nosuch"] if sys.platform == "win32" else ["--model", "~nosuch"]),
        (["--allow-host", "a:b"], ["host", "a:b", "box.local:443"]),
        (["--allow-host", "http://box.local"], ["host", "http://box.local", "box.local:443"]),
        (["--allow-origin", "example"], ["origin", "example", "https://"]),
    ],
)
def test_what_cannot_be_is_one_clear_sentence(capsys, tmp_path: Path, arguments: list[str], words: list[str]):
    status, out, err = run(capsys, tmp_path, *arguments)
    assert (status, out) == (1, "")
    assert err.startswith("llama-gui: ")
    assert err.count("\n") == 1
    assert [word for word in words if word not in err] == []
    assert not (tmp_path / "profile" / "server-key").exists()  # whoever makes the key shows it


def test_two_models_of_one_name_are_told(capsys, tmp_path: Path):
    folders = [write_tiny_llama(tmp_path / place / "x", "llama-3.2") for place in ("a", "b")]
    status, _, err = run(capsys, tmp_path, "--model", str(folders[0]), "--model", str(folders[1]))
    assert status == 1
    assert f"{folders[1]}', but it must be of another name than {folders[0]}: clients ask by name" in err


def test_a_model_is_served_by_the_name_that_the_user_gave(capsys, monkeypatch, tmp_path: Path):
    paths = Paths.in_profile(tmp_path / "profile")
    rename(paths.shelf_file, str(write_tiny_llama(paths.models / "tiny", "llama-3.2")), "For letters")
    monkeypatch.setattr("llama_gui.serve_command._wait_for_the_end", lambda _: None)
    status, out, _ = run(capsys, tmp_path, "--model", "for letters", "--port", "0")
    assert status == 0
    assert "serves For letters at" in out


def test_a_port_that_is_taken_is_said(capsys, tmp_path: Path):
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        status, out, err = run(capsys, tmp_path, "--port", str(port))
        assert (tmp_path / "profile" / "server-key").read_text().strip() in out
        assert run(capsys, tmp_path, "--port", str(port))[1] == ""
    assert status == 1
    assert f"port {port}" in err
    assert "--port " in err
