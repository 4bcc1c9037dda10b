"""Work in a thread that ends with it."""

import threading
import time

import pytest

from llama_gui.engine.apart import run_apart


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
