"""What the engine host shows in one frame: frozen values, joined from many outputs."""

from dataclasses import dataclass

from llama_gui.vocabulary import GenerateResult, JobProgress, JobState


@dataclass(frozen=True, slots=True)
class FrameItem:
    """The text that a ticket got since the last frame, and its tokens."""

    ticket: int
    text: str
    token_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FinishedItem:
    """A ticket that ended in this frame. Its last text, if any, is in the frame's `items`."""

    ticket: int
    result: GenerateResult


@dataclass(frozen=True, slots=True)
class ProgressItem:
    """How far a ticket is that still runs."""

    ticket: int
    progress: JobProgress
    state: JobState


@dataclass(frozen=True, slots=True)
class Frame:
    """All that happened since the last frame, for all tickets."""

    items: tuple[FrameItem, ...] = ()
    finished: tuple[FinishedItem, ...] = ()
    progress: tuple[ProgressItem, ...] = ()
