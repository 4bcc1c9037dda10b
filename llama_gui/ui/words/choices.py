"""What a model might have written in a place: the likeliest tokens, how likely each was, and which it was."""

from PySide6.QtCore import QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QFrame, QListWidgetItem, QSizePolicy, QStyleOptionViewItem, QVBoxLayout, QWidget

from llama_gui.bridge.word_reader import Words
from llama_gui.ui.numbers import number_text
from llama_gui.ui.rows import Index, NoteDelegate, NotedList
from llama_gui.ui.theme import SMALL_PX, TRANSCRIPT_PX, theme_of
from llama_gui.ui.widgets import plain_label
from llama_gui.ui.words.spans import Span, is_mixed, named, percent, probability

_SHARE = Qt.ItemDataRole.UserRole + 101
_TOKEN = Qt.ItemDataRole.UserRole + 102
_IS_WRITTEN = Qt.ItemDataRole.UserRole + 103
_BAR = 3
_MARGIN = 12


class ShareDelegate(NoteDelegate):
    """A row with a thin bar below its words, as long as it is likely; the one that was written is in the accent."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(160, 40)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        rect: QRectF = QRectF(option.rect).adjusted(_MARGIN, 0, -_MARGIN, -5)  # pyright: ignore[reportAttributeAccessIssue]
        share = float(index.data(_SHARE) or 0)
        theme = theme_of(self._view)
        width = rect.width() * share
        if width < _BAR:
            return
        left = rect.right() - width if self._view.isRightToLeft() else rect.left()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("accent" if index.data(_IS_WRITTEN) else "field_focus"))
        painter.drawRoundedRect(QRectF(left, rect.bottom() - _BAR, width, _BAR), _BAR / 2, _BAR / 2)


class ChoiceList(NotedList):
    """The tokens. Left and Right go to other places of the answer, as in its text."""

    stepped = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setItemDelegate(ShareDelegate(self))
        self.setMouseTracking(True)
        self.setAccessibleName(self.tr("What the model might have written here"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.stepped.emit(-1 if (event.key() == Qt.Key.Key_Left) != self.isRightToLeft() else 1)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentItem() is not None:
            self.itemClicked.emit(self.currentItem())
        else:
            super().keyPressEvent(event)


class Choices(QWidget):
    """One place of an answer: its token, and what was likely there."""

    wanted = Signal(int, int)
    """The place, and the token that shall stand there instead."""

    def __init__(self) -> None:
        super().__init__()
        self._place = 0
        self._words: Words | None = None
        self._marks_space = False
        self.word = plain_label("", "text", TRANSCRIPT_PX + 2, bold=True)
        self.word.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.word.setFixedHeight(self.word.fontMetrics().lineSpacing() + 6)  # other fonts must not move what is below
        self.share = plain_label("", "muted", SMALL_PX)
        self.share.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.list = ChoiceList()
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.rest = plain_label("", "muted", SMALL_PX)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.word)
        layout.addWidget(self.share)
        layout.addSpacing(4)
        layout.addWidget(self.list, 1)
        layout.addWidget(self.rest)
        self.list.itemClicked.connect(self._choose)

    @property
    def place(self) -> int:
        """Which token of the answer it shows."""
        return self._place

    def show_place(self, words: Words, place: int, span: Span) -> None:
        """Show a token of an answer and its alternatives; `span`: what of the text it stands in."""
        token = words.tokens[place]
        self._words, self._place = words, place
        self._marks_space = is_mixed([token.text, *(top.text for top in token.top_logprobs)])
        share = probability(token.logprob)
        self.word.setText(self._named(token.token_id, token.text))
        self.share.setText(" · ".join([percent(share), *self._facts(words, place, span)]))
        self.list.clear()
        for top in token.top_logprobs:
            self._add(top.token_id, top.text, probability(top.logprob))
        if all(top.token_id != token.token_id for top in token.top_logprobs):
            self._add(token.token_id, token.text, share)
        likely = sum(probability(top.logprob) for top in token.top_logprobs)
        self.rest.setText(self.tr("all others together: {}").format(percent(max(0.0, 1 - likely))))
        other = next((row for row in range(self.list.count()) if not self.list.item(row).data(_IS_WRITTEN)), 0)
        self.list.setCurrentRow(other)

    def _facts(self, words: Words, place: int, span: Span) -> list[str]:
        token = words.tokens[place]
        ranks = [top.token_id for top in token.top_logprobs]
        facts: list[str] = []
        if token.token_id not in ranks:
            facts.append(self.tr("not among the likeliest"))
        elif (rank := ranks.index(token.token_id)) > 0:
            facts.append(self.tr("place {}").format(number_text(rank + 1)))
        else:
            facts.append(self.tr("the likeliest"))
        if place == words.chosen:
            facts.append(self.tr("chosen by you"))
        if span.last > span.first:
            facts.append(self.tr("part {} of {}").format(place - span.first + 1, span.last - span.first + 1))
        return facts

    def _add(self, token_id: int, text: str, share: float) -> None:
        assert self._words is not None
        is_written = token_id == self._words.tokens[self._place].token_id
        word = self._named(token_id, text)
        item = self.list.add(word, self.tr("written · {}").format(percent(share)) if is_written else percent(share))
        item.setData(_SHARE, share)
        item.setData(_TOKEN, token_id)
        item.setData(_IS_WRITTEN, is_written)
        told = self.tr("{}, {}, as it is written") if is_written else self.tr("{}, {}, go on from here with this")
        item.setData(Qt.ItemDataRole.AccessibleTextRole, told.format(word, percent(share)))

    def _named(self, token_id: int, text: str) -> str:
        is_end = self._words is not None and token_id in self._words.ending
        return named(text, is_end=is_end, marks_space=self._marks_space)

    @Slot(QListWidgetItem)
    def _choose(self, item: QListWidgetItem) -> None:
        if not item.data(_IS_WRITTEN):
            self.wanted.emit(self._place, int(item.data(_TOKEN)))
