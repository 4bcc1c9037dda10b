"""The tabs of chats that are deleted, and how they come back when that is undone: as and where they were."""

from collections.abc import Collection
from dataclasses import dataclass

from llama_gui.chats.tree import OpenTab
from llama_gui.ui.deck import TabDeck
from llama_gui.vocabulary import ChatSettings


@dataclass(frozen=True, slots=True)
class PutAwayTabs:
    """`tabs`: in the order of the strip. `pair`: the chats that were shown side by side, where one of these was among
    them. `stand_in`: the empty chat that came because there is always one tab, or ""; `untouched`: its settings then.
    `unread`: the chats among them with an answer that nobody had seen.
    """

    tabs: tuple[OpenTab, ...]
    pair: tuple[str, ...] = ()
    stand_in: str = ""
    untouched: ChatSettings | None = None
    unread: frozenset[str] = frozenset()


def put_away(deck: TabDeck, chat_ids: Collection[str]) -> PutAwayTabs:
    """Close the tabs of these chats."""
    before = {tab.session.chat_id for tab in deck.tabs()}
    tabs = tuple(tab for tab in deck.open_tabs() if tab.chat_id in before and tab.chat_id in chat_ids)
    unread = frozenset(tab.chat_id for tab in tabs if deck.is_unread(tab.chat_id))
    pair = deck.shown() if any(tab.chat_id in deck.shown() for tab in tabs) else ()
    for tab in sorted(tabs, key=lambda tab: tab.is_current):  # else each of the others would be in front once
        deck.close_chat(tab.chat_id)
    for chat_id in chat_ids:
        deck.close_chat(chat_id)  # also those that wait to be reopened
    new = next((tab.session for tab in deck.tabs() if tab.session.chat_id not in before), None)
    stand_in, untouched = (new.chat_id, new.settings) if new else ("", None)
    return PutAwayTabs(tabs, pair, stand_in, untouched, unread)


def bring_back(deck: TabDeck, away: PutAwayTabs) -> None:
    """Open the tabs again; the one that was in front is there again. The empty one goes, if it was left alone."""
    for tab in away.tabs:
        deck.put_back(tab, is_unread=tab.chat_id in away.unread)
    front = next((tab.chat_id for tab in away.tabs if tab.is_current), "")
    if front:
        deck.open_chat(front)
    for tab in deck.tabs():
        session = tab.session
        is_untouched = session.settings == away.untouched and not session.path() and tab.draft().is_empty
        if session.chat_id == away.stand_in and is_untouched:
            deck.close_chat(session.chat_id)
    deck.show_pair(away.pair)
