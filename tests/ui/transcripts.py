"""What the tests of the transcript share: messages, and how a document looks."""

from PySide6.QtCore import QUrl
from PySide6.QtGui import QTextCursor, QTextDocument

from llama_gui.chats.tree import Node
from llama_gui.ui.markdown.formats import Property
from llama_gui.ui.transcript.view import TranscriptView


def user(number: int, text: str = "Question") -> Node:
    return Node(f"u{number}", "c", None, "user", text, "complete", 0.0)


def answer(number: int, text: str = "", status="complete", **more) -> Node:
    return Node(f"a{number}", "c", f"u{number}", "assistant", text, status, 0.0, model="Tiny", **more)


def command_of(view: TranscriptView, verb: str) -> QUrl:
    block = view.document().begin()
    while block.isValid():
        iterator = block.begin()
        while not iterator.atEnd():
            href = iterator.fragment().charFormat().anchorHref()
            if f":{verb}:" in href:
                return QUrl(href)
            iterator += 1
        block = block.next()
    raise AssertionError(f"there is no {verb}")


def look_of(view: TranscriptView) -> list[tuple]:
    """Everything that can be seen; what commands stand for may differ."""
    return picture_of(view.document(), command="act-")


def picture_of(document: QTextDocument, command: str = "secret") -> list[tuple]:
    """Everything that can be seen: texts, their looks, lists, tables, boxes."""
    picture = []
    block = document.begin()
    while block.isValid():
        runs = []
        iterator = block.begin()
        while not iterator.atEnd():
            chars = iterator.fragment().charFormat()
            runs.append(
                (
                    iterator.fragment().text(),
                    chars.fontWeight(),
                    chars.fontItalic(),
                    chars.fontFamilies(),
                    chars.foreground().color().name(),
                    chars.anchorHref() if not chars.anchorHref().startswith(command) else "command",
                )
            )
            iterator += 1
        form, listing = block.blockFormat(), block.textList()
        listed = (listing.format().style(), listing.format().indent(), listing.itemNumber(block)) if listing else None
        boxed = (form.property(Property.BOX), form.property(Property.QUOTE))
        margins = (form.topMargin(), form.bottomMargin(), form.leftMargin(), form.indent(), form.layoutDirection())
        table = QTextCursor(block).currentTable()
        shape = (table.rows(), table.columns()) if table else None
        picture.append((tuple(runs), listed, boxed, margins, shape))
        block = block.next()
    return picture
