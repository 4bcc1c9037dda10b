"""The inference library. Everything the window does can be done with these names, without Qt.

::

    from llama_gui.engine import Engine, GenerateRequest, Message, SamplingParams

    with Engine.load("path/to/model") as engine:
        job = engine.submit(GenerateRequest(messages=[Message("user", "Hi")], max_tokens=50,
                                            sampling=SamplingParams(temperature=0.7, seed=42)))
        for out in job:
            print(out.text, end="")
"""

from llama_gui.engine.answer_state import AnswerState
from llama_gui.engine.engine import Engine
from llama_gui.engine.job import Job
from llama_gui.engine.pool import ModelPool
from llama_gui.tool_calls import SaidAndCalled, ToolCall, parse_tool_calls
from llama_gui.vocabulary import (
    EmbedRequest,
    EngineStats,
    GenerateRequest,
    GenerateResult,
    Image,
    JobProgress,
    LoadProgress,
    Message,
    ModelInfo,
    SamplingParams,
    Timings,
    TokenOutput,
    TopLogprob,
    Usage,
)

__all__ = [
    "AnswerState",
    "EmbedRequest",
    "Engine",
    "EngineStats",
    "GenerateRequest",
    "GenerateResult",
    "Image",
    "Job",
    "JobProgress",
    "LoadProgress",
    "Message",
    "ModelInfo",
    "ModelPool",
    "SaidAndCalled",
    "SamplingParams",
    "Timings",
    "TokenOutput",
    "ToolCall",
    "TopLogprob",
    "Usage",
    "parse_tool_calls",
]
