"""What people of other applications call our actions, so that the palette finds them by those words, too."""

from PySide6.QtCore import QCoreApplication

from llama_gui.ui.translatable import QT_TRANSLATE_NOOP

OTHER_WORDS = {
    "split_view": QT_TRANSLATE_NOOP("OtherWords", "compare"),
    "regenerate": QT_TRANSLATE_NOOP("OtherWords", "retry"),
    "attach": QT_TRANSLATE_NOOP("OtherWords", "documents upload"),
    "folder": QT_TRANSLATE_NOOP("OtherWords", "knowledge RAG"),
    "tools": "MCP",
    "words": QT_TRANSLATE_NOOP("OtherWords", "probabilities tokens"),
    "fork": QT_TRANSLATE_NOOP("OtherWords", "branch copy"),
    "branches": QT_TRANSLATE_NOOP("OtherWords", "tree map"),
    "sources": QT_TRANSLATE_NOOP("OtherWords", "citations"),
    "load_options": QT_TRANSLATE_NOOP("OtherWords", "quantization memory"),
    "find_models": "Hugging Face hub",
    "endpoints": QT_TRANSLATE_NOOP("OtherWords", "connect provider API"),
    "tool_servers": "MCP",
    "server": QT_TRANSLATE_NOOP("OtherWords", "local server API OpenAI"),
    "delete_chat": QT_TRANSLATE_NOOP("OtherWords", "remove"),
    "import_chats": "ChatGPT Open WebUI",
    "import_folder": "LM Studio Jan",
    "export_chat": QT_TRANSLATE_NOOP("OtherWords", "save Markdown HTML JSON"),
    "bin": QT_TRANSLATE_NOOP("OtherWords", "trash deleted restore"),
    "settings_panel": QT_TRANSLATE_NOOP("OtherWords", "system prompt temperature parameters"),
    "zoom_in": QT_TRANSLATE_NOOP("OtherWords", "font"),
    "zoom_out": QT_TRANSLATE_NOOP("OtherWords", "font"),
    "scheme_system": QT_TRANSLATE_NOOP("OtherWords", "theme"),
    "scheme_light": QT_TRANSLATE_NOOP("OtherWords", "theme"),
    "scheme_dark": QT_TRANSLATE_NOOP("OtherWords", "theme"),
    "preferences": QT_TRANSLATE_NOOP("OtherWords", "settings options language"),
    "help": QT_TRANSLATE_NOOP("OtherWords", "shortcuts"),
    "quit": QT_TRANSLATE_NOOP("OtherWords", "exit"),
}


def other_words(action: str) -> str:
    """Those for one action, in the user's language and in English."""
    words = OTHER_WORDS.get(action, "")
    return f"{words} {QCoreApplication.translate('OtherWords', words)}" if words else ""
