"""Under the name of who answers: the documents whose passages went along with the question, and what these say."""

import re
from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from llama_gui.chats.attachments import Source
from llama_gui.ui.markdown.document_writer import DocumentWriter
from llama_gui.ui.markdown.formats import Property
from llama_gui.ui.numbers import counted, number_text

_MARK = re.compile(r"^\[(page|slide) (\d+)\]$", re.MULTILINE)
_FILE_MARK = "▤"
_MOST_NAMES = 3
_MOST_PAGES = 6
_DEPTH = 1
"""Passages stand beside one bar, as a quotation does."""
translate = QCoreApplication.translate


def sources_key(node_id: str) -> str:
    """What stands for the sources of an answer among what is unfolded; its id alone stands for its reasoning."""
    return f"{node_id}/sources"


def write_sources(writer: DocumentWriter, node_id: str, sources: Sequence[Source], *, is_unfolded: bool) -> None:
    """One line with the names of the files; below it, when they are wanted, the passages."""
    formats = writer.formats
    block = formats.paragraph(12)
    block.setProperty(Property.CHROME, True)
    writer.begin_block(block, formats.small())
    names = [_named(source) for source in sources[:_MOST_NAMES]]
    if len(sources) > _MOST_NAMES:
        names.append(translate("Transcript", "{} more").format(number_text(len(sources) - _MOST_NAMES)))
    writer.insert(f"{_FILE_MARK} {'  ·  '.join(names)}  ", formats.small())
    count = sum(source.excerpt.chosen for source in sources if not source.is_listing)
    label = counted(count, translate("Transcript", "{} passage"), translate("Transcript", "{} passages"))
    label = f"{label} {'▾' if is_unfolded else '▸'}"
    writer.command(label.replace(" ", "\u00a0"), "sources", node_id)  # a narrow window breaks the line before it
    for source in sources if is_unfolded else ():
        _write_passages(writer, source)


def write_in_vain(writer: DocumentWriter) -> None:
    """In their place: that there are none."""
    block = writer.formats.paragraph(12)
    block.setProperty(Property.CHROME, True)
    says = translate("Transcript", "Nothing that was read of the folder has the words of this question.")
    writer.line(f"{_FILE_MARK} {says}", block, writer.formats.small())


def _write_passages(writer: DocumentWriter, source: Source) -> None:
    formats, excerpt = writer.formats, source.excerpt
    head = formats.paragraph(14)
    formats.quote(head, _DEPTH)
    writer.line("  ·  ".join([source.name, *_facts(source)]), head, formats.small("text"))
    top = 3
    for line in excerpt.text.split("\n"):
        if not line.strip():
            top = 8  # a line of nothing but air would be twice that
            continue
        block = formats.paragraph(top)
        formats.quote(block, _DEPTH)
        writer.line(line, block, formats.small())
        top = 3


def _facts(source: Source) -> list[str]:
    """How much of it went along, where that is not all there is."""
    chosen, total = source.excerpt.chosen, source.excerpt.total
    if total == 1:
        return []
    if source.is_listing:
        says = translate("Transcript", "names of {} of {} files")
    else:
        says = translate("Transcript", "{} of {} passages")
    return [says.format(number_text(chosen), number_text(total))]


def _named(source: Source) -> str:
    """The name of the file with its pages; that of a folder whose files are listed, with how many they are."""
    if source.is_listing:
        one, many = translate("Transcript", "{} file"), translate("Transcript", "{} files")
        return f"{source.name}, {counted(source.excerpt.total, one, many)}"
    found = list(dict.fromkeys(_MARK.findall(source.excerpt.text)))
    if not found:
        return source.name
    numbers = ", ".join(number for _kind, number in found[:_MOST_PAGES]) + (" …" if len(found) > _MOST_PAGES else "")
    if found[0][0] == "slide":
        many, one = translate("Transcript", "{}, slides {}"), translate("Transcript", "{}, slide {}")
    else:
        many, one = translate("Transcript", "{}, pages {}"), translate("Transcript", "{}, page {}")
    return (one if len(found) == 1 else many).format(source.name, numbers)
