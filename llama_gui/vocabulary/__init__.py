"""Frozen values that travel between the rooms. No Qt, no torch, no behaviour beyond checking themselves."""

from llama_gui.vocabulary.chats import ChatSettings
from llama_gui.vocabulary.engines import STRATEGIES, EngineStats, Hardware, Strategy
from llama_gui.vocabulary.messages import ROLES, Message, Role, check_messages
from llama_gui.vocabulary.models import (
    DEVICES,
    DTYPES,
    STARTER,
    LoadOptions,
    LoadPlan,
    LoadProgress,
    ModelEntry,
    ModelInfo,
    is_remote,
)
from llama_gui.vocabulary.requests import (
    OVERFLOWS,
    THINKING_TAGS,
    ContextUse,
    GenerateRequest,
    Overflow,
    thinking_variables,
)
from llama_gui.vocabulary.results import (
    FinishReason,
    GenerateResult,
    JobProgress,
    JobState,
    Timings,
    TokenOutput,
    TopLogprob,
    Usage,
)
from llama_gui.vocabulary.sampling import (
    DEFAULT_SAMPLING,
    MAX_SEED,
    SAMPLING_RANGES,
    SamplingParams,
    sampling_from_json,
)

__all__ = [
    "DEFAULT_SAMPLING",
    "DEVICES",
    "DTYPES",
    "MAX_SEED",
    "OVERFLOWS",
    "ROLES",
    "SAMPLING_RANGES",
    "STARTER",
    "STRATEGIES",
    "THINKING_TAGS",
    "ChatSettings",
    "ContextUse",
    "EngineStats",
    "FinishReason",
    "GenerateRequest",
    "GenerateResult",
    "Hardware",
    "JobProgress",
    "JobState",
    "LoadOptions",
    "LoadPlan",
    "LoadProgress",
    "Message",
    "ModelEntry",
    "ModelInfo",
    "Overflow",
    "Role",
    "SamplingParams",
    "Strategy",
    "Timings",
    "TokenOutput",
    "TopLogprob",
    "Usage",
    "check_messages",
    "is_remote",
    "sampling_from_json",
    "thinking_variables",
]
