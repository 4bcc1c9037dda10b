"""Nothing that was started outlives us."""

import json
import sys
import time
from dataclasses import replace

import pytest

from tests.tools.conftest import Talk, gone, odd, until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="says what signals and process groups do")


def test_what_it_started_ends_with_it(talk: Talk):
    run, _state = talk.start(odd("family"))
    pids = json.loads(talk.call(run, "tool0").text)
    talk.client.stop(run)
    assert talk.state(run).status == "off"
    assert gone(*pids)


def test_what_it_left_behind_at_its_own_end_ends_too(talk: Talk):
    run, _state = talk.start(odd("leaving"))
    pids = json.loads(talk.call(run, "tool0").text)
    assert "ended with exit code 0" in talk.state(run).error
    assert gone(*pids)


def test_one_that_will_not_end_is_killed_in_time():
    talk = Talk()
    talk.client.start(1, odd("stubborn"))
    talk.client.start(2, replace(odd("plain"), name="other"))
    assert talk.state(2).status == "ready"
    pids = [process.pid for process in talk.left()]
    assert len(pids) == 2
    began = time.monotonic()
    assert not talk.client.close(1.0)
    assert time.monotonic() - began < 2.0
    assert gone(*pids)


def test_nobody_waits_for_one_that_will_not_end(talk: Talk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("llama_gui.tools.program._GRACE_S", 0.2)
    talk.client.start(1, odd("stubborn"))
    assert until(lambda: len(talk.left()) == 1, 30)
    began = time.monotonic()
    talk.client.stop(1)
    assert time.monotonic() - began < 0.5
    assert talk.state(1).status == "off"
