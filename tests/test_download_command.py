"""``llama-gui download``: what it prints, how it ends, and that Ctrl+C pauses."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from llama_gui.__main__ import main
from llama_gui.download_command import clock, line
from llama_gui.library.download import DownloadProgress
from tests.fakes.fake_hub import FakeHub, Fault, model_files, weights_file
from tests.library.conftest import fake_hub  # noqa: F401
from tests.library.test_shelf import make_gguf

REPO = "owner/small-1B"
WEIGHTS = weights_file(random.Random(3).randbytes(400_000))


@pytest.fixture(autouse=True)
def environment(fake_hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """The hub of our own, a home of our own, nobody signed in."""
    monkeypatch.setenv("HF_ENDPOINT", fake_hub.endpoint)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    for name in ("HF_HUB_OFFLINE", "HF_TOKEN", "HF_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)


def download(capsys, *arguments: str) -> tuple[int, str, str]:
    status = main(["download", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_a_model_is_fetched_and_its_place_printed(fake_hub: FakeHub, tmp_path: Path, capsys):  # noqa: F811
    fake_hub.add(REPO, model_files([WEIGHTS]))
    status, out, err = download(capsys, REPO)
    assert (status, Path(out.strip(), "model.safetensors").read_bytes()) == (0, WEIGHTS)
    assert Path(out.strip()).is_relative_to(tmp_path / "home" / "hub")
    lines = err.splitlines()
    assert lines[0].startswith(f"{REPO} at ")
    assert lines[0].endswith(": 5 files, 0.4 MB.")
    assert lines[-1].startswith("100 %, 0.4 MB of 0.4 MB")
    assert "\r" not in err, "no terminal, no tricks"


def gguf_files(folder: Path) -> dict[str, bytes]:
    sizes = {"m-Q8_0.gguf": 180, "m-Q4_K_M.gguf": 140}
    return {name: make_gguf(folder / name, size).read_bytes() for name, size in sizes.items()}


def test_a_gguf_file_is_chosen(fake_hub: FakeHub, capsys, tmp_path: Path):  # noqa: F811
    fake_hub.add(REPO, gguf_files(tmp_path))
    status, out, _ = download(capsys, REPO, "--file", "m-Q8_0.gguf")
    assert (status, len(Path(out.strip()).read_bytes())) == (0, 180)


def test_a_model_that_cannot_be_used_is_told_at_the_end(fake_hub: FakeHub, capsys):  # noqa: F811
    fake_hub.add(REPO, model_files([WEIGHTS]) | {"config.json": b"{"})
    status, out, err = download(capsys, REPO)
    assert (status, out) == (1, "")
    assert f"{REPO} arrived as the hub has it, but it cannot be used" in err
    assert "config.json is damaged: it is not valid JSON" in err


@pytest.mark.parametrize("rest", ["", "/", "/tree/main", "/blob/main/model.safetensors"])
def test_the_address_of_its_page_is_a_name_too(fake_hub: FakeHub, capsys, rest: str):  # noqa: F811
    fake_hub.add(REPO, model_files([WEIGHTS]))
    status, out, err = download(capsys, f"https://huggingface.co/{REPO}{rest}")
    assert (status, Path(out.strip(), "model.safetensors").read_bytes()) == (0, WEIGHTS), err


@pytest.mark.parametrize("kind", ["blob", "resolve"])
def test_the_address_of_a_gguf_file_asks_for_that_file(fake_hub: FakeHub, capsys, tmp_path: Path, kind: str):  # noqa: F811
    fake_hub.add(REPO, gguf_files(tmp_path))
    status, out, err = download(capsys, f"https://huggingface.co/{REPO}/{kind}/main/m-Q8_0.gguf")
    assert (status, Path(out.strip()).name) == (0, "m-Q8_0.gguf"), err
    status, out, err = download(capsys, f"https://huggingface.co/{REPO}", "--file", "m-Q4_K_M.gguf")
    assert (status, Path(out.strip()).name) == (0, "m-Q4_K_M.gguf"), err


def test_a_gguf_file_in_a_folder_is_fetched_and_then_listed(fake_hub: FakeHub, capsys, tmp_path: Path):  # noqa: F811
    fake_hub.add(REPO, {f"{name[2:-5]}/{name}": content for name, content in gguf_files(tmp_path).items()})
    status, out, err = download(capsys, f"{REPO}:Q8_0")
    assert (status, Path(out.strip()).parts[-2:]) == (0, ("Q8_0", "m-Q8_0.gguf")), err
    assert main(["--profile", str(tmp_path / "profile"), "models"]) == 0
    assert out.strip() in capsys.readouterr().out
    assert main(["--profile", str(tmp_path / "profile"), "models", "--delete", "m-Q8_0", "--yes"]) == 0
    assert not Path(out.strip()).exists()


@pytest.mark.parametrize("before", ["hf.co/", "https://huggingface.co/", ""])
def test_an_address_as_ollama_and_llama_cpp_have_it_asks_for_a_kind(
    fake_hub: FakeHub,  # noqa: F811
    capsys,
    tmp_path: Path,
    before: str,
):
    fake_hub.add(REPO, gguf_files(tmp_path))
    status, out, err = download(capsys, f"{before}{REPO}:q8_0")
    assert (status, Path(out.strip()).name) == (0, "m-Q8_0.gguf"), err
    status, out, err = download(capsys, f"{before}{REPO}:Q2_K")
    assert (status, out) == (1, "")
    assert f"{REPO} holds no GGUF file Q2_K. There are: m-Q8_0.gguf, m-Q4_K_M.gguf." in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["owner/none"], ["owner/none", "sign in"]),
        (["nonsense"], ["nonsense", "owner/name"]),
        ([REPO, "--limit", "fast"], ["limit", "fast", "2.5M"]),
        ([REPO, "--limit", "0"], ["limit", "bytes per second"]),
        ([REPO, "--revision", "v9"], [REPO, "v9"]),
        (["owner/gated"], ["owner/gated", "accept its licence"]),
    ],
)
def test_what_cannot_be_is_told(fake_hub: FakeHub, capsys, arguments: list[str], words: list[str]):  # noqa: F811
    fake_hub.add(REPO, model_files([WEIGHTS]))
    fake_hub.add("owner/gated", model_files([WEIGHTS]), gated="manual", token="t")
    status, out, err = download(capsys, *arguments)
    assert (status, out) == (1, "")
    assert all(word in err for word in words), err


def test_the_token_of_the_environment_is_used(fake_hub: FakeHub, capsys, monkeypatch):  # noqa: F811
    fake_hub.add(REPO, model_files([WEIGHTS]), private=True, token="hf_t")
    monkeypatch.setenv("HF_TOKEN", "hf_t")
    status, out, err = download(capsys, REPO)
    assert status == 0
    assert "hf_t" not in out + err


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send")
@pytest.mark.usefixtures("hears_ctrl_c")
def test_ctrl_c_pauses_and_says_how_to_go_on(fake_hub: FakeHub, capsys):  # noqa: F811
    fake_hub.add(REPO, model_files([WEIGHTS]))
    fake_hub.break_next("model.safetensors", Fault("stall", at=300_000))
    child = subprocess.Popen(
        [sys.executable, "-m", "llama_gui", "download", REPO, "--limit", "2M"],
        env=os.environ.copy(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stderr is not None
    for told in child.stderr:
        if told.startswith((" 70 %", " 71 %", " 72 %", " 73 %", " 74 %", " 75 %")):
            child.send_signal(signal.SIGINT)
            break
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (130, "")
    assert f"go on with: llama-gui download {REPO}" in err
    assert "Traceback" not in err

    status, _, err = download(capsys, REPO)
    assert status == 0
    assert "of it are there" in err
    ranges = [asked.headers["Range"] or "" for asked in fake_hub.asked("model.safetensors", host="cdn")]
    starts = [int(asked.removeprefix("bytes=").removesuffix("-")) for asked in ranges if asked.startswith("bytes=")]
    assert [start for start in starts if 260_000 <= start <= 300_000], ranges  # what had come by then is not sent again


def test_offline_mode_is_respected(fake_hub: FakeHub, capsys, monkeypatch):  # noqa: F811
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    status, _, err = download(capsys, REPO)
    assert (status, fake_hub.log) == (1, [])
    assert "Offline mode is on" in err


def test_a_line_says_how_far_it_is():
    progress = DownloadProgress("r", "downloading", 2 * 10**9, 4 * 10**9, 1e7, 200.0)
    assert line(progress) == " 50 %, 2.00 GB of 4.00 GB, 10.0 MB/s, 3:20 left"
    waiting = DownloadProgress("r", "waiting", 0, 10**6, note="the server is silent")
    assert line(waiting) == "  0 %, 0.0 MB of 1.0 MB – the server is silent"
    assert clock(3725) == "1:02:05"


def test_help_names_what_is_respected(capsys):
    with pytest.raises(SystemExit):
        main(["download", "--help"])
    assert "HF_TOKEN" in capsys.readouterr().out
