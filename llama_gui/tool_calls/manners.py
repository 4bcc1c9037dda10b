"""The table of the ways in which models write calls: what `parse_tool_calls` reads, and the engine's grammar asks for.

::

    <tool_call>{"name": "f", "arguments": {…}}</tool_call>      Qwen, Hermes, SmolLM3
    <tool_call>[{"name": "f", "arguments": {…}}]                Granite 3.1
    <|tool_call|>[{"name": "f", "arguments": {…}}]              Granite 3.3; Phi-4-mini, with <|/tool_call|> behind it
    [TOOL_CALLS][{"name": "f", "arguments": {…}}]               Mistral
    <TOOLCALL>[{"name": "f", "arguments": {…}}]</TOOLCALL>      Nemotron Nano 2
    [TOOL_CALLS]f[ARGS]{…}[TOOL_CALLS]f[ARGS]{…}                Mistral since 2025; some with [CALL_ID]abc before [ARGS]
    functools[{"name": "f", "arguments": {…}}]                  Phi-4-mini
    <|python_tag|>{"name": "f", "parameters": {…}}; {…}         Llama 3.1
    {"name": "f", "parameters": {…}}                            Llama 3.x, where it is the whole answer
    [f(a=1, b="x")]                                             Llama 3.2; only read, no grammar asks for it

Those between tags, in braces and as Python between control tokens are read, too (`tagged.py`, `braced.py`,
`pythonic.py`), and no grammar asks for them.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Manner:
    """One way.

    `mark`: what opens calls, and may be one control token; "": nothing, they are how an answer begins. `begins`: what
    must be right behind the mark, as the word alone means something else, too. `close`: what
    may stand behind them, and then the answer goes on; "": they are its end. `must_close`: a call that stands alone has
    that always. `has_one`, `has_list`: whether a call stands alone (or behind others, where nothing closes them), or in
    a JSON list. `key`: what the arguments are called. `others`: signs of another way of writing calls behind the mark,
    which is not this one. `before_arguments`: the name stands behind the mark as it is, and this behind the name;
    `before_id`: and there may be this between them, with an id.
    """

    mark: str
    begins: str = ""
    close: str = ""
    must_close: bool = False
    has_one: bool = True
    has_list: bool = True
    key: str = "arguments"
    others: tuple[str, ...] = ()
    before_arguments: str = ""
    before_id: str = ""

    @property
    def marks(self) -> tuple[str, ...]:
        """All its signs that may be control tokens."""
        return tuple(filter(None, (self.mark, self.close, self.before_arguments, self.before_id)))

    @property
    def opening(self) -> str:
        """The text by which a call is known."""
        return self.mark + self.begins


HERMES = Manner("<tool_call>", close="</tool_call>", must_close=True, others=("<function=", "<arg_key>"))
TOOL_CALL_TOKEN = Manner("<|tool_call|>", close="<|/tool_call|>")
MISTRAL = Manner("[TOOL_CALLS]", has_one=False, others=("[ARGS]", "[CALL_ID]"))
MISTRAL_NAMED = Manner("[TOOL_CALLS]", has_list=False, before_arguments="[ARGS]", before_id="[CALL_ID]")
NEMOTRON = Manner("<TOOLCALL>", close="</TOOLCALL>", has_one=False)
FUNCTOOLS = Manner("functools", "[", has_one=False)
PYTHON_TAG = Manner("<|python_tag|>", has_list=False, key="parameters")
BARE = Manner("", has_list=False, key="parameters")

HARMONY = Manner("<|channel|>commentary to=functions.", has_list=False)
HARMONY_ROLE = Manner("<|start|>assistant to=functions.", has_list=False)
"""gpt-oss's, which names the function behind the channel or before it. An answer's text holds nothing of either: they
come as Hermes' (`engine/harmony.py`)."""

MANNERS = (HERMES, TOOL_CALL_TOKEN, MISTRAL, MISTRAL_NAMED, NEMOTRON, FUNCTOOLS, PYTHON_TAG, BARE)
