"""Search, details and plans, by the real client from a hub on this machine."""

import json
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from llama_gui.engine.families import FAMILIES
from llama_gui.errors import (
    DownloadError,
    GatedModelError,
    HubError,
    HubOfflineError,
    InvalidRequestError,
    NotOnHubError,
)
from llama_gui.library import hub as hub_module
from llama_gui.library.access import HubAccess
from llama_gui.library.hub import ARCHITECTURES, MODEL_TYPES, Hub, plain_excerpt
from llama_gui.library.model_shape import ModelShape
from tests.fakes.fake_hub import FakeHub, Fault, model_files

REPO = "owner/small-1B"
CARD = """---
license: apache-2.0
---

# Small <b>model</b>

![logo](x.png) It *answers* [questions](https://example.com) with `care`.

| a | table |
|---|---|

```python
print("code")
```

Second paragraph\u202e reversed.
"""


def info(architecture: str = "LlamaForCausalLM", *, kind: str = "llama", **more: Any) -> dict[str, Any]:
    tags = ["safetensors", "text-generation", kind, "license:apache-2.0"]
    config = {"architectures": [architecture], "model_type": kind}
    return {"tags": tags, "config": config, "safetensors": {"parameters": {"BF16": 7}, "total": 7}} | more


def test_what_we_run_is_what_the_engine_runs():
    assert set(FAMILIES) == ARCHITECTURES
    assert {family.model_type for family in FAMILIES.values()} == MODEL_TYPES


@pytest.mark.parametrize("task", ["image-text-to-text", "any-to-any"])
@pytest.mark.parametrize("has_experts", [False, True])
def test_of_gemma_4_all_are_found(fake_hub: FakeHub, access: HubAccess, has_experts: bool, task: str):
    """Of those that hear, too, only what they write of texts and images."""
    told = info("Gemma4ForConditionalGeneration", kind="gemma4", pipeline_tag=task)
    config = {"model_type": "gemma4", "text_config": {"enable_moe_block": has_experts, "num_hidden_layers": 35}}
    fake_hub.add("google/gemma-4-26B-A4B-it", model_files() | {"config.json": json.dumps(config).encode()}, info=told)
    details = Hub(access).details("google/gemma-4-26B-A4B-it")
    assert details.found.reads_images
    assert details.problem == ""
    assert Hub(access).plan("google/gemma-4-26B-A4B-it").files


@pytest.mark.parametrize(("method", "is_found"), [("mxfp4", True), ("awq", False), (None, True)])
def test_of_what_is_quantised_already_we_run_one_kind(
    fake_hub: FakeHub, access: HubAccess, method: str | None, is_found: bool
):
    told = info("GptOssForCausalLM", kind="gpt_oss")
    told["config"]["quantization_config"] = method and {"quant_method": method}
    fake_hub.add("a/gpt-oss", model_files(), info=told)
    assert bool(Hub(access).search("gpt-oss").models) is is_found


PLAIN_AND_FP8 = {"BF16": 5, "F8_E4M3": 90, "F32": 1}


@pytest.mark.parametrize(
    ("method", "numbers", "unread"),
    [
        ("fp8", PLAIN_AND_FP8, ""),
        ("fp8", None, ""),
        ("fbgemm_fp8", PLAIN_AND_FP8, ""),
        ("compressed-tensors", PLAIN_AND_FP8, ""),
        ("modelopt", PLAIN_AND_FP8, ""),
        ("compressed-tensors", {"BF16": 5, "I32": 90}, "compressed-tensors"),
        ("compressed-tensors", {"BF16": 5, "F8_E4M3": 9, "U8": 90}, "compressed-tensors"),  # NVFP4
        ("compressed-tensors", None, "compressed-tensors"),
        ("fp8", {"BF16": 5, "F8_E5M2": 90}, "fp8"),
        ("awq", {"F16": 5, "I32": 90}, "awq"),
        ("bitsandbytes", {"F16": 5, "F8_E4M3": 90}, "bitsandbytes"),
        ("", PLAIN_AND_FP8, "unknown"),
        (["fp8"], PLAIN_AND_FP8, "unknown"),
    ],
    ids=str,
)
def test_fp8_is_found_and_other_methods_are_named(
    fake_hub: FakeHub, access: HubAccess, method: Any, numbers: dict[str, int] | None, unread: str
):
    told = info(safetensors=numbers and {"parameters": numbers, "total": 96})
    told["config"]["quantization_config"] = {"quant_method": method}
    fake_hub.add("a/small", model_files(), info=told)
    hub = Hub(access)
    assert [model.is_fp8 for model in hub.search("small").models] == ([] if unread else [True])
    problem = hub.details("a/small", with_card=False).problem
    if not unread:
        assert problem == ""
        assert hub.plan("a/small").repo == "a/small"
        return
    assert problem == (
        f"a/small holds weights that are quantised already, in a way we do not run ({unread}). "
        "Choose the plain version, one in FP8, or GGUF files."
    )
    with pytest.raises(DownloadError, match="quantised already"):
        hub.plan("a/small")


@pytest.mark.parametrize(
    ("task", "is_found"),
    [
        ("text-generation", True),
        ("image-text-to-text", True),
        (None, True),
        ("feature-extraction", False),
        ("text-ranking", False),
    ],
)
def test_who_asks_for_a_model_finds_it_whatever_it_does_besides(
    fake_hub: FakeHub, access: HubAccess, task: str | None, is_found: bool
):
    """Of Ministral 3 the hub names no task, and of Gemma 3 another one; models to compare texts are no chats."""
    told = info("Mistral3ForConditionalGeneration", kind="mistral3", pipeline_tag=task)
    fake_hub.add("a/ministral", model_files(), info=told)
    hub = Hub(access)
    assert bool(hub.search("ministral").models) is is_found
    assert bool(hub.search(family="mistral3").models) is is_found
    assert bool(hub.search().models) is (task == "text-generation")
    assert hub.search("huggingface.co/a/ministral").models, "who has its address wants it"


def test_gpt_oss_in_fp8_is_not_found(fake_hub: FakeHub, access: HubAccess):
    told = info("GptOssForCausalLM", kind="gpt_oss", safetensors={"parameters": PLAIN_AND_FP8, "total": 96})
    told["config"]["quantization_config"] = {"quant_method": "fp8"}
    fake_hub.add("a/gpt-oss", model_files(), info=told)
    assert Hub(access).search("gpt-oss").models == ()


def test_what_a_model_in_fp8_will_take(fake_hub: FakeHub, access: HubAccess):
    """By its config.json, or where that may not be read, by its parameters."""
    numbers: dict[str, Any] = {
        "hidden_size": 64, "intermediate_size": 160, "num_attention_heads": 4, "num_hidden_layers": 3,
        "vocab_size": 300,
    }  # fmt: skip
    quantised: dict[str, Any] = {"quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}}
    told = info(safetensors={"parameters": PLAIN_AND_FP8, "total": 96_000_000})
    told["config"] |= quantised
    fake_hub.add("a/known", model_files(**numbers, **quantised), info=told)
    fake_hub.add("a/guessed", model_files(**quantised), info=told)
    hub = Hub(access)
    known, guessed = (hub.details(f"a/{name}", with_card=False) for name in ("known", "guessed"))
    assert (known.is_guessed, guessed.is_guessed) == (False, True)
    for details in (known, guessed):
        assert details.shape is not None
        assert details.shape.stored == "int8"


def test_the_address_of_a_model_finds_it(fake_hub: FakeHub, access: HubAccess):
    fake_hub.add("a/llama", model_files(), info=info())
    fake_hub.add("a/qwen", model_files(), info=info())
    page = Hub(access).search(" https://huggingface.co/a/llama/tree/main\n")
    assert [model.repo for model in page.models] == ["a/llama"]


@pytest.mark.parametrize("gguf", [False, True])
def test_an_address_finds_its_model_in_whatever_form_it_is(fake_hub: FakeHub, access: HubAccess, gguf: bool):
    fake_hub.add("a/b-GGUF", {"b-Q6_K.gguf": b"x"}, info={"tags": ["gguf"], "gguf": {"architecture": "llama"}})
    fake_hub.add("a/plain", model_files(), info=info())
    page = Hub(access).search("https://huggingface.co/a/b-GGUF/blob/main/b-Q6_K.gguf", gguf=gguf)
    assert ([model.repo for model in page.models], page.file) == (["a/b-GGUF"], "b-Q6_K.gguf")
    page = Hub(access).search("huggingface.co/a/plain", gguf=gguf)
    assert ([model.repo for model in page.models], page.file) == (["a/plain"], "")


def test_a_search_passes_over_what_we_cannot_run(fake_hub: FakeHub, access: HubAccess):
    fake_hub.add("a/llama", model_files(), info=info(downloads=5, likes=1))
    fake_hub.add("a/mamba", model_files(), info=info("MambaForCausalLM", kind="mamba", downloads=9))
    packed = info(downloads=8)
    packed["config"]["quantization_config"] = {"quant_method": "awq"}
    fake_hub.add("a/packed", model_files(), info=packed)
    fake_hub.add(
        "a/qwen", model_files(), info=info("Qwen3ForCausalLM", kind="qwen3", downloads=7, likes=3), gated="auto"
    )

    page = Hub(access).search("a/")

    assert [model.repo for model in page.models] == ["a/qwen", "a/llama"]
    assert page.next_page == ""
    qwen = page.models[0]
    assert (qwen.architecture, qwen.parameters, qwen.licence) == ("Qwen3ForCausalLM", 7, "apache-2.0")
    assert (qwen.is_gated, qwen.downloads, qwen.likes, qwen.has_gguf) == (True, 7, 3, False)


def test_a_search_can_be_sorted_narrowed_and_turned_over(fake_hub: FakeHub, access: HubAccess, monkeypatch):
    monkeypatch.setattr(hub_module, "_PAGE", 2)
    for number in range(5):
        kind, architecture = ("qwen2", "Qwen2ForCausalLM") if number == 3 else ("llama", "LlamaForCausalLM")
        fake_hub.add(f"a/m{number}", model_files(), info=info(architecture, kind=kind, likes=number))
    hub = Hub(access)
    first = hub.search(sort="likes")
    second = hub.more(first)
    third = hub.more(second)
    assert [[m.repo for m in page.models] for page in (first, second, third)] == [
        ["a/m4", "a/m3"], ["a/m2", "a/m1"], ["a/m0"],
    ]  # fmt: skip
    assert (bool(first.next_page), third.next_page) == (True, "")
    assert [m.repo for m in hub.search(family="qwen2").models] == ["a/m3"]
    assert hub.search("nothing like it").models == ()


def test_pages_full_of_what_we_cannot_run_are_turned_over(fake_hub: FakeHub, access: HubAccess, monkeypatch):
    monkeypatch.setattr(hub_module, "_PAGE", 1)
    for number in range(3):
        fake_hub.add(f"a/x{number}", model_files(), info=info("Other", kind="other", downloads=9 - number))
    fake_hub.add("a/good", model_files(), info=info())
    assert [m.repo for m in Hub(access).search().models] == ["a/good"]


def test_gguf_repositories_are_searched_by_their_own_fields(fake_hub: FakeHub, access: HubAccess):
    fields = {"tags": ["gguf"], "gguf": {"total": 11, "architecture": "llama", "context_length": 5}}
    fake_hub.add("a/packed-GGUF", {"m-Q4_K_M.gguf": b"GGUF"}, info=fields)
    (model,) = Hub(access).search(gguf=True).models
    assert (model.parameters, model.architecture, model.has_gguf) == (11, "llama", True)


def test_what_says_that_a_model_makes_vectors_is_fetched(fake_hub: FakeHub, access: HubAccess):
    files = {**model_files(), "modules.json": b"[]", "1_Pooling/config.json": b"{}", "2_Dense/config.json": b"{}"}
    fake_hub.add(REPO, files, info=info())
    names = [file.path for file in Hub(access).plan(REPO).files]
    assert {"modules.json", "1_Pooling/config.json"} <= set(names)
    assert "2_Dense/config.json" not in names


def test_the_inner_part_of_a_network_is_known(fake_hub: FakeHub, access: HubAccess):
    inner = info()
    inner["config"] = {**inner["config"], "architectures": ["Qwen3Model"]}
    fake_hub.add(REPO, model_files(), info=inner)
    assert Hub(access).plan(REPO).files


def test_details_say_what_would_be_fetched(fake_hub: FakeHub, access: HubAccess):
    files = model_files([b"1" * 10, b"2" * 20]) | {"README.md": CARD.encode()}
    repo = fake_hub.add(REPO, files, info=info())
    details = Hub(access).details(REPO)
    names = [file.path for file in details.files]
    assert names[0] == "config.json"
    assert names[-2:] == ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
    assert "pytorch_model.bin" not in names
    assert details.size == sum(len(files[name]) for name in names)
    assert (details.commit, details.problem, details.page) == (repo.commit, "", f"{access.endpoint}/{REPO}")
    assert details.excerpt.startswith("Small model\n\nIt answers questions with care.")
    assert details.config["model_type"] == "llama"
    assert details.is_guessed


def test_the_shape_is_read_from_the_configuration(fake_hub: FakeHub, access: HubAccess):
    config = {
        "vocab_size": 1, "hidden_size": 8, "intermediate_size": 3, "num_hidden_layers": 4, "num_attention_heads": 2,
        "num_key_value_heads": 1,
    }  # fmt: skip
    fake_hub.add(REPO, model_files(**config), info=info())
    details = Hub(access).details(REPO, with_card=False)
    assert (details.shape, details.is_guessed, details.excerpt) == (ModelShape(1, 8, 3, 4, 2, 1, 4), False, "")


def test_the_shape_of_a_gated_model_is_guessed(fake_hub: FakeHub, access: HubAccess):
    fields = info()
    fields["safetensors"]["total"] = 8_000_000_000
    fake_hub.add(REPO, model_files(vocab_size=1), info=fields, gated="manual", token="t")
    details = Hub(access).details(REPO)
    assert details.is_guessed
    assert details.shape is not None
    assert details.shape.parameters == pytest.approx(8e9, rel=0.1)


def test_a_strange_entry_does_not_hide_the_others(fake_hub: FakeHub, access: HubAccess):
    strange = info()
    strange["safetensors"] = {"total": "many"}
    fake_hub.add("a/strange", model_files(), info=strange)
    fake_hub.add("a/good", model_files(), info=info())
    assert [model.repo for model in Hub(access).search().models] == ["a/good"]


def test_a_gated_model_can_be_looked_at_but_not_read(fake_hub: FakeHub, access: HubAccess):
    fake_hub.add(REPO, model_files(), info=info(), gated="manual", token="t")
    details = Hub(access).details(REPO)
    assert (details.found.is_gated, details.excerpt, details.problem) == (True, "", "")


@pytest.mark.parametrize("piece", ["[", "![", "[a](", "![a](", "<", "```", "[]("])
def test_an_excerpt_of_nothing_but_marks_takes_no_time(piece: str):
    began = time.process_time()
    plain_excerpt(piece * (64 * 1024 // len(piece)))
    assert time.process_time() - began < 1.5


def test_an_excerpt_is_plain_and_short():
    text = plain_excerpt(CARD)
    assert text == "Small model\n\nIt answers questions with care.\n\nSecond paragraph reversed."
    assert len(plain_excerpt("word " * 10_000)) < 1300


def test_a_plan_pins_the_commit(fake_hub: FakeHub, access: HubAccess):
    repo = fake_hub.add(REPO, model_files(), info=info())
    plan = Hub(access).plan(REPO)
    assert (plan.revision, plan.commit) == ("main", repo.commit)
    fake_hub.add(REPO, model_files([b"other"]), info=info())
    assert Hub(access).plan(REPO, repo.commit).files == plan.files


@pytest.mark.parametrize(
    ("repo", "revision", "kind", "words"),
    [
        ("owner/none", "main", NotOnHubError, "no model owner/none on the hub, or it is private"),
        (REPO, "gone", NotOnHubError, f"{REPO} has no revision gone"),
        ("../../etc", "main", InvalidRequestError, "owner/name"),
        ("small-1B", "main", InvalidRequestError, "owner/name"),
        ("a/b\n", "main", InvalidRequestError, "owner/name"),
    ],
)
def test_what_is_not_there_is_told(fake_hub: FakeHub, access: HubAccess, repo, revision, kind, words):
    fake_hub.add(REPO, model_files(), info=info())
    with pytest.raises(kind) as caught:
        Hub(access).plan(repo, revision)
    assert words in str(caught.value)


def test_a_private_model_is_seen_with_its_token_only(fake_hub: FakeHub, access: HubAccess):
    fake_hub.add(REPO, model_files(), info=info(), private=True, token="right")
    with pytest.raises(NotOnHubError, match="sign in with a token"):
        Hub(access).plan(REPO)
    with pytest.raises(NotOnHubError, match="your token may not see it"):
        Hub(HubAccess(access.endpoint, access.cache, "wrong")).plan(REPO)
    assert Hub(HubAccess(access.endpoint, access.cache, "right")).plan(REPO).repo == REPO


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault("status", status=429), "answers 429: it is asked too often"),
        (Fault("status", status=500), "answers 500: try again later"),
        (Fault("status", status=451), "answers 451: it does not give this out, for reasons of law."),
        (Fault("status", status=200, body=b"<html>Sign in"), "Does this network want a sign-in?"),
        (Fault("status", status=200, body=b'{"a": 1}'), "Does this network want a sign-in?"),
        (Fault("status", status=403, headers={"X-Error-Code": "GatedRepo"}), "accept its licence"),
    ],
)
def test_a_hub_in_trouble_is_told(fake_hub: FakeHub, access: HubAccess, fault: Fault, words: str):
    fake_hub.api_fault = fault
    for ask in (lambda: Hub(access).plan(REPO), lambda: Hub(access).search("x")):
        with pytest.raises(HubError) as caught:
            ask()
        assert words in str(caught.value)


def test_a_hub_that_is_not_there_is_told(fake_hub: FakeHub, tmp_path: Path):
    with pytest.raises(HubOfflineError, match="cannot be reached"):
        Hub(HubAccess("http://127.0.0.1:9", tmp_path)).search("x")


def test_a_computer_without_a_network_is_told(fake_hub: FakeHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def look_up(*_args: object, **_kwargs: object) -> list[object]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with pytest.raises(HubOfflineError, match=r"^The hub hub.example is not found. Is this computer online\?$"):
        Hub(HubAccess("http://hub.example", tmp_path)).search("x")


def test_offline_mode_asks_nobody(fake_hub: FakeHub, access: HubAccess):
    hub = Hub(HubAccess(access.endpoint, access.cache, is_offline=True))
    for ask in (hub.search, lambda: hub.details(REPO), lambda: hub.plan(REPO)):
        with pytest.raises(HubOfflineError, match="Offline mode is on"):
            ask()
    assert fake_hub.log == []


def test_the_hub_is_told_who_asks_and_no_more(fake_hub: FakeHub, access: HubAccess):
    fake_hub.add(REPO, model_files(), info=info())
    hub = Hub(access)
    hub.search()
    hub.details(REPO)
    assert {asked.headers["User-Agent"] for asked in fake_hub.log} == {"llama-gui"}
    assert not any("Authorization" in asked.headers or "Cookie" in asked.headers for asked in fake_hub.log)


def test_a_next_page_elsewhere_is_not_asked(fake_hub: FakeHub, access: HubAccess):
    link = {"Link": '<http://localhost:1/api/models>; rel="next"', "Content-Type": "application/json"}
    fake_hub.api_fault = Fault("status", status=200, headers=link, body=b"[]")
    with pytest.raises(HubError, match="another server"):
        Hub(HubAccess(access.endpoint, access.cache, "secret")).search()


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"config.json": "{}", "pytorch_model.bin": "x"}, "pickle files, which can run code"),
        ({"adapter_config.json": "{}", "adapter_model.safetensors": "x"}, "it is an adapter"),
        ({"model.safetensors": "x"}, "no config.json"),
        ({"README.md": "x"}, "neither safetensors nor GGUF"),
        ({"a-Q2_K-00001-of-00002.gguf": "x"}, "come in parts"),
    ],
)
def test_what_cannot_be_run_is_not_planned(fake_hub: FakeHub, access: HubAccess, files: dict[str, str], words: str):
    fake_hub.add(REPO, files)
    with pytest.raises(DownloadError) as caught:
        Hub(access).plan(REPO)
    assert words in str(caught.value)
    assert REPO in str(caught.value)
    assert words in Hub(access).details(REPO).problem


def test_one_gguf_file_is_chosen(fake_hub: FakeHub, access: HubAccess):
    fake_hub.add(REPO, {"m-Q8_0.gguf": b"8", "m-Q4_K_M.gguf": b"4", "mmproj-Q4_K_M.gguf": b"p"})
    hub = Hub(access)
    assert [file.path for file in hub.plan(REPO).files] == ["m-Q4_K_M.gguf"]
    assert [file.path for file in hub.plan(REPO, gguf="m-Q8_0.gguf").files] == ["m-Q8_0.gguf"]
    assert [file.path for file in hub.details(REPO).gguf] == ["m-Q8_0.gguf", "m-Q4_K_M.gguf"]
    fake_hub.add("a/unknown", {"b.gguf": b"long", "a-IQ1_S.gguf": b"x"})
    assert [file.path for file in hub.plan("a/unknown").files] == ["a-IQ1_S.gguf"]  # the smallest
    with pytest.raises(DownloadError, match=r"no GGUF file x\.gguf. There are: m-Q8_0\.gguf, m-Q4_K_M\.gguf"):
        hub.plan(REPO, gguf="x.gguf")


@pytest.mark.parametrize(
    ("repo", "architecture", "comes"),
    [
        (REPO, "mistral3", True),
        ("a/Mistral-Small-3.1-24B-GGUF", "llama", True),
        ("ggml-org/SmolVLM-500M-Instruct-GGUF", "llama", True),
        (REPO, "llama", False),
        (REPO, "gemma3", True),
        (REPO, "qwen2", False),
    ],
)
def test_what_reads_images_comes_with_a_model_that_sees(
    fake_hub: FakeHub, access: HubAccess, repo: str, architecture: str, comes: bool
):
    files = {"m-Q8_0.gguf": b"8", "m-Q4_K_M.gguf": b"4", "mmproj-F32.gguf": b"long", "mmproj-x-F16.gguf": b"p"}
    fake_hub.add(repo, files, info={"gguf": {"architecture": architecture, "total": 5}})
    hub, more = Hub(access), ["mmproj-x-F16.gguf"] if comes else []
    for gguf, name in ((None, "m-Q4_K_M.gguf"), ("Q8_0", "m-Q8_0.gguf")):
        plan = hub.plan(repo, gguf=gguf)
        assert [file.path for file in plan.files] == [name, *more]
        assert plan.model_in(Path("/x")) == Path("/x") / name
    assert hub.details(repo).size == 1 + len(more)


@pytest.mark.parametrize(("architecture", "comes"), [("gemma4", True), ("qwen35", True), ("qwen3", False)])
def test_what_guesses_comes_with_a_model_that_it_can_guess_for(
    fake_hub: FakeHub, access: HubAccess, architecture: str, comes: bool
):
    files = {"m-Q4_K_M.gguf": b"4", "mtp-m-BF16.gguf": b"long", "MTP/mtp-m-Q8_0.gguf": b"p", "smtp-1-Q8_0.gguf": b"8"}
    fake_hub.add(REPO, files, info={"gguf": {"architecture": architecture, "total": 5}})
    plan = Hub(access).plan(REPO)
    assert [file.path for file in plan.files] == ["m-Q4_K_M.gguf", *(["MTP/mtp-m-Q8_0.gguf"] if comes else [])]
    assert plan.model_in(Path("/x")) == Path("/x") / "m-Q4_K_M.gguf"
    assert [file.path for file in Hub(access).details(REPO).gguf] == ["m-Q4_K_M.gguf", "smtp-1-Q8_0.gguf"]


def test_dangerous_names_are_not_seen(fake_hub: FakeHub, access: HubAccess):
    bad = {
        "../../evil.gguf": b"x",
        "/etc/evil.gguf": b"x",
        "con.gguf": b"x",
        "a\\..\\evil.gguf": b"x",
        "a\0.gguf": b"x",
    }
    fake_hub.add(REPO, model_files() | bad, info=info())
    details = Hub(access).details(REPO)
    assert details.gguf == ()
    assert {file.path for file in details.files} & set(bad) == set()


def test_gated_listing_says_where_to_click(fake_hub: FakeHub, access: HubAccess):
    fake_hub.api_fault = Fault("status", status=401, headers={"X-Error-Code": "GatedRepo"})
    with pytest.raises(GatedModelError) as caught:
        Hub(access).plan(REPO)
    assert caught.value.page.endswith(REPO)


def test_the_library_needs_neither_torch_nor_a_window():
    code = """
import importlib, pkgutil, sys
import llama_gui.library
for module in pkgutil.iter_modules(llama_gui.library.__path__, "llama_gui.library."):
    importlib.import_module(module.name)
print([name for name in ("torch", "tokenizers", "safetensors", "transformers", "PySide6") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_a_token_that_the_hub_does_not_know_is_said(fake_hub: FakeHub, access: HubAccess):
    fake_hub.add(REPO, model_files(), info=info())
    refusal = {"X-Error-Message": "Invalid credentials in Authorization header"}
    fake_hub.api_fault = Fault("status", status=401, headers=refusal)
    hub = Hub(replace(access, token="hf_revoked"))
    for ask in (lambda: hub.search("small"), lambda: hub.details(REPO), lambda: hub.plan(REPO)):
        with pytest.raises(HubError, match="does not know your token") as caught:
            ask()
        assert "hf_revoked" not in str(caught.value)
