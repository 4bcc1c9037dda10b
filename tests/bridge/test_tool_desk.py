"""Servers of tools as chats use them."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from llama_gui.bridge.tool_desk import ToolDesk
from llama_gui.errors import InvalidRequestError
from llama_gui.vocabulary import ToolInfo, ToolReply, ToolServer, ToolServerState
from tests.tools.conftest import left, odd, until

WAIT_MS = 60_000


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "mcp.json"


@pytest.fixture
def desk(file: Path, qapp) -> Iterator[ToolDesk]:
    desk = ToolDesk(file)
    desk.told = []
    desk.changed.connect(desk.told.append)
    yield desk
    desk.close()
    assert left() == []


def add(desk: ToolDesk, *servers: ToolServer) -> list[str]:
    for server in servers:
        desk.keep(server)
    return [server.name for server in servers]


def run(qtbot: QtBot, desk: ToolDesk, names: list[str]) -> None:
    desk.start(names)
    qtbot.waitUntil(lambda: desk.is_settled(names), timeout=WAIT_MS)


def called(name: str, **fields) -> ToolServer:
    return ToolServer(name, odd("plain").command, odd("plain").args, **fields)


def on_disk(file: Path) -> dict:
    return json.loads(file.read_text())["mcpServers"] if file.exists() else {}


def test_a_tool_is_called(qtbot: QtBot, desk: ToolDesk):
    names = add(desk, odd("plain"))
    assert desk.state("odd") == ToolServerState("off")
    assert desk.is_settled(names)
    run(qtbot, desk, names)
    assert desk.state("odd").status == "ready"
    assert desk.told == ["", "odd", "odd"]
    (tool,) = desk.tools(["nobody", *names])
    with qtbot.waitSignal(desk.replied, timeout=WAIT_MS) as told:
        number = desk.call(tool, {"a": 1})
    assert told.args == [number, ToolReply('{"a": 1}')]
    assert desk.close()
    assert left() == []


def test_a_call_of_what_does_not_run_is_answered_but_not_at_once(qtbot: QtBot, desk: ToolDesk):
    add(desk, ToolServer("bad", "no-such-program"))
    told: list[tuple[int, ToolReply]] = []
    desk.replied.connect(lambda *args: told.append(args))
    for name in ("nobody", "bad"):
        run(qtbot, desk, [name])
        told.clear()
        with qtbot.waitSignal(desk.replied, timeout=WAIT_MS):
            number = desk.call(ToolInfo(name, "tool", "", {}), {})
            assert told == []
        assert told == [(number, ToolReply(f"“{name}” is not running.", is_error=True))]


def test_of_a_cancelled_call_nothing_is_told(qtbot: QtBot, desk: ToolDesk):
    names = add(desk, odd("plain"))
    run(qtbot, desk, names)
    (tool,) = desk.tools(names)
    first = desk.call(tool, {"a": 1})
    with qtbot.waitSignal(desk.replied, timeout=WAIT_MS) as told:
        second = desk.call(tool, {"a": 2})
        desk.cancel(first)
        desk.cancel(12345)
        desk.cancel(desk.call(ToolInfo("nobody", "tool", "", {}), {}))  # whose reply is on its way
    assert told.args[0] == second
    with qtbot.assertNotEmitted(desk.replied, wait=200):
        pass


def test_nothing_is_loaded_or_started_before_it_is_wanted(file: Path):
    code = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from llama_gui.bridge.tool_desk import ToolDesk
application = QCoreApplication([])
desk = ToolDesk(Path(sys.argv[1]))
desk.add_text('{"a": {"command": "b"}}')
desk.remove("a")
print([name for name in ("mcp", "mcp_types", "anyio", "psutil", "httpx2") if name in sys.modules], desk.close())
"""
    from tests.test_imports import run_python

    assert run_python(code, str(file)) == "[] True"


def test_the_list_is_right_at_once_and_then_on_the_disk(qtbot: QtBot, desk: ToolDesk, file: Path):
    a, b = called("a"), called("b", env={"KEY": "1"})
    add(desk, a, b)
    assert desk.servers() == (a, b)
    desk.keep(called("c"), former="a")
    assert desk.servers() == (called("c"), b)
    desk.remove("b")
    desk.remove("nobody")
    assert desk.servers() == (called("c"),)
    assert desk.told == [""] * 4
    assert desk.close()
    assert list(on_disk(file)) == ["c"]
    assert ToolDesk(file).servers() == (called("c"),)


def test_a_text_is_added_whole_or_not_at_all(desk: ToolDesk, file: Path):
    good = {"command": "x"}
    assert desk.add_text(json.dumps({"mcpServers": {"a": good, "b": good}})) == ("a", "b")
    with pytest.raises(InvalidRequestError, match="“d”"):
        desk.add_text(json.dumps({"mcpServers": {"c": good, "d": {"type": "sse", "url": "https://a.example"}}}))
    assert [server.name for server in desk.servers()] == ["a", "b"]
    assert desk.told == [""]
    assert desk.close()
    assert list(on_disk(file)) == ["a", "b"]


def test_one_that_runs_is_started_anew_when_it_is_another(qtbot: QtBot, desk: ToolDesk):
    run(qtbot, desk, add(desk, called("a"), called("b")))
    before = {process.pid for process in left()}
    desk.keep(called("c", env={"NEW": "1"}), former="a")
    assert desk.state("a").status == "off"
    assert desk.state("c").status == "starting"
    qtbot.waitUntil(lambda: desk.is_settled(["c"]), timeout=WAIT_MS)
    assert desk.tools(["c"])[0].server == "c"
    assert until(lambda: len(left()) == 2, 10)
    assert len({process.pid for process in left()} - before) == 1
    desk.keep(called("d"))
    assert desk.state("d").status == "off"


def test_one_that_is_stopped_or_removed_ends(qtbot: QtBot, desk: ToolDesk):
    run(qtbot, desk, add(desk, called("a"), called("b")))
    desk.stop("a")
    assert (desk.state("a").status, desk.tools(["a"])) == ("off", ())
    assert until(lambda: len(left()) == 1, 10)
    desk.remove("b")
    assert desk.tools(["b"]) == ()
    assert until(lambda: left() == [], 10)
    run(qtbot, desk, ["a", "b"])
    assert desk.state("a").status == "ready"
    assert desk.state("b").status == "off"


def test_one_that_failed_is_tried_again(qtbot: QtBot, desk: ToolDesk, tmp_path: Path):
    names = add(desk, ToolServer("later", sys.executable, (str(tmp_path / "server.py"),)))
    run(qtbot, desk, names)
    assert desk.state("later").status == "failed"
    assert "No such file" in desk.state("later").error
    (tmp_path / "server.py").write_text(Path(odd("plain").args[0]).read_text())
    run(qtbot, desk, names)
    assert desk.state("later").status == "ready"


def test_what_it_ended_with_does_not_count_after_a_new_start(qtbot: QtBot, desk: ToolDesk):
    names = add(desk, odd("plain"))
    run(qtbot, desk, names)
    desk.stop("odd")
    run(qtbot, desk, names)
    assert desk.state("odd").status == "ready"
    with qtbot.assertNotEmitted(desk.changed, wait=200):
        pass


@pytest.mark.parametrize("content", ["{", '{"mcpServers": {"a": {"type": "sse", "url": "https://a.example"}}}'])
def test_what_cannot_be_read_is_told_but_not_within_the_question(
    qtbot: QtBot, desk: ToolDesk, file: Path, content: str
):
    file.write_text(content)
    told: list[str] = []
    desk.failed.connect(told.append)
    with qtbot.waitSignal(desk.failed):
        assert desk.servers() == ()
        assert told == []
    assert "mcp.json" in told[0] or "“a”" in told[0]


def test_what_cannot_be_written_is_told_and_not_listed(qtbot: QtBot, desk: ToolDesk, file: Path):
    assert desk.servers() == ()
    file.write_text("{")  # by another program, since
    with qtbot.waitSignal(desk.failed, timeout=WAIT_MS):
        desk.keep(called("a"))
        desk.start(["a"])
    assert desk.servers() == ()
    assert desk.state("a").status == "off"
    assert file.read_text() == "{"


def test_one_that_hangs_is_killed_at_the_end(qtbot: QtBot, desk: ToolDesk):
    desk.start(add(desk, odd("stubborn")))
    assert until(lambda: len(left()) == 1, 30)
    assert not desk.close(1.0)
    assert left() == []
    desk.start(["odd"])
    assert left() == []


def test_a_new_name_is_told_and_an_old_one_is_not(desk: ToolDesk):
    told: list[tuple[str, str]] = []
    desk.renamed.connect(lambda former, name: told.append((former, name)))
    add(desk, called("a"), called("b"))
    desk.keep(called("a", env={"NEW": "1"}), former="a")
    desk.keep(called("x"), former="nobody")
    assert told == []
    desk.keep(called("c"), former="a")
    assert told == [("a", "c")]
    assert [server.name for server in desk.servers()] == ["c", "b", "x"]
