"""The files beside messages that were not sent yet."""

from collections.abc import Sequence

from llama_gui.chats.attachments import Attachment
from llama_gui.chats.store_file import StoreFile
from llama_gui.chats.tree import clean_text


class DraftFiles(StoreFile):
    """The part of the store that keeps what belongs to drafts but is no text of the user's."""

    def draft_files(self, chat_id: str) -> tuple[Attachment, ...]:
        """The files of a chat's draft, in order."""
        rows = self._read(
            "SELECT name, text, size, image FROM draft_files WHERE chat_id = ? ORDER BY position", (chat_id,)
        )
        return tuple(Attachment(name, text, size, image=image or b"") for name, text, size, image in rows)

    def save_draft_files(self, chat_id: str, files: Sequence[Attachment]) -> None:
        """Keep these in place of those before."""
        rows = [
            (chat_id, place, clean_text(file.name), file.size, clean_text(file.text), file.image or None)
            for place, file in enumerate(files)
        ]
        with self._transaction() as db:
            db.execute("DELETE FROM draft_files WHERE chat_id = ?", (chat_id,))
            db.executemany(
                "INSERT INTO draft_files (chat_id, position, name, size, text, image) VALUES (?, ?, ?, ?, ?, ?)", rows
            )

    def drop_lost_draft_files(self) -> None:
        """Forget the files of drafts whose tabs are closed for good."""
        with self._transaction() as db:
            db.execute("DELETE FROM draft_files WHERE chat_id NOT IN (SELECT chat_id FROM tabs)")
