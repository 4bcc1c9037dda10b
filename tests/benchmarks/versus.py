"""Ours, llama.cpp and transformers side by side: the same random weights, the same work, in turn, in one run.

    .venv/bin/python -m tests.benchmarks.versus
    .venv/bin/python -m tests.benchmarks.versus --llama-python OTHER_VENV/bin/python   # where llama-cpp-python is
    .venv/bin/python -m tests.benchmarks.versus --preset qwen2.5-0.5b --dtypes int8 --rounds 7

Each engine is a process of its own. A round asks each of them once for each work; the table shows medians over the
rounds, and medians of the ratios within the rounds, because the machine's speed changes from minute to minute. An
engine that is not installed is left out. llama.cpp gets a GGUF file that is written here from the same weights;
F16 keys and values, two threads like ours, and no GPU.
"""

import argparse
import contextlib
import importlib.metadata
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llama_gui.engine import int8_linear, native_library
from llama_gui.engine.delta_config import DeltaConfig
from llama_gui.engine.device import physical_cores, resolve_precision
from llama_gui.engine.gguf_names import stored_name
from llama_gui.engine.huge_pages import HugePages
from llama_gui.engine.mamba_config import MambaConfig
from llama_gui.engine.network_config import NetworkConfig
from llama_gui.engine.presets import PRESETS, RandomModel, RandomWeights, preset_config
from llama_gui.engine.rounded_bytes import RoundedBytes
from llama_gui.engine.weight_shapes import weight_shapes
from tests.benchmarks.peers import STARTER

ROOT = Path(__file__).parents[2]
THEIR_KINDS = {"bfloat16": "BF16", "int8": "Q8_0", "int4": "Q4_K_M"}
_ARCHITECTURES = {
    "Qwen2ForCausalLM": "qwen2", "Qwen3MoeForCausalLM": "qwen3moe", "GraniteMoeForCausalLM": "granitemoe",
    "Qwen3_5ForCausalLM": "qwen35", "Lfm2ForCausalLM": "lfm2", "GraniteMoeHybridForCausalLM": "granitehybrid",
}  # fmt: skip


_FLOAT32 = ("ffn_gate_inp", "conv1d", "shortconv.conv", "ssm_a", "ssm_d", "ssm_norm")


class Worker:
    """An engine in a child process; see `peers`."""

    def __init__(self, name: str, python: str, *arguments: str) -> None:
        self.name = name
        script = (
            ["-m", "tests.benchmarks.peers"] if python == sys.executable else [str(ROOT / "tests/benchmarks/peers.py")]
        )
        threads = str(physical_cores())
        env = {**os.environ, "GOMP_SPINCOUNT": "30000", "OMP_NUM_THREADS": threads}
        command = [python, *script, *arguments, "--threads", threads]
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._expect("ready")

    def ask(self, work: str) -> float:
        """Tokens per second."""
        assert self._process.stdin is not None
        self._process.stdin.write(work + "\n")
        self._process.stdin.flush()
        return float(self._expect("speed").split()[1])

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()

    def _expect(self, word: str) -> str:
        assert self._process.stdout is not None
        for line in self._process.stdout:  # libraries may say things of their own
            if line.startswith(word):
                return line
        raise RuntimeError(f"{self.name} ended: {' '.join(map(str, self._process.args))}")


def write_gguf(preset: str, target: Path) -> None:
    """The preset's random weights as a BF16 GGUF file without a vocabulary."""
    import gguf

    model = RandomModel(preset, preset_config(preset), STARTER)
    config = model.config
    arch = _ARCHITECTURES.get(config.architecture, "llama")
    writer = gguf.GGUFWriter(target, arch)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    kv_heads, layers, without = config.num_key_value_heads, range(config.num_hidden_layers), config.conv or config.mamba
    writer.add_head_count_kv(kv_heads if without is None else [0 if n in without.layers else kv_heads for n in layers])
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope.theta)
    writer.add_rope_dimension_count(config.rotary_dim)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    if config.experts is not None:
        writer.add_expert_count(config.experts.count)
        writer.add_expert_used_count(config.experts.chosen)
        writer.add_expert_feed_forward_length(config.experts.inner)
    if config.delta is not None:
        _add_delta(writer, config.delta)
    if config.conv is not None:
        writer.add_shortconv_l_cache(config.conv.taps)
    if config.mamba is not None:
        _add_mamba(writer, config.mamba)
    if arch in ("granitemoe", "granitehybrid"):  # what they are does not change the speed
        writer.add_embedding_scale(1.0)
        writer.add_residual_scale(1.0)
        writer.add_attention_scale(config.head_dim**-0.5)
        writer.add_logit_scale(1.0)
    writer.add_vocab_size(config.vocab_size)
    writer.add_tokenizer_model("none")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_BF16)
    for name, tensor in _their_tensors(config, model.weights()):
        if tensor.dim() == 1 or any(part in name for part in _FLOAT32):
            writer.add_tensor(name, tensor.float().numpy())
        else:
            raw = tensor.view(torch.uint8).numpy()
            kind = gguf.GGMLQuantizationType.BF16
            writer.add_tensor(name, np.ascontiguousarray(raw), raw_shape=raw.shape, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_delta(writer: Any, delta: DeltaConfig) -> None:
    writer.add_ssm_conv_kernel(delta.taps)
    writer.add_ssm_state_size(delta.key_dim)
    writer.add_ssm_group_count(delta.key_heads)
    writer.add_ssm_time_step_rank(delta.value_heads)
    writer.add_ssm_inner_size(delta.value_width)
    writer.add_full_attention_interval(4)
    writer.add_rope_dimension_sections([11, 11, 10, 0])


def _add_mamba(writer: Any, mamba: MambaConfig) -> None:
    writer.add_ssm_conv_kernel(mamba.taps)
    writer.add_ssm_state_size(mamba.state_dim)
    writer.add_ssm_group_count(mamba.groups)
    writer.add_ssm_time_step_rank(mamba.heads)
    writer.add_ssm_inner_size(mamba.inner)
    writer.add_rope_scaling_finetuned(False)


def _their_tensors(config: NetworkConfig, weights: RandomWeights) -> Iterator[tuple[str, Tensor]]:
    """Under their names, in bfloat16; of mixtures one for all experts of a layer."""
    experts, cpu = config.experts, torch.device("cpu")
    mixed = (".experts.", "mlp.gate.", "block_sparse_moe.") if experts is not None else ()
    for name in sorted(name for name in weights.names if not any(part in name for part in mixed)):
        stored = stored_name(name) if config.recurrent is None else _hybrid_name(name, config)
        weight = weights.weight(name, torch.bfloat16, cpu)
        if name.endswith(".mlp.gate_up_proj.weight"):
            for part, half in zip(("gate", "up"), weight.chunk(2), strict=True):
                yield stored.replace("ffn_up", f"ffn_{part}"), half.contiguous()
            continue
        if ".mamba." in name and name.endswith((".A_log", ".D", "norm.weight")):
            columns = config.mamba.groups if config.mamba is not None and "norm" in name else weight.numel()
            weight = weight.view(columns, -1)
        yield stored, weight.flatten(1) if weight.dim() > 1 else weight
    for layer in range(config.num_hidden_layers if experts is not None else 0):
        assert experts is not None
        ours, theirs = f"model.layers.{layer}.", f"blk.{layer}.ffn_"
        yield f"{theirs}gate_inp.weight", weights.weight(ours + experts.names.router, torch.bfloat16, cpu)

        def stack(name: str, before: str = ours) -> Tensor:
            if experts.names.is_stacked:
                return weights.weight(before + name, torch.bfloat16, cpu)
            numbers = range(experts.count)
            return torch.stack([weights.weight(before + name.format(n), torch.bfloat16, cpu) for n in numbers])

        both = [half for name in experts.names.gate_up for half in stack(name).split(experts.inner, 1)]
        for part, tensor in zip(("gate", "up", "down"), [*both, stack(experts.names.down)], strict=True):
            yield f"{theirs}{part}_exps.weight", tensor.contiguous()


def _hybrid_name(name: str, config: NetworkConfig) -> str:
    """Of networks with recurrent layers. That A_log is stored as something else does not change the speed."""
    if config.conv is not None:
        return stored_name(name).replace("output_norm", "token_embd_norm")
    if config.mamba is not None:
        return stored_name(name.replace("mamba.A_log", "mamba.slopes"))
    return stored_name(name.replace("A_log", "slopes")).replace("ffn_norm", "post_attention_norm")


def has_llama_cpp(python: str) -> bool:
    """Whether that interpreter can import llama-cpp-python."""
    with contextlib.suppress(OSError):
        return subprocess.run([python, "-c", "import llama_cpp"], capture_output=True, check=False).returncode == 0
    return False


def works(options: argparse.Namespace) -> list[str]:
    """The lines that each worker is asked."""
    chats = [f"decode {count} {options.context} {options.steps}" for count in options.chats.split(",")]
    return [*chats, f"prefill {options.prompt_tokens}"]


def start(options: argparse.Namespace, dtype: str, folder: Path) -> list[Worker]:
    """Ours first, then those that are there."""
    shape = ["--preset", options.preset, "--dtype", dtype, "--device", options.device]
    workers = [Worker(f"ours {dtype}", sys.executable, "ours", *shape)]
    if options.not_exact and dtype == "bfloat16":
        workers.append(Worker("ours bfloat16, not exact", sys.executable, "ours", *shape, "--not-exact"))
    if options.device == "cpu" and has_llama_cpp(options.llama_python):
        kind = THEIR_KINDS[dtype]
        file = their_file(options, kind, folder)
        if options.same_file:
            workers.append(with_file(kind, file))
        workers.append(llama_with_file(options, kind, file))
    if not options.without_transformers:
        theirs = options.transformers_dtype
        arguments = ("--preset", options.preset, "--dtype", theirs, "--device", options.device)
        workers.append(Worker(f"transformers {theirs}", sys.executable, "transformers", *arguments))
    return workers


def their_file(options: argparse.Namespace, kind: str, folder: Path) -> str:
    """The random weights in one of llama.cpp's kinds, as it makes them."""
    source, target = folder / "BF16.gguf", folder / f"{kind}.gguf"
    if not source.exists():
        write_gguf(options.preset, source)
    if not target.exists():
        command = ["quantise", "--gguf", str(source), "--target", str(target), "--dtype", kind]
        peers = str(ROOT / "tests/benchmarks/peers.py")
        subprocess.run([options.llama_python, peers, *command], check=True, capture_output=True)
    return str(target)


def with_file(kind: str, file: str) -> Worker:
    """Ours."""
    return Worker(f"ours, its {kind} file", sys.executable, "ours", "--gguf", file)


def llama_with_file(options: argparse.Namespace, kind: str, file: str) -> Worker:
    """llama.cpp."""
    sequences = "1" if options.chats == "1" else "16"
    return Worker(f"llama.cpp {kind}", options.llama_python, "llama.cpp", "--gguf", file, "--sequences", sequences)


def compare(options: argparse.Namespace, dtype: str, workers: list[Worker]) -> None:
    """Print the rows of one dtype, or of one kind of GGUF file, as Markdown."""
    try:
        for work in works(options):
            speeds: list[list[float]] = [[] for _ in workers]
            buses: list[float] = []
            for turn in range(options.rounds + 1):
                for worker, taken in zip(workers, speeds, strict=True):
                    speed = worker.ask(work)
                    if turn:  # the first is to warm up
                        taken.append(speed)
                if turn and dtype in THEIR_KINDS:
                    buses.append(
                        read_bandwidth(options.device, rounds=2) / bytes_per_step(options.preset, dtype, options.device)
                    )
            print_row(work, dtype, [worker.name for worker in workers], speeds, buses)
    finally:
        for worker in workers:
            worker.close()


def bytes_per_step(preset: str, dtype: str, device: str) -> float:
    """What a step has to read: each weight once, but of the embedding a row."""
    config = RandomModel(preset, preset_config(preset), STARTER).config
    kernels = native_library.load() if device == "cpu" else None
    precision = resolve_precision(dtype, torch.device(device), has_kernels=kernels is not None)
    vocabulary = config.vocab_size * config.hidden_size
    names = {name: math.prod(shape) for name, shape in weight_shapes(config).items()}
    layers = sum(size for name, size in names.items() if name.startswith("model.layers."))
    if config.experts is not None:
        idle = config.experts.count - config.experts.chosen
        layers -= config.num_hidden_layers * idle * 3 * config.experts.inner * config.hidden_size
    has_seven_bits = kernels is not None and not kernels.is_wide and not int8_linear.is_preferred()
    rounded = RoundedBytes.of(config.hidden_size, has_kernels=kernels is not None, has_seven_bits=has_seven_bits)
    return layers * rounded.number_bytes("layers", precision) + vocabulary * rounded.number_bytes("head", precision)


def print_row(work: str, dtype: str, names: list[str], speeds: list[list[float]], buses: list[float]) -> None:
    """One line: ours, then each other with our ratio to it. `buses`: steps a second that the memory bus allows."""
    kind, number, *_ = work.split()
    words = f"{number} chat{'s' if number != '1' else ''}" if kind == "decode" else f"prompt of {number}"
    cells = [f"{statistics.median(speeds[0]):.1f}"]
    for name, taken in zip(names[1:], speeds[1:], strict=True):
        ratio = statistics.median(mine / other for mine, other in zip(speeds[0], taken, strict=True))
        cells.append(f"{name} {statistics.median(taken):.1f} ({ratio:.2f} x)")
    if work.startswith("decode 1 ") and buses:
        share = statistics.median(mine / bus for mine, bus in zip(speeds[0], buses, strict=True))
        cells[0] += f" ({share:.0%} of what the bus allows)"
    print(f"| {words} | {dtype} | {' | '.join(cells)} | {os.getloadavg()[0]:.1f} |", flush=True)


def read_bandwidth(device: str, rounds: int = 8) -> float:
    """Bytes per second that all cores read from memory: 1 GiB, which no cache holds; the best of some rounds.

    Of torch, which reads it in one stream for each core, and of our own product of one row, in four. On a card: of 4
    GiB, copied, which counts twice.
    """
    if device == "cuda":
        return _copy_bandwidth(rounds)
    block = torch.ones(2**28)
    HugePages([block]).wait()  # as our weights are
    readers: list[Callable[[], Tensor]] = [lambda: torch.dot(block, block)]
    kernels, weight, row = native_library.load(), block.view(torch.bfloat16).view(-1, 2048), torch.ones(1, 2048)
    if kernels is not None:
        readers.append(lambda: kernels.half(row, weight, None))
    seconds = []
    for read in readers * rounds:
        began = time.perf_counter()
        read()
        seconds.append(time.perf_counter() - began)
    return block.numel() * 4 / min(seconds)


def _copy_bandwidth(rounds: int) -> float:
    block = torch.ones(2**30, device="cuda")
    target = torch.empty_like(block)
    seconds = []
    for _ in range(rounds + 1):
        torch.cuda.synchronize()
        began = time.perf_counter()
        target.copy_(block)
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - began)
    return 2 * block.nbytes / min(seconds)


def versions(device: str) -> str:
    """What was measured, and on what."""
    cpu = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
                if line.startswith("model name")), platform.processor()) if sys.platform == "linux" else ""  # fmt: skip
    packages = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("torch", "transformers"))
    cores = physical_cores()
    bandwidth = read_bandwidth(device) / 1e9
    where = f"{cpu}, {cores} cores, {bandwidth:.1f} GB/s read by all of them"
    if device == "cuda":
        where = f"{torch.cuda.get_device_name()}, {bandwidth:.0f} GB/s read and written; {cpu}"
    return f"{where}; {platform.system()}, Python {platform.python_version()}, {packages}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", choices=PRESETS, default="llama-3.2-1b")
    parser.add_argument("--dtypes", default="bfloat16,int8,int4")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"), help="cuda: without llama.cpp")
    parser.add_argument("--chats", default="1,3,10")
    parser.add_argument("--context", type=int, default=128)
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--prompt-tokens", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--llama-python", default=sys.executable, help="an interpreter that has llama-cpp-python")
    parser.add_argument("--folder", help="where GGUF files are kept for the next time (default: nowhere)")
    parser.add_argument("--without-transformers", action="store_true")
    parser.add_argument(
        "--transformers-dtype",
        choices=("bfloat16", "float32"),
        default="bfloat16",
        help="float32 is the faster one on CPUs that do not multiply bfloat16 by themselves",
    )
    parser.add_argument("--same-file", action="store_true", help="also ours with llama.cpp's file")
    parser.add_argument("--files", default="", help="also with the same file in llama.cpp's kinds, as Q3_K_M,IQ4_XS")
    parser.add_argument("--not-exact", action="store_true", help="also ours in bfloat16 with exact=False")
    options = parser.parse_args()
    print(f"{options.preset}, {time.strftime('%Y-%m-%d %H:%M')}, {versions(options.device)}\n")
    print("Tokens per second, medians; in brackets ours against theirs.\n")
    print("| work | dtype | ours | others | | load |\n| --- | --- | --- | --- | --- | --- |", flush=True)
    if options.folder:
        Path(options.folder).mkdir(parents=True, exist_ok=True)
    with contextlib.nullcontext(options.folder) if options.folder else tempfile.TemporaryDirectory() as folder:
        for dtype in filter(None, options.dtypes.split(",")):
            compare(options, dtype, start(options, dtype, Path(folder)))
        for kind in filter(None, options.files.split(",")):
            file = their_file(options, kind, Path(folder))
            compare(options, kind, [with_file(kind, file), llama_with_file(options, kind, file)])


if __name__ == "__main__":
    main()
