"""What is said of tool servers and their tools in more than one place."""

from PySide6.QtCore import QCoreApplication

from llama_gui.ui.numbers import number_text
from llama_gui.ui.tools.arguments import visible
from llama_gui.vocabulary import ToolInfo, ToolServerState

_MOST_TITLE = 120


def state_words(state: ToolServerState) -> str:
    """How it stands with a server, in a word or two."""
    if state.status == "ready":
        return count_words(len(state.tools))
    return {
        "off": QCoreApplication.translate("Tools", "off"),
        "starting": QCoreApplication.translate("Tools", "starting…"),
        "failed": QCoreApplication.translate("Tools", "failed"),
    }[state.status]


def count_words(count: int) -> str:
    """So many tools."""
    if count == 1:
        return QCoreApplication.translate("Tools", "1 tool")
    return QCoreApplication.translate("Tools", "{} tools").format(number_text(count))


def title_of(tool: ToolInfo) -> str:
    """What a tool is called for people. Its server wrote that, so it is one line, whatever it holds."""
    return visible(" ".join((tool.title or tool.name).split()))[:_MOST_TITLE]
