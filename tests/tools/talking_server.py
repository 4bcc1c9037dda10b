"""A server of tools, by the official library; started by the tests. Arguments: a port, or "" for stdin and stdout."""

import os
import sys
from pathlib import Path

import anyio
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import AudioContent, CallToolResult, ToolAnnotations

server = MCPServer("talking", log_level="ERROR")


def _note_it():
    Path(os.environ["CANCELLED_FILE"]).touch()


@server.tool(title="Add up", annotations=ToolAnnotations(read_only_hint=True))
def add(a: int, b: int) -> int:
    """The sum of two numbers."""
    return a + b


@server.tool()
def fail() -> str:
    """Goes wrong."""
    raise ToolError("the cupboard is bare")


@server.tool(structured_output=False)
async def wait() -> str:
    """Takes long."""
    try:
        await anyio.sleep(60)
    except BaseException:
        _note_it()
        raise
    return "done"


@server.tool(structured_output=False)
def picture() -> list:
    """A text, a picture and a sound."""
    sound = AudioContent(type="audio", data="AAAA", mime_type="audio/wav")
    return ["see:", Image(data=b"0" * 300, format="png"), sound]


@server.tool()
def only_structured() -> CallToolResult:
    """No text at all."""
    return CallToolResult(content=[], structured_content={"degrees": 21})


@server.tool(structured_output=False)
def long() -> str:
    """More than anybody reads."""
    return "x" * 250_000


@server.tool(structured_output=False)
def environment() -> str:
    """What it was started with."""
    return repr(dict(os.environ))


@server.tool(structured_output=False)
async def grow(context: Context) -> str:
    """Has one tool more from now on."""

    @server.tool()
    def grown() -> str:
        """New."""
        return "new"

    await context.session.send_tool_list_changed()
    return "grown"


if __name__ == "__main__":
    port = sys.argv[1] if len(sys.argv) > 1 else ""
    if port:
        server.run("streamable-http", host="127.0.0.1", port=int(port))
    else:
        server.run("stdio")
