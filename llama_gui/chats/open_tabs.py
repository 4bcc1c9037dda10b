"""The open tabs, with what was typed in them and not sent."""

from collections.abc import Iterable
from dataclasses import astuple, replace

from llama_gui.chats.store_file import StoreFile
from llama_gui.chats.tree import OpenTab, clean_text


class OpenTabs(StoreFile):
    """The part of the store that keeps the strip of tabs."""

    def tabs(self) -> list[OpenTab]:
        """The open tabs in the order of the strip."""
        rows = self._read("SELECT chat_id, position, draft, scroll, is_current FROM tabs ORDER BY position")
        return [
            OpenTab(chat, position, draft, scroll, bool(current)) for chat, position, draft, scroll, current in rows
        ]

    def save_tabs(self, tabs: Iterable[OpenTab]) -> None:
        """Keep these tabs in place of those before."""
        rows = [astuple(replace(tab, draft=clean_text(tab.draft))) for tab in tabs]
        with self._transaction() as db:
            db.execute("DELETE FROM tabs")
            db.executemany(
                "INSERT OR REPLACE INTO tabs (chat_id, position, draft, scroll, is_current) VALUES (?, ?, ?, ?, ?)",
                rows,
            )
