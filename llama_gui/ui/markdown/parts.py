"""Texts that are whole, written in parts: what is drawn at once, and folds for what comes later."""

from PySide6.QtGui import QTextBlockFormat, QTextCharFormat

from llama_gui.ui.markdown.blocks import PARSER, MarkdownWriter
from llama_gui.ui.markdown.document_writer import DocumentWriter
from llama_gui.ui.markdown.formats import Property
from llama_gui.ui.markdown.shelf import Fold
from llama_gui.ui.markdown.tokens import is_open_code, last_item, last_safe_start, line_offset, split

AT_ONCE = 6_000
"""Characters that are drawn in one go; the rest follows in the next frames."""
MAX_DRAWN = 150_000
"""Characters of one message that are drawn without being asked for."""
MAX_TOKENS = 20_000
"""The same for a block of thousands of list items or table cells."""
_ONE_BLOCK = 20_000
_ONE_FENCE = 60_000
_BEFORE = 500


def write_markdown(writer: DocumentWriter, source: str, quotes: int = 0, at_once: int = AT_ONCE) -> None:
    """Write the beginning of a Markdown text, and a fold for the rest where it is long."""
    if rest := source[write_part(writer, source, quotes, at_once) :]:
        writer.fold(rest, MAX_DRAWN, quotes=quotes, continues=not source[: -len(rest)].endswith("\n"))


def write_fold(writer: DocumentWriter, fold: Fold, offset: int = 0) -> int:
    """Write a part of a fold's text, from its beginning or from a little before `offset`, and folds for what is left.

    Returns where the part starts in the document.
    """
    text, continues = fold.text, fold.continues
    if offset > AT_ONCE:
        cut = text.rfind("\n", offset - AT_ONCE, offset - _BEFORE) + 1 or offset - _BEFORE
        writer.fold(text[:cut], plain=fold.plain, quotes=fold.quotes, continues=continues)
        text, continues = text[cut:], text[cut - 1] != "\n"
    there = writer.next_start()
    if fold.plain is None and not continues:
        end = write_part(writer, text, fold.quotes)
    else:
        end = writeplain_look(writer, text, fold.quotes, block=fold.plain, continues=continues)
    if rest := text[end:]:
        quota = 0 if offset else max(0, fold.quota - end)
        writer.fold(rest, quota, plain=fold.plain, quotes=fold.quotes, continues=text[end - 1] != "\n")
    return there


def write_part(writer: DocumentWriter, source: str, quotes: int = 0, at_once: int = AT_ONCE) -> int:
    """Write whole blocks from the beginning, about `at_once` characters of them. How many characters that were."""
    is_whole = len(source) <= at_once
    part = source if is_whole else source[:at_once]
    tokens = PARSER.parse(part)
    boundary = part.count("\n") + 1 if is_whole else last_safe_start(tokens, part.count("\n"))
    if not is_whole and boundary == 0 and (line := last_item(tokens, part.count("\n"))):
        part = part[: line_offset(part, line)]
        MarkdownWriter(writer, quotes).write(PARSER.parse(part))
        return len(part)
    largest = _ONE_FENCE if is_open_code(tokens) else _ONE_BLOCK
    if not is_whole and boundary == 0 and len(source) <= largest:
        part, is_whole = source, True
        tokens = PARSER.parse(part)
    if len(tokens) > MAX_TOKENS or (boundary == 0 and not is_whole):
        return writeplain_look(writer, source, quotes, at_once)
    end = len(part) if is_whole else line_offset(part, boundary)
    MarkdownWriter(writer, quotes).write(tokens if is_whole else split(tokens, boundary)[0])
    return end


def writeplain_look(
    writer: DocumentWriter,
    source: str,
    quotes: int = 0,
    at_once: int = AT_ONCE,
    *,
    block: QTextBlockFormat | None = None,
    continues: bool = False,
) -> int:
    """Write characters as they are, about `at_once` of them and whole lines where there are any."""
    end = len(source)
    if end > at_once:
        end = source.rfind("\n", at_once // 2, at_once) + 1 or at_once
    for number, line in enumerate(source[:end].removesuffix("\n").split("\n")):
        plain, chars = plain_look(writer, quotes, 12 if number == 0 and not continues else 0)
        form = QTextBlockFormat(block) if block is not None else plain
        if number == 0 and continues:
            form.setProperty(Property.CONTINUES, True)
        writer.line(line, form, chars)
    return end


def plain_look(writer: DocumentWriter, quotes: int, top: float) -> tuple[QTextBlockFormat, QTextCharFormat]:
    """Block and characters of text that is not read as Markdown."""
    block = writer.formats.paragraph(top)
    if quotes:
        writer.formats.quote(block, quotes)
    return block, writer.formats.text("muted" if quotes else "text")
