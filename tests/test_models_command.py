"""``llama-gui models``: the list, the check, the deletion, the offer and the search."""

import io
import json
from pathlib import Path

import pytest
from filelock import FileLock

from llama_gui.__main__ import main
from llama_gui.models_command import _count
from llama_gui.paths import Paths
from llama_gui.settings import UserSettings, save_settings
from tests.fakes.fake_hub import FakeHub, model_files
from tests.library.conftest import fake_hub  # noqa: F401
from tests.library.test_hub import info
from tests.library.test_leftovers import leave
from tests.library.test_shelf import make_gguf, make_model
from tests.library.test_shelf_care import make_hub_model, needs_links


@pytest.fixture
def profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A profile with one model of its own, beside a hub cache with another."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    make_model(tmp_path / "profile" / "models" / "Mine", weights=2_000_000)
    make_hub_model(tmp_path / "home" / "hub", "org/name")
    return tmp_path / "profile"


def models(capsys, profile: Path, *arguments: str) -> tuple[int, str, str]:
    status = main(["--profile", str(profile), "models", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@needs_links
def test_the_list_names_size_and_place(capsys, profile: Path):
    make_gguf(profile / "models" / "Loose-Q8_0.gguf")
    status, out, err = models(capsys, profile)
    rows = [line.split("  ")[0] for line in out.splitlines()]
    assert (status, err) == (0, "")
    assert rows == ["Name", "Starter model", "Loose-Q8_0", "Mine", "org/name"]
    assert "2.0 MB" in out
    assert str(profile / "models" / "Mine") in out


def test_the_list_says_which_models_do_not_write(capsys, profile: Path):
    modules = [{"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"}]
    (profile / "models" / "Mine" / "modules.json").write_text(json.dumps(modules))
    _, out, _ = models(capsys, profile)
    assert "Mine (for embeddings)" in [line.split("  ")[0] for line in out.splitlines()]


def test_the_list_says_which_models_only_guess(capsys, profile: Path):
    make_gguf(profile / "models" / "mtp-Loose.gguf", architecture="gemma4-assistant")
    _, out, _ = models(capsys, profile)
    assert "mtp-Loose (guesses for another)" in [line.split("  ")[0] for line in out.splitlines()]


def test_folders_that_the_window_has_added_are_listed_too(capsys, profile: Path, tmp_path: Path):
    make_model(tmp_path / "disk" / "Added")
    make_model(tmp_path / "Opened")
    settings = UserSettings(recent_models=(str(tmp_path / "Opened"),), model_folders=(str(tmp_path / "disk"),))
    save_settings(Paths.in_profile(profile).settings_file, settings)
    _, out, err = models(capsys, profile)
    assert {"Added", "Opened"} <= {line.split("  ")[0] for line in out.splitlines()}
    assert err == ""


def test_what_another_program_keeps_is_listed_and_not_deleted(capsys, profile: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    file = make_gguf(tmp_path / ".lmstudio" / "models" / "org" / "a" / "Theirs-Q8_0.gguf", architecture="llama")
    _, out, _ = models(capsys, profile)
    assert "Theirs-Q8_0" in {line.split("  ")[0] for line in out.splitlines()}
    status, _, err = models(capsys, profile, "--delete", "Theirs-Q8_0", "--yes")
    assert status == 1
    assert "Theirs-Q8_0 is kept by LM Studio. Delete it there." in err
    assert file.exists()


def test_settings_that_were_broken_are_told(capsys, profile: Path):
    profile.joinpath("settings.json").write_text("{", encoding="utf-8")
    status, out, err = models(capsys, profile)
    assert status == 0
    assert "Mine" in out
    assert "settings.json.broken" in err


def test_a_name_that_several_have_is_told(capsys, profile: Path):
    make_model(profile / "models" / "MINE")
    status, _, err = models(capsys, profile, "--delete", "mIne", "--yes")
    assert status == 1
    assert "2 models are called mIne" in err
    assert str(profile / "models" / "MINE") in err
    assert models(capsys, profile, "--delete", "Mine", "--yes")[0] == 0
    assert (profile / "models" / "MINE").exists()


def test_names_do_nothing_to_the_terminal(capsys, profile: Path):
    for name in ("a\x1b[31mred", "a\nb"):
        try:
            make_model(profile / "models" / name)
        except OSError:  # Windows has no such names
            return
    status, out, err = models(capsys, profile, "--delete", "a")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert len(models(capsys, profile)[1].splitlines()) == 1 + 1 + 4
    status, _, err = models(capsys, profile, "--delete", "A\x1b[31mred\nX")
    assert "\x1b" not in err
    assert "llama-gui models lists those that there are." in err


@needs_links
def test_verify_finds_a_wrong_bit(capsys, profile: Path):
    status, out, _ = models(capsys, profile, "--verify")
    assert status == 0
    assert "org/name: sound (2 by checksum)" in out
    assert "Mine: sound (2 by form only)" in out
    weights = next((profile.parent / "home").rglob("model.safetensors")).resolve()
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    status, out, _ = models(capsys, profile, "--verify", "org/name")
    assert status == 1
    assert "org/name: damaged" in out
    assert "Mine" not in out


@needs_links
def test_delete_frees_and_says_how_much(capsys, profile: Path):
    status, out, _ = models(capsys, profile, "--delete", "mine", "--yes")
    assert (status, out) == (0, "Mine is deleted; 2.0 MB are free again.\n")
    assert not (profile / "models" / "Mine").exists()
    assert models(capsys, profile, "--delete", "org/name", "--yes")[0] == 0
    assert not list((profile.parent / "home").rglob("*.safetensors"))


@pytest.mark.parametrize(("answer", "is_gone"), [("y\n", True), ("n\n", False), ("", False)])
def test_delete_asks(capsys, profile: Path, monkeypatch, answer: str, is_gone: bool):
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    _, out, _ = models(capsys, profile, "--delete", "Mine")
    assert out.startswith("Delete Mine (2.0 MB) in ")
    assert (profile / "models" / "Mine").exists() != is_gone


@pytest.mark.parametrize("name", ["Starter model", "Nothing"])
@pytest.mark.parametrize("sure", [(), ("--yes",)])
def test_what_cannot_be_deleted_is_told_before_anything_is_asked(capsys, profile: Path, name: str, sure, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    status, out, err = models(capsys, profile, "--delete", name, *sure)
    assert (status, out) == (1, "")
    assert err.startswith("llama-gui: ")


@pytest.fixture
def cache(profile: Path) -> Path:
    """The hub's cache, with what two downloads have left; one of them waits in the window."""
    cache = profile.parent / "home" / "hub"
    leave(cache, "org/half", of_others=2_000_000)
    leave(cache, "org/waits", of_others=3_000_000)
    file = Paths.in_profile(profile).downloads_file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"version": 1, "downloads": [{"repo": "org/waits"}]}), encoding="utf-8")
    return cache


@needs_links
def test_unfinished_downloads_are_listed_and_pruned(capsys, profile: Path, cache: Path):
    _, out, _ = models(capsys, profile)
    assert "llama-gui models --prune" in out
    (half,) = [line for line in out.splitlines() if line.startswith("  org/half: 2.0 MB, of 20")]
    assert half.endswith(", unfinished")
    assert "goes on with: llama-gui download NAME" in out
    status, out, _ = models(capsys, profile, "--prune", "--yes")
    assert status == 0
    assert "org/waits: 3.0 MB" in out
    assert "stays, because it waits in the window" in out
    assert out.endswith("2.0 MB are free again.\n")
    assert not (cache / "models--org--half").exists()
    assert models(capsys, profile, "--prune", "Org/Waits", "--yes")[1].endswith("3.0 MB are free again.\n")
    assert models(capsys, profile, "--prune")[1] == "There is nothing to delete.\n"
    assert "org/name" in models(capsys, profile)[1]


@needs_links
def test_whole_files_that_no_model_uses_are_not_called_unfinished(capsys, profile: Path):
    """As other hub tools leave those of an old revision."""
    leave(profile.parent / "home" / "hub", "org/name", whole=2_000_000)
    _, out, _ = models(capsys, profile)
    assert "  org/name: 2.0 MB, of 20" in out
    assert "unfinished" not in out
    assert "llama-gui download" not in out


@pytest.mark.parametrize(("answer", "is_gone"), [("y\n", True), ("n\n", False), ("", False)])
@needs_links
def test_prune_asks(capsys, profile: Path, cache: Path, monkeypatch, answer: str, is_gone: bool):
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    status, out, _ = models(capsys, profile, "--prune", "org/half")
    assert "Delete these 2.0 MB? [y/N]" in out
    assert (status == 0) is is_gone
    assert (cache / "models--org--half").exists() != is_gone


@pytest.mark.parametrize("option", ["--delete", "--prune", "--verify"])
@needs_links
def test_an_empty_name_does_not_mean_all(capsys, profile: Path, cache: Path, option: str):
    """As a script has it whose variable is not set."""
    status, out, err = models(capsys, profile, option, "", "--yes")
    assert (status, out) == (1, "")
    assert err == f"llama-gui: {option} is '', but it must be a name that llama-gui models lists.\n"
    assert (cache / "models--org--half").exists()


@needs_links
def test_a_download_that_is_not_there_is_told(capsys, profile: Path, cache: Path):
    status, out, err = models(capsys, profile, "--prune", "org/name", "--yes")
    assert (status, out) == (1, "")
    assert "Nothing of org/name is unused. There is something of: org/half, org/waits." in err


@needs_links
def test_with_a_list_that_cannot_be_read_only_what_is_named_goes(capsys, profile: Path, cache: Path):
    Paths.in_profile(profile).downloads_file.write_bytes(b"{")
    status, out, err = models(capsys, profile, "--prune", "--yes")
    assert (status, out) == (1, "")
    assert "downloads.json is damaged, so nobody can tell what waits in the window." in err
    assert (cache / "models--org--half").exists()
    assert (cache / "models--org--waits").exists()
    assert models(capsys, profile, "--prune", "org/half", "--yes")[1].endswith("2.0 MB are free again.\n")


@needs_links
def test_what_runs_just_now_is_told_and_the_others_go(capsys, profile: Path, cache: Path):
    leave(cache, "org/runs", of_others=4_000_000)
    lock = cache / ".locks" / "models--org--runs" / "x.lock"
    lock.parent.mkdir(parents=True)
    with FileLock(lock):
        status, out, err = models(capsys, profile, "--prune", "--yes")
    assert status == 1
    assert out.endswith("2.0 MB are free again.\n")
    assert "org/runs is being downloaded just now" in err
    assert (cache / "models--org--runs").exists()


def test_what_is_offered_says_whether_it_runs_here(capsys, profile: Path):
    status, out, _ = models(capsys, profile, "--offered")
    assert status == 0
    assert "HuggingFaceTB/SmolLM2-135M-Instruct" in out
    assert all(word in line for line in out.splitlines()[1:] for word in ("GB as ", ":")) or "MB as " in out


def test_search_lists_what_we_can_run(fake_hub: FakeHub, capsys, profile: Path, monkeypatch):  # noqa: F811
    monkeypatch.setenv("HF_ENDPOINT", fake_hub.endpoint)
    monkeypatch.delenv("HF_HUB_OFFLINE")
    fake_hub.add("a/one", model_files(), info=info(downloads=1234))
    fake_hub.add("a/\x1b[31mred", model_files(), info=info())
    in_fp8 = info(safetensors={"parameters": {"F8_E4M3": 8 * 10**9}, "total": 8 * 10**9})
    in_fp8["config"]["quantization_config"] = {"quant_method": "fp8"}
    fake_hub.add("a/two", model_files(), info=in_fp8)
    told = {"tags": ["gguf"], "gguf": {"architecture": "llama", "total": 10**9}, "downloads": 5678}
    fake_hub.add("a/b-GGUF", {"b-Q6_K.gguf": b"x"}, info=told)
    status, out, _ = models(capsys, profile, "--search", "a/")
    assert status == 0
    assert [line.split()[:2] for line in out.splitlines()[:3]] == [
        ["Repository", "Files"],
        ["a/b-GGUF", "GGUF"],
        ["a/one", "safetensors"],
    ]
    assert "a/one" in out
    assert [line.split()[0] for line in out.splitlines() if "8.00 billion, in FP8" in line] == ["a/two"]
    assert "1,234" in out
    assert "0.00" not in out
    assert "\x1b" not in out, "the terminal is not painted by the hub"


def test_a_search_that_finds_nothing_says_so(fake_hub: FakeHub, capsys, profile: Path, monkeypatch):  # noqa: F811
    monkeypatch.setenv("HF_ENDPOINT", fake_hub.endpoint)
    monkeypatch.delenv("HF_HUB_OFFLINE")
    status, out, err = models(capsys, profile, "--search", "no such")
    assert (status, out) == (0, "")
    assert err == "The hub has nothing of that name that we run. Try fewer words.\n"


@pytest.mark.parametrize(
    ("parameters", "words"),
    [(None, "?"), (1_200_000, "1.2 million"), (134_515_008, "0.13 billion"), (8_030_261_248, "8.03 billion")],
)
def test_parameters_in_words(parameters: int | None, words: str):
    assert _count(parameters) == words
