"""The schema of the chat store, one function for each step. A step that was released is never changed."""

import sqlite3
from collections.abc import Callable

from llama_gui.errors import StoreError

APPLICATION_ID = 0x6C6C6775
"""Written into the file's header, so that somebody else's database is not taken for ours ("llgu")."""


def _create_chats_nodes_tabs(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE chats (id TEXT PRIMARY KEY, title TEXT NOT NULL, created REAL NOT NULL,"
        " settings TEXT NOT NULL DEFAULT '') STRICT"
    )
    # `seq` is the order of age, which neither the clock (it may be set back) nor a bare rowid (VACUUM) would keep.
    connection.execute(
        "CREATE TABLE nodes (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
        " chat_id TEXT NOT NULL REFERENCES chats(id) ON DELETE CASCADE,"
        " parent_id TEXT REFERENCES nodes(id) ON DELETE CASCADE,"
        " role TEXT NOT NULL, content TEXT NOT NULL, status TEXT NOT NULL, created REAL NOT NULL,"
        " model TEXT NOT NULL, recipe TEXT NOT NULL, error TEXT NOT NULL) STRICT"
    )
    connection.execute("CREATE INDEX nodes_by_chat ON nodes(chat_id)")
    connection.execute("CREATE INDEX nodes_by_parent ON nodes(parent_id)")
    # An empty tab with a draft is worth keeping before its chat exists, hence no reference to chats.
    connection.execute(
        "CREATE TABLE tabs (chat_id TEXT PRIMARY KEY, position INTEGER NOT NULL, draft TEXT NOT NULL,"
        " scroll REAL NOT NULL, is_current INTEGER NOT NULL) STRICT"
    )
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (_create_chats_nodes_tabs,)


def check_version(connection: sqlite3.Connection) -> None:
    """Refuse a file that a newer llama-gui has written.

    Raises:
        StoreError: it has a schema that this version does not know.
    """
    version = _version(connection)
    if version > len(MIGRATIONS):
        raise StoreError(
            f"Your chats were saved by a newer version of llama-gui (format {version}; this one knows up to "
            f"{len(MIGRATIONS)}). Nothing was changed. Please use the newer version."
        )


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the file to the newest schema, each step whole or not at all."""
    for number in range(_version(connection), len(MIGRATIONS)):
        connection.execute("BEGIN IMMEDIATE")
        try:
            if _version(connection) == number:  # else another process was faster
                MIGRATIONS[number](connection)
                connection.execute(f"PRAGMA user_version = {number + 1}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _version(connection: sqlite3.Connection) -> int:
    return connection.execute("PRAGMA user_version").fetchone()[0]
