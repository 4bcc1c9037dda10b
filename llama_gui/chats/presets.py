"""Settings under a name, to apply to other chats."""

from llama_gui.chats.chat_list import clean_name
from llama_gui.chats.chat_settings import settings_from_json, settings_to_json
from llama_gui.chats.store_file import StoreFile
from llama_gui.errors import StoreError
from llama_gui.vocabulary import ChatSettings


class Presets(StoreFile):
    """The part of the store that keeps presets."""

    def presets(self) -> dict[str, ChatSettings]:
        """Name -> settings, by name."""
        rows = self._read("SELECT name, settings FROM presets")
        return {name: settings_from_json(text) for name, text in sorted(rows, key=lambda row: row[0].casefold())}

    def save_preset(self, name: str, settings: ChatSettings) -> None:
        """Keep settings under a name, in place of those that had it.

        Raises:
            StoreError: the name is empty.
        """
        name = clean_name(name)
        if not name:
            raise StoreError("A preset needs a name. Type one, then save it again.")
        with self._transaction() as db:
            db.execute(
                "INSERT OR REPLACE INTO presets (name, settings) VALUES (?, ?)", (name, settings_to_json(settings))
            )

    def rename_preset(self, name: str, new_name: str) -> None:
        """Give a preset another name, in place of the one that had it; the chats that began with it follow.

        Raises:
            StoreError: the new name is empty.
        """
        new_name = clean_name(new_name)
        if not new_name:
            raise StoreError("A preset needs a name. Type one, then save it again.")
        if new_name == name:
            return
        with self._transaction() as db:
            db.execute("UPDATE OR REPLACE presets SET name = ? WHERE name = ?", (new_name, name))
            db.execute(
                "UPDATE chats SET settings = json_set(settings, '$.preset', ?)"
                " WHERE CASE json_valid(settings) WHEN 1 THEN json_extract(settings, '$.preset') = ? ELSE 0 END",
                (new_name, name),
            )

    def delete_preset(self, name: str) -> None:
        """Forget a preset. Chats that use its settings keep them."""
        with self._transaction() as db:
            db.execute("DELETE FROM presets WHERE name = ?", (name,))
