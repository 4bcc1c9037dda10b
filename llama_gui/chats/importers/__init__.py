"""Chats out of files: our own exports and those of other applications. Pure: nothing is stored here."""
