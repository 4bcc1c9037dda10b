"""How commands end, each as a process of its own."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from llama_gui.__main__ import main
from llama_gui.errors import UserError
from llama_gui.terminal import FAILED, INTERRUPTED, in_terminal


def llama_gui(profile: Path, *arguments: str, **env: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "llama_gui", "--profile", str(profile), *arguments]
    here = {**os.environ, "HF_HOME": str(profile / "hub"), **env}
    before = signal.signal(
        signal.SIGINT, signal.SIG_DFL
    )  # if we ignore it, as in a shell's background, a child does, too
    try:
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=here)
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(("error", "status", "said"), [
    (UserError("Do this."), FAILED, "llama-gui: Do this.\n"),
    (KeyboardInterrupt(), INTERRUPTED, "\n"),
])  # fmt: skip
def test_what_ends_a_command(error: BaseException, status: int, said: str, capsys: pytest.CaptureFixture[str]):
    def work() -> int:
        raise error

    assert in_terminal(work) == status
    assert capsys.readouterr() == ("", said)


def test_a_terminal_without_utf_8_shows_the_models(tmp_path: Path):
    process = llama_gui(tmp_path, "models", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert b"Starter model" in out


@pytest.mark.skipif(os.name != "posix", reason="pipes break elsewhere otherwise")
def test_a_reader_that_goes_away_ends_it_quietly(tmp_path: Path):
    process = llama_gui(tmp_path, "models")
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(60) == FAILED
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()


@pytest.mark.parametrize("command", [("ask", "Hi"), ("bench",), ("serve", "--port", "0")])
def test_ctrl_c_while_torch_is_imported_ends_it_quietly(tmp_path: Path, command: tuple[str, ...]):
    """A torch that catches it and fails in its own words, as numpy and its kin do."""
    (tmp_path / "torch.py").write_text(
        "import signal\n"
        "try:\n"
        "    signal.raise_signal(signal.SIGINT)\n"
        "except KeyboardInterrupt:\n"
        "    raise ImportError('cannot load module more than once per process')\n",
        encoding="utf-8",
    )
    places = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    process = llama_gui(tmp_path / "profile", *command, PYTHONPATH=os.pathsep.join(places))
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err.strip()) == (INTERRUPTED, b"")


def test_ctrl_c_while_a_command_is_imported_ends_it_quietly(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    class Interrupting:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "llama_gui.models_command":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "llama_gui.models_command", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupting(), *sys.meta_path])
    assert main(["models"]) == INTERRUPTED
    assert capsys.readouterr() == ("", "\n")
