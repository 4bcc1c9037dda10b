"""The requests that are made of a chat."""

import pytest

from llama_gui.bridge import asking
from llama_gui.chats.attachments import Draft
from llama_gui.chats.shown_path import ShownPath
from llama_gui.chats.tree import new_node
from llama_gui.vocabulary import ChatSettings


@pytest.mark.parametrize("is_first", [True, False])
def test_what_would_be_sent_is_the_same_each_time(is_first: bool):
    path = ShownPath()
    if not is_first:  # a message without an answer, which the draft joins
        path.add(new_node("chat", "user", "Hi.", "complete", None))
    make = asking.would_send(path, Draft("Are you there?"), None, ChatSettings(system_prompt="Be brief."))
    assert make is not None
    said = ["Be brief.", "Are you there?" if is_first else "Hi.\n\nAre you there?"]
    for _ in range(2):
        assert [message.content for message in make().messages or ()] == said
