"""The schema of the chat store, one function for each step. A step that was released is never changed.

Each step changes the schema: a file whose number does not go with its schema is a damaged one.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing

from llama_gui.chats.search_schema import add_functions, create_search
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


def _add_order_bin_presets_and_search(connection: sqlite3.Connection) -> None:
    _remake_chats(connection)
    connection.execute("ALTER TABLE nodes ADD COLUMN deleted REAL")
    connection.execute("ALTER TABLE nodes ADD COLUMN attachments TEXT NOT NULL DEFAULT ''")
    connection.execute("CREATE INDEX nodes_in_bin ON nodes(deleted) WHERE deleted IS NOT NULL")
    connection.execute("CREATE TABLE presets (name TEXT PRIMARY KEY, settings TEXT NOT NULL) STRICT")
    _keep_summaries(connection)
    create_search(connection)


def _remake_chats(connection: sqlite3.Connection) -> None:
    """A table with more columns. The search index needs a number for each chat that VACUUM leaves as it is: `seq`.

    `last_seq`, `updated` and `last_status` repeat the newest message (NULL: there is none), so that a list of 10,000
    chats reads no messages. Who gave an old title is not known, so no automatic one will replace it.
    """
    connection.execute(
        "CREATE TABLE chats_2 (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, title TEXT NOT NULL,"
        " title_source TEXT NOT NULL DEFAULT 'default', created REAL NOT NULL, settings TEXT NOT NULL DEFAULT '',"
        " pinned INTEGER NOT NULL DEFAULT 0, folder TEXT NOT NULL DEFAULT '', archived INTEGER NOT NULL DEFAULT 0,"
        " deleted REAL, leaf_id TEXT, last_seq INTEGER, updated REAL, last_status TEXT) STRICT"
    )
    connection.execute(
        "INSERT INTO chats_2 (id, title, title_source, created, settings, last_seq)"
        " SELECT id, title, CASE title WHEN 'New chat' THEN 'default' ELSE 'user' END, created, settings,"
        " (SELECT MAX(seq) FROM nodes WHERE chat_id = chats.id) FROM chats ORDER BY rowid"
    )
    connection.execute(
        "UPDATE chats_2 SET (updated, last_status) = (SELECT created, status FROM nodes WHERE seq = chats_2.last_seq)"
    )
    # The references of `nodes` name "chats", and while they are not enforced they just wait for the new one.
    connection.execute("DROP TABLE chats")
    connection.execute("ALTER TABLE chats_2 RENAME TO chats")


def _keep_summaries(connection: sqlite3.Connection) -> None:
    # What is written on under a message that lies in the bin (its answer was still running) lies there too.
    connection.execute(
        "CREATE TRIGGER nodes_add AFTER INSERT ON nodes BEGIN"
        " UPDATE nodes SET deleted = (SELECT deleted FROM nodes WHERE id = new.parent_id)"
        " WHERE seq = new.seq AND new.deleted IS NULL AND new.parent_id IS NOT NULL;"
        " UPDATE chats SET last_seq = new.seq, updated = new.created, last_status = new.status"
        " WHERE id = new.chat_id AND (SELECT deleted FROM nodes WHERE seq = new.seq) IS NULL; END"
    )
    connection.execute(
        "CREATE TRIGGER nodes_change_status AFTER UPDATE OF status ON nodes WHEN old.status <> new.status BEGIN"
        " UPDATE chats SET last_status = new.status WHERE id = new.chat_id AND last_seq = new.seq; END"
    )


def _add_draft_files(connection: sqlite3.Connection) -> None:
    # A table of their own: the drafts of all tabs are written at every pause in typing, and files may be large.
    connection.execute(
        "CREATE TABLE draft_files (chat_id TEXT NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL,"
        " size INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (chat_id, position)) STRICT"
    )


def _add_draft_images(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE draft_files ADD COLUMN image BLOB")


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (
    _create_chats_nodes_tabs,
    _add_order_bin_presets_and_search,
    _add_draft_files,
    _add_draft_images,
)


def check_version(connection: sqlite3.Connection) -> None:
    """Refuse a file that a newer llama-gui has written.

    Raises:
        StoreError: it has a schema that this version does not know.
    """
    version = version_of(connection)
    if version > len(MIGRATIONS):
        raise StoreError(
            f"Your chats were saved by a newer version of llama-gui (format {version}; this one knows up to "
            f"{len(MIGRATIONS)}). Nothing was changed. Please use the newer version."
        )


def migrate(connection: sqlite3.Connection, before_step: Callable[[int], object] = lambda _number: None) -> None:
    """Bring the file to the newest schema, each step whole or not at all.

    `before_step` gets the number of the format that a step makes. Foreign keys must not be enforced here: a step may
    put another table in the place of one that others refer to.
    """
    for number in range(version_of(connection), len(MIGRATIONS)):
        before_step(number + 1)
        connection.execute("BEGIN IMMEDIATE")
        try:
            if version_of(connection) == number:  # else another process was faster
                MIGRATIONS[number](connection)
                connection.execute(f"PRAGMA user_version = {number + 1}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def version_of(connection: sqlite3.Connection) -> int:
    """The number of the file's format; 0 for one without content."""
    return connection.execute("PRAGMA user_version").fetchone()[0]


def is_misnumbered(connection: sqlite3.Connection) -> bool:
    """Whether the number is another than that of the newest format, and the schema is that one's."""
    if version_of(connection) == len(MIGRATIONS):
        return False
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as newest:
        add_functions(newest)
        migrate(newest)
        return _schema(connection) == _schema(newest)


def _schema(connection: sqlite3.Connection) -> set[tuple[str, str | None]]:
    return set(connection.execute("SELECT name, sql FROM sqlite_master"))
