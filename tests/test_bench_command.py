"""``llama-gui bench``: its table, its JSON, and what it refuses."""

import json

import pytest

from llama_gui.__main__ import main
from llama_gui.engine import native_library
from llama_gui.engine.presets import PRESETS
from tests.fakes.tiny_llama import write_tiny_llama

FIELDS = {
    "work", "dtype", "device", "chats", "prompt_tokens", "new_tokens", "tokens_per_second", "step_ms",
    "peak_rss_bytes", "cache_dtype",
}  # fmt: skip


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return str(write_tiny_llama(tmp_path_factory.mktemp("tiny")))


def bench(capsys, *arguments: str) -> tuple[int, str, str]:
    status = main(["bench", "--prompt-tokens", "8", "--new-tokens", "3", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_json_has_one_object_for_each_measurement(capsys, model):
    status, out, err = bench(capsys, "--model", model, "--chats", "1,2", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert (status, err) == (0, "")
    assert [(row["work"], row["chats"]) for row in rows] == [("prefill", 1), ("decode", 1), ("decode", 2)]
    assert all(set(row) == FIELDS for row in rows)


def test_keys_and_values_are_kept_as_it_was_said(capsys, model):
    if native_library.load() is None:
        pytest.skip("there are no kernels here")
    options = ("--model", model, "--chats", "1", "--dtype", "float32", "--json")
    for more, kept in (((), "float32"), (("--cache-dtype", "int8"), "int8")):
        out = bench(capsys, *options, *more)[1]
        assert {json.loads(line)["cache_dtype"] for line in out.splitlines()} == {kept}


def test_the_table_names_the_model_and_has_a_line_for_each(capsys, model):
    status, out, _ = bench(capsys, "--model", model, "--chats", "2", "--dtype", "float32")
    lines = out.splitlines()
    assert status == 0
    assert "float32 on cpu, 1 thread, " in lines[0]
    assert [line.split()[0] for line in lines[1:]] == ["work", "prefill", "decode"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--chats", "none"), "chats"),
        (("--chats", "0"), "chats"),
        (("--chats", "1,"), "chats"),
        (("--preset", "gpt-5"), "llama-3.2-1b"),
        (("--preset", "llama-3.2-1b", "--model", "x"), "--model"),
        (("--dtype", "int3"), "int3"),
        (("--cache-dtype", "int4"), "one of auto, int8"),
        (("--prompt-tokens", "0", "--model", "/no/such/model"), "prompt_tokens"),
        (("--new-tokens", "1", "--model", "/no/such/model"), "new_tokens"),
        (("--prompt-tokens", "99999"), "prompt_tokens is 99999, but it must be at most"),
        (("--prompt-tokens", "2040", "--new-tokens", "100"), "at most"),
    ],
)
def test_what_cannot_be_measured_is_told_in_one_sentence(capsys, arguments, named):
    status, out, err = bench(capsys, *arguments)
    assert (status, out) == (1, "")
    assert err.startswith("llama-gui: ")
    assert named in err
    assert len(err.splitlines()) == 1


def test_the_help_names_every_preset(capsys):
    with pytest.raises(SystemExit):
        main(["bench", "--help"])
    said = capsys.readouterr().out
    assert [name for name in PRESETS if name not in said.replace("\n", "").replace(" ", "")] == []
