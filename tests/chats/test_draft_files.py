"""Files beside drafts."""

from llama_gui.chats.attachments import Attachment
from llama_gui.chats.store import ChatStore
from llama_gui.chats.tree import OpenTab

A, B = Attachment("a.txt", "Grüße\n", 8), Attachment("b.txt", "", 0)


def test_they_come_back_in_order_and_the_last_ones_count(store: ChatStore):
    store.save_draft_files("chat", [A])
    store.save_draft_files("other", [B])
    store.save_draft_files("chat", [B, A])
    assert store.draft_files("chat") == (B, A)
    store.save_draft_files("chat", [])
    assert store.draft_files("chat") == ()
    assert store.draft_files("other") == (B,)


def test_odd_characters_are_cleaned(store: ChatStore):
    store.save_draft_files("chat", [Attachment("a\0", "x\ud800", 4)])
    assert store.draft_files("chat") == (Attachment("a\u2400", "x\ufffd", 4),)


def test_those_of_closed_tabs_are_forgotten(store: ChatStore):
    store.save_tabs([OpenTab("open", 0)])
    store.save_draft_files("open", [A])
    store.save_draft_files("closed", [B])
    store.drop_lost_draft_files()
    assert (store.draft_files("open"), store.draft_files("closed")) == ((A,), ())
