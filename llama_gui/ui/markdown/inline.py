"""The inside of a paragraph: emphasis, code, links, line breaks."""

import re
from collections.abc import Sequence

from markdown_it.token import Token
from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QFont, QTextCharFormat, QTextCursor

from llama_gui.ui.markdown.breaks import breakable
from llama_gui.ui.markdown.document_writer import DocumentWriter
from llama_gui.ui.markdown.formats import Formats
from llama_gui.ui.markdown.formula import OBJECT, Formula, words_under
from llama_gui.ui.theme import COLUMN_WIDTH

translate = QCoreApplication.translate
LINE_SEPARATOR = "\u2028"
_ADDRESS = re.compile(r"\bhttps?://[^\s<>\"`]*[^\s<>\"`.,;:!?'*_)\]}]")


class InlineWriter:
    """Writes the inside of a paragraph: emphasis, code, links, line breaks. `room`: how wide a formula may be."""

    def __init__(self, formats: Formats, room: float = COLUMN_WIDTH) -> None:
        self._formats = formats
        self._room = room

    def write(self, to: DocumentWriter | QTextCursor, children: Sequence[Token], chars: QTextCharFormat) -> None:
        """Write inline tokens, beginning with the format of the paragraph."""
        stack = [chars]
        for token in children:
            if token.nesting == 1:
                stack.append(self._opened(token, stack[-1]))
            elif token.nesting == -1:
                stack.pop()
            else:
                self._leaf(to, token, stack[-1])

    def _opened(self, token: Token, around: QTextCharFormat) -> QTextCharFormat:
        chars = QTextCharFormat(around)
        match token.type:
            case "strong_open":
                chars.setFontWeight(QFont.Weight.DemiBold)
            case "em_open":
                chars.setFontItalic(True)
            case "s_open":
                chars.setFontStrikeOut(True)
            case "link_open":
                target = str(token.attrGet("href") or "")
                return self._formats.link(around, target)
            case _:
                pass
        return chars

    def _leaf(self, to: DocumentWriter | QTextCursor, token: Token, chars: QTextCharFormat) -> None:
        match token.type:
            case "softbreak" | "hardbreak":
                _insert(to, LINE_SEPARATOR, chars)
            case "code_inline":
                _insert(to, token.content, self._formats.inline_code(chars))
            case "maths":
                self._formula(to, token, chars)
            case "image":
                # Never loaded: the name and the address say what the model meant.
                target = str(token.attrGet("src") or "")
                _insert(
                    to,
                    translate("Transcript", "[image: {}]").format(token.content or target),
                    self._formats.link(chars, target),
                )
            case _:
                self._text(to, token.content, chars)

    def _formula(self, to: DocumentWriter | QTextCursor, token: Token, chars: QTextCharFormat) -> None:
        formula = Formula.of(token, chars, self._room)
        if formula.runs is None and not formula.is_laid_out:
            _insert(to, formula.text(token.markup).replace("\n", " "), self._formats.inline_code(chars))
        else:
            write_formula(to, formula, token.markup, chars, self._formats)

    def _text(self, to: DocumentWriter | QTextCursor, text: str, chars: QTextCharFormat) -> None:
        """Words; an address among them is a link, unless it stands in one."""
        place = 0
        for found in _ADDRESS.finditer(text) if "://" in text and not chars.isAnchor() else ():
            _insert(to, text[place : found.start()], chars)
            _insert(to, found.group(), self._formats.link(chars, found.group()))
            place = found.end()
        _insert(to, text[place:], chars)


def write_formula(
    to: DocumentWriter | QTextCursor, formula: Formula, opening: str, chars: QTextCharFormat, formats: Formats
) -> None:
    """Write a formula, laid out or in Unicode; there variables are slanted."""
    if formula.is_laid_out:
        formula.prepare(to.document() if isinstance(to, QTextCursor) else to.document)
        text = formula.text(opening)
        _insert(to, words_under(text), formats.under_formula())
        for part in formula.object_chars(text):
            _insert(to, OBJECT, part)
        return
    slanted = QTextCharFormat(chars)
    slanted.setFontItalic(True)
    for text, is_variable in formula.runs or ():
        _insert(to, text.replace("\n", LINE_SEPARATOR), slanted if is_variable else chars)


def _insert(to: DocumentWriter | QTextCursor, text: str, chars: QTextCharFormat) -> None:
    if not text:
        return
    if isinstance(to, DocumentWriter):
        to.insert(text, chars)
    else:
        to.insertText(breakable(text), chars)
