"""The search index inside the chat store: tables that SQLite's triggers keep in step with the messages."""

import sqlite3

from llama_gui.chats.rows import readable_text
from llama_gui.chats.words import spaced

# The index holds no copy of the texts ("external content"): it reads them through a view when it is built anew. An
# answer comes into it when it has ended: while it streams it is written several times a second, and each time all of
# its words would go out and in again.
_TABLES = (
    "CREATE VIEW indexed_messages AS"
    " SELECT seq, llama_spaced(content) AS content FROM nodes WHERE status <> 'streaming'",
    "CREATE VIEW indexed_titles AS SELECT seq, llama_spaced(title) AS title FROM chats",
    "CREATE VIRTUAL TABLE message_index USING fts5(content, content='indexed_messages', content_rowid='seq',"
    " tokenize='unicode61 remove_diacritics 2')",
    "CREATE VIRTUAL TABLE title_index USING fts5(title, content='indexed_titles', content_rowid='seq',"
    " tokenize='unicode61 remove_diacritics 2')",
)
# One trigger for each event, because the order of several is not defined, and what goes out must go before what comes
# in. The texts that go out must be those that came in, to the letter.
_MESSAGE_TRIGGERS = (
    "CREATE TRIGGER message_index_add AFTER INSERT ON nodes WHEN new.status <> 'streaming' BEGIN"
    " INSERT INTO message_index (rowid, content) VALUES (new.seq, llama_spaced(new.content)); END",
    "CREATE TRIGGER message_index_remove AFTER DELETE ON nodes WHEN old.status <> 'streaming' BEGIN"
    " INSERT INTO message_index (message_index, rowid, content)"
    " VALUES ('delete', old.seq, llama_spaced(old.content)); END",
    "CREATE TRIGGER message_index_change AFTER UPDATE OF content, status ON nodes"
    " WHEN old.content <> new.content OR (old.status = 'streaming') <> (new.status = 'streaming') BEGIN"
    " INSERT INTO message_index (message_index, rowid, content)"
    " SELECT 'delete', old.seq, llama_spaced(old.content) WHERE old.status <> 'streaming';"
    " INSERT INTO message_index (rowid, content)"
    " SELECT new.seq, llama_spaced(new.content) WHERE new.status <> 'streaming'; END",
)
_TITLE_TRIGGERS = (
    "CREATE TRIGGER title_index_add AFTER INSERT ON chats BEGIN"
    " INSERT INTO title_index (rowid, title) VALUES (new.seq, llama_spaced(new.title)); END",
    "CREATE TRIGGER title_index_remove AFTER DELETE ON chats BEGIN"
    " INSERT INTO title_index (title_index, rowid, title) VALUES ('delete', old.seq, llama_spaced(old.title)); END",
    "CREATE TRIGGER title_index_change AFTER UPDATE OF title ON chats WHEN old.title <> new.title BEGIN"
    " INSERT INTO title_index (title_index, rowid, title) VALUES ('delete', old.seq, llama_spaced(old.title));"
    " INSERT INTO title_index (rowid, title) VALUES (new.seq, llama_spaced(new.title)); END",
)


def add_functions(connection: sqlite3.Connection) -> None:
    """Make known to the connection what the triggers call."""
    connection.create_function("llama_spaced", 1, spaced, deterministic=True)
    connection.execute("PRAGMA trusted_schema = ON")  # some builds of SQLite let no trigger call an own function


def create_search(connection: sqlite3.Connection) -> None:
    """Make index and triggers, and take in what is there."""
    for statement in (*_TABLES, *_MESSAGE_TRIGGERS, *_TITLE_TRIGGERS):
        connection.execute(statement)
    _rebuild(connection)


def _rebuild(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO message_index (message_index) VALUES ('rebuild')")
    connection.execute("INSERT INTO title_index (title_index) VALUES ('rebuild')")


def mend_search(connection: sqlite3.Connection) -> None:
    """Make the index anew from the messages and titles.

    Those that damage has made no text are written as they are shown: no trigger can read them, so that they could be
    neither changed nor deleted.
    """
    triggers = (*_MESSAGE_TRIGGERS, *_TITLE_TRIGGERS)
    connection.execute("BEGIN IMMEDIATE")
    try:
        for trigger in triggers:
            connection.execute(f"DROP TRIGGER IF EXISTS {trigger.split()[2]}")
        for table, column in (("nodes", "content"), ("chats", "title")):
            rows = connection.execute(f"SELECT seq, CAST({column} AS BLOB) FROM {table}")
            mended = [(readable_text(raw), seq) for seq, raw in rows if not _is_text(raw)]
            connection.executemany(f"UPDATE {table} SET {column} = ? WHERE seq = ?", mended)
        for trigger in triggers:
            connection.execute(trigger)
        _rebuild(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _is_text(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
