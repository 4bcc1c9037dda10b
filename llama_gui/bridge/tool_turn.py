"""The part of a turn in which tools are called: the user is asked, the tool is, and its reply is kept."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal, Slot

from llama_gui.bridge.chat_card import ChatCard
from llama_gui.bridge.chat_news import ChatNews
from llama_gui.bridge.chat_saver import ChatSaver
from llama_gui.bridge.tool_desk import ToolDesk
from llama_gui.chats.shown_path import ShownPath
from llama_gui.chats.tool_use import ToolUse, new_use, read_use, use_to_json
from llama_gui.chats.tree import Node, NodeStatus, clean_text, new_node
from llama_gui.tool_calls import ToolCall
from llama_gui.vocabulary import ToolDecision, ToolInfo, ToolQuestion, ToolReply

LEAST_ROOM, UNTOLD_ROOM = 4_000, 12_000
"""Characters of a reply that are always kept, and that are kept where the size of the context is unknown."""
DECLINED = "The user did not allow this call."


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A call that is to be made."""

    tool: ToolInfo
    use: ToolUse


class ToolTurn(QObject):
    """The calls of one chat, one after the other. All methods are called on the GUI thread and return at once."""

    done = Signal(str)
    """All calls of an answer were made or declined; the message with the last reply."""
    withdrawn = Signal()
    """The call that was to be made once more is of a tool that is not there."""

    def __init__(
        self,
        chat_id: str,
        path: ShownPath,
        card: ChatCard,
        desk: ToolDesk,
        saver: ChatSaver,
        news: ChatNews,
        takes_tools: Callable[[], bool],
    ) -> None:
        super().__init__(news)
        self._chat_id = chat_id
        self._path = path
        self._card = card
        self._desk = desk
        self._saver = saver
        self._news = news
        self._takes_tools = takes_tools
        self._then: Callable[[], None] | None = None
        self._wanted: list[_Wanted] = []
        self._current: _Wanted | None = None
        self._room = LEAST_ROOM
        self._node_id = ""  # the message of the call that is made now
        self._number: int | None = None
        self._question: ToolQuestion | None = None
        desk.changed.connect(self._go_on_if_settled)
        desk.replied.connect(self._on_replied)

    @property
    def question(self) -> ToolQuestion | None:
        """The call that waits for the user's word."""
        return self._question

    def offered(self) -> tuple[ToolInfo, ...]:
        """The tools that the model may call now."""
        return self._desk.tools(self._card.settings.tools)

    # --- before the model is asked

    def prepare(self, then: Callable[[], None]) -> None:
        """Start the chat's servers, then go on; it is reported why any of them cannot run.

        For a model that has no place for tools none is started.
        """
        names = self._wanted_servers()
        if names:
            self._desk.start(names)
        self._then = then
        self._go_on_if_settled()
        if self._then is not None:
            self._news.tools_awaited.emit(True)

    def _wanted_servers(self) -> tuple[str, ...]:
        return self._card.settings.tools if self._takes_tools() else ()

    @Slot()
    def _go_on_if_settled(self) -> None:
        names = self._wanted_servers()
        if self._then is None or not self._desk.is_settled(names):
            return
        then, self._then = self._then, None
        self._news.tools_awaited.emit(False)
        if errors := [state.error for name in names if (state := self._desk.state(name)).status == "failed"]:
            self._news.failed.emit("\n".join(errors))
        then()

    # --- when it has answered

    def run(self, answer_id: str, calls: Sequence[ToolCall], tools: Mapping[str, ToolInfo], max_context: int) -> None:
        """Make the calls of an answer. `tools`: by the names that the model was told; each call is of one of these."""
        self._wanted = [
            _Wanted(tools[call.name], new_use(tools[call.name], call.name, call.arguments)) for call in calls
        ]
        # A token is about four characters, so all replies together take at most a third of the context.
        room = max(LEAST_ROOM, 4 * max_context // 3) if max_context else UNTOLD_ROOM
        self._room = room // len(self._wanted)
        self._node_id = answer_id
        self._next()

    def run_again(self, node_id: str) -> None:
        """Make a call that was not made, or did not come to its end."""
        use = read_use(self._path.tree[node_id].recipe)
        tool = next(
            (t for t in self.offered() if use is not None and (t.server, t.name) == (use.server, use.tool)), None
        )
        if use is None or tool is None:
            self._news.failed.emit(self.tr("The tool of this call is not there. Is its server on in this chat?"))
            self.withdrawn.emit()
            return
        self._wanted, self._room = [], UNTOLD_ROOM
        self._node_id = node_id
        self._put(replace(self._path.tree[node_id], status="streaming"))
        self._begin(_Wanted(tool, use))

    def _next(self) -> None:
        if not self._wanted:
            self.done.emit(self._node_id)
            return
        wanted = self._wanted.pop(0)
        node = new_node(
            self._chat_id, "tool", "", "streaming", self._node_id, f"{wanted.tool.server}/{wanted.tool.name}"
        )
        node = replace(node, recipe=use_to_json(wanted.use))
        self._node_id = node.id
        self._path.add(node)
        self._saver.save_soon(node)
        self._news.message_added.emit(node)
        self._begin(wanted)

    def _begin(self, wanted: _Wanted) -> None:
        self._current = wanted
        if wanted.tool.key in self._card.settings.allowed_tools:
            self._call(wanted)
        else:
            self._ask(ToolQuestion(self._node_id, wanted.tool, wanted.use.arguments))

    def _ask(self, question: ToolQuestion | None) -> None:
        self._question = question
        self._news.tool_asked.emit(question)

    def decide(self, decision: ToolDecision) -> None:
        """The user's word on the call that waits for it."""
        current = self._current
        if self._question is None or current is None:
            return
        self._ask(None)
        if decision == "decline":
            self._end("stopped", DECLINED)
            return
        if decision == "always":
            settings = self._card.settings
            allowed = (*settings.allowed_tools, current.tool.key)
            self._card.set_settings(replace(settings, allowed_tools=tuple(dict.fromkeys(allowed))))
        self._call(current)

    def _call(self, wanted: _Wanted) -> None:
        self._number = self._desk.call(wanted.tool, wanted.use.values())

    @Slot(int, object)
    def _on_replied(self, number: int, reply: ToolReply) -> None:
        if number == self._number:
            self._number = None
            self._end("failed" if reply.is_error else "complete", _shortened(clean_text(reply.text), self._room))

    def _end(self, status: NodeStatus, text: str) -> None:
        self._put(replace(self._path.tree[self._node_id], status=status, content=text))
        self._next()

    def _put(self, node: Node) -> None:
        self._path.tree.replace(node)
        self._saver.save_soon(node)
        self._news.node_changed.emit(node)

    # --- broken off

    def stop(self, status: NodeStatus = "stopped") -> bool:
        """Make no more calls. False: none was under way, and no server was waited for."""
        if self._then is None and self._question is None and self._number is None:
            return False
        self._then = None
        self._wanted.clear()
        if self._number is not None:
            self._desk.cancel(self._number)
        is_open = self._number is not None or self._question is not None
        self._number = None
        if self._question is not None:
            self._ask(None)
        if is_open:
            self._put(replace(self._path.tree[self._node_id], status=status))
        return True


def _shortened(text: str, most: int) -> str:
    """The beginning and the end of a reply that is longer than what the model can be given."""
    if len(text) <= most:
        return text
    head = most * 3 // 4
    left_out = len(text) - most
    return f"{text[:head]}\n[… {left_out} characters were left out …]\n{text[len(text) - (most - head) :]}"
