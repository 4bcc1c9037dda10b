"""Plain text from a selection: list markers and table cells are kept, commands and footers are left out."""

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextBlock, QTextCursor, QTextTable

from llama_gui.ui.markdown.breaks import without_breaks
from llama_gui.ui.markdown.formats import FORMULA_OBJECT, Property
from llama_gui.ui.markdown.formula import OBJECT
from llama_gui.ui.markdown.inline import LINE_SEPARATOR
from llama_gui.ui.markdown.shelf import Fold


def selected_text(selection: QTextCursor, folds: Mapping[int, Fold] | None = None) -> str:
    """What the user gets who copies `selection`; what stands behind a fold in it is copied as it was written."""
    document = selection.document()
    block, end = document.findBlock(selection.selectionStart()), selection.selectionEnd()
    lines: list[list[str]] = []  # cells of one row, or one line of text
    before: QTextBlock | None = None
    while block.isValid() and block.position() <= end:
        fold = (folds or {}).get(block.blockFormat().property(Property.FOLD))
        if fold is not None and before is not None and end > block.position():
            if fold.continues:
                lines[-1][-1] += fold.text
            else:
                lines.append([fold.text.removesuffix("\n")])
        elif not block.blockFormat().property(Property.CHROME):
            text = _slice(block, selection)
            if before is not None and block.blockFormat().property(Property.CONTINUES):
                lines[-1][-1] += text
            elif before is not None and _same_row(before, block):
                # Qt counts columns from the left; a row that is read from the right begins with the last of them.
                lines[-1].insert(0 if _is_read_from_right(block) else len(lines[-1]), text)
            else:
                lines.append([text])
            before = block
        block = block.next()
    return without_breaks("\n".join("\t".join(cells) for cells in lines)).replace(LINE_SEPARATOR, "\n")


def _slice(block: QTextBlock, selection: QTextCursor) -> str:
    start = max(0, selection.selectionStart() - block.position())
    end = max(0, selection.selectionEnd() - block.position())
    text = block.text()[start:end] if OBJECT not in block.text() else _with_formulas(block, start, end)
    item_of = block.textList()
    if item_of is None or start > 0:
        return text
    marker = item_of.itemText(block)
    return f"{'  ' * (item_of.format().indent() - 1)}{marker if marker.strip(' .') else '-'} {text}"


def _with_formulas(block: QTextBlock, start: int, end: int) -> str:
    """The text between two places in a block. What is drawn for a formula counts, not the words before it."""
    texts: list[str] = []
    iterator = block.begin()
    while not iterator.atEnd():
        fragment = iterator.fragment()
        place, chars = fragment.position() - block.position(), fragment.charFormat()
        if chars.objectType() == FORMULA_OBJECT:
            if place < end and place + fragment.length() > start:
                texts.append(chars.stringProperty(Property.FORMULA_TEXT))
        elif not chars.property(Property.UNDER_FORMULA):
            units = fragment.text().encode("utf-16-le", "surrogatepass")
            cut = units[2 * max(0, start - place) : 2 * max(0, end - place)]
            texts.append(cut.decode("utf-16-le", "surrogatepass"))
        iterator += 1
    return "".join(texts)


def _same_row(first: QTextBlock, second: QTextBlock) -> bool:
    table = QTextCursor(first).currentTable()
    if not isinstance(table, QTextTable) or QTextCursor(second).currentTable() is not table:
        return False
    return table.cellAt(first.position()).row() == table.cellAt(second.position()).row()


def _is_read_from_right(block: QTextBlock) -> bool:
    table = QTextCursor(block).currentTable()
    return table is not None and table.format().layoutDirection() == Qt.LayoutDirection.RightToLeft
