"""Whether rows of images are those of llama.cpp, from the same GGUF files: Gemma 4's networks, as a table.

    .venv/bin/python -m tests.benchmarks.image_parity --llama-python PYTHON

PYTHON has llama-cpp-python; this file's `theirs` runs there, so nothing of ours is imported before `main`. The models
are the tests' tiny random ones in float32, and the image is one that neither resizes. llama.cpp looks GELU up in a
table of half precision, which is the difference where a network has any.
"""

import argparse
import json
import subprocess
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

_PLACES = {"gemma4-31b": "position_embedding_size", "gemma4-12b": "mm_posemb_size"}
_ROWS, _COLUMNS, _SIDE = 8, 10, 12
"""Of the image, and pixels of a row in either direction."""


def theirs(text: str, reader: str, pixels: str, width: int) -> None:
    """Standard output: the rows of the image in the file `pixels`, bytes line by line, `width` of them in a line."""
    import ctypes

    import llama_cpp  # pyright: ignore[reportMissingImports]
    from llama_cpp import mtmd_cpp  # pyright: ignore[reportMissingImports]

    model = llama_cpp.Llama(text, n_ctx=512, verbose=False)
    params = mtmd_cpp.mtmd_context_params_default()
    params.use_gpu = params.print_timings = False
    context = mtmd_cpp.mtmd_init_from_file(reader.encode(), model.model, params)
    data = Path(pixels).read_bytes()
    bitmap = mtmd_cpp.mtmd_bitmap_init(
        width, len(data) // 3 // width, (ctypes.c_uint8 * len(data)).from_buffer_copy(data)
    )
    asked = mtmd_cpp.mtmd_input_text()
    asked.text = mtmd_cpp.mtmd_get_marker(context)
    asked.text_len, asked.add_special, asked.parse_special = len(asked.text), False, True
    chunks = mtmd_cpp.mtmd_input_chunks_init()
    bitmaps = (mtmd_cpp.mtmd_bitmap_p_ctypes * 1)(bitmap)
    if mtmd_cpp.mtmd_tokenize(context, chunks, ctypes.byref(asked), bitmaps, 1):
        raise SystemExit("llama.cpp refuses the image")
    for number in range(mtmd_cpp.mtmd_input_chunks_size(chunks)):
        chunk = mtmd_cpp.mtmd_input_chunks_get(chunks, number)
        if mtmd_cpp.mtmd_input_chunk_get_type(chunk) != 1:
            continue
        count = mtmd_cpp.mtmd_input_chunk_get_n_tokens(chunk)
        if mtmd_cpp.mtmd_encode_chunk(context, chunk):
            raise SystemExit("llama.cpp cannot read the image")
        found = mtmd_cpp.mtmd_get_output_embd(context)
        print(json.dumps([found[at] for at in range(count * model.n_embd())]))


def ask_them(python: str, text: Path, reader: Path, pixels: Path, width: int) -> list[float]:
    """All numbers of llama.cpp's rows, one behind the other."""
    command = [python, __file__, "--theirs", str(text), str(reader), str(pixels), str(width)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise SystemExit(f"llama.cpp cannot run {reader.name}: {ran.stderr[-400:]}")
    return json.loads(ran.stdout.splitlines()[-1])


def compare(python: str) -> None:
    """Print a row for each network."""
    import torch
    from PIL import Image as Pillow

    from llama_gui.engine.device import resolve_precision
    from llama_gui.engine.model_files import open_model
    from llama_gui.engine.vision.loading import load_vision
    from llama_gui.engine.vision.pixels import PreparedImage
    from tests.fakes.tiny_gemma4 import Kind, gemma4_as_gguf, write_tiny_seeing_gemma4
    from tests.fakes.tiny_pixtral import picture

    deaf = {"clip.has_audio_encoder": False, "clip.audio.projector_type": None}
    networks: dict[str, tuple[Kind, dict[str, Any]]] = {
        "with layers": ("gemma4-31b", {}),
        "with limits, as E2B's": ("gemma4-31b", {"use_clipped_linears": True}),
        "moved, as 31B's": ("gemma4-31b", {"standardize": True}),
        "12B's": ("gemma4-12b", {}),
    }
    cpu = torch.device("cpu")
    print("| network | largest difference of rows | of |\n| --- | --- | --- |")
    for name, (kind, vision) in networks.items():
        with tempfile.TemporaryDirectory() as scratch:
            folder = write_tiny_seeing_gemma4(Path(scratch, "model"), kind, **{_PLACES[kind]: 840}, **vision)
            text = gemma4_as_gguf(folder, Path(scratch, "files"), **deaf)
            (reader,) = text.parent.glob("mmproj*")
            image = Pillow.open(BytesIO(picture(_COLUMNS * _SIDE, _ROWS * _SIDE, 3).data)).convert("RGB")
            pixels = Path(scratch, "pixels")
            pixels.write_bytes(image.tobytes())
            found = torch.tensor(ask_them(python, text, reader, pixels, image.width))
            files = open_model(text).vision
            assert files is not None
            with files.weights(None) as weights:
                precision = resolve_precision("float32", cpu, has_kernels=False)
                tower = load_vision(files.config, weights, precision, cpu)
            plain = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8).view(image.height, image.width, 3)
            with torch.inference_mode():
                *_, ours = tower.read(PreparedImage(b"", _ROWS, _COLUMNS, plain))
        assert ours is not None
        difference = float((ours.flatten() - found).abs().max())
        print(f"| {name} | {difference:.1e} | {float(found.abs().max()):.1f} |", flush=True)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llama-python", default="python3", help="an interpreter that has llama-cpp-python")
    parser.add_argument("--theirs", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.theirs:
        *paths, width = arguments.theirs
        theirs(*paths, int(width))
    else:
        compare(arguments.llama_python)


if __name__ == "__main__":
    main()
