"""What the catalogue says of its models, in the user's language.

`resources/catalog.json` is in English, and where translators do not look; a test keeps the two the same.
"""

from PySide6.QtCore import QCoreApplication

from llama_gui.ui.translatable import QT_TRANSLATE_NOOP

DESCRIPTIONS = (
    QT_TRANSLATE_NOOP("Catalog", "The smallest that holds a conversation; quick on any computer."),
    QT_TRANSLATE_NOOP("Catalog", "Small and quick, for short texts and simple questions."),
    QT_TRANSLATE_NOOP(
        "Catalog", "Reads images, and is quick at it: what is to be seen, what is written there. Short answers."
    ),
    QT_TRANSLATE_NOOP("Catalog", "Small, in many languages, with a long context; for summaries and short answers."),
    QT_TRANSLATE_NOOP("Catalog", "For folders of documents: finds their passages by meaning, too. It does not chat."),
    QT_TRANSLATE_NOOP("Catalog", "The smallest that can think before it answers; many languages."),
    QT_TRANSLATE_NOOP("Catalog", "Good prose for its size, above all in English; quick on most computers."),
    QT_TRANSLATE_NOOP("Catalog", "An older open model with a short context."),
    QT_TRANSLATE_NOOP("Catalog", "A good first choice for most computers: conversation, summaries, rewriting."),
    QT_TRANSLATE_NOOP("Catalog", "Good for its size at code, sums and tables; many languages."),
    QT_TRANSLATE_NOOP("Catalog", "Open weights and good answers in English, between Llama 3.2 1B and 3B in size."),
    QT_TRANSLATE_NOOP("Catalog", "Thinks first, if you wish: sums, code, puzzles; many languages."),
    QT_TRANSLATE_NOOP("Catalog", "Reads images, and texts in them, in many languages; for most computers."),
    QT_TRANSLATE_NOOP("Catalog", "Summaries of long texts, questions on them; 12 languages."),
    QT_TRANSLATE_NOOP("Catalog", "Thinks first, if you wish; 6 languages."),
    QT_TRANSLATE_NOOP("Catalog", "Code, sums and structured text; many languages."),
    QT_TRANSLATE_NOOP("Catalog", "Clearly better answers, at about a third of the speed of 1B."),
    QT_TRANSLATE_NOOP("Catalog", "Sums, code and clear answers at once; long texts."),
    QT_TRANSLATE_NOOP("Catalog", "Conversation and writing in many languages, with a long context; reads images, too."),
    QT_TRANSLATE_NOOP("Catalog", "The best answers below 8B where there is time to think; many languages."),
    QT_TRANSLATE_NOOP(
        "Catalog", "Small and new: many languages, long texts that take little memory; reads images, too."
    ),
    QT_TRANSLATE_NOOP("Catalog", "Quick for its size: short answers, facts out of texts, tools; 8 languages."),
    QT_TRANSLATE_NOOP("Catalog", "As quick as a model of 1.5B, with the knowledge of a larger one; 8 languages."),
    QT_TRANSLATE_NOOP(
        "Catalog", "As quick as a model of 1.5B: tools, summaries, code, facts out of texts; 12 languages."
    ),
    QT_TRANSLATE_NOOP("Catalog", "Thinks first, if you wish. Code, tools, long texts, images; many languages."),
    QT_TRANSLATE_NOOP(
        "Catalog", "Reads images: pages, tables, screenshots; many languages. Slower than 2B, and better."
    ),
    QT_TRANSLATE_NOOP("Catalog", "For computers with plenty of memory or a graphics card; long texts."),
    QT_TRANSLATE_NOOP("Catalog", "The older 8B, with a shorter context."),
    QT_TRANSLATE_NOOP(
        "Catalog", "Thinks first, if you wish. Good answers to hard questions, and images; slower than 8B."
    ),
    QT_TRANSLATE_NOOP(
        "Catalog",
        "A base model: it continues texts and holds no conversation. Its licence must be accepted on the hub.",
    ),
)


def described(description: str) -> str:
    """A description of the catalogue as it is shown; one of which no translation is known, as it is."""
    return QCoreApplication.translate("Catalog", description)
