"""A call of a tool in the transcript: one line, and below it, when they are wanted, what was sent and what came."""

import json

from PySide6.QtCore import QCoreApplication

from llama_gui.chats.tool_use import ToolUse, read_use
from llama_gui.chats.tree import Node
from llama_gui.ui.markdown.document_writer import DocumentWriter
from llama_gui.ui.markdown.formats import Property
from llama_gui.ui.markdown.parts import AT_ONCE
from llama_gui.ui.tools.arguments import readable

_MARK = "⚙"
_MOST_LETTERS = 60
"""Of the arguments in the line itself."""
_DEPTH = 1
"""What is unfolded stands beside one bar, as a quotation does."""
translate = QCoreApplication.translate


def write_tool(writer: DocumentWriter, node: Node, *, is_unfolded: bool) -> None:
    """What was called and how it stands with it; the reply is plain text, whatever is in it."""
    formats, use = writer.formats, read_use(node.recipe)
    block = formats.paragraph(14)
    block.setProperty(Property.CHROME, True)
    writer.begin_block(block, formats.small())
    writer.insert(f"{_MARK} {_named(node, use)}  ", formats.small())
    if node.status == "streaming":
        writer.insert(translate("Transcript", "waiting …"), formats.small())
        return
    label = f"{_state(node)} {'▾' if is_unfolded else '▸'}"
    writer.command(label.replace(" ", "\u00a0"), "reasoning", node.id)
    if is_unfolded:
        _write_quoted(writer, readable(use.arguments)[0].split("\n") if use else [])
        _write_quoted(writer, node.content.split("\n"))


def tool_line(node: Node) -> str:
    """The call in a line, as on paper."""
    return f"{_named(node, read_use(node.recipe))}  ·  {_state(node)}"


def _named(node: Node, use: ToolUse | None) -> str:
    if use is None:
        return node.model or translate("Transcript", "Tool")
    arguments = ", ".join(f"{name}: {_shown(value)}" for name, value in use.values().items())
    arguments = " ".join(arguments[: 4 * _MOST_LETTERS].split())
    if len(arguments) > _MOST_LETTERS:
        arguments = arguments[:_MOST_LETTERS] + "…"
    name = f"{use.server} · {use.title or use.tool}"
    return f"{name} ({arguments})" if arguments else name


def _state(node: Node) -> str:
    match node.status:
        case "complete":
            return translate("Transcript", "Reply")
        case "failed":
            return translate("Transcript", "It went wrong")
        case "stopped" if node.content:
            return translate("Transcript", "Declined")
    return translate("Transcript", "No reply")


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _write_quoted(writer: DocumentWriter, lines: list[str]) -> None:
    formats, top, left = writer.formats, 8.0, AT_ONCE
    for line in lines:
        if not line.strip():
            top = 8.0
            continue
        block = formats.paragraph(top)
        formats.quote(block, _DEPTH)
        writer.line(line[:left], block, formats.small())
        top, left = 3.0, left - len(line)
        if left <= 0:
            return
