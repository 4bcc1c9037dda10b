"""Words in tables, marked where they stand so that the translators find them, and translated where they are shown."""


def QT_TRANSLATE_NOOP(context: str, text: str) -> str:
    """`text` itself. lupdate knows the name; PySide's own function of it says that it returns an object."""
    return text
