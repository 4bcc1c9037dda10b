"""What the pane of a model says."""

from dataclasses import replace

import pytest

from llama_gui.bridge.fit_adviser import FitAdviser
from llama_gui.bridge.model_shelf import ShelfItem
from llama_gui.library.fit import Machine
from llama_gui.library.hub import FoundModel
from llama_gui.library.model_shape import ModelShape
from llama_gui.ui.models.contents import found_row, shelf_content, shelf_row
from llama_gui.vocabulary import ModelEntry

SHAPE = ModelShape(128256, 2048, 8192, 16, 32, 8, 64, is_tied=True)


@pytest.mark.parametrize(
    ("path", "has_kernels", "want"),
    [
        ("/models/Llama-3.2-1B-Instruct-Q4_K_M.gguf", True, "int4"),
        ("/models/Llama-3.2-1B-Instruct-Q8_0.GGUF", True, "int8"),
        ("/models/Llama-3.2-1B-Instruct-f16.gguf", True, "bfloat16"),
        ("/models/Llama-3.2-1B-Instruct-Q4_K_M.gguf", False, "float32"),
        ("/models/Llama-3.2-1B-Instruct-Q4_K_M", True, "bfloat16"),  # a folder that is called so
    ],
)
def test_a_file_in_few_bits_is_advised_as_the_engine_takes_it(qapp, path: str, has_kernels: bool, want: str):
    machine = Machine(32 * 10**9, 24 * 10**9, has_kernels=has_kernels, bandwidth=2e10)
    adviser = FitAdviser(machine=lambda _bandwidth: machine, bandwidth=lambda: 1e10)
    item = ShelfItem(ModelEntry("x", path, 807_694_464), shape=SHAPE, is_guessed=True)
    assert shelf_content(item, adviser).best == want
    row = shelf_row(item, adviser, "")
    pace = adviser.best(SHAPE, 0, want if has_kernels else "").tokens_per_second
    assert f"{pace:.0f}" in row.note
    assert shelf_row(replace(item, shape=None), adviser, "").note == ""
    assert adviser.close()


@pytest.mark.parametrize(
    ("architecture", "task", "is_said"),
    [
        ("Mistral3ForConditionalGeneration", "image-text-to-text", True),
        ("SmolVLMForConditionalGeneration", "image-text-to-text", True),
        ("gemma3", "image-text-to-text", True),
        ("gemma3", "text-generation", False),
        ("LlavaForConditionalGeneration", "image-text-to-text", False),
        ("LlamaForCausalLM", "image-text-to-text", False),
    ],
)
def test_a_find_that_reads_images_says_so(qapp, architecture: str, task: str, is_said: bool):
    adviser = FitAdviser(machine=lambda _bandwidth: Machine(32 * 10**9, 24 * 10**9), bandwidth=lambda: 1e10)
    found = FoundModel("owner/name", architecture, 3 * 10**9, "mit", False, 1, 1, None, True, task=task)
    assert ("reads images" in found_row(found, adviser).facts) == is_said
    assert adviser.close()


def test_a_find_of_gguf_files_is_judged_by_the_one_that_is_proposed(qapp):
    machine = Machine(32 * 10**9, 24 * 10**9, has_kernels=True, bandwidth=2e10)
    adviser = FitAdviser(machine=lambda _bandwidth: machine, bandwidth=lambda: 1e10)
    found = FoundModel("owner/name", "llama", 3 * 10**9, "mit", False, 1, 1, None, True)
    shape = ModelShape.guess(3 * 10**9, "owner/name")
    for gguf, stored in ((True, "int4"), (False, "")):
        pace = adviser.best(shape, 0, stored).tokens_per_second
        assert found_row(found, adviser, gguf=gguf).note == f"about {pace:.0f} tok/s"
    assert found_row(found, adviser, gguf=True).note != found_row(found, adviser).note
    assert adviser.close()


@pytest.mark.parametrize(("context", "counted"), [(0, 4096), (2048, 2048), (131_072, 4096)])
def test_a_verdict_says_how_long_a_chat_it_counts_with(qapp, context: int, counted: int):
    machine = Machine(32 * 10**9, 24 * 10**9, bandwidth=2e10)
    adviser = FitAdviser(machine=lambda _bandwidth: machine, bandwidth=lambda: 1e10)
    item = ShelfItem(ModelEntry("x", "/models/x", 10**9), shape=SHAPE, context=context)
    assert shelf_content(item, adviser).counted == counted
    assert adviser.close()


def test_a_verdict_counts_chats_as_they_are_kept(qapp):
    machine = Machine(32 * 10**9, 24 * 10**9, has_kernels=True, bandwidth=2e10)
    adviser = FitAdviser(machine=lambda _bandwidth: machine, bandwidth=lambda: 1e10)
    adviser.cache_dtype_of = {"/models/x": "int8", "/models/y": "auto"}.__getitem__
    small, usual = (
        shelf_content(ShelfItem(ModelEntry("x", path, 10**9), shape=SHAPE, context=4096), adviser).fits
        for path in ("/models/x", "/models/y")
    )
    assert usual == adviser.fits(SHAPE, 4096)
    for one, other in zip(small, usual, strict=True):
        assert 0.25 < one.cache / other.cache < 0.6  # of float32, or of bfloat16
        assert one.weights == other.weights
    assert adviser.close()


def test_a_folder_in_fp8_says_so_and_is_advised_as_the_engine_takes_it(qapp):
    machine = Machine(32 * 10**9, 24 * 10**9, has_kernels=True, bandwidth=2e10)
    adviser = FitAdviser(machine=lambda _bandwidth: machine, bandwidth=lambda: 1e10)
    item = ShelfItem(ModelEntry("x", "/models/x", 10**9), shape=replace(SHAPE, is_fp8=True))
    content = shelf_content(item, adviser)
    assert (content.best, content.is_rounded) == ("int8", True)
    assert ("Weights", "FP8: eight bits each, converted when it is loaded") in content.facts
    assert "FP8" in shelf_row(item, adviser, "").facts
    plain = replace(item, shape=SHAPE)
    assert "FP8" not in f"{shelf_content(plain, adviser)} {shelf_row(plain, adviser, '')}"
    assert adviser.close()


def test_what_only_guesses_is_not_judged_by_how_it_writes(qapp):
    machine = Machine(32 * 10**9, 24 * 10**9, has_kernels=True, bandwidth=2e10)
    adviser = FitAdviser(machine=lambda _bandwidth: machine, bandwidth=lambda: 1e10)
    item = ShelfItem(ModelEntry("x", "/models/x", 10**9, guesses=True), shape=SHAPE, context=4096)
    row, content = shelf_row(item, adviser, ""), shelf_content(item, adviser)
    assert "guesses for another model" in row.facts
    assert (row.note, content.fits, content.best) == ("", (), "")
    assert "does not chat" in content.lead
    assert adviser.close()


def test_a_folder_whose_weights_are_not_read_is_judged_so(qapp):
    machine = Machine(32 * 10**9, 24 * 10**9, has_kernels=True, bandwidth=2e10)
    adviser = FitAdviser(machine=lambda _bandwidth: machine, bandwidth=lambda: 1e10)
    item = ShelfItem(ModelEntry("x", "/models/x", 10**9), shape=SHAPE, unread="awq")
    content = shelf_content(item, adviser)
    assert content.fits == ()
    assert content.warning.startswith("Its weights are quantised in a way that does not run here (awq). Choose")
    assert shelf_row(item, adviser, "").note == "does not run"
    assert shelf_content(replace(item, unread=""), adviser).warning == ""
    assert adviser.close()
