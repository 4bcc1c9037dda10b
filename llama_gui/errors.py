"""Every error that llama-gui raises on purpose.

::

    LlamaGuiError
    ├── UserError               the user's world: a file, a value, a machine; the text says what to do
    │   ├── InvalidRequestError     a field of a request is out of its range
    │   │   └── PromptTooLongError      the prompt does not fit the context
    │   ├── ModelError              a model folder that cannot be used
    │   │   ├── ModelNotFoundError      no such folder or file
    │   │   ├── UnsupportedModelError   an architecture, option or dtype that we do not run
    │   │   ├── BrokenModelError        config, weights or tokenizer are damaged
    │   │   └── ChatTemplateError       the model's chat template is broken or refuses the messages
    │   ├── GenerationError         an answer that failed while it was written
    │   ├── NotEnoughMemoryError    a model does not fit
    │   ├── LoadCancelledError      the loading of a model was cancelled
    │   ├── EngineClosedError       the engine was closed before or during the request
    │   ├── HubError                the model hub cannot be reached, or refuses
    │   │   ├── HubOfflineError         no network, or offline mode is on
    │   │   ├── GatedModelError         the model wants its licence accepted, or a token
    │   │   └── NotOnHubError           no such model, revision or file
    │   ├── DownloadError           a download cannot go on
    │   │   ├── DamagedDownloadError    what arrived is not what the hub promised
    │   │   └── DiskFullError           no room for it
    │   ├── ShelfError              a model on disk cannot be deleted, renamed or verified
    │   ├── ServerError             our server cannot listen where it was told to
    │   ├── EndpointError           somebody else's server cannot be reached, or refuses
    │   ├── ToolError               a server of tools cannot be started or reached, or has ended
    │   ├── StoreError              the chat store cannot be read or written
    │   └── SettingsError           the settings file cannot be read or written
    └── BugError                our own fault: please report it
"""


class LlamaGuiError(Exception):
    """Base of all errors raised on purpose. ``str(error)`` is one plain sentence or two for the user."""


class UserError(LlamaGuiError):
    """Something in the user's world, which the user can mend."""


_MOST_SHOWN = 200
"""Letters of a wrong value."""


class InvalidRequestError(UserError):
    """A field of a request has a value that is not allowed.

    The attributes name the field, its value and the allowed range.
    """

    def __init__(self, field: str, value: object, allowed: str) -> None:
        self.field = field
        self.value = value
        self.allowed = allowed
        shown = repr(value)
        if isinstance(value, str):  # a folder of Windows as its user writes it
            shown = shown.replace(2 * "\\", "\\")
        if len(shown) > _MOST_SHOWN:  # ids or a text in the wrong field: the sentence would end pages below
            shown = f"{shown[:_MOST_SHOWN]}…"
        super().__init__(f"{field} is {shown}, but it must be {allowed}.")


class PromptTooLongError(InvalidRequestError):
    """The prompt has more tokens than the context has room for.

    `is_answered`: an answer follows, which needs room, too.
    """

    def __init__(self, prompt_tokens: int, max_context: int, *, is_answered: bool = True) -> None:
        super().__init__("prompt", prompt_tokens, f"at most {max_context - is_answered} tokens")
        self.prompt_tokens = prompt_tokens
        self.max_context = max_context
        self.is_answered = is_answered
        self.args = (
            f"The conversation is {prompt_tokens:,} tokens long, but this model reads at most "
            f"{max_context:,} and needs room to answer. Shorten the message or start a new chat."
            if is_answered
            else f"These are {prompt_tokens:,} tokens, but this model reads at most {max_context:,} at once.",
        )


class ModelError(UserError):
    """A model folder that cannot be used."""


class ModelNotFoundError(ModelError):
    """The folder, or a file that must be in it, does not exist."""


class UnsupportedModelError(ModelError):
    """The model is well formed but asks for something that this engine does not run."""


class BrokenModelError(ModelError):
    """The model's configuration, weights or tokenizer are damaged."""


class ChatTemplateError(ModelError):
    """The model's chat template is broken, or refuses these messages."""


class GenerationError(UserError):
    """An answer failed while it was written, for example because the logits were not finite."""


class NotEnoughMemoryError(UserError):
    """A model does not fit into the memory that is free. The attributes are bytes."""

    def __init__(self, needed: int, available: int) -> None:
        self.needed = needed
        self.available = available
        super().__init__(
            f"This model needs {needed / 1e9:.1f} GB of memory, and {max(available, 0) / 1e9:.1f} GB are free. "
            "Close other programs or chats, or choose a smaller model or dtype."
        )


class LoadCancelledError(UserError):
    """The loading of a model was cancelled by whoever asked for it."""


class EngineClosedError(UserError):
    """The engine was closed before the request was finished."""


class HubError(UserError):
    """The model hub cannot be reached, or refuses."""


class HubOfflineError(HubError):
    """There is no network, or offline mode is on."""


class GatedModelError(HubError):
    """The model wants its licence accepted, or a token. `page` is where in the web that is done."""

    def __init__(self, text: str, page: str) -> None:
        super().__init__(text)
        self.page = page


class NotOnHubError(HubError):
    """There is no such model, revision or file, or nobody without the right token may know."""


class DownloadError(UserError):
    """A download cannot go on. What is on disk is kept, unless the text says otherwise."""


class DamagedDownloadError(DownloadError):
    """What arrived is not what the hub promised; it was removed."""


class DiskFullError(DownloadError):
    """There is no room for the download. The attributes are bytes."""

    def __init__(self, text: str, needed: int = 0, free: int = 0) -> None:
        super().__init__(text)
        self.needed = needed
        self.free = free


class ShelfError(UserError):
    """A model on disk cannot be deleted, renamed or verified."""


class ServerError(UserError):
    """Our server cannot listen where it was told to."""


class EndpointError(UserError):
    """Somebody else's server cannot be reached, refuses, or does not speak the protocol."""


class ToolError(UserError):
    """A server of tools cannot be started or reached, does not speak the protocol, or has ended."""


class StoreError(UserError):
    """The chat store cannot be read or written."""


class SettingsError(UserError):
    """The settings file cannot be read or written."""


class BugError(LlamaGuiError):
    """Our own fault. The text says what went wrong inside."""
