"""All signals of an open chat; the objects behind a session emit them, too."""

from PySide6.QtCore import QObject, Signal


class ChatNews(QObject):
    """The news of one chat, in the order in which they happen.

    For a message: it is saved, `accepted`, `message_added`, the model is asked; then come the answer's `message_added`,
    `text_added` at most once a frame, and at its end `node_changed`. If the engine refuses, `failed` and `returned`.
    """

    changed = Signal()
    message_added = Signal(object)
    text_added = Signal(str, str)
    tokens_added = Signal(int)
    """So many more tokens of the answer, at most once a frame."""
    node_changed = Signal(object)
    answering_changed = Signal(bool)
    progress_changed = Signal(object)
    model_awaited = Signal(str)
    """Key of the model that has to be loaded before it can answer."""
    held_up = Signal()
    """The model has the question, but no room for it yet beside those that it is answering."""
    title_changed = Signal(str)
    accepted = Signal()
    """The message is on disk: the composer may forget it."""
    failed = Signal(str)
    """Nothing was sent, and why."""
    returned = Signal(object)
    """`Draft`: an accepted message that the engine refused. It goes back into the composer."""
    dropped = Signal(int)
    """So many of the oldest messages were not sent: the conversation is longer than the model can read."""
    reproduced = Signal(bool)
    """An answer was made again by its recipe: whether the same text came."""
    tools_awaited = Signal(bool)
    """Whether the question waits for servers of tools to start."""
    tool_asked = Signal(object)
    """`ToolQuestion`: a call waits for the user's permission. None: no call waits any more."""
    settings_changed = Signal(object)
    saved_changed = Signal(bool, str)
    """False, and why: something is only in memory, and saving is retried. True: everything is on disk again."""
    settled = Signal()
    """No answer runs, and everything is on disk."""
