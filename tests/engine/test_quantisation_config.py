"""What config.json says of weights in few bits: FP8 in all its layouts is known, all else refused by name."""

import copy
from pathlib import Path

import pytest

from llama_gui.engine.fields import Fields
from llama_gui.engine.quantisation_config import Fp8Config, read_fp8, read_mxfp4
from llama_gui.errors import BrokenModelError, UnsupportedModelError
from tests.fakes.fp8_folders import LAYOUTS


def read(told, key="quantization_config", by=read_fp8):
    return by(Fields({key: told}, Path("config.json")))


@pytest.mark.parametrize(
    ("layout", "blocks"),
    [("qwen", [(48, 40)]), ("mistral", []), ("autofp8", [(128, 128)]), ("channels", []), ("grid", [(32, 48)]),
     ("groups", [(1, 24)]), ("fbgemm", []), ("modelopt", [])],
)  # fmt: skip
def test_blocks(layout, blocks):
    assert read(LAYOUTS[layout].config) == Fp8Config(tuple(blocks))


@pytest.mark.parametrize("told", [None, {}, False])
def test_plain_weights(told):
    assert read(told) is None
    assert read(told, by=read_mxfp4) == ""


def changed(layout, **changes):
    return {**copy.deepcopy(LAYOUTS[layout].config), **changes}


def of_weights(**changes):
    told = changed("channels")
    told["config_groups"]["group_0"]["weights"].update(changes)
    return told


def test_several_ways_in_one_model():
    told = of_weights(strategy="block", block_structure="128x64")
    told["config_groups"] |= {"group_1": changed("groups")["config_groups"]["group_0"], "group_2": {"weights": None}}
    told["format"] = "mixed-precision"
    assert read(told) == Fp8Config(((128, 64), (1, 24)))


def test_early_files_of_compressed_tensors():
    told = changed("grid")
    del told["quant_method"]
    assert read(told, "compression_config") == Fp8Config(((32, 48),))


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"quant_method": "awq", "bits": 4}, "(awq)"),
        ({"quant_method": "gptq", "bits": 4}, "(gptq)"),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "(bitsandbytes)"),
        ({"quant_method": "mxfp4"}, "(mxfp4)"),
        ({"load_in_8bit": True}, "({'load_in_8bit': True})"),
        ({"quant_method": ["fp8"]}, "(['fp8'])"),
        ("fp8", "(fp8)"),
        (changed("qwen", fmt="e5m2"), "(fp8 e5m2)"),
        (changed("modelopt", quant_algo="NVFP4"), "(modelopt NVFP4)"),
        (changed("modelopt", quant_algo=None), "(modelopt None)"),
        (changed("channels", format="pack-quantized"), "(compressed-tensors pack-quantized)"),
        (changed("channels", format="nvfp4-pack-quantized"), "(compressed-tensors nvfp4-pack-quantized)"),
        (of_weights(num_bits=4, type="int"), "(compressed-tensors int 4 channel)"),
        (of_weights(type="int"), "(compressed-tensors int 8 channel)"),
        (of_weights(symmetric=False), "(compressed-tensors float 8 channel asymmetric)"),
        (of_weights(strategy="token"), "(compressed-tensors float 8 token)"),
        (
            changed("channels", sparsity_config={"format": "sparse-24-bitmask"}),
            "(compressed-tensors sparse-24-bitmask)",
        ),
        (changed("channels", transform_config={"config_groups": {}}), "(compressed-tensors transform_config)"),
    ],
    ids=str,
)
def test_other_ways_are_refused_by_name(told, said):
    with pytest.raises(UnsupportedModelError) as caught:
        read(told)
    assert str(caught.value) == (
        f"config.json: the weights are stored quantised {said}, which is not supported. "
        "Choose the model unquantised, in FP8, or as a GGUF file."
    )


def test_gpt_oss_is_read_in_its_own_way_only():
    assert read({"quant_method": "mxfp4"}, by=read_mxfp4) == "MXFP4"
    with pytest.raises(UnsupportedModelError, match=r"quantised \(fp8\).*in MXFP4, as it was published"):
        read(changed("qwen"), by=read_mxfp4)


@pytest.mark.parametrize(
    "sizes", [[128], [0, 1], [128, 1.5], [True, 2], "128", "1x2x3", "²x1", 128, [2**40, 1], "9" * 5000 + "x1"]
)
def test_blocks_that_cannot_be(sizes):
    with pytest.raises(BrokenModelError, match=r"weight_block_size is .*, but it must be two whole numbers above 0"):
        read(changed("qwen", weight_block_size=sizes))


@pytest.mark.parametrize("groups", [None, {}, [], {"group_0": 1}])
def test_groups_that_cannot_be(groups):
    with pytest.raises(BrokenModelError, match="config_groups is "):
        read(changed("channels", config_groups=groups))


@pytest.mark.parametrize(
    ("told", "field"),
    [(of_weights(strategy="block"), "block_structure"), (of_weights(strategy="group", group_size=0), "group_size")],
)
def test_fields_of_a_group_that_cannot_be(told, field):
    with pytest.raises(BrokenModelError, match=field):
        read(told)
