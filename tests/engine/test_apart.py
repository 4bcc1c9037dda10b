"""Work in a thread that ends with it."""

import os
import subprocess
import sys
import threading
import time

import pytest

from llama_gui.engine.apart import run_apart
from llama_gui.paths import find_resources


def test_what_it_reports_is_heard_in_the_calling_thread():
    heard = []
    threads = []

    def work(report, _is_unwanted):
        threads.append(threading.current_thread())
        for number in range(3):
            report(number)
        return "done"

    assert run_apart(work, lambda n: heard.append((n, threading.current_thread())), name="apart") == "done"
    assert heard == [(n, threading.current_thread()) for n in range(3)]
    assert threads[0].name == "apart"
    assert not threads[0].is_alive()


def test_nobody_has_to_listen():
    assert run_apart(lambda report, _is_unwanted: report(1) or 7, None, name="apart") == 7


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()])
def test_an_error_of_the_work_comes_out(error):
    def work(_report, _is_unwanted):
        raise error

    with pytest.raises(type(error)) as caught:
        run_apart(work, None, name="apart")
    assert caught.value is error


def test_an_error_of_the_listener_ends_the_work():
    noticed = []

    def work(report, is_unwanted):
        report(1)
        for _ in range(500):
            if is_unwanted():
                noticed.append(True)
                raise RuntimeError("it was cancelled")
            time.sleep(0.01)

    def listen(_number):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_apart(work, listen, name="apart")
    assert noticed == [True]


_COUNT_HELPERS = """
import os, sys, threading, time
import torch
from llama_gui.engine import Engine
from llama_gui.engine.load_plan import plan_load

def strangers():
    return set(os.listdir("/proc/self/task")) - {str(thread.native_id) for thread in threading.enumerate()}

torch.ones(4).sum()
before = strangers()
for dtype in ("bfloat16", "int4"):
    while strangers() - before:  # those of an engine end a moment after its thread
        time.sleep(0.01)
    plan_load(sys.argv[1], dtype)
    with Engine.load(sys.argv[1], dtype=dtype, threads=2) as engine:
        engine.settle()
        engine.warmup()
        print(len(strangers() - before))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_only_the_engine_has_helpers_of_openmp():
    """With more helpers than cores none of them waits awake."""
    model = find_resources() / "starter_model"
    command = [sys.executable, "-c", _COUNT_HELPERS, str(model)]
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True, env=environment)
    assert done.stdout.split() == ["1", "1"]
