"""The command line: what it answers, what it says when it cannot, and its exit status."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from llama_gui.__main__ import main
from llama_gui.ask import _question
from llama_gui.desktop import reason_for_no_window
from llama_gui.errors import UserError
from llama_gui.paths import find_resources
from llama_gui.vocabulary import EFFORTS
from tests.fakes.documents import docx, paragraph, pdf
from tests.fakes.fp8_folders import LAYOUTS, write_fp8
from tests.fakes.tiny_llama import write_tiny_llama
from tests.fakes.tiny_pixtral import picture, write_tiny_pixtral

README = Path(__file__).parents[1] / "README.md"
QUESTION = "What is this application?"


def start(*arguments: str, **env: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "llama_gui", *arguments],
        env={**os.environ, **env},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def ask(capsys, *arguments: str) -> tuple[int, str, str]:
    status = main(["ask", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_the_starter_model_answers(capsys):
    status, out, err = ask(capsys, "--seed", "1", QUESTION)
    assert (status, err) == (0, "")
    assert "llama-gui" in out
    assert out.endswith("\n")


def test_a_document_comes_before_the_question_as_its_text(tmp_path):
    path = docx(tmp_path / "a.docx", paragraph("What is this"))
    assert _question("application?", [str(path)]) == ("What is this\n\napplication?", [])
    path.write_bytes(path.read_bytes()[:-60])
    with pytest.raises(UserError, match=r"a\.docx is damaged"):
        _question("application?", [str(path)])
    path.write_bytes(b"Gr\xfc\xdfe")  # a text of Windows
    text = path.rename(tmp_path / "a.txt")
    assert _question(None, [str(text)]) == ("Grüße", [])


def test_an_image_comes_before_the_words_and_behind_texts(tmp_path):
    image, text = picture(20, 20), tmp_path / "a.txt"
    text.write_text("Hints.\n")
    (tmp_path / "b.png").write_bytes(image.data)
    files = [str(tmp_path / "b.png"), str(text)]
    assert _question("What is it?", files) == ("Hints.\n\nWhat is it?", [replace(image, place=8)])
    assert _question(None, files[:1]) == ("", [image])


def test_the_pages_of_a_scan_come_as_images(tmp_path, capsys):
    text, images = _question("Who?", [str(pdf(tmp_path / "a.pdf", [""] * 11))])
    assert (text, len(images)) == ("Who?", 10)
    assert "has no text, but 11 pages with pictures. The first 10 go along as images." in capsys.readouterr().err


def test_a_model_that_reads_images_is_asked_about_one(capsys, tmp_path):
    folder = write_tiny_pixtral(tmp_path / "model")
    (tmp_path / "b.jpg").write_bytes(picture(40, 40, kind="JPEG").data)
    asked = ["--max-tokens", "5", "--seed", "1", "--file", str(tmp_path / "b.jpg"), "What is it?"]
    status, out, err = ask(capsys, *asked, "--model", str(folder))
    assert (status, bool(out.strip()), err) == (0, True, "")
    status, out, err = ask(capsys, *asked)
    assert (status, out) == (1, "")
    assert "reads no images. Choose a model that does, or leave them out." in err


def test_a_file_is_read_once_for_several_questions(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("llama_gui.engine.prompt_cache.LEAST_SECONDS", 0.0)
    (tmp_path / "long.txt").write_text("The tram climbs the hill. " * 60)
    cached = []
    for question, *more in (["Why?"], ["How?"], ["How?", "--prompt-cache", "0"]):
        arguments = ("--json", "--max-tokens", "1", "--file", str(tmp_path / "long.txt"), question, *more)
        _, out, _ = ask(capsys, "--seed", "1", *arguments)
        cached.append(json.loads(out.splitlines()[-1])["result"]["usage"]["cached_tokens"])
    assert cached[0] == cached[2] == 0
    assert cached[1] >= 256


def test_json_has_one_object_for_each_token_and_one_with_the_result(capsys):
    status, out, _ = ask(
        capsys, "--json", "--seed", "3", "--temperature", "1", "--top-k", "20", "--top-p", "0.9", QUESTION
    )
    *tokens, last = [json.loads(line) for line in out.splitlines()]
    result = last["result"]
    assert status == 0
    assert "".join(token["text"] for token in tokens) == result["text"]
    assert [token["index"] for token in tokens] == list(range(len(tokens)))
    assert [token["token_id"] for token in tokens] == result["token_ids"]
    assert all(token["logprob"] <= 0 for token in tokens)
    assert result["finish_reason"] == "stop"
    assert result["seed"] == 3
    assert result["usage"]["completion_tokens"] == len(result["token_ids"])
    assert set(result["timings"]) == {"queued", "prefill", "decode"}


def test_the_same_seed_gives_the_same_answer_and_another_does_not(capsys):
    options = ("--temperature", "1.5", "--top-k", "0", "Tell me a story")
    answers = [ask(capsys, "--seed", seed, *options)[1] for seed in "445"]
    assert answers[0] == answers[1] != answers[2]


@pytest.mark.parametrize("layout", ["qwen-128", "mistral", "channels"])
def test_a_model_in_fp8_answers(capsys, tmp_path: Path, layout: str):
    """The starter model, which still knows what it is."""
    folder, _ = write_fp8(find_resources() / "starter_model", tmp_path / "model", LAYOUTS[layout])
    status, out, _ = ask(capsys, "--model", str(folder), "--temperature", "0", "How do I open a new tab?")
    assert status == 0
    assert "**Ctrl+T**" in out


def test_max_tokens_ends_the_answer(capsys):
    _, out, _ = ask(capsys, "--json", "--max-tokens", "3", QUESTION)
    result = json.loads(out.splitlines()[-1])["result"]
    assert (result["finish_reason"], len(result["token_ids"])) == ("length", 3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--temperature", "-1", "Hi"], ["temperature", "-1", "from 0"]),
        (["--top-p", "0", "Hi"], ["top_p", "0"]),
        (["--top-k", "-3", "Hi"], ["top_k", "-3"]),
        (["--max-tokens", "0", "Hi"], ["max_tokens", "0"]),
        (["--temperature", "nan", "Hi"], ["temperature", "nan"]),
        (["  "], ["question", "not empty"]),
        (["--model", "/no/such/model", "Hi"], ["/no/such/model"]),
        (["--model", "~nosuch/x", "Hi"], ["--model", "~nosuch/x"]),
        (["--model", "", "Hi"], ["--model"]),
        (["--file", "/no/such/file", "Hi"], ["/no/such/file", "No such file"]),
        (["--prompt-cache", "-1", "Hi"], ["--prompt-cache", "gigabytes"]),
        (["long " * 3000], ["tokens long", "Ask something shorter, or take another model (--model)."]),
        (["--file", str(README), "Hi"], ["tokens long", "Give a part of the file, or take another model"]),
    ],
)
def test_what_cannot_be_is_one_clear_sentence(capsys, arguments: list[str], words: list[str]):
    status, out, err = ask(capsys, *arguments)
    assert (status, out) == (1, "")
    assert err.startswith("llama-gui: ")
    assert err.count("\n") == 1
    assert [word for word in words if word not in err] == []


@pytest.mark.parametrize("command", [["ask", "Hi", "--model"], ["serve", "--model"]])
def test_a_model_that_is_not_there_is_told_before_torch_is_loaded(
    monkeypatch, capsys, tmp_path: Path, command: list[str]
):
    monkeypatch.setitem(sys.modules, "llama_gui.engine", None)
    missing = str(tmp_path / "no" / "such.gguf")
    assert main([*command, missing]) == 1
    told = f"There is no model at {missing}. Check the path, or pick another model."
    assert capsys.readouterr().err == f"llama-gui: {told}\n"


def test_thinking_is_turned_on_and_off(capsys, tmp_path: Path):
    folder = write_tiny_llama(tmp_path / "model", "llama-3.2")
    (folder / "chat_template.jinja").write_text(
        "Hi{% if enable_thinking is not defined or enable_thinking %} ho{% endif %}"
    )

    def prompt_tokens(*arguments: str) -> int:
        _, out, _ = ask(capsys, "--json", "--max-tokens", "1", "--model", str(folder), *arguments, "Hi")
        return json.loads(out.splitlines()[-1])["result"]["usage"]["prompt_tokens"]

    assert prompt_tokens("--no-thinking") < prompt_tokens("--thinking") == prompt_tokens()


def test_how_long_it_reasons_is_told(capsys, tmp_path: Path):
    folder = write_tiny_llama(tmp_path / "model", "llama-3.2")
    (folder / "chat_template.jinja").write_text("{{ 'x' * {'low': 1, 'medium': 5, 'high': 9}[reasoning_effort] }}")

    def prompt_tokens(effort: str) -> int:
        _, out, _ = ask(capsys, "--json", "--max-tokens", "1", "--model", str(folder), "--effort", effort, "Hi")
        return json.loads(out.splitlines()[-1])["result"]["usage"]["prompt_tokens"]

    counts = [prompt_tokens(effort) for effort in EFFORTS]
    assert counts == sorted(set(counts))


def test_a_broken_model_is_named(capsys, tmp_path: Path):
    folder = write_tiny_llama(tmp_path / "model", "llama-3.2")
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1000])
    status, out, err = ask(capsys, "--model", str(folder), "Hi")
    assert (status, out) == (1, "")
    assert str(weights) in err


def test_an_unknown_option_is_told_with_the_usage_of_its_command(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["serve", "--foo"])
    assert caught.value.code == 2
    err = capsys.readouterr().err
    assert err.startswith("usage: llama-gui serve [-h] [--model MODEL]")
    assert err.endswith("llama-gui serve: error: unrecognized arguments: --foo\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["ask", "--temperature", "warm", "Hi"],
        ["dance"],
        ["--profile"],
        ["--profile", "", "ask", "Hi"],
        ["--profile", "~nosuch/x", "ask", "Hi"],
    ],
)
def test_wrong_usage_is_2(capsys, arguments: list[str]):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: llama-gui" in capsys.readouterr().err


def test_a_pipe_of_any_bytes_though_all_is_said_to_be_utf_8():
    # The question is read before the number is refused, and torch is not loaded for that.
    process = start("ask", "--temperature", "-1", PYTHONIOENCODING="utf-8")
    out, err = process.communicate(b"\xff\xfe What is this?", timeout=60)
    assert (process.returncode, out) == (1, b"")
    assert err.startswith(b"llama-gui: temperature is -1")
    assert err.count(b"\n") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has it")
@pytest.mark.parametrize(
    ("redirection", "words"),
    [
        pytest.param("ask --max-tokens 3 hi >/dev/full", "No space left", marks=pytest.mark.campaign),
        ("models >/dev/full", "No space left"),  # which needs no torch
        ("ask hi >&-", "output is closed"),
        ("ask <&-", "question is 'missing'"),
    ],
)
def test_streams_that_cannot_be_used_are_one_clear_sentence(redirection: str, words: str):
    command = f'"{sys.executable}" -m llama_gui {redirection}'
    done = subprocess.run(command, shell=True, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("llama-gui: ")
    assert done.stderr.count("\n") == 1
    assert words in done.stderr


def test_prompt_files_come_before_the_question(capsys, tmp_path: Path):
    (tmp_path / "one.txt").write_bytes(b"What is this\n")
    (tmp_path / "two.txt").write_text("application?")
    files = ["--file", str(tmp_path / "one.txt"), "-f", str(tmp_path / "two.txt")]
    asked = ask(capsys, "--seed", "1", "What is this\n\napplication?")
    assert ask(capsys, "--seed", "1", *files) == asked
    assert ask(capsys, "--seed", "1", *files[:2], "application?") == asked


def test_standard_input_in_any_bytes_beside_a_question():
    code = """
import sys
from llama_gui import ask
from llama_gui.__main__ import main
ask._answer = lambda _model, request, *_, **__: print(ascii(request.messages[-1].content)) or 0
sys.exit(main(["ask", "-f", "-", "application?"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONUTF8": "1"},
        input=b"What is this \xff\xfe",
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().strip() == ascii("What is this \ufffd\ufffd\n\napplication?")


def test_a_terminal_without_utf_8_still_shows_the_answer():
    process = start("ask", "--seed", "1", "Grüße 🦙", PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert out.decode("ascii").strip()


def test_a_reader_that_goes_away_ends_it_quietly():
    process = start("ask", QUESTION)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert process.wait(60) == 1
    process.stderr.close()


@pytest.mark.usefixtures("hears_ctrl_c")
def test_ctrl_c_ends_it_quietly(tmp_path: Path):
    # It never draws the end greedily, and so long a context takes minutes to fill.
    folder = write_tiny_llama(tmp_path / "model", "llama-3.2", max_position_embeddings=2**17)
    process = start("ask", "--model", str(folder), "--max-tokens", "100000", "--temperature", "0", "Hi")
    assert process.stdout is not None
    assert process.stdout.read(1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b"\n")  # not to standard output, which may be JSON


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only there a display can be missing")
@pytest.mark.parametrize(
    "stale",
    [{}, {"DISPLAY": ":2999"}, {"DISPLAY": "of no form"}, {"DISPLAY": ":2999", "WAYLAND_DISPLAY": "wayland-99"}],
)
def test_no_display_is_a_plain_sentence(stale: dict[str, str]):
    env = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    env.pop("QT_QPA_PLATFORM")
    env |= stale
    done = subprocess.run(
        [sys.executable, "-m", "llama_gui"], env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("llama-gui: there is no display")
    assert "llama-gui ask" in done.stderr
    assert "llama-gui serve" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only there a display can be missing")
@pytest.mark.parametrize(
    ("platform", "display", "wayland", "has_cursor", "word"),
    [
        ("offscreen", "", "", False, ""),
        ("", "", "", True, "no display"),
        ("", ":0", "", True, ""),
        ("", ":0", "", False, "libxcb-cursor0"),
        ("", "", "wayland-0", False, ""),
        ("xcb", ":0", "wayland-0", False, "libxcb-cursor0"),
        ("xcb", "", "wayland-0", True, "no display"),
        ("wayland", ":0", "", True, "no display"),
        ("wayland;xcb", ":0", "wayland-9", True, ""),
        ("one-of-tomorrow", "", "", True, ""),
    ],
)
def test_why_there_is_no_window(
    monkeypatch, tmp_path: Path, platform: str, display: str, wayland: str, has_cursor: bool, word: str
):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr("llama_gui.desktop._reaches_x11", lambda: os.environ["DISPLAY"] == ":0")
    for name, value in (("QT_QPA_PLATFORM", platform), ("DISPLAY", display), ("WAYLAND_DISPLAY", wayland)):
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("llama_gui.desktop._loads", lambda _name: has_cursor)
    with socket.socket(socket.AF_UNIX) as compositor:
        compositor.bind(str(tmp_path / "wayland-0"))
        compositor.listen()
        reason = reason_for_no_window()
    assert word in reason
    assert bool(reason) == bool(word)


def test_a_second_start_calls_the_open_window_and_ctrl_c_closes_it(tmp_path: Path):
    (tmp_path / "settings.json").write_text('{"model_path": "/no/such/model"}')  # so that no window waits for torch
    first = start("--profile", str(tmp_path))
    try:
        deadline = time.monotonic() + 90
        while not (tmp_path / "chats.db").exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        second = start("--profile", str(tmp_path))
        out, err = second.communicate(timeout=60)
        assert (second.returncode, out, err) == (0, b"", b"")
        assert first.poll() is None
    finally:
        first.send_signal(signal.SIGINT)
        out, err = first.communicate(timeout=60)
    assert (first.returncode, out, err) == (0, b"", b"")


def test_a_profile_that_cannot_be_made_is_named(tmp_path: Path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["--profile", str(tmp_path / "file" / "profile")]) == 1
    assert str(tmp_path / "file" / "profile") in capsys.readouterr().err
