"""Calls of functions in what models write: how they look, what they must be, and how they are taken out of a text."""

from llama_gui.tool_calls.braced import BRACED_MARKS
from llama_gui.tool_calls.closing import closed, lenient
from llama_gui.tool_calls.forced import CallPiece, ForcedCalls
from llama_gui.tool_calls.forms import (
    ANY_OBJECT,
    Parameters,
    answer_or_calls,
    as_object,
    call_schema,
    calls_schema,
    parameters_of,
)
from llama_gui.tool_calls.manners import MANNERS, Manner
from llama_gui.tool_calls.pythonic import PYTHONIC_MARKS, written_calls
from llama_gui.tool_calls.reading import SaidAndCalled, ToolCall, parse_tool_calls
from llama_gui.tool_calls.thoughts import Thoughts, overlap, parted
from llama_gui.tool_calls.watch import CallWatch

__all__ = [
    "ANY_OBJECT",
    "BRACED_MARKS",
    "MANNERS",
    "PYTHONIC_MARKS",
    "CallPiece",
    "CallWatch",
    "ForcedCalls",
    "Manner",
    "Parameters",
    "SaidAndCalled",
    "Thoughts",
    "ToolCall",
    "answer_or_calls",
    "as_object",
    "call_schema",
    "calls_schema",
    "closed",
    "lenient",
    "overlap",
    "parameters_of",
    "parse_tool_calls",
    "parted",
    "written_calls",
]
