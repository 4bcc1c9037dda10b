"""Where things lie."""

import sys
from pathlib import Path

import pytest

from llama_gui import paths
from llama_gui.paths import Paths, find_resources


def test_a_profile_keeps_everything_in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    profile = Paths.in_profile("mine")
    for place in (
        profile.data,
        profile.config,
        profile.cache,
        profile.chats_file,
        profile.settings_file,
        profile.models,
    ):
        assert place.is_relative_to(tmp_path / "mine")
    assert not (tmp_path / "mine").exists()


def test_the_usual_places_are_the_system_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("platformdirs.user_data_path", lambda *_args, **_kwargs: tmp_path / "data")
    monkeypatch.setattr("platformdirs.user_config_path", lambda *_args, **_kwargs: tmp_path / "config")
    monkeypatch.setattr("platformdirs.user_cache_path", lambda *_args, **_kwargs: tmp_path / "cache")
    usual = Paths.default()
    assert usual.chats_file == tmp_path / "data" / "chats.db"
    assert usual.settings_file == tmp_path / "config" / "settings.json"
    assert usual.cache == tmp_path / "cache"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    package = tmp_path / "lib" / "llama_gui"
    package.mkdir(parents=True)
    monkeypatch.setattr(paths, "__file__", str(package / "paths.py"))
    monkeypatch.delattr(sys, "_MEIPASS", raising=False)
    return package


def test_resources_of_a_checkout_lie_beside_the_package(package: Path):
    (package.parent / "resources").mkdir()
    assert find_resources() == package.parent / "resources"
    assert Paths.in_profile(package).starter_model == package.parent / "resources" / "starter_model"


def test_resources_of_a_wheel_lie_in_the_package(package: Path):
    (package / "_resources").mkdir()
    (package.parent / "resources").mkdir()  # site-packages/resources would be somebody else's
    assert find_resources() == package / "_resources"


def test_resources_of_a_bundle_lie_where_it_is_unpacked(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (package / "_resources").mkdir()
    (tmp_path / "bundle" / "resources").mkdir(parents=True)
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path / "bundle"), raising=False)
    assert find_resources() == tmp_path / "bundle" / "resources"
