"""Devices, dtypes, threads and memory: of this machine, and of machines that we only play."""

import importlib.util
import os
import platform
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import psutil
import pytest
import torch

from llama_gui.engine import device
from llama_gui.errors import InvalidRequestError, UnsupportedModelError

GB = 2**30


@pytest.fixture
def machine(monkeypatch):
    """Play a machine; what is not said is that of a plain computer with four cores and no GPU."""

    def machine(*, cuda=False, mps=False, bf16=False, amx=False, gpu_bf16=True, cores=4, allowed=8, free=8 * GB):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation=True: gpu_bf16)
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda gpu: (6 * GB, 24 * GB))
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda gpu: (9, 0))
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
        monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: bf16, raising=False)
        monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx, raising=False)
        monkeypatch.setattr(psutil, "cpu_count", lambda logical=True: 2 * (cores or 1) if logical else cores)
        monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(allowed)), raising=False)
        monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(total=16 * GB, available=free))

    return machine


# --- this machine


def test_the_hardware_of_this_machine():
    devices = device.devices_here()
    assert devices[0] == "cpu"
    assert 1 <= device.physical_cores() <= os.cpu_count()
    assert device.kv_byte_budget(torch.device("cpu")) >= device.MIN_KV_BYTES
    for name in devices:
        assert device.resolve_device(name).type == name
    assert device.resolve_device("auto").type in devices


# --- devices


@pytest.mark.parametrize(
    ("has", "want"),
    [({}, "cpu"), ({"cuda": True}, "cuda"), ({"mps": True}, "mps"), ({"cuda": True, "mps": True}, "cuda")],
)
def test_auto_takes_the_fastest_device(machine, has, want):
    machine(**has)
    assert device.devices_here() == ("cpu", *has)
    assert device.resolve_device("auto") == torch.device(want)
    assert device.resolve_device("cpu") == torch.device("cpu")


@pytest.mark.parametrize("name", ["cuda", "mps"])
def test_a_device_that_is_not_there(machine, name):
    machine()
    with pytest.raises(InvalidRequestError, match=f"device is '{name}', .* this machine has: cpu"):
        device.resolve_device(name)


@pytest.mark.parametrize("name", ["tpu", "", "CPU", "cuda:1"])
def test_an_unknown_device(name):
    with pytest.raises(InvalidRequestError, match="one of auto, cpu, cuda, mps") as caught:
        device.resolve_device(name)
    assert (caught.value.field, caught.value.value) == ("device", name)


# --- dtypes


@pytest.mark.parametrize(
    ("features", "on", "want"),
    [
        ({}, "cpu", torch.float32),
        ({"bf16": True}, "cpu", torch.bfloat16),
        ({"amx": True}, "cpu", torch.bfloat16),
        ({"gpu_bf16": True}, "cuda", torch.bfloat16),
        ({"gpu_bf16": False}, "cuda", torch.float16),
        ({"bf16": True}, "mps", torch.float16),
    ],
)
def test_auto_dtype(machine, features, on, want):
    machine(**features)
    assert device.resolve_precision("auto", torch.device(on)) == device.Precision(want)


def test_auto_dtype_where_torch_cannot_tell(monkeypatch):
    monkeypatch.setattr(torch, "cpu", SimpleNamespace())
    assert device.resolve_precision("auto", torch.device("cpu")).dtype == torch.float32


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float16"])
def test_a_named_dtype_is_taken_anywhere(machine, name):
    machine()
    assert {device.resolve_precision(name, torch.device(on)) for on in ("cpu", "cuda")} == {
        device.Precision(getattr(torch, name))
    }


@pytest.mark.parametrize("name", ["int8", "int4"])
def test_quantised_weights_have_the_best_activations_beside_them(machine, name):
    machine(bf16=True)
    precision = device.resolve_precision(name, torch.device("cpu"))
    assert precision == device.Precision(torch.bfloat16, quantised=name)
    assert precision.name == name
    with pytest.raises(UnsupportedModelError, match=f"{name} runs on the CPU and.* only"):
        device.resolve_precision(name, torch.device("mps"))


def test_a_card_multiplies_four_bits_only_by_our_kernels(machine, monkeypatch):
    machine()
    monkeypatch.setattr(device, "has_card_kernels", lambda device: False)
    assert device.resolve_precision("int8", torch.device("cuda")) == device.Precision(torch.bfloat16, "int8")
    with pytest.raises(UnsupportedModelError, match="int4 runs on the CPU and, with Triton, on NVIDIA cards only"):
        device.resolve_precision("int4", torch.device("cuda"))
    assert device.resolve_precision("auto", torch.device("cuda"), stored="int4") == device.Precision(torch.bfloat16)


@pytest.mark.parametrize(
    ("name", "stored", "quantised", "keeps_levels"),
    [
        ("auto", "int4", "int4", True),
        ("auto", "int8", "int8", True),
        ("auto", None, None, False),
        ("int4", None, "int4", False),
        ("int4", "int8", "int4", False),
        ("int8", "int4", "int8", False),
        ("float16", "int4", None, False),
    ],
)
def test_a_card_with_our_kernels_takes_what_a_file_holds(machine, monkeypatch, name, stored, quantised, keeps_levels):
    machine()
    monkeypatch.setattr(device, "has_card_kernels", lambda device: device.type == "cuda")
    precision = device.resolve_precision(name, torch.device("cuda"), stored=stored)
    assert (precision.quantised, precision.keeps_levels) == (quantised, keeps_levels)
    reason = device.precision_reason(name, precision, torch.device("cuda"))
    assert reason.startswith("The file holds") == (name == "auto" and quantised is not None)


def test_what_is_ours_of_a_card_could_be_free(machine, monkeypatch):
    machine(cuda=True)
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda gpu: 3 * GB)
    assert device.card_bytes(torch.device("cuda")) == 9 * GB


def test_kernels_for_cards_need_triton_and_a_card_since_turing(monkeypatch):
    card, found = torch.device("cuda"), {"triton": object()}
    monkeypatch.setattr(torch.version, "hip", None)
    monkeypatch.setattr(importlib.util, "find_spec", found.get)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (7, 5))
    assert device.has_card_kernels(card)
    assert not device.has_card_kernels(torch.device("cpu"))
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (6, 1))
    assert not device.has_card_kernels(card)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (9, 0))
    assert device.has_card_kernels(card)
    found.clear()
    assert not device.has_card_kernels(card)


@pytest.mark.parametrize(
    ("name", "stored", "on", "has_kernels", "want"),
    [
        ("auto", "int4", "cpu", True, device.Precision(torch.float32, "int4", as_stored=True)),
        ("auto", "int8", "cpu", True, device.Precision(torch.float32, "int8", as_stored=True)),
        ("auto", None, "cpu", True, device.Precision(torch.float32, held=torch.bfloat16)),
        ("auto", "int4", "cpu", False, device.Precision(torch.float32)),
        ("int4", "int4", "cpu", True, device.Precision(torch.float32, "int4", as_stored=True)),
        ("int4", "int8", "cpu", True, device.Precision(torch.float32, "int4")),
        ("int4", "int4", "cpu", False, device.Precision(torch.float32, "int4")),
        ("int8", "int4", "cpu", True, device.Precision(torch.float32, "int8")),
        ("bfloat16", "int4", "cpu", True, device.Precision(torch.float32, held=torch.bfloat16)),
    ],
)
def test_what_a_file_holds_in_few_bits_stays_so(machine, name, stored, on, has_kernels, want):
    machine()
    precision = device.resolve_precision(
        name, torch.device(on), has_kernels=has_kernels, stored=stored, keeps_blocks=True
    )
    assert precision == want
    reason = device.precision_reason(name, precision, torch.device(on))
    assert reason.startswith("The file holds") == (name == "auto" and want.quantised is not None)


def test_other_dtypes():
    cpu = torch.device("cpu")
    with pytest.raises(InvalidRequestError, match=r"dtype is 'float64'.*one of auto, float32"):
        device.resolve_precision("float64", cpu)


# --- threads


@pytest.mark.parametrize(
    ("cores", "allowed", "want"),
    [(4, 8, 4), (4, 2, 2), (1, 2, 1), (None, 8, 8)],
    ids=["siblings do not count", "tied to two", "one core", "unknown"],
)
def test_one_thread_for_each_core(machine, cores, allowed, want):
    machine(cores=cores, allowed=allowed)
    assert device.thread_count(GB) == device.physical_cores() == want


def test_where_no_core_can_be_set_aside(machine, monkeypatch):
    """macOS and Windows have no affinity."""
    machine(cores=4)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert device.physical_cores() == 3


def test_a_small_network_gets_one_thread(machine):
    machine(cores=4)
    sizes = (0, device.SMALL_WEIGHT_BYTES - 1, device.SMALL_WEIGHT_BYTES)
    assert [device.thread_count(size) for size in sizes] == [1, 1, 4]


def test_threads_are_those_of_the_calling_thread_and_come_back():
    before = torch.get_num_threads()
    torch.set_num_threads(before)  # new threads begin with what any thread said last
    with ThreadPoolExecutor(1) as other:
        assert other.submit(torch.get_num_threads).result() == before
        with device.torch_threads(before + 1):
            assert torch.get_num_threads() == before + 1
            assert other.submit(torch.get_num_threads).result() == before
        assert torch.get_num_threads() == before
    with pytest.raises(ValueError, match="mine"), device.torch_threads(before + 1):
        raise ValueError("mine")
    assert torch.get_num_threads() == before


# --- memory


def test_conversations_get_a_share_of_what_is_free(machine):
    machine(free=8 * GB)
    assert device.kv_byte_budget(torch.device("cpu")) == 4 * GB
    assert device.kv_byte_budget(torch.device("mps")) == 4 * GB
    assert device.kv_byte_budget(torch.device("cuda")) == 3 * GB  # its own memory, not the computer's
    machine(free=100)
    assert device.kv_byte_budget(torch.device("cpu")) == device.MIN_KV_BYTES


@pytest.mark.parametrize("limited", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_where_promised_memory_counts_nobody_relies_on_it(monkeypatch, limited: str):
    resource, asked = pytest.importorskip("resource"), device.Path.read_text
    told, limit = "0", resource.RLIM_INFINITY

    def read_text(path, **options):
        return f"{told}\n" if path == device.Path("/proc/sys/vm/overcommit_memory") else asked(path, **options)

    monkeypatch.setattr(device.Path, "read_text", read_text)
    free = resource.RLIM_INFINITY
    monkeypatch.setattr(
        resource, "getrlimit", lambda what: 2 * (limit if what == getattr(resource, limited) else free,)
    )
    assert device.promises_memory()
    told = "2"  # Linux: never more than there is
    assert not device.promises_memory()
    told, limit = "1", 8 * GB  # of addresses, of which weights need some too
    assert not device.promises_memory()
    limit = resource.RLIM_INFINITY
    monkeypatch.setattr(sys, "platform", "win32")
    assert not device.promises_memory()


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="this C library has no such choice")
def test_what_a_step_frees_is_there_for_the_next_one():
    resource = pytest.importorskip("resource")
    code = "import resource, torch\nfrom llama_gui.engine.device import keep_scratch_memory\n"
    code += (
        "keep_scratch_memory()\nfor _ in range(9):\n    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
    )
    code += "    x, y = torch.ones(4 * 2**20), torch.ones(4 * 2**20)\n    del x, y\n"
    code += "print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert int(done.stdout) < 32 * 2**20 / resource.getpagesize() / 4  # without: every page of 32 MiB


@pytest.mark.parametrize(
    ("name", "bf16", "said"),
    [
        ("auto", True, "multiplies bfloat16 by itself"),
        ("auto", False, "float32 is faster"),
        ("int8", True, "You chose int8."),
    ],
)
def test_the_choice_of_numbers_is_explained(machine, name, bf16, said):
    machine(bf16=bf16)
    precision = device.resolve_precision(name, torch.device("cpu"))
    assert said in device.precision_reason(name, precision, torch.device("cpu"))


def test_weights_of_our_own_kernels_are_explained(machine):
    machine(bf16=True)
    precision = device.resolve_precision("auto", torch.device("cpu"), has_kernels=True)
    assert "packed into three quarters" in device.precision_reason("auto", precision, torch.device("cpu"))


def test_on_a_gpu_the_choice_is_explained_by_the_gpu(machine):
    machine(cuda=True)
    precision = device.resolve_precision("auto", torch.device("cuda"))
    assert device.precision_reason("auto", precision, torch.device("cuda")).startswith("bfloat16 is what cuda")
