"""`--model`: a path, or a name as `llama-gui models` lists it."""

from dataclasses import replace
from pathlib import Path

import pytest

from llama_gui.__main__ import main
from llama_gui.errors import InvalidRequestError, ModelNotFoundError, ShelfError
from llama_gui.library.shelf_notes import rename
from llama_gui.model_choice import ModelsHere
from llama_gui.paths import Paths
from tests.fakes.tiny_llama import write_tiny_llama
from tests.library.test_shelf import make_gguf, make_model, needs_links
from tests.library.test_shelf_care import make_hub_model


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """A profile with models of its own, and a hub's cache that is empty; the folder at hand is another."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    monkeypatch.chdir(tmp_path)
    paths = Paths.in_profile(tmp_path / "profile")
    make_model(paths.models / "Mine")
    make_gguf(paths.models / "Loose-Q8_0.gguf")
    make_gguf(paths.models / "Loose-Q4_0.gguf")
    return paths


def test_without_a_name_it_is_the_starter_model(paths: Paths):
    assert ModelsHere(paths).chosen(None) == str(paths.starter_model)
    assert ModelsHere(paths).chosen("Starter model") == ModelsHere(paths).chosen("starter") == str(paths.starter_model)


def test_a_starter_model_that_has_gone_is_told(paths: Paths, tmp_path: Path):
    with pytest.raises(ModelNotFoundError, match=r"There is no model at .*gone"):
        ModelsHere(replace(paths, resources=tmp_path / "gone")).chosen(None)


@pytest.mark.parametrize("text", ["Mine", "mine", "Mi"])
def test_a_name_or_how_it_begins(paths: Paths, text: str):
    assert ModelsHere(paths).chosen(text) == str(paths.models / "Mine")


@pytest.mark.parametrize("text", ["Loose-Q8_0", "Loose-Q8_0.gguf", "loose-q8"])
def test_a_gguf_file_by_its_name(paths: Paths, text: str):
    assert ModelsHere(paths).chosen(text) == str(paths.models / "Loose-Q8_0.gguf")


def test_the_very_name_goes_before_one_that_begins_so(paths: Paths):
    make_model(paths.models / "Mine too")
    assert ModelsHere(paths).chosen("mine") == str(paths.models / "Mine")


@needs_links
def test_a_model_of_the_hub_with_its_owner_or_without(paths: Paths, tmp_path: Path):
    entry = make_hub_model(tmp_path / "home" / "hub", "org/Name-1B")
    assert ModelsHere(paths).chosen("org/Name-1B") == ModelsHere(paths).chosen("name") == entry.path
    assert ModelsHere(paths).chosen("org/") == entry.path


@needs_links
def test_a_gguf_file_of_the_hub_by_its_repository(paths: Paths, tmp_path: Path):
    snapshot = tmp_path / "home" / "hub" / "models--org--name-GGUF" / "snapshots" / ("c" * 40)
    file = make_gguf(snapshot / "name-Q4_K_M.gguf")
    assert ModelsHere(paths).chosen("org/name-GGUF") == str(file)


def test_a_name_that_the_user_gave(paths: Paths):
    rename(paths.shelf_file, str(paths.models / "Mine"), "For letters")
    assert ModelsHere(paths).chosen("For letters") == str(paths.models / "Mine")


def test_a_path_goes_before_a_name(paths: Paths, tmp_path: Path):
    make_model(tmp_path / "Mine")
    assert ModelsHere(paths).chosen("Mine") == "Mine"
    assert ModelsHere(paths).chosen(str(paths.models / "Mine")) == str(paths.models / "Mine")


def test_names_that_several_have_or_begin_with_are_told(paths: Paths):
    with pytest.raises(ShelfError, match=r"The names of 2 models begin with loose\. .*Q4_0\.gguf.*Q8_0\.gguf"):
        ModelsHere(paths).chosen("loose")
    make_model(paths.models / "MINE")
    with pytest.raises(ShelfError, match="2 models are called mIne"):
        ModelsHere(paths).chosen("mIne")


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("Mien", "Did you mean Mine? llama-gui models lists those that there are."),
        ("Loos-Q8_0", "Did you mean Loose-Q8_0? llama-gui models lists those that there are."),
        ("quite another", "llama-gui models lists those that there are."),
        ("org/name", "From the hub you get it by: llama-gui download org/name"),
        ("models/name.gguf", "llama-gui models lists those that there are."),
        ("org/mien", "From the hub you get it by: llama-gui download org/mien"),
    ],
)
def test_what_is_not_there_is_told_with_advice(paths: Paths, text: str, advice: str):
    with pytest.raises(ModelNotFoundError) as caught:
        ModelsHere(paths).chosen(text)
    assert str(caught.value) == f"There is no model {text} here. {advice}"


@pytest.mark.parametrize("text", ["/no/such/model", "./model", "a/b/model.gguf"])
def test_a_path_where_nothing_is(paths: Paths, text: str):
    with pytest.raises(ModelNotFoundError, match=r"There is no model at .*model"):
        ModelsHere(paths).chosen(text)


def test_nothing_is_no_name(paths: Paths):
    with pytest.raises(InvalidRequestError, match="--model"):
        ModelsHere(paths).chosen("")


def test_every_command_takes_a_name(paths: Paths, capsys, tmp_path: Path):
    write_tiny_llama(paths.models / "Tiny", "llama-3.2")
    profile = ["--profile", str(tmp_path / "profile")]
    assert main([*profile, "ask", "--model", "tiny", "--max-tokens", "2", "Hi"]) == 0
    sizes = ("--chats", "1", "--prompt-tokens", "4", "--new-tokens", "2")
    assert main([*profile, "bench", "--model", "tiny", *sizes]) == 0
    capsys.readouterr()
    for command in (["ask", "Hi"], ["serve"], ["bench"]):
        assert main([*profile, *command, "--model", "org/name"]) == 1
        assert "llama-gui download org/name" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["ask", "serve", "bench"])
def test_the_help_says_what_can_be_named(capsys, command: str):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert "a name that `llama-gui models` lists" in " ".join(capsys.readouterr().out.split())


def test_a_command_sees_one_state_of_the_shelf(paths: Paths):
    here = ModelsHere(paths)
    assert here.chosen("Mine") == str(paths.models / "Mine")
    rename(paths.shelf_file, str(paths.models / "Mine"), "Renamed meanwhile")
    make_model(paths.models / "Another")
    assert here.name_of(here.chosen("Mine")) == "Mine"
    with pytest.raises(ModelNotFoundError):
        here.chosen("Another")
    assert ModelsHere(paths).name_of(str(paths.models / "Mine")) == "Renamed meanwhile"


@needs_links
def test_the_address_by_which_it_was_fetched_names_it(paths: Paths, tmp_path: Path):
    snapshot = tmp_path / "home" / "hub" / "models--org--name-GGUF" / "snapshots" / ("c" * 40)
    four = make_gguf(snapshot / "name-Q4_K_M.gguf")
    eight = make_gguf(snapshot / "eight" / "name-Q8_0.gguf")
    entry = make_hub_model(tmp_path / "home" / "hub", "org/plain")
    here = ModelsHere(paths)
    for before in ("", "hf.co/", "https://huggingface.co/"):
        assert here.chosen(f"{before}org/name-GGUF:Q4_K_M") == str(four)
        assert here.chosen(f"{before}org/name-GGUF:q8_0") == str(eight)
    assert here.chosen("https://huggingface.co/org/plain") == entry.path
    assert here.chosen("https://hf.co/org/name-GGUF/blob/main/eight/name-Q8_0.gguf") == str(eight)
    with pytest.raises(ShelfError, match="2 models are called hf"):
        here.chosen("hf.co/org/name-GGUF")
    with pytest.raises(ModelNotFoundError, match=r"you get it by: llama-gui download hf.co/org/name-GGUF:Q2_K$"):
        here.chosen("hf.co/org/name-GGUF:Q2_K")
