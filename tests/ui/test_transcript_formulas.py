"""Formulas in the transcript: on the baseline, as large as the words, within the column, found, copied, read aloud."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QColor, QTextCursor, QTextFormat
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from llama_gui.paths import find_resources
from llama_gui.ui.icons import Icons
from llama_gui.ui.markdown.copying import selected_text
from llama_gui.ui.markdown.formats import FORMULA_OBJECT, Property
from llama_gui.ui.markdown.formula import extent_around, words_under
from llama_gui.ui.markdown.typesetting import formulas
from llama_gui.ui.theme import COLUMN_WIDTH, apply_theme
from llama_gui.ui.transcript.find_bar import FindBar
from llama_gui.ui.transcript.finding import Finder, pattern_of
from llama_gui.ui.transcript.view import TranscriptView
from tests.mouse import double_click
from tests.ui.transcripts import answer, look_of, user

WIDE = "$$" + "+".join(f"a_{{{n}}}^{{{n}}} b_{{{n}}}" for n in range(14)) + "$$"


@pytest.fixture
def view(qtbot) -> TranscriptView:
    view = TranscriptView()
    qtbot.addWidget(view)
    view.resize(COLUMN_WIDTH + 80, 600)
    view.show()
    return view


def show(view: TranscriptView, text: str) -> None:
    view.show_path([user(1), answer(1, text)])
    view.place.leave_end()
    view.verticalScrollBar().setValue(0)


def objects(view: TranscriptView) -> list[tuple[int, QTextFormat]]:
    """The places of the formulas that are laid out, and their formats."""
    found = []
    block = view.document().begin()
    while block.isValid():
        iterator = block.begin()
        while not iterator.atEnd():
            fragment = iterator.fragment()
            if fragment.charFormat().objectType() == FORMULA_OBJECT:
                found.append((fragment.position(), fragment.charFormat()))
            iterator += 1
        block = block.next()
    return found


def rect_of(view: TranscriptView, place: int) -> tuple[float, float, float]:
    """Where a formula begins and ends in its line, and where its line is."""
    block = view.document().findBlock(place)
    line = block.layout().lineForTextPosition(place - block.position())
    left, right = (line.cursorToX(at - block.position())[0] for at in (place, place + 1))
    return left, right, line.y()


def copied(view: TranscriptView) -> str:
    view.selectAll()
    return view.createMimeDataFromSelection().text()


def test_formulas_in_a_line_and_on_their_own(view):
    show(view, r"Let $\frac{a}{b}$ be" + "\n\n" + r"$$\sum_{i=1}^n i$$" + "\n\nand \\(x^2\\) or $\\odd{x}$.")
    assert [form.property(Property.FORMULA) for _, form in objects(view)] == [
        r"\frac{a}{b}", r"\sum_{i=1}^n i", "x^2",
    ]  # fmt: skip
    alone = view.document().findBlock(objects(view)[1][0])
    assert alone.blockFormat().alignment() == Qt.AlignmentFlag.AlignHCenter
    assert "Copy" not in alone.previous().text()
    left, right, _ = rect_of(view, objects(view)[1][0])
    assert left + right == pytest.approx(COLUMN_WIDTH, abs=4)
    assert "$\\odd{x}$" in view.toPlainText()  # as it was before: its source


def test_what_cannot_be_laid_out_is_shown_as_before(view, monkeypatch):
    monkeypatch.setattr(formulas, "drawing", lambda *_args, **_more: None)
    show(view, r"Let $\frac{a}{b}$ be" + "\n\n$$x^2$$")
    assert objects(view) == []
    assert view.toPlainText().split("\n")[2:4] == ["Let a/b be", "x²"]


def test_the_line_has_room_for_all_of_a_formula(view):
    show(view, r"one two $\dfrac{\dfrac{a}{b}}{\dfrac{c}{d}}$ three $x^2$ four")
    (place, tall), (_, low) = objects(view)
    drawn = formulas.drawing(str(tall.property(Property.FORMULA)), is_display=False)
    em = tall.property(Property.FORMULA_EM)
    block = view.document().findBlock(place)
    line = block.layout().lineAt(0)
    assert line.ascent() >= drawn.ascent * em - 0.1
    assert line.descent() >= drawn.descent * em - 0.1
    assert line.ascent() + line.descent() < (drawn.ascent + drawn.descent) * em + 3
    assert low.property(Property.FORMULA_HEIGHT) < 20


def darkest_rows(view: TranscriptView, first: int, last: int) -> tuple[int, int]:
    """The first and the last row of pixels with ink between two places in the document."""
    left, right = view.cursorRect(view.cursor_at(first)), view.cursorRect(view.cursor_at(last))
    image = view.viewport().grab().toImage()
    rows = [
        y
        for y in range(max(0, left.top() - 10), left.bottom() + 10)
        if any(QColor(image.pixel(x, y)).lightness() < 110 for x in range(left.left() + 1, right.left() - 1))
    ]
    return rows[0], rows[-1]


def test_letters_stand_on_the_baseline_of_the_words_and_are_as_large(view):
    for source in ("zzz $z z z$ zzz", r"zzz $\frac{\frac{a}{b}}{c}$ $z z z$ zzz"):
        show(view, source)
        text = view.document().toRawText()
        words = text.index("zzz")
        place = objects(view)[-1][0]
        top, bottom = darkest_rows(view, words, words + 3)
        formula_top, formula_bottom = darkest_rows(view, place, place + 1)
        assert abs(bottom - formula_bottom) <= 1
        assert abs((bottom - top) - (formula_bottom - formula_top)) <= 2


@pytest.mark.parametrize("zoom", [0.8, 1.5, 2.0])
def test_formulas_grow_with_the_text_and_are_not_laid_out_anew(view, zoom):
    show(view, "Let $x^2 + y$ be")
    small = objects(view)[0][1].property(Property.FORMULA_WIDTH)
    laid_out = formulas.drawing.cache_info().misses
    view.set_zoom(zoom)
    large = objects(view)[0][1].property(Property.FORMULA_WIDTH)
    # Where letters are fitted to whole pixels words do not grow evenly, nor do the formulas among them.
    assert large / small == pytest.approx(zoom, rel=0.1)
    assert formulas.drawing.cache_info().misses == laid_out


def test_a_wide_formula_is_drawn_smaller_and_never_cut_off(view):
    show(view, WIDE)
    [(place, form)] = objects(view)
    natural = form.property(Property.FORMULA_WIDTH)
    assert natural > COLUMN_WIDTH
    for width in (COLUMN_WIDTH + 80, 600, 420, 900):
        view.resize(width, 600)
        QApplication.processEvents()
        left, right, _ = rect_of(view, place)
        assert left >= 0
        assert right <= view.viewport().width()
    view.resize(420, 600)
    view.show_path([user(1), answer(1, WIDE)])
    assert objects(view) == []  # it would be too small to be read: Unicode, which wraps
    assert "a₁₁¹¹ b₁₁" in view.toPlainText() or "a₁₁¹¹b₁₁" in view.toPlainText()


def test_formulas_in_tables_lists_headings_quotations_and_from_the_right(view):
    text = (
        "## On $x_1$\n\n- a $\\hat{x}$\n\n  $$\\frac{1}{2}$$\n\n> $\\bar{y}$ said\n\n"
        "| a | b |\n|---|---|\n| $\\int_0^1 f$ | $\\frac{c}{d}$ |\n\nיהי $z^2$ מספר"
    )
    show(view, text)
    found = objects(view)
    assert len(found) == 7
    heading, item = found[0][1], found[1][1]
    assert heading.property(Property.FORMULA_EM) > item.property(Property.FORMULA_EM)
    assert heading.toCharFormat().fontWeight() > 500
    assert copied(view).endswith("∫₀¹ f\tc/d\nיהי z² מספר")
    left, right, _ = rect_of(view, found[-1][0])
    assert 0 < right < COLUMN_WIDTH  # between the words, which begin on the right
    assert left > COLUMN_WIDTH / 2


def test_formulas_alone_in_their_lines_are_as_high_as_words(view):
    show(view, "| a | b |\n| --- | --- |\n| $\\cos x$ | $\\sin x$ |")  # one has a dot, the other nothing as high
    heights = {form.doubleProperty(Property.FORMULA_HEIGHT) for _, form in objects(view)}
    assert len(objects(view)) == 2
    assert len(heights) == 1


def test_a_table_gives_its_formulas_room(view):
    cells = " | ".join(rf"$x_{n} = \alpha_{n} + \beta_{n}$" for n in range(6))
    show(view, f"| {' | '.join('abcdef')} |\n|{'---|' * 6}\n| {cells} |")
    for place, form in objects(view):
        left, right, _ = rect_of(view, place)
        assert right - left == pytest.approx(form.property(Property.FORMULA_WIDTH), abs=1)
        assert left >= 0
        block = view.document().findBlock(place)
        table = view.cursor_at(place).currentTable()
        column = table.cellAt(place).column()
        assert block.layout().lineAt(0).width() >= right - left - 1, column


def test_the_words_before_a_formula_take_no_room_and_no_line_ends_in_them(view):
    show(view, "Let $a + b = c$ be")
    [(place, _)] = objects(view)
    start, end = extent_around(view.document(), place)
    assert (end - start, end) == (len(words_under("a + b = c")) + 1, place + 1)
    line = view.document().findBlock(place).layout().lineAt(0)
    base = view.document().findBlock(place).position()
    assert line.cursorToX(place - base)[0] - line.cursorToX(start - base)[0] < 1
    show(view, "words " * 4 + "and $a + b/c = d$ " * 60)
    for place, _ in objects(view):
        start, _end = extent_around(view.document(), place)
        block = view.document().findBlock(place)
        lines = {block.layout().lineForTextPosition(at - block.position()).lineNumber() for at in (start, place)}
        assert len(lines) == 1


LONG = " + ".join(f"a_{n} x_{n}" for n in range(20)) + " = b"


def test_a_line_may_end_within_a_long_formula_behind_an_operation(view):
    show(view, f"The sum ${LONG}$, which is long, and $x = y$.")
    found = objects(view)
    assert [form.property(Property.FORMULA_PART) for _, form in found] == [*range(21), None]
    block = view.document().findBlock(found[0][0])
    lines = {block.layout().lineForTextPosition(place - block.position()).lineNumber() for place, _ in found}
    assert len(lines) > 1
    assert copied(view).split("\n")[2].count("+") == 19
    start, end = extent_around(view.document(), found[7][0])
    assert end == found[20][0] + 1
    assert extent_around(view.document(), start + 1) == (start, end)
    assert extent_around(view.document(), end) is None
    [hit] = Finder(pattern_of("= b")).hits(view.document(), [])
    assert (hit.position, hit.position + hit.length) == (start, end)
    view.setFocus()
    view.setTextCursor(view.cursor_at(end))
    QTest.keyClick(view, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert view.textCursor().position() == start


# Copying, finding, keys


def test_copying_gives_the_unicode_as_before(view):
    show(
        view,
        r"Let $x^2$ and $\substack{a\\b}$ be" + "\n\n" + r"\[\begin{cases} 1 & x \\ 0 & y\end{cases}\]" + "\n\nend",
    )
    assert copied(view).split("\n")[2:] == [r"Let x² and $\substack{a\\b}$ be", "⎧ 1, x", "⎩ 0, y", "end"]


def test_a_part_of_a_line_is_copied_with_the_formulas_that_are_selected(view):
    show(view, "abc $x^2$ 𝔘def $y$")
    (first, _), (second, _) = objects(view)
    cursor = view.cursor_at(first)
    cursor.setPosition(second, QTextCursor.MoveMode.KeepAnchor)
    assert selected_text(cursor) == "x² 𝔘def "
    cursor.setPosition(first + 1)
    cursor.setPosition(second + 1, QTextCursor.MoveMode.KeepAnchor)
    assert selected_text(cursor) == " 𝔘def y"
    view.select(first, first + 1)
    assert view.createMimeDataFromSelection().text() == "x²"


@pytest.mark.parametrize(
    ("words", "texts"),
    [
        ("x²", ["ax² + b = 0", "x²"]),
        ("solves ax² + b", ["solves ax² + b = 0"]),
        ("0 for x", ["ax² + b = 0 for x²"]),
        ("b = 0 for", ["ax² + b = 0 for"]),
        ("for", ["for"]),
        ("nothing", []),
    ],
)
def test_what_is_found_are_whole_formulas(view, words, texts):
    show(view, "This solves $ax^2 + b = 0$ for $x^2$.")
    found = []
    for hit in Finder(pattern_of(words)).hits(view.document(), []):
        cursor = view.cursor_at(hit.position)
        cursor.setPosition(hit.position + hit.length, QTextCursor.MoveMode.KeepAnchor)
        found.append(selected_text(cursor))
    assert found == texts


def test_find_leads_to_a_formula_and_lights_it_up(view, qtbot):
    bar = FindBar(Icons(find_resources() / "icons"), view)
    show(view, "text\n\n" * 30 + "$$\\frac{q^2}{2}$$")
    bar.open()
    bar.field.setText("q²")
    assert bar.count.text() == "1 of 1"
    [(place, _)] = objects(view)
    assert view.textCursor().selectionEnd() == place + 1
    assert view.viewport().rect().contains(view.cursorRect(view.cursor_at(place)).center())
    view.setTextCursor(view.cursor_at(0))
    view.select(*extent_around(view.document(), place))
    bar.open()
    assert bar.field.text() == "q²/2"


def test_keys_pass_a_formula_like_one_letter_and_a_double_click_takes_it(view, qtbot):
    show(view, "a $x^2 + 1$ b")
    [(place, _)] = objects(view)
    start, end = extent_around(view.document(), place)
    view.setFocus()
    view.setTextCursor(view.cursor_at(start))
    QTest.keyClick(view, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert (view.textCursor().anchor(), view.textCursor().position()) == (start, end)
    QTest.keyClick(view, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert view.textCursor().position() == start
    rect, after = view.cursorRect(view.cursor_at(place)), view.cursorRect(view.cursor_at(end))
    for part in (0.2, 0.8):
        x = round(rect.left() + part * (after.left() - rect.left()))
        double_click(view.viewport(), place=QPoint(x, rect.center().y()))
        assert view.createMimeDataFromSelection().text() == "x² + 1"
        view.setTextCursor(view.cursor_at(0))


def test_screen_readers_get_the_words(view):
    show(view, r"Let $\frac{a}{b}$ be")
    text = QAccessible.queryAccessibleInterface(view).text(QAccessible.Text.Value)
    assert "Let a/b" in text.replace("\u2060", "")


# Streaming


def test_an_unfinished_formula_is_text_and_a_finished_one_is_laid_out_once(view, monkeypatch):
    formulas.drawing.cache_clear()
    read = []
    tree_of = formulas.tree_of
    monkeypatch.setattr(formulas, "tree_of", lambda formula: read.append(formula) or tree_of(formula))
    text = "Here $x^2 + y$ and more words.\n\n$$\n\\frac{1}{2}\n$$\n\nThe end of it, which goes on."
    view.show_path([user(1), answer(1, status="streaming")])
    for letter in text:
        view.add_text("a1", letter)
        view.flush()
        if view.nodes()[-1].content.endswith("$x^2 + y"):
            assert objects(view) == []
            assert "$x^2 + y" in view.toPlainText()
    view.replace_node(answer(1, text))
    assert read == ["x^2 + y", r"\frac{1}{2}"]
    streamed = look_of(view)
    view.show_path([user(1), answer(1, text)])
    assert look_of(view) == streamed
    assert len(read) == 2


def test_many_formulas_do_not_stop_the_window(view, qtbot):
    text = "\n\n".join(f"$x_{{{n}}}^2$ and $y_{{{n}}}^2$" for n in range(1000))
    view.show_path([user(1), answer(1, text)])
    assert len(objects(view)) > 200
    for _ in range(2):
        view.resize(view.width() - 40, 600)
        QApplication.processEvents()
    assert copied(view).count("²") >= 200


# Colours


def colours(view: TranscriptView, place: int) -> set[str]:
    rect, after = view.cursorRect(view.cursor_at(place)), view.cursorRect(view.cursor_at(place + 1))
    image = view.viewport().grab().toImage()
    return {
        QColor(image.pixel(x, y)).name()
        for x in range(rect.left(), after.left())
        for y in range(rect.top(), rect.bottom())
    }


def test_a_formula_has_the_colours_of_its_text_in_each_theme_and_in_a_selection(view, qapp):
    show(view, r"$$\frac{\blacksquare}{\blacksquare}$$")
    try:
        for scheme in ("light", "dark", "light"):
            theme = apply_theme(qapp, scheme)
            QApplication.processEvents()
            view.verticalScrollBar().setValue(0)
            [(place, _)] = objects(view)
            assert theme.text.lower() in colours(view, place)
            start, end = extent_around(view.document(), place)
            view.select(start, end)
            assert {theme.accent.lower(), theme.on_accent.lower()} <= colours(view, place)
            view.select(0, 0)
    finally:
        apply_theme(qapp, "light")
