"""The user's settings on disk."""

import json
import os
import stat
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llama_gui.errors import SettingsError
from llama_gui.settings import UserSettings, _parse, load_settings, save_settings
from llama_gui.vocabulary import LoadOptions

CHANGED = UserSettings("/models/x", "dark", 1.5, "sequential", 2, False, False, "AdnQ", ("/models/x", "/models/y"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config" / "settings.json"


def test_they_come_back(path: Path):
    assert load_settings(path) == (UserSettings(), "")
    for kept in (CHANGED, UserSettings(split_chats=("a", "b"), split_share=0.4), UserSettings()):
        save_settings(path, kept)
        assert load_settings(path) == (kept, "")
    assert [part.name for part in path.parent.iterdir()] == ["settings.json"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff\xfe\x00", b"[" * 200_000, b'"text"'])
def test_a_broken_file_is_set_aside(path: Path, content: bytes):
    path.parent.mkdir()
    path.write_bytes(content)
    settings, notice = load_settings(path)
    assert settings == UserSettings()
    assert "was broken" in notice
    assert path.with_name("settings.json.broken").read_bytes() == content
    assert not path.exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("zoom", "big"),
        ("zoom", 99),
        ("zoom", True),
        ("zoom", float("nan")),
        ("color_scheme", "pink"),
        ("color_scheme", []),
        ("strategy", "magic"),
        ("threads", 0),
        ("threads", 1.5),
        ("model_path", 5),
        ("sidebar_open", 1),
        ("recent_models", [1]),
        ("recent_models", "x"),
        ("window_geometry", None),
        ("unload_after_minutes", -1),
        ("prompt_cache_gb", 0.5),
        ("meaning_model", None),
        ("split_chats", ["one"]),
        ("split_chats", "ab"),
        ("split_share", 1.0),
        ("split_share", "half"),
    ],
)
def test_one_wrong_value_costs_only_itself(path: Path, name: str, value: object):
    save_settings(path, CHANGED)
    values = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**values, name: value}), encoding="utf-8")
    settings, notice = load_settings(path)
    assert settings == replace(CHANGED, **{name: getattr(UserSettings(), name)})
    assert f"wrong value for {name}" in notice
    assert load_settings(path) == (settings, "")  # also if nothing is changed before the next start


def test_a_value_of_another_version_is_no_fault(path: Path):
    path.parent.mkdir()
    path.write_text('{"from_the_future": 1, "zoom": 2}', encoding="utf-8")
    assert load_settings(path) == (UserSettings(zoom=2), "")


NAMES = st.sampled_from([field.name for field in fields(UserSettings)])
VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)  # where others have the cores
@given(st.dictionaries(NAMES, VALUES | st.lists(VALUES, max_size=3) | st.dictionaries(NAMES, VALUES, max_size=2)))
def test_no_content_makes_it_fail(value: object):
    settings, _ = _parse(json.dumps(value).encode())
    assert 0.5 <= settings.zoom <= 3.0


def test_a_failed_write_leaves_the_former_file(path: Path, monkeypatch: pytest.MonkeyPatch):
    save_settings(path, CHANGED)

    def fail(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(SettingsError, match="No space left on device"):
        save_settings(path, UserSettings())
    assert load_settings(path) == (CHANGED, "")
    assert [part.name for part in path.parent.iterdir()] == ["settings.json"]


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path):
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_only_the_owner_can_read_it(path: Path):
    save_settings(path, CHANGED)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_how_models_are_loaded_comes_back(path: Path):
    options = {
        "/m/a": LoadOptions("int8"),
        "starter": LoadOptions(device="cpu", max_context=1000, threads=1, guesses=False, cache_dtype="int8"),
    }
    settings = UserSettings(load_options=options)
    save_settings(path, settings)
    assert load_settings(path) == (settings, "")


def test_how_models_were_loaded_before_they_had_a_context_length_is_understood(path: Path):
    path.parent.mkdir()
    path.write_text(json.dumps({"load_options": {"/m/a": {"dtype": "int8", "device": "auto"}}}), encoding="utf-8")
    assert load_settings(path) == (UserSettings(load_options={"/m/a": LoadOptions("int8")}), "")


def test_a_former_default_is_no_choice(path: Path):
    """Guesses were off by default; what was kept then, for another option's sake, is not what the user wants now."""
    path.parent.mkdir()
    kept = {"load_options": {"/m/a": {"dtype": "int8", "guesses": False}}, "zoom": 2.0}
    path.write_text(json.dumps(kept), encoding="utf-8")
    settings = UserSettings(load_options={"/m/a": LoadOptions("int8", guesses=True)}, zoom=2.0)
    assert load_settings(path) == (settings, "")

    chosen = replace(settings, load_options={"/m/a": LoadOptions("int8", guesses=False)})
    save_settings(path, chosen)
    assert load_settings(path) == (chosen, "")


@pytest.mark.parametrize(
    "options",
    [
        {"/m/a": {"guesses": 1}},
        {"/m/a": {"dtype": "int3"}},
        {"/m/a": {"dtype": []}},
        {"/m/a": {"cache_dtype": "int4"}},
        {"/m/a": {"max_context": "all"}},
        {"/m/a": 1},
        [1],
    ],
)
def test_load_options_that_cannot_be_cost_only_themselves(path: Path, options: object):
    path.parent.mkdir()
    path.write_text(json.dumps({"format": 2, "load_options": options, "zoom": 2.0}), encoding="utf-8")
    settings, notice = load_settings(path)
    assert (settings.load_options, settings.zoom) == ({}, 2.0)
    assert "wrong value for load_options" in notice
    assert "what could be read is kept" in notice


def test_load_options_that_cannot_be_cost_those_of_no_other_model(path: Path):
    path.parent.mkdir()
    values = {"load_options": {"/m/a": {"dtype": "int8"}, "/m/b": {"dtype": "int3"}}}
    path.write_text(json.dumps(values), encoding="utf-8")
    settings, notice = load_settings(path)
    assert settings.load_options == {"/m/a": LoadOptions("int8")}
    assert "wrong value for load_options" in notice


def test_a_load_option_of_another_version_is_no_fault(path: Path):
    path.parent.mkdir()
    values = {"load_options": {"/m/a": {"dtype": "int8", "from_the_future": 1}}}
    path.write_text(json.dumps(values), encoding="utf-8")
    assert load_settings(path) == (UserSettings(load_options={"/m/a": LoadOptions("int8")}), "")
