"""Images of messages, from their bytes: small ones with round corners, and what the clipboard holds."""

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QImageReader, QImageWriter, QPainter, QPainterPath, QPen

from llama_gui.chats.documents.images import LONGEST_SIDE
from llama_gui.vocabulary import media_type_of

_SMALL_BYTES = 500_000
"""What is drawn is no larger than that as PNG; what was photographed is smaller as JPEG."""
_QUALITY = 90


def decoded(data: bytes, within: QSize | None = None) -> QImage:
    """The image, reduced to fit into `within` while it is read; an empty one where it cannot be read."""
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    # By its first bytes alone: of what else Qt reads, nothing is tried on a stranger's file.
    reader = QImageReader(buffer, QByteArray(media_type_of(data).removeprefix("image/").encode()))
    reader.setAutoDetectImageFormat(False)
    size = reader.size()
    if within is not None and size.isValid() and not fits(size, within):
        reader.setScaledSize(_fitted(size, within))
    return reader.read()


def fits(size: QSize, within: QSize) -> bool:
    """Whether it is no larger, in either direction."""
    return size.width() <= within.width() and size.height() <= within.height()


def _fitted(size: QSize, within: QSize) -> QSize:
    return size.scaled(within, Qt.AspectRatioMode.KeepAspectRatio).expandedTo(QSize(1, 1))


def thumbnail(data: bytes, within: QSize, ratio: float, line: QColor, radius: float = 6) -> QImage:
    """The image with round corners and a hairline, for `within` logical pixels of which each is `ratio` on the screen.

    An empty one where it cannot be read.
    """
    picture = decoded(data, within * ratio)
    if picture.isNull():
        return picture
    whole = QImage(picture.size(), QImage.Format.Format_ARGB32_Premultiplied)
    whole.fill(Qt.GlobalColor.transparent)
    painter = QPainter(whole)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    edge = QPainterPath()
    half = ratio / 2
    inside = QRectF(whole.rect()).adjusted(half, half, -half, -half)
    edge.addRoundedRect(inside, radius * ratio, radius * ratio)
    painter.setClipPath(edge)
    painter.fillRect(whole.rect(), Qt.GlobalColor.white)  # as models see it
    painter.drawImage(0, 0, picture)
    painter.setClipping(False)
    painter.setPen(QPen(line, ratio))
    painter.drawPath(edge)
    painter.end()
    whole.setDevicePixelRatio(ratio)
    return whole


def pasted(picture: QImage) -> bytes:
    """An image from the clipboard as the bytes of a file, no larger than models read it; b"" where there is none."""
    most = QSize(LONGEST_SIDE, LONGEST_SIDE)
    if not fits(picture.size(), most):
        keeps = Qt.AspectRatioMode.KeepAspectRatio
        picture = picture.scaled(most, keeps, Qt.TransformationMode.SmoothTransformation)
    drawn = _written(picture, "PNG", -1)
    if picture.hasAlphaChannel() or len(drawn) <= _SMALL_BYTES:
        return drawn
    return min(drawn, _written(picture, "JPEG", _QUALITY), key=len)


def _written(picture: QImage, kind: str, quality: int) -> bytes:
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QImageWriter(buffer, QByteArray(kind.encode()))
    writer.setQuality(quality)
    return bytes(content.data()) if writer.write(picture) else b""
