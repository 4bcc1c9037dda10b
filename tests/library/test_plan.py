"""What a hub says about files is believed only when it can be true and harmless."""

from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llama_gui.errors import DownloadError, InvalidRequestError
from llama_gui.library.plan import DownloadPlan, RemoteFile, check_repo, choose_files, is_safe_path, named_gguf

COMMIT, SHA1, SHA256 = "c" * 40, "a" * 40, "b" * 64


@pytest.mark.parametrize(
    "path",
    [
        "", "/a", "../a", "a/../b", "a//b", "./a", "a\\b", "C:a", "c:/a", "a\nb", "a\0b", "x" * 201, "con.txt",
        "a/NUL", "a ", "a.", "a?",
    ],
)  # fmt: skip
def test_dangerous_paths(path: str):
    assert not is_safe_path(path)
    with pytest.raises(DownloadError, match="Nothing was done"):
        RemoteFile(path, 1, SHA1)


@pytest.mark.parametrize("path", ["config.json", "a/b.gguf", "Modèle.gguf", ".hidden", "a..b"])
def test_harmless_paths(path: str):
    assert is_safe_path(path)


@given(st.text(max_size=30))
@settings(max_examples=200, deadline=None)
def test_no_path_leads_out(path: str):
    if is_safe_path(path):
        for kind in (PurePosixPath, PureWindowsPath):
            joined = kind("/root") / kind(path)
            assert kind("/root") in joined.parents
            assert ".." not in joined.parts


@pytest.mark.parametrize(
    ("size", "checksum"), [(-1, SHA1), (1.5, SHA1), (True, SHA1), (1, ""), (1, "x" * 40), (1, "../../../x"), (1, None)]
)
def test_sizes_and_checksums_are_checked(size: Any, checksum: Any):
    with pytest.raises(DownloadError):
        RemoteFile("a", size, checksum)


def test_a_plan_survives_json():
    plan = DownloadPlan("a/b", "main", COMMIT, (RemoteFile("config.json", 2, SHA1), RemoteFile("m.gguf", 3, SHA256)))
    assert DownloadPlan.from_json(plan.as_json()) == plan
    assert plan.size == 5


def test_a_folder_that_sees_brings_what_is_said_of_its_images():
    names = ("config.json", "model.safetensors", "preprocessor_config.json", "processor_config.json", "notes.json")
    chosen = choose_files("a/b", [RemoteFile(name, 1, SHA1) for name in names])
    assert {file.path for file in chosen} == {*names[:4]}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("m-00001-of-00002.gguf", "a/b cannot be run: its GGUF files come in parts"),
        ("mmproj-F16.gguf", r"holds no GGUF file mmproj-F16\.gguf\. There are: m-Q8_0\.gguf\."),
        ("m-Q4_0.gguf", r"holds no GGUF file m-Q4_0\.gguf\. There are: m-Q8_0\.gguf\."),
    ],
)
def test_a_gguf_file_that_is_no_whole_model_is_refused_before_it_is_fetched(name: str, words: str):
    paths = ("m-Q8_0.gguf", "m-00001-of-00002.gguf", "m-00002-of-00002.gguf", "mmproj-F16.gguf")
    with pytest.raises(DownloadError, match=words):
        choose_files("a/b", [RemoteFile(path, 1, SHA1) for path in paths], name)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("Q4_K_M", "m-Q4_K_M.gguf"),
        ("q4_k_m", "m-Q4_K_M.gguf"),
        ("m-Q8_0.gguf", "old/m-Q8_0.gguf"),
        ("M-q8_0", "old/m-Q8_0.gguf"),
        ("UD-Q4_K_M", "x/m-UD-Q4_K_M.gguf"),
        ("x/m-UD-Q4_K_M.gguf", "x/m-UD-Q4_K_M.gguf"),
        ("Q6_K", "m.Q6_K-imat.gguf"),
        ("K_M", None),
        ("Q4_K", None),
        ("Q5_K_M", None),
        ("F16", None),
        ("", None),
    ],
)
def test_a_gguf_file_is_meant_by_path_name_or_kind(name: str, path: str | None):
    paths = "x/m-UD-Q4_K_M.gguf", "m-Q4_K_M.gguf", "old/m-Q8_0.gguf", "m.Q6_K-imat.gguf", "mmproj-F16.gguf"
    parts = "m-Q5_K_M-00001-of-00002.gguf", "m-Q5_K_M-00002-of-00002.gguf"
    found = named_gguf([RemoteFile(path, 1, SHA1) for path in (*paths, *parts)], name)
    assert (found.path if found else None) == path


@pytest.mark.parametrize("commit", ["main", "", "C" * 40, "../" + COMMIT])
def test_a_commit_is_forty_digits(commit: str):
    with pytest.raises(DownloadError, match="as the commit"):
        DownloadPlan("a/b", "main", commit, ())


def test_names_that_differ_only_in_case_are_refused():
    with pytest.raises(DownloadError, match="only in case"):
        DownloadPlan("a/b", "main", COMMIT, (RemoteFile("A", 1, SHA1), RemoteFile("a", 1, SHA1)))


@pytest.mark.parametrize("revision", ["../../x", "/etc", "a/../b", ""])
def test_a_revision_is_a_name(revision: str):
    with pytest.raises(InvalidRequestError, match="revision"):
        DownloadPlan("a/b", revision, COMMIT, ())


@pytest.mark.parametrize("repo", ["a", "a/b/c", "a--b/c", "/a", "a/", "a/..", "a b/c", "a/b\n", "é/a", "-a/b"])
def test_a_repo_is_owner_and_name(repo: str):
    with pytest.raises(InvalidRequestError):
        check_repo(repo)
