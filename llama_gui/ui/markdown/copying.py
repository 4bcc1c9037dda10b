"""Plain text from a selection: list markers and table cells are kept, commands and footers are left out."""

from PySide6.QtGui import QTextBlock, QTextCursor, QTextTable

from llama_gui.ui.markdown.document_writer import without_breaks
from llama_gui.ui.markdown.formats import Property
from llama_gui.ui.markdown.inline import LINE_SEPARATOR


def selected_text(selection: QTextCursor) -> str:
    """What the user gets who copies `selection`."""
    document = selection.document()
    block, end = document.findBlock(selection.selectionStart()), selection.selectionEnd()
    pieces: list[str] = []
    before: QTextBlock | None = None
    while block.isValid() and block.position() <= end:
        if not block.blockFormat().property(Property.CHROME):
            if before is not None:
                pieces.append(_between(before, block))
            pieces.append(_slice(block, selection))
            before = block
        block = block.next()
    return without_breaks("".join(pieces)).replace(LINE_SEPARATOR, "\n")


def _slice(block: QTextBlock, selection: QTextCursor) -> str:
    start = max(0, selection.selectionStart() - block.position())
    text = block.text()[start : max(0, selection.selectionEnd() - block.position())]
    item_of = block.textList()
    if item_of is None or start > 0:
        return text
    marker = item_of.itemText(block)
    return f"{'  ' * (item_of.format().indent() - 1)}{marker if marker.strip(' .') else '-'} {text}"


def _between(before: QTextBlock, block: QTextBlock) -> str:
    if block.blockFormat().property(Property.CONTINUES):
        return ""
    return "\t" if _same_row(before, block) else "\n"


def _same_row(first: QTextBlock, second: QTextBlock) -> bool:
    table = QTextCursor(first).currentTable()
    if not isinstance(table, QTextTable) or QTextCursor(second).currentTable() is not table:
        return False
    return table.cellAt(first.position()).row() == table.cellAt(second.position()).row()
