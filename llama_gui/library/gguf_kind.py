"""What the name of a GGUF file says of its numbers."""

import re

FEWEST_BITS = ("Q2", "Q3", "IQ1", "IQ2", "IQ3")
"""How kinds of fewer than four bits begin."""

_KIND = re.compile(r"(?:^|[-._])(i?q\d\w*|mxfp4\w*|bf16|f16|fp16|f32|fp32)(?=[-.]|$)", re.IGNORECASE)


def gguf_kind(path: str) -> str:
    """The kind in the name of the file at `path`, as Q4_K_M or F16; "" when it says nothing, or is no GGUF file."""
    name = path.rpartition("/")[2]
    found = _KIND.findall(name) if name.lower().endswith(".gguf") else []
    return found[-1].upper() if found else ""


def gguf_dtype(kind: str) -> str:
    """The dtype of ours that keeps what such a file holds, and hardly more; the engine takes it by itself.

    "" for no kind.
    """
    if kind in ("F32", "FP32"):
        return "float32"
    if kind in ("F16", "FP16", "BF16"):
        return "bfloat16"
    if kind.startswith(("Q4_K", "IQ4", "MXFP4", *FEWEST_BITS)) or kind == "Q4_0":
        return "int4"
    return "int8" if kind else ""
