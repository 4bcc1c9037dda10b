"""What a model is shown of a chat's images. Pure."""

from dataclasses import replace

from llama_gui.chats.message_images import without_images
from llama_gui.vocabulary import GenerateRequest, ModelInfo


def as_seen(request: GenerateRequest, info: ModelInfo, *, spares_last: bool = True) -> GenerateRequest:
    """`request` as a model gets it that may read no images: then words stand in the place of all former ones.

    So a chat goes on with any model. `spares_last`: not those of the last message: whoever asks is told.
    """
    if info.reads_images or request.messages is None:
        return request
    messages = list(request.messages)
    last = max((place for place, message in enumerate(messages) if message.role == "user"), default=-1)
    kept = [message if spares_last and n == last else without_images(message) for n, message in enumerate(messages)]
    return request if kept == messages else replace(request, messages=kept)
