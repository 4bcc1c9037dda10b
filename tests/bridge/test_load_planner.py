"""A model is looked at off the GUI thread, and what is told belongs to what was asked."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from llama_gui.bridge.load_planner import LoadPlanner
from llama_gui.vocabulary import STARTER, LoadOptions, LoadPlan
from tests.benchmarks.chats import STARTER as STARTER_PATH


@pytest.fixture
def planner(qapp):
    planner = LoadPlanner(Path(STARTER_PATH))
    yield planner
    assert planner.close()


def test_what_the_starter_model_takes(planner: LoadPlanner, qtbot: QtBot):
    options = LoadOptions("float32")
    with qtbot.waitSignal(planner.planned, timeout=20_000) as told:
        planner.plan(STARTER, options)
    key, asked, plan = told.args
    assert (key, asked) == (STARTER, options)
    assert isinstance(plan, LoadPlan)
    assert (plan.dtype, plan.trained_context) == ("float32", 2048)
    planner.freed = lambda: 2**40
    with qtbot.waitSignal(planner.planned, timeout=20_000) as told:
        planner.plan(STARTER, options)
    assert told.args[2].chat_bytes > 2**38


def test_what_is_not_there_is_told(planner: LoadPlanner, qtbot: QtBot):
    with qtbot.waitSignal(planner.failed, timeout=20_000) as told:
        planner.plan("/no/such/model", LoadOptions())
    assert told.args[:2] == ["/no/such/model", LoadOptions()]
    assert "/no/such/model" in told.args[2]
