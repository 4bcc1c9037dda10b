"""Folders whose matrices are in FP8, as those who publish them write them, and the same numbers in plain float32."""

import json
import math
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

_LARGEST = 448.0  # of e4m3


@dataclass(frozen=True, slots=True)
class Layout:
    """`block`: rows and columns that share a scale; None: the whole row or column. `others`: scales of rows, and of
    keys and values, beside each weight or attention. `scale_shape`: of a scale for all.
    """

    config: dict[str, Any]
    scale: str
    block: tuple[int | None, int | None] = (None, None)
    scale_dtype: torch.dtype = torch.float32
    scale_shape: tuple[int, ...] | None = None
    others: tuple[str, ...] = ()
    of_attention: tuple[str, ...] = ()
    key: str = "quantization_config"


def _groups(strategy: str, **more: Any) -> dict[str, Any]:
    weights = {"num_bits": 8, "type": "float", "symmetric": True, "dynamic": False, "strategy": strategy, **more}
    group = {"targets": ["Linear"], "weights": weights, "input_activations": {"num_bits": 8, "type": "float"}}
    return {"quant_method": "compressed-tensors", "format": "float-quantized", "quantization_status": "compressed",
            "config_groups": {"group_0": group}, "ignore": ["lm_head", "re:.*mlp.gate$"], "kv_cache_scheme": None,
            "sparsity_config": {}}  # fmt: skip


LAYOUTS: dict[str, Layout] = {
    # Qwen, DeepSeek; the blocks are so small that matrices of tiny models have several, and the last ones are ragged.
    "qwen": Layout({"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic",
                    "weight_block_size": [48, 40]}, "_scale_inv", (48, 40), torch.bfloat16),
    "qwen-128": Layout({"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]},
                       "_scale_inv", (128, 128)),
    # Ministral 3, Devstral 2
    "mistral": Layout({"quant_method": "fp8", "activation_scheme": "static", "weight_block_size": None,
                       "modules_to_not_convert": ["model.vision_tower", "lm_head"]},
                      "_scale_inv", scale_dtype=torch.bfloat16, scale_shape=(), others=("activation_scale",)),
    # AutoFP8: neuralmagic's first ones
    "autofp8": Layout({"quant_method": "fp8", "activation_scheme": "static", "ignored_layers": ["lm_head"]},
                      "_scale", scale_shape=(1,), others=("input_scale",), of_attention=("kv_scale",)),
    "channels": Layout(_groups("channel"), "_scale", (1, None), torch.bfloat16),
    "tensors": Layout(_groups("tensor"), "_scale", scale_dtype=torch.bfloat16, scale_shape=(1,),
                      others=("input_scale",), of_attention=("k_scale", "v_scale"), key="compression_config"),
    "grid": Layout(_groups("block", block_structure=[32, 48]), "_scale", (32, 48)),
    "groups": Layout(_groups("group", group_size=24), "_scale", (1, 24)),
    "fbgemm": Layout({"quant_method": "fbgemm_fp8", "activation_scale_ub": 1200.0,
                      "modules_to_not_convert": ["model.layers.0", "lm_head"]}, "_scale", (1, None)),
    "modelopt": Layout({"quant_method": "modelopt", "quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}, "_scale",
                       scale_shape=(), others=("input_scale",), of_attention=("k_proj.k_scale", "v_proj.v_scale")),
}  # fmt: skip


def is_usually_scaled(name: str, weight: Tensor) -> bool:
    """Whether a weight of a checkpoint is in FP8 as a rule: the matrices of layers, but for routers and stacks."""
    is_router = name.endswith((".gate.weight", "router.layer.weight"))
    return weight.dim() == 2 and ".layers." in name and not is_router


def write_fp8(
    plain: Path,
    folder: Path,
    layout: Layout,
    is_scaled: Callable[[str, Tensor], bool] = is_usually_scaled,
    change: Callable[[dict[str, Tensor]], None] | None = None,
) -> tuple[Path, Path]:
    """The model in the folder `plain` in FP8, and beside it the very same numbers in float32: two new folders.

    `change` is called with what the first one will hold.
    """
    same = folder.with_name(f"{folder.name}-same")
    for place in (folder, same):
        shutil.copytree(plain, place, ignore=shutil.ignore_patterns("*.safetensors*"))
    config = json.loads((plain / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, layout.key: layout.config}))
    stored: dict[str, Tensor] = {}
    numbers: dict[str, Tensor] = {}
    for file in plain.glob("*.safetensors"):
        for name, weight in load_file(file).items():
            if is_scaled(name, weight):
                stored[name], scale, numbers[name] = scaled(weight.float(), layout)
                stored[name + layout.scale] = scale
                module = name.removesuffix("weight")
                stored |= {module + other: torch.tensor(0.5) for other in layout.others}
            else:
                stored[name] = numbers[name] = weight
            if name.endswith("self_attn.o_proj.weight"):
                attention = name.removesuffix("o_proj.weight")
                stored |= {attention + other: torch.tensor(0.25) for other in layout.of_attention}
    if change is not None:
        change(stored)
    for place, weights in ((folder, stored), (same, numbers)):
        save_file({name: w.contiguous() for name, w in weights.items()}, place / "model.safetensors", {"format": "pt"})
    return folder, same


def scaled(weight: Tensor, layout: Layout) -> tuple[Tensor, Tensor, Tensor]:
    """``[out, in]`` -> numbers in FP8, their scales, and what both stand for in float32. Block by block, and slowly."""
    out, width = weight.shape
    rows, columns = layout.block[0] or out, layout.block[1] or width
    codes, same = torch.empty(out, width, dtype=torch.float8_e4m3fn), torch.empty(out, width)
    scales = torch.empty(math.ceil(out / rows), math.ceil(width / columns), dtype=layout.scale_dtype)
    for i in range(scales.shape[0]):
        for j in range(scales.shape[1]):
            place = slice(i * rows, (i + 1) * rows), slice(j * columns, (j + 1) * columns)
            block = weight[place]
            scales[i, j] = max(float(block.abs().max()) / _LARGEST, 1e-12)
            scale = scales[i, j].float()
            codes[place] = (block / scale).clamp(-_LARGEST, _LARGEST).to(codes.dtype)
            same[place] = codes[place].float() * scale
    return codes, scales if layout.scale_shape is None else scales.view(layout.scale_shape), same
