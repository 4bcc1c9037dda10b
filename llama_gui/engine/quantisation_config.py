"""The part of config.json about weights in few bits: two ways of storing them are read, every other is refused by name.

Which weights are in FP8, and how many of their numbers share a scale, say the files themselves (`scaled_weights.py`).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from llama_gui.engine.fields import MOST_INTEGER, Fields, brief
from llama_gui.errors import UnsupportedModelError

QUANTISATION = ("quantization_config", "compression_config")
"""Where config.json tells of it; the second is what early files of compressed-tensors have."""

Block = tuple[int, int]

_COMPRESSED = "compressed-tensors"

_E4M3 = ("e4m3", "e4m3fn", "float8_e4m3fn")
_USUAL_BLOCK = (128, 128)
_FORMATS = ("float-quantized", "naive-quantized", "mixed-precision")
_STRATEGIES = ("tensor", "channel", "block", "group")
_MODELOPT = ("FP8", "FP8_PER_CHANNEL_PER_TOKEN")


@dataclass(frozen=True, slots=True)
class Fp8Config:
    """Matrices in FP8 (e4m3), each with one scale or several beside it.

    `blocks`: rows and columns of the blocks that may have a scale of their own. A channel or a whole matrix always may.
    How a file wants the rows that are multiplied rounded, or keys and values, is not kept: ours are not rounded so.
    """

    blocks: tuple[Block, ...] = ()


def _told(fields: Fields) -> Any:
    """Something false where nothing is told."""
    return next((fields.values[name] for name in QUANTISATION if fields.values.get(name)), None)


def read_fp8(fields: Fields) -> Fp8Config | None:
    """How the weights are stored; None: plainly.

    The fields are those of transformers (`FineGrainedFP8Config`, `FbgemmFp8Config`), of compressed-tensors, and of
    NVIDIA's ModelOpt.

    Raises:
        BrokenModelError: a field makes no sense.
        UnsupportedModelError: they are stored in another way than FP8.
    """
    told = _told(fields)
    if not told:
        return None
    if not isinstance(told, dict):
        raise _refused(fields, told)
    is_early = fields.values.get(QUANTISATION[1]) is told
    method = told.get("quant_method", _COMPRESSED if is_early else None)
    reader = _READERS.get(method) if isinstance(method, str) else None
    if reader is None:
        raise _refused(fields, method or told)
    return Fp8Config(reader(Fields(told, fields.file)))


def read_mxfp4(fields: Fields) -> str:
    """In which type the experts of gpt-oss are stored, by GGUF's names; "": plainly.

    Raises:
        UnsupportedModelError: in another one.
    """
    told = _told(fields)
    method = told.get("quant_method") if isinstance(told, dict) else None
    if told and method != "mxfp4":
        raise UnsupportedModelError(
            f"{fields.file}: the weights are stored quantised ({_joined([method or told])}), which is not supported "
            "here. Choose the model in MXFP4, as it was published, or as a GGUF file."
        )
    return "MXFP4" if told else ""


def _transformers(fields: Fields) -> tuple[Block, ...]:
    kind = fields.values.get("fmt")
    if kind is not None and kind not in _E4M3:
        raise _refused(fields, "fp8", kind)
    if "weight_block_size" in fields.values and fields.values["weight_block_size"] is None:
        return ()
    return (_block(fields, "weight_block_size", _USUAL_BLOCK),)


def _fbgemm(_: Fields) -> tuple[Block, ...]:
    return ()


def _modelopt(fields: Fields) -> tuple[Block, ...]:
    kind = fields.values.get("quant_algo")
    if kind not in _MODELOPT:
        raise _refused(fields, "modelopt", kind)
    return ()


def _compressed_tensors(fields: Fields) -> tuple[Block, ...]:
    groups = fields.values.get("config_groups")
    if not isinstance(groups, dict) or not groups or not all(isinstance(group, dict) for group in groups.values()):
        raise fields.wrong("config_groups", "an object with an object for each way of storing weights")
    sparsity = fields.values.get("sparsity_config")
    sparsity = sparsity.get("format", "dense") if isinstance(sparsity, dict) else "dense"
    if sparsity != "dense":
        raise _refused(fields, _COMPRESSED, sparsity)
    if fields.values.get("transform_config"):
        raise _refused(fields, _COMPRESSED, "transform_config")
    formats = [fields.values.get("format"), *(group.get("format") for group in groups.values())]
    if other := next((found for found in formats if found is not None and found not in _FORMATS), None):
        raise _refused(fields, _COMPRESSED, other)
    return tuple(dict.fromkeys(block for group in groups.values() for block in _group_blocks(fields, group)))


def _group_blocks(fields: Fields, group: dict[str, Any]) -> Iterator[Block]:
    """Of one way of storing weights, which may be one of rounding rows only."""
    weights = group.get("weights")
    if weights is None:
        return
    if not isinstance(weights, dict):
        raise Fields(group, fields.file).wrong("weights", "an object")
    kind = (weights.get("type"), weights.get("num_bits"))
    if kind != ("float", 8) or weights.get("symmetric") is False or weights.get("strategy") not in _STRATEGIES:
        offset = ["asymmetric"] if weights.get("symmetric") is False else []
        raise _refused(fields, _COMPRESSED, *kind, weights.get("strategy"), *offset)
    inner = Fields(weights, fields.file)
    if weights["strategy"] == "block":
        yield _block(inner, "block_structure")
    elif weights["strategy"] == "group":
        yield 1, inner.integer("group_size")


def _block(fields: Fields, name: str, default: Block | None = None) -> Block:
    sizes = fields.values.get(name, default)
    if isinstance(sizes, str):  # "128x128", as older files have it
        sizes = [int(size) if size.isdecimal() and len(size) < 10 else 0 for size in sizes.split("x")]
    is_pair = isinstance(sizes, list | tuple) and len(sizes) == 2
    if not is_pair or not all(type(size) is int and 0 < size <= MOST_INTEGER for size in sizes):
        raise fields.wrong(name, "two whole numbers above 0")
    return sizes[0], sizes[1]


_READERS: dict[str, Callable[[Fields], tuple[Block, ...]]] = {
    "fp8": _transformers,
    "fbgemm_fp8": _fbgemm,
    _COMPRESSED: _compressed_tensors,
    "modelopt": _modelopt,
}


def _refused(fields: Fields, *how: Any) -> UnsupportedModelError:
    """`how` they are stored, from the method on to what is told of it."""
    return UnsupportedModelError(
        f"{fields.file}: the weights are stored quantised ({_joined(how)}), which is not supported. "
        "Choose the model unquantised, in FP8, or as a GGUF file."
    )


def _joined(words: Sequence[Any]) -> str:
    return brief(" ".join(map(str, words)))
