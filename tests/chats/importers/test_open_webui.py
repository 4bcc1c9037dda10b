"""Open WebUI's export of all chats."""

from llama_gui.chats.tree import ChatTree
from tests.chats.importers.conftest import ReadJson
from tests.chats.importers.samples import webui_chat, webui_message

MESSAGES = [
    webui_message("q", None, "user", "Soup?", files=[{"type": "image", "url": "data:"}]),
    webui_message("a1", "q", "assistant", "Tomato."),
    webui_message("a2", "q", "assistant", [{"type": "text", "text": "Leek."}, {"type": "image_url"}]),
    webui_message("q2", "a1", "user", "How?"),
]


def test_the_branches_and_the_shown_path_come_over(read_json: ReadJson):
    found = read_json([webui_chat(MESSAGES, "a2")])
    (chat,) = found.chats
    assert found.kind == "Open WebUI"
    assert (chat.title, chat.created, chat.pinned, chat.archived) == ("Soup", 1_720_000_000.0, True, True)
    assert chat.settings.system_prompt == "Be brief."
    tree = ChatTree(chat.nodes)
    assert [(n.role, n.content, n.model) for n in tree.path(chat.leaf_id)] == [
        ("user", "Soup?", ""),
        ("assistant", "Leek.", "Llama 3.2"),
    ]
    assert len(tree) == 4
    assert found.left_out == ("1 × file or picture was left out.", "1 × part that is not text was left out.")


def test_old_exports_have_a_row_of_messages(read_json: ReadJson):
    chat = webui_chat([], "")
    chat["chat"]["history"] = None
    chat["chat"]["messages"] = [{"role": "user", "content": "One"}, {"role": "assistant", "content": "Two"}]
    (found,) = read_json([chat]).chats
    assert [node.content for node in ChatTree(found.nodes).path()] == ["One", "Two"]


def test_only_what_was_left_out_is_told(read_json: ReadJson):
    messages = [*MESSAGES[1:2], webui_message("s", None, "system", "Be kind.")]
    assert read_json([webui_chat(messages, "a1")]).left_out == ()
    messages.append(webui_message("t", "a1", "tool", "42"))
    assert read_json([webui_chat(messages, "a1")]).left_out == ("1 × message of a tool was left out.",)


def test_one_chat_alone_is_read_too(read_json: ReadJson):
    assert len(read_json(webui_chat(MESSAGES, "q2")["chat"]).chats) == 1
