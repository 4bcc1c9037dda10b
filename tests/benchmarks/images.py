"""How long reading an image takes, beside transformers: random weights in the shapes of real networks, in turn.

    .venv/bin/python -m tests.benchmarks.images
    .venv/bin/python -m tests.benchmarks.images --networks smolvlm --sizes 1024 --rounds 5

Seconds, medians over the rounds, each with another image. Both read as many pixels: ours limits them on a CPU, and
transformers is told the same limit. The network for text is a tiny one. Each has a process of its own: in one,
OpenMP has helper threads for both, and lets them sleep between operations (see `engine/apart.py`), of which ours are
many.
"""

import argparse
import json
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from PIL import Image as Pillow

from llama_gui.engine import Engine, GenerateRequest, Image, Message
from llama_gui.engine.device import physical_cores
from tests.fakes.tiny_gemma3 import write_tiny_seeing_gemma
from tests.fakes.tiny_gemma4 import write_tiny_seeing_gemma4
from tests.fakes.tiny_pixtral import picture, write_tiny_pixtral
from tests.fakes.tiny_qwen_vl import write_tiny_qwen_vl
from tests.fakes.tiny_smolvlm import write_tiny_smolvlm

Network = Literal["smolvlm", "gemma3", "gemma4-e", "gemma4", "pixtral", "qwen2.5-vl", "qwen3-vl"]
Read = Callable[[Image], None]

_SMOLVLM = {
    "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12,
    "image_size": 512, "patch_size": 16,
}  # fmt: skip
_GEMMA = {
    "model_type": "siglip_vision_model", "hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27,
    "num_attention_heads": 16, "image_size": 896, "patch_size": 14, "vision_use_head": False,
}  # fmt: skip
_GEMMA4_E = {
    "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 16, "num_attention_heads": 12,
    "num_key_value_heads": 12, "head_dim": 64, "patch_size": 16, "position_embedding_size": 10240,
    "use_clipped_linears": True,
}  # fmt: skip
"""That of E2B and E4B; the next is that of 26B-A4B and 31B."""
_GEMMA4 = _GEMMA4_E | {
    "hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27, "num_attention_heads": 16,
    "num_key_value_heads": 16, "head_dim": 72, "use_clipped_linears": False, "standardize": True,
}  # fmt: skip
_PIXTRAL = {
    "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16, "head_dim": 64,
    "image_size": 1540, "patch_size": 14,
}  # fmt: skip
_QWEN2_5 = {
    "hidden_size": 1280, "intermediate_size": 3420, "depth": 32, "num_heads": 16, "patch_size": 14, "window_size": 112,
    "fullatt_block_indexes": [7, 15, 23, 31],
}  # fmt: skip
_QWEN3 = {
    "hidden_size": 1024, "intermediate_size": 4096, "depth": 24, "num_heads": 16, "patch_size": 16,
    "num_position_embeddings": 2304, "deepstack_visual_indexes": [5, 11, 17],
}  # fmt: skip
_EDGE = 1024
"""What ours reads at most on a CPU, in either direction."""


def write(folder: Path, network: Network) -> Path:
    """A model with that network, in `folder`."""
    size: dict[str, Any] = {"size": {"longest_edge": _EDGE}}
    match network:
        case "gemma4-e" | "gemma4":
            kind, vision = ("gemma4", _GEMMA4_E) if network == "gemma4-e" else ("gemma4-31b", _GEMMA4)
            return write_tiny_seeing_gemma4(folder, kind, window=1024, most=280, **vision)
        case "smolvlm":
            write_tiny_smolvlm(folder, **_SMOLVLM)
        case "gemma3":
            write_tiny_seeing_gemma(folder, window=512, vision_config=_GEMMA, mm_tokens_per_image=256)
            size = {"size": {"height": 896, "width": 896}}
        case "pixtral":
            write_tiny_pixtral(folder, **_PIXTRAL)
            size["patch_size"] = {"height": 14, "width": 14}
        case "qwen2.5-vl" | "qwen3-vl":
            kind, vision = ("qwen3", _QWEN3) if network == "qwen3-vl" else ("qwen2.5", _QWEN2_5)
            write_tiny_qwen_vl(folder, kind, **vision)
            edges = {"shortest_edge": 256 * 256, "longest_edge": _EDGE**2}
            size = {"size": edges, "patch_size": vision["patch_size"]}
    file = folder / "preprocessor_config.json"
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | size), encoding="utf-8")
    return folder


def ours(folder: Path, dtype: str, device: str) -> Read:
    """Our engine, with the one token that it writes then."""
    threads = physical_cores()  # as for any real network for text
    engine = Engine.load(folder, dtype=dtype, device=device, threads=threads)
    engine.settle()

    def read(image: Image) -> None:
        engine.generate(GenerateRequest(messages=[Message("user", "?", images=[image])], max_tokens=1))

    return read


def transformers(folder: Path, network: Network, device: str) -> Read:
    """In bfloat16: its processor for pixels, and the rows that the network for text would get."""
    from transformers import AutoModelForImageTextToText
    from transformers.models.gemma3.image_processing_pil_gemma3 import Gemma3ImageProcessorPil
    from transformers.models.gemma4.image_processing_pil_gemma4 import Gemma4ImageProcessorPil
    from transformers.models.pixtral.image_processing_pil_pixtral import PixtralImageProcessorPil
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil
    from transformers.models.smolvlm.image_processing_pil_smolvlm import SmolVLMImageProcessorPil

    kinds = {
        "smolvlm": SmolVLMImageProcessorPil,
        "gemma3": Gemma3ImageProcessorPil,
        "gemma4-e": Gemma4ImageProcessorPil,
        "gemma4": Gemma4ImageProcessorPil,
        "pixtral": PixtralImageProcessorPil,
        "qwen2.5-vl": Qwen2VLImageProcessorPil,
        "qwen3-vl": Qwen2VLImageProcessorPil,
    }
    processor = kinds[network].from_pretrained(folder)
    model = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.bfloat16).eval().to(device)
    options: dict[str, Any] = {"patch_size": {"height": 28, "width": 28}} if network == "pixtral" else {}

    @torch.inference_mode()
    def read(image: Image) -> None:
        made = processor([[Pillow.open(BytesIO(image.data))]], return_tensors="pt", **options)
        names = {"pixel_values", "image_sizes", "image_grid_thw", "image_position_ids"} & set(made)
        model.model.get_image_features(**{name: made[name].to(device) for name in names})
        if device == "cuda":
            torch.cuda.synchronize()

    return read


def serve(asked: Connection, folder: Path, network: Network, dtype: str, device: str) -> None:
    """Be one of both: ours, where `dtype` says how, or transformers. Answer sizes and seeds of images with seconds."""
    read = ours(folder, dtype, device) if dtype else transformers(folder, network, device)
    while (image := asked.recv()) is not None:
        size, seed = image
        made = picture(size, size, seed, "JPEG")
        begin = time.perf_counter()
        read(made)
        asked.send(time.perf_counter() - begin)


@contextmanager
def served(*arguments: Any) -> Iterator[Connection]:
    """`serve` in a process of its own, with these arguments behind the first."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, *arguments))
    process.start()
    theirs.close()
    try:
        yield ours
    finally:
        ours.send(None)
        process.join()


def ratio(network: str, size: int, rounds: int, mine: Connection, theirs: Connection) -> None:
    """Print a row, of images of `size` pixels in either direction."""
    taken: list[list[float]] = [[], []]
    for seed in range(rounds):
        for asked, times in zip((mine, theirs), taken, strict=True):
            asked.send((size, seed))
            times.append(asked.recv())
    ours, others = map(statistics.median, taken)
    print(f"| {network} | {size} x {size} | {ours:.3f} | {others:.3f} | {others / ours:.2f} x |", flush=True)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default=",".join(get_args(Network)))
    parser.add_argument("--sizes", default="512,1024", help="pixels in either direction")
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    print("| network | image | ours, s | transformers, s | ratio |\n| --- | --- | --- | --- | --- |")
    for network in arguments.networks.split(","):
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), network)
            both = [(Path(folder), network, dtype, arguments.device) for dtype in (arguments.dtype, "")]
            with served(*both[0]) as mine, served(*both[1]) as theirs:
                for size in map(int, arguments.sizes.split(",")):
                    ratio(network, size, arguments.rounds, mine, theirs)


if __name__ == "__main__":
    main()
