"""ChatGPT's conversations.json."""

from llama_gui.chats.tree import ChatTree
from tests.chats.importers.conftest import ReadJson
from tests.chats.importers.samples import gpt_chat, gpt_entry


def test_the_branches_and_the_shown_path_come_over(read_json: ReadJson):
    entries = [
        gpt_entry("q", "sys", create_time=10.0),
        gpt_entry("a2", "q", "assistant", create_time=30.0),
        gpt_entry("a1", "q", "assistant", create_time=20.0),
        gpt_entry("q2", "a1", create_time=40.0),
    ]
    found = read_json([gpt_chat(entries, "a2")])
    (chat,) = found.chats
    assert (found.kind, found.skipped, found.left_out) == ("ChatGPT", (), ())
    assert (chat.title, chat.created) == ("Trip", 1_700_000_000.0)
    tree = ChatTree(chat.nodes)
    assert [(node.role, node.content, node.model) for node in tree.path(chat.leaf_id)] == [
        ("user", "text q", ""),
        ("assistant", "text a2", "gpt-4o"),
    ]
    assert [node.content for node in chat.nodes] == ["text q", "text a1", "text a2", "text q2"]
    assert [node.content for node in tree.children(chat.nodes[0].id)] == ["text a1", "text a2"]


def test_tools_reasoning_and_pictures_are_left_out_and_counted(read_json: ReadJson):
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}
    entries = [
        gpt_entry("q", "sys", content={"content_type": "multimodal_text", "parts": [picture, "what is it?"]}),
        gpt_entry("think", "q", "assistant", content={"content_type": "thoughts", "thoughts": []}),
        gpt_entry("call", "think", "assistant", content={"content_type": "code", "text": "x"}, recipient="python"),
        gpt_entry("tool", "call", "tool", content={"content_type": "execution_output", "text": "4"}),
        gpt_entry("a", "tool", "assistant", ["It is a", {"content_type": "audio_transcription", "text": "dog"}]),
        gpt_entry("q2", "a", "user", [picture]),
    ]
    found = read_json([gpt_chat(entries, "q2")])
    tree = ChatTree(found.chats[0].nodes)
    assert [node.content for node in tree.path()] == ["[picture]\n\nwhat is it?", "It is a\n\ndog", "[picture]"]
    assert found.left_out == (
        "1 × call of a tool was left out.",
        "1 × message of a tool was left out.",
        "1 × note of the model's reasoning was left out.",
        "2 × picture was left out.",
    )


def test_a_current_message_that_is_left_out_shows_the_one_above(read_json: ReadJson):
    entries = [gpt_entry("q", "sys"), gpt_entry("a", "q", "assistant"), gpt_entry("t", "a", "tool")]
    (chat,) = read_json([gpt_chat(entries, "t")]).chats
    assert ChatTree(chat.nodes)[chat.leaf_id or ""].content == "text a"


def test_one_conversation_alone_is_read_too(read_json: ReadJson):
    assert len(read_json(gpt_chat([gpt_entry("q", "sys")], "q")).chats) == 1


def test_the_same_conversation_has_the_same_ids_each_time(read_json: ReadJson):
    content = [gpt_chat([gpt_entry("q", "sys")], "q")]
    assert read_json(content) == read_json(content)
    other = gpt_chat([gpt_entry("q", "sys")], "q", conversation_id="conv-2", id="conv-2")
    first, second = read_json([*content, other]).chats
    assert first.id != second.id
    assert first.nodes[0].id != second.nodes[0].id
