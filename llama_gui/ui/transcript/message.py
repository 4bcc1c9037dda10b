"""What stands around the text of a message: the name, the band of the user, the footer."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QCoreApplication, QSize
from PySide6.QtGui import QGuiApplication, QTextBlockFormat

from llama_gui.chats.attachments import FileLine
from llama_gui.chats.message_files import listed
from llama_gui.chats.recipe import is_cut_short
from llama_gui.chats.tree import Node
from llama_gui.ui.markdown.document_writer import DocumentWriter
from llama_gui.ui.markdown.formats import Box, Property
from llama_gui.ui.numbers import counted, number_text
from llama_gui.ui.pictures import thumbnail
from llama_gui.ui.problem_words import problem_text
from llama_gui.ui.sizes import size_text
from llama_gui.ui.transcript.answer import write_answer_text

MAX_QUESTION, MAX_QUESTION_LINES = 4_000, 50
"""Characters and lines of a user's message that are drawn at first: a pasted file must not push the answer away."""
PICTURE, PICTURES = QSize(320, 240), QSize(300, 150)
"""The most pixels of an image in the transcript, alone and beside others, which are of one height mostly."""
translate = QCoreApplication.translate


@dataclass(frozen=True, slots=True)
class Footer:
    """The words below an answer: numbers, what cut it short, and what went wrong."""

    facts: tuple[str, ...]
    error: str = ""
    goes_on: bool = False
    """Whether there may be more of it, behind what there is."""


def footer_of(node: Node) -> Footer:
    """What there is to say about an answer that is no longer written."""
    recipe = read_recipe(node.recipe)
    usage = recipe.get("usage") or {}
    timings = recipe.get("timings") or {}
    facts: list[str] = []
    tokens = usage.get("completion_tokens") or _length(recipe.get("token_ids"))  # an interrupted one has no usage
    is_empty = not node.content and node.status in ("failed", "stopped", "interrupted")
    if isinstance(tokens, int) and usage and not is_empty:
        facts.append(counted(tokens, translate("Transcript", "{} token"), translate("Transcript", "{} tokens")))
        seconds = timings.get("decode")
        written = tokens - _count(recipe.get("continued_tokens"))
        if isinstance(seconds, int | float) and seconds > 0 and written > 1:
            pace = written / seconds
            number = number_text(pace, 1 if pace < 99.95 else 0)
            facts.append(translate("Transcript", "{} tok/s").format(number))
    if (seed := (recipe.get("sampling") or {}).get("seed")) is not None and not is_empty:
        facts.append(translate("Transcript", "seed {}").format(seed))
    if reason := _reason(node.status) or _reason(str(recipe.get("finish_reason"))):
        facts.append(reason)
    error = problem_text(node.error) or translate("Transcript", "The answer failed.")
    goes_on = bool(node.content) and is_cut_short(node.status, str(recipe.get("finish_reason")))
    return Footer(tuple(facts), error if node.status == "failed" else "", goes_on)


def _length(ids: object) -> int:
    return len(ids) if isinstance(ids, list) else 0


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def _reason(code: str) -> str:
    """What cut an answer short, in words."""
    match code:
        case "stopped":
            return translate("Transcript", "stopped")
        case "interrupted":
            return translate("Transcript", "interrupted when the application closed")
        case "length":
            return translate("Transcript", "reached max tokens")
        case "context":
            return translate("Transcript", "context is full")
    return ""


def read_recipe(text: str) -> dict[str, Any]:
    """The recipe of an answer; empty where there is none or it cannot be read."""
    try:
        recipe = json.loads(text) if text else {}
    except ValueError:
        return {}
    return recipe if isinstance(recipe, dict) else {}


_FILE_MARK = "▤"


def write_user(writer: DocumentWriter, node: Node, version: tuple[int, int] | None = None) -> None:
    """The user's words as they were typed, on a band; the reason of a refusal stands above the composer."""
    formats = writer.formats
    box_id = next(writer.shelf.numbers)
    end = _end_of_question(node.content)
    shown, rest = node.content[:end], node.content[end:]
    files = listed(node.attachments)
    has_pictures = write_pictures(writer, node.id, files, formats.boxed(Box.USER, box_id, top=36, line_height=104))
    files = tuple(file for file in files if not file.image)
    top = 10 if has_pictures else 36
    lines = (shown.removesuffix("\n") if rest else shown).split("\n") if shown or not (files or has_pictures) else []
    for number, line in enumerate(lines):
        writer.line(line, formats.boxed(Box.USER, box_id, top=top if number == 0 else 0), formats.text())
    if rest:
        box = formats.boxed(Box.USER, box_id, top=0)
        writer.fold(rest, plain=box, continues=not shown.endswith("\n"))
    for number, file in enumerate(files):
        block = formats.boxed(Box.USER, box_id, top=0 if lines or number else top)
        block.setProperty(Property.CHROME, True)
        facts = f"{_FILE_MARK} {file.name}  ·  {size_text(file.size)}"
        if file.total:
            said = translate("Transcript", "{} of {} passages, those that fit the question")
            facts += "  ·  " + said.format(number_text(file.chosen), number_text(file.total))
        writer.line(facts, block, formats.small())
    below = formats.paragraph(16)
    below.setProperty(Property.CHROME, True)
    if node.status == "failed":
        writer.line(translate("Transcript", "This message was not answered."), below, formats.small("error"))
    if version is not None:
        writer.begin_block(below, formats.small())
        _write_version(writer, node, version)


def write_pictures(writer: DocumentWriter, node_id: str, files: Sequence[FileLine], block: QTextBlockFormat) -> bool:
    """The images among the files of a message, beside one another; whether there are some."""
    pictures = [file for file in files if file.image]
    if not pictures:
        return False
    block.setProperty(Property.CHROME, True)
    writer.begin_block(block, writer.formats.small())
    app = QCoreApplication.instance()
    ratio = app.devicePixelRatio() if isinstance(app, QGuiApplication) else 1.0
    for number, file in enumerate(pictures):
        image = thumbnail(
            file.image, PICTURE if len(pictures) == 1 else PICTURES, ratio, writer.formats.theme.color("line")
        )
        if number:
            writer.insert("  ", writer.formats.small())
        if image.isNull():
            writer.insert(f"{_FILE_MARK} {file.name}", writer.formats.small())
        else:
            writer.picture(image, "picture", f"{node_id}:{number}")
    return True


def _end_of_question(text: str) -> int:
    """Where the part of a long message ends that is drawn at first."""
    end = len(text)
    if end > MAX_QUESTION:
        end = text.rfind("\n", MAX_QUESTION // 2, MAX_QUESTION) + 1 or MAX_QUESTION
    lines = text[:end].split("\n")
    if len(lines) > MAX_QUESTION_LINES * 1.2:  # a few lines more are no trouble
        end = sum(len(line) + 1 for line in lines[:MAX_QUESTION_LINES])
    return end


def _write_version(writer: DocumentWriter, node: Node, version: tuple[int, int]) -> None:
    """Which version of a message this is, and the way to the others."""
    number, count = version
    small = writer.formats.small()
    for label, verb, there in (("‹", "previous", number > 1), ("›", "next", number < count)):
        if verb == "next":
            writer.insert(f" {number} / {count} ", small)
        if there:
            writer.command(f" {label} ", verb, node.id)
        else:
            writer.insert(f" {label} ", small)


def write_again(writer: DocumentWriter) -> None:
    """Below a question that nothing answers, as when it was stopped while its model was loaded."""
    block = writer.formats.paragraph(10, line_height=130)
    block.setProperty(Property.CHROME, True)
    writer.begin_block(block, writer.formats.small())
    writer.command(translate("Transcript", "Ask again"), "again", "")


def write_name(writer: DocumentWriter, name: str) -> None:
    """Who answers."""
    writer.line(name or translate("Transcript", "Assistant"), writer.formats.paragraph(28), writer.formats.name())
    writer.keep_next_close()


def write_answer(writer: DocumentWriter, node: Node, *, is_unfolded: bool) -> None:
    """A whole answer that is no longer written, without its name and its footer."""
    write_answer_text(writer, node, is_unfolded=is_unfolded)


def write_footer(writer: DocumentWriter, node: Node, version: tuple[int, int] | None = None, *, is_last: bool) -> None:
    """Commands and numbers in one small line; an error in a line of its own."""
    formats, footer = writer.formats, footer_of(node)
    if footer.error:
        writer.line(footer.error, formats.paragraph(12), formats.text("error"))
    has_before = bool(node.content) or is_last
    if not (has_before or version or footer.facts):
        return
    block = formats.paragraph(12, line_height=130)
    block.setProperty(Property.CHROME, True)
    writer.begin_block(block, formats.small())
    if node.content:
        writer.command(translate("Transcript", "Copy"), "copy", node.id)
    if is_last:
        if node.content:
            writer.insert("  ·  ", formats.small())
        writer.command(translate("Transcript", "Again"), "again", node.id)
        if footer.goes_on:
            writer.insert("  ·  ", formats.small())
            writer.command(translate("Transcript", "Go on"), "continue", node.id)
    if version is not None:
        if has_before:
            writer.insert("     ", formats.small())
        _write_version(writer, node, version)
        has_before = True
    if footer.facts:
        # In a narrow window the line breaks between the facts, and not between a number and what it counts.
        facts = " · ".join(fact.replace(" ", "\u00a0") for fact in footer.facts)
        writer.insert(f"      {facts}" if has_before else facts, formats.small())
