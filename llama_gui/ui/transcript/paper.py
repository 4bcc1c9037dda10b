"""A chat on paper: the messages that are shown, set as in the transcript, in light colours, as the bytes of a PDF."""

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QLocale, QMarginsF, QPointF, QRectF, QSizeF, Qt, QUrl
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QFont,
    QPageSize,
    QPainter,
    QPdfWriter,
    QTextBlockFormat,
    QTextCharFormat,
    QTextDocument,
    QTextFrameFormat,
    QTextOption,
)

from llama_gui.chats.export import local_time, shown_nodes
from llama_gui.chats.reasoning import answer_text
from llama_gui.chats.record import ChatRecord
from llama_gui.ui.markdown.document_writer import DocumentWriter
from llama_gui.ui.markdown.formats import Formats
from llama_gui.ui.markdown.parts import write_part, writeplain_look
from llama_gui.ui.theme import COLUMN_WIDTH, LIGHT, SMALL_PX, frame_font
from llama_gui.ui.transcript.message import footer_of, write_name, write_user
from llama_gui.ui.transcript.painter import BackgroundPainter
from llama_gui.ui.transcript.tool_line import tool_line

_SIDE, _TOP, _BOTTOM = 64, 56, 64
"""Margins, in the pixels of the transcript, of which a page is `_SIDE + COLUMN_WIDTH + _SIDE` wide."""
_DOTS_PER_INCH = 1200


class PaperFormats(Formats):
    """Without ligatures and their kin: what is copied from a PDF would lose the characters that they stand for."""

    def _chars(self, font: QFont, role: str) -> QTextCharFormat:
        return super()._chars(_plain(font), role)

    def inline_code(self, around: QTextCharFormat) -> QTextCharFormat:
        """Code within a sentence."""
        chars = super().inline_code(around)
        chars.setFont(_plain(chars.font()))
        return chars


def _plain(font: QFont) -> QFont:
    for feature in ("calt", "liga"):
        font.setFeature(QFont.Tag(feature), 0)
    return font


class PaperWriter(DocumentWriter):
    """Writes for the eye only: nothing can be clicked on paper, so there are no commands, and nothing is folded."""

    def command(self, label: str, verb: str, argument: object, chars: QTextCharFormat | None = None) -> None:
        """A blank in its place: Qt gives the block behind a table no height where it is empty."""
        self.insert(" ", chars or self.formats.small())

    def fold(
        self,
        text: str,
        quota: int = 0,
        *,
        plain: QTextBlockFormat | None = None,
        quotes: int = 0,
        continues: bool = False,
    ) -> None:
        """All of the text."""
        while text:
            if plain is None and not continues:
                end = write_part(self, text, quotes)
            else:
                end = writeplain_look(self, text, quotes, block=plain, continues=continues)
            continues = text[end - 1] != "\n"
            text = text[end:]


def chat_as_pdf(chat: ChatRecord) -> bytes:
    """The path of the chat that is shown; what was thought before an answer is left out."""
    size = _page_size()
    document = _written(chat)
    document.rootFrame().setFrameFormat(_with_margins(document))
    document.setPageSize(QSizeF(COLUMN_WIDTH, size.height()))
    return _printed(document, chat.title, size)


def _page_size() -> QSizeF:
    """A4, or Letter where that is used, in the pixels of the transcript."""
    points = QPageSize.size(_paper(), QPageSize.Unit.Point)
    width = COLUMN_WIDTH + 2 * _SIDE
    return QSizeF(width, width * points.height() / points.width())


def _paper() -> QPageSize.PageSizeId:
    is_american = QLocale().measurementSystem() == QLocale.MeasurementSystem.ImperialUSSystem
    return QPageSize.PageSizeId.Letter if is_american else QPageSize.PageSizeId.A4


def _with_margins(document: QTextDocument) -> QTextFrameFormat:
    frame = document.rootFrame().frameFormat()
    frame.setTopMargin(_TOP)
    frame.setBottomMargin(_BOTTOM)
    return frame


def _written(chat: ChatRecord) -> QTextDocument:
    formats = PaperFormats(LIGHT)
    document = QTextDocument()
    document.setBaseUrl(QUrl())
    document.setDocumentMargin(0)
    document.setIndentWidth(formats.indent)
    document.setTextWidth(COLUMN_WIDTH)
    document.setDefaultTextOption(_wrapping())
    writer = PaperWriter(document, formats, "")
    writer.line(" ".join(chat.title.split()), formats.paragraph(0), formats.heading(1))
    if created := local_time(chat.created):
        writer.line(f"{created:%Y-%m-%d %H:%M}", formats.paragraph(4), formats.small())
    for node in shown_nodes(chat):
        if node.role == "user":
            write_user(writer, node)
        elif node.role == "tool":
            writer.line(tool_line(node), formats.paragraph(12), formats.small())
        elif node.role == "assistant":
            write_name(writer, node.model)
            writer.fold(answer_text(node))
            if error := footer_of(node).error:
                writer.line(error, formats.paragraph(12), formats.text("error"))
    return document


def _wrapping() -> QTextOption:
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    return option


def _printed(document: QTextDocument, title: str, size: QSizeF) -> bytes:
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setResolution(_DOTS_PER_INCH)
    writer.setPageSize(QPageSize(_paper()))
    writer.setPageMargins(QMarginsF(0, 0, 0, 0))
    writer.setTitle(title)
    writer.setCreator("llama-gui")
    painter = QPainter(writer)
    pages, scale = document.pageCount(), writer.width() / size.width()
    for page in range(pages):
        if page:
            writer.newPage()
        painter.save()
        painter.scale(scale, scale)
        _paint_page(painter, document, page, size)
        _paint_number(painter, page, pages, size)
        painter.restore()
    painter.end()
    return bytes(content.data())


def _paint_page(painter: QPainter, document: QTextDocument, page: int, size: QSizeF) -> None:
    layout, top = document.documentLayout(), page * size.height()
    shown = QRectF(-_SIDE, top + _TOP - 12, size.width(), size.height() - _TOP - _BOTTOM + 24)
    painter.save()
    painter.translate(_SIDE, -top)
    painter.setClipRect(shown)
    first = document.findBlock(max(0, layout.hitTest(QPointF(0, shown.top()), Qt.HitTestAccuracy.FuzzyHit)))
    BackgroundPainter(painter, document, LIGHT, shown).paint(first)
    context = QAbstractTextDocumentLayout.PaintContext()
    context.palette = LIGHT.palette()
    context.clip = shown
    layout.draw(painter, context)
    painter.restore()


def _paint_number(painter: QPainter, page: int, pages: int, size: QSizeF) -> None:
    if pages < 2:
        return
    painter.setFont(frame_font(SMALL_PX))
    painter.setPen(LIGHT.color("muted"))
    foot = QRectF(0, size.height() - _BOTTOM, size.width(), _BOTTOM)
    painter.drawText(foot, Qt.AlignmentFlag.AlignCenter, f"{page + 1} / {pages}")
