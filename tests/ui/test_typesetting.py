"""Formulas are laid out by the rules of TeX, within bounds, and never half: what is not understood is not laid out."""

import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llama_gui.ui.markdown.latex.alphabets import italic
from llama_gui.ui.markdown.latex.chemistry import chemistry
from llama_gui.ui.markdown.latex.reading import tree_of
from llama_gui.ui.markdown.latex.signs import gap, kind_of_character
from llama_gui.ui.markdown.latex.tokens import Unshown
from llama_gui.ui.markdown.latex.tree import Fraction, Grid, Kind, Row, Scripts, Sign, Words
from llama_gui.ui.markdown.latex.unicode import readable
from llama_gui.ui.markdown.typesetting import formulas
from llama_gui.ui.markdown.typesetting.boxes import Box, Ink, Rule, beside, lifted, stacked
from llama_gui.ui.markdown.typesetting.formulas import Drawing, drawing, inked, parts
from llama_gui.ui.markdown.typesetting.math_font import EM, math_font
from llama_gui.ui.markdown.typesetting.setter import Setter

pytestmark = pytest.mark.usefixtures("qapp")


def laid_out(formula: str, *, is_display: bool = True) -> Drawing:
    drawn = drawing(formula, is_display=is_display)
    assert drawn is not None, formula
    return drawn


def box(formula: str, level: int = 0) -> Box:
    setter = Setter(math_font())
    return setter.box(tree_of(formula), setter.style(level))


def glyphs(formula: str, level: int = 0) -> list[tuple[float, float, Ink]]:
    return [(x, y, mark) for x, y, mark in box(formula, level).marks() if isinstance(mark, Ink)]


def rules(formula: str) -> list[tuple[float, float, Rule]]:
    return [(x, y, mark) for x, y, mark in box(formula).marks() if isinstance(mark, Rule)]


# What models write

WRITTEN = [
    r"x=\frac{-b\pm\sqrt{b^2-4ac}}{2a}",
    r"\sum_{i=1}^{n} i^2=\frac{n(n+1)(2n+1)}{6}",
    r"\int_0^\infty e^{-x^2}\,dx=\frac{\sqrt\pi}{2}",
    r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}\begin{bmatrix}1&0\\0&1\end{bmatrix}",
    r"f(x)=\begin{cases} x^2 & \text{if } x>0 \\ 0 & \text{otherwise}\end{cases}",
    r"\begin{aligned} (a+b)^2 &= a^2+2ab+b^2 \\[2pt] &= c\end{aligned}",
    r"\begin{align*} x&=1 & y&=2\\ z&=3 & w&=4\end{align*}",
    r"\left(\frac{1}{1+\frac{1}{x}}\right)^n",
    r"\hat{x}, \vec{v}, \bar{y}, \dot{z}, \tilde{w}, \overline{AB}, \widehat{ABC}, \overrightarrow{AB}",
    r"\lim_{x\to 0}\frac{\sin x}{x}=1",
    r"\mathbb{R}^n \to \mathcal{L},\ \mathbf{v},\ \mathfrak{g},\ \mathrm{d}x,\ \bm{x},\ \mathsf{T},\ \mathtt{x}",
    r"\operatorname{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V",
    r"\underbrace{a+b+c}_{\text{three}}+\overbrace{d+e}^{2}",
    r"\binom{n}{k}=\frac{n!}{k!(n-k)!}",
    r"\left\{ x \in \mathbb{R} \;\middle|\; x^2<2 \right\}",
    r"\Bigl( \big| \bigg[ x \bigg] \big| \Bigr)",
    r"A\xrightarrow[g]{f}B, x\mapsto y, \implies, \iff, \langle\psi|\hat H|\psi\rangle, \|v\|, \lfloor x\rfloor",
    r"f'(x), f''(x), x'^2, x^{2^{2}}, x_{i_j}, {}^{14}_{6}C",
    r"a \equiv b \pmod{n}, \gcd(a,b), \arg\min_\theta L(\theta), a \bmod b",
    r"\left. \frac{\partial f}{\partial x} \right|_{x=0}",
    r"\sum_{\substack{i<n\\ j<m}} a_{ij}",
    r"\begin{array}{c|cc} x&1&2\\\hline y&3&4\end{array}",
    r"\underset{x}{\operatorname{argmax}}\, f, \overset{!}{=}, \stackrel{def}{=}, \mathop{\mathrm{argmin}}_x",
    r"\boxed{E=mc^2} \quad \cancel{x} \phantom{y} \not= \not\in",
    r"1{,}000 + 3.14 \cdot 10^{-5}\,\text{m/s}, 100\%, \$5, \{1,2\}, a\_b",
    r"\color{red}{x}+\textcolor{blue}{y}, \tag{1}, \label{a}",
    r"{n \choose k}, {a \over b}, \cfrac{1}{1+\cfrac{1}{x}}, \dfrac{a}{b}, \tfrac{c}{d}",
    r"a=b\\ c=d",
    r"\nabla\times\mathbf{B}=\mu_0\mathbf{J}+\mu_0\varepsilon_0\frac{\partial\mathbf{E}}{\partial t}",
    r"\alpha\beta\gamma\epsilon\varepsilon\theta\vartheta\phi\varphi\omega\Gamma\Delta\Omega\hbar\ell",
    r"\text{for all $x>0$ in } S \quad \forall x \exists y : x \leq y \ne \infty \therefore A \subseteq \emptyset",
    r"P(A\mid B) \sim \mathcal{N}(\mu, \sigma^2) \perp X \propto \ldots \cdots \vdots \ddots",
    r"\sqrt[3]{x+1}\leq\sqrt{1+\sqrt{1+\sqrt{x}}}",
    r"\prod_{k=1}^\infty, \bigcup_{i\in I}A_i, \iint_D f\,dA, \oint_C, \coprod, \bigoplus\nolimits_i",
]


@pytest.mark.parametrize("formula", WRITTEN)
def test_what_models_write_is_laid_out(formula):
    for is_display in (True, False):
        drawn = laid_out(formula, is_display=is_display)
        ink = inked(formula, is_display=is_display)
        assert ink is not None
        bounds = ink.path.controlPointRect()
        # All ink lies within the room that the formula asks for; slanted letters may lean out by a little.
        assert bounds.left() > -0.3
        assert bounds.right() < drawn.width + 0.35
        assert -bounds.top() < drawn.ascent + 0.15
        assert bounds.bottom() < drawn.descent + 0.15


def test_what_is_laid_out_is_unicode_too():
    """But for lines of a script, which have no form in one line."""
    assert [formula for formula in WRITTEN if readable(formula) is None] == [r"\sum_{\substack{i<n\\ j<m}} a_{ij}"]


@pytest.mark.parametrize(
    "formula",
    [
        "", " ", "a}", "{a", r"\frac{1}", r"\left( x", r"x \right)", "x^2^3", "x_1_2", "x^", "&",
        r"\ce{a^^b}", r"\ce{&}", r"\ce{H2O",
        r"\unknown", r"\begin{tikzpicture} x \end{tikzpicture}", r"\begin{matrix} a \end{pmatrix}", r"\def\x{1}",
        r"\begin{matrix}\end{matrix}", r"\text{$x}", r"\text{\foo}", r"\begin{array}{p{3cm}} x \end{array}", "$x$",
        r"\hspace{1lightyear}", r"\not x", "#1", r"\text{漢字}", r"\sqrt[3", r"\limits", r"\href{a}{b}", "x'''''''",
    ],
)  # fmt: skip
def test_what_is_not_understood_whole_is_not_laid_out(formula):
    assert drawing(formula, is_display=True) is None


# The tree


def test_signs_have_the_kinds_of_tex():
    kinds = {
        "+": 2,
        "=": 3,
        "≤": 3,
        "→": 3,
        "(": 4,
        "⟩": 5,
        ",": 6,
        "∑": 1,
        "x": 0,
        "∞": 0,
        "∂": 0,
        "…": 7,
        "∈": 3,
        "⩽": 3,
        "⩾": 3,
    }
    assert {sign: int(kind_of_character(sign)) for sign in kinds} == kinds
    assert gap(Kind.ORDINARY, Kind.RELATION, is_script=False) == 5 / 18
    assert gap(Kind.ORDINARY, Kind.RELATION, is_script=True) == 0
    assert gap(Kind.ORDINARY, Kind.OPERATOR, is_script=True) == 3 / 18


def test_variables_are_slanted_and_numbers_and_capital_greek_are_not():
    assert [italic(letter) for letter in "xhα∂Γ5"] == ["𝑥", "ℎ", "𝛼", "𝜕", "Γ", "5"]
    assert tree_of("x") == Row((Sign("𝑥"),))
    assert tree_of(r"\mathrm{x}") == Row((Sign("x"),))
    assert tree_of(r"\sin") == Row((Words("sin", Kind.OPERATOR),))


def test_what_is_raised_belongs_to_what_stands_before_it():
    scripts = tree_of("x_i^2").items[0]
    assert isinstance(scripts, Scripts)
    assert (scripts.base, scripts.below, scripts.above) == (Sign("𝑥"), Sign("𝑖"), Sign("2"))
    assert tree_of("x^2_i") == tree_of("x_i^2")
    total = tree_of(r"\int_a\limits^b").items[0]
    assert isinstance(total, Scripts)
    assert (total.below, total.above, total.limits) == (Sign("𝑎"), Sign("𝑏"), True)


def test_primes_stand_at_their_own_height():
    for formula, signs in (("f'", "𝑓′"), ("f''", "𝑓″"), ("f'''_a^2", "𝑓‴2𝑎")):
        found = glyphs(formula)
        assert [mark.glyph for _, _, mark in found] == [math_font().glyph(sign) for sign in signs]
        assert found[1][1:] == (0.0, Ink(math_font().glyph(signs[1]), 1.0))


def test_lines_and_cells_make_a_grid():
    grid = tree_of(r"a &= b \\ c &= d \\").items[0]
    assert isinstance(grid, Grid)
    assert [len(row) for row in grid.rows] == [2, 2]
    assert tree_of(r"\begin{aligned}[t] a &= b \\*[2pt] c &= d \end{aligned}").items[0] == grid
    assert isinstance(tree_of(r"{a+1 \over 2}").items[0], Row)
    assert isinstance(tree_of(r"\frac12").items[0], Fraction)


@pytest.mark.parametrize(
    ("equation", "latex"),
    [
        ("H2O", r"\mathrm{H}_{2}\mathrm{O}"),
        ("2H2 + O2", r"2\,\mathrm{H}_{2} + \mathrm{O}_{2}"),
        ("SO4^2-", r"\mathrm{SO}_{4}^{\mathrm{2-}}"),
        ("Na+ + Cl-", r"\mathrm{Na}^{+} + \mathrm{Cl}^{-}"),
        ("A ->[heat] B", r"\mathrm{A}\xrightarrow{\text{heat}}\mathrm{B}"),
        ("A <=>[\\Delta][x] B", r"\mathrm{A}\xrightleftharpoons[\text{x}]{\Delta}\mathrm{B}"),
        ("^{14}_6C", r"^{\mathrm{14}}_{\mathrm{6}}\mathrm{C}"),
        ("Fe(OH)3 (s)", r"\mathrm{Fe}(\mathrm{OH})_{3}\ (\mathrm{s})"),
        ("1/2 O2", r"\tfrac{1}{2}\,\mathrm{O}_{2}"),
        ("CuSO4 . 5H2O", r"\mathrm{CuSO}_{4}\cdot 5\,\mathrm{H}_{2}\mathrm{O}"),
    ],
)
def test_chemical_equations(equation, latex):
    assert chemistry(equation) == latex
    assert drawing(rf"\ce{{{equation}}}", is_display=True) is not None


# Sizes and places


def test_a_fraction_stands_around_the_height_of_a_minus_sign():
    [(_, y, rule)] = rules(r"\frac{1}{2}")
    axis = math_font().constant("axis_height")
    assert y + rule.height / 2 == pytest.approx(-axis)
    over, under = glyphs(r"\frac{1}{2}")
    assert over[1] < y < under[1]
    assert laid_out(r"\frac{1}{2}").ascent > laid_out(r"\frac{1}{2}", is_display=False).ascent


def test_what_is_raised_is_smaller_and_higher():
    base, raised = glyphs("x^2")
    assert raised[2].scale == pytest.approx(0.7, abs=0.1)
    assert raised[1] < base[1] == 0
    base, lowered = glyphs("x_2")
    assert lowered[1] > 0
    assert len({y for _, y, _ in glyphs("x^2y^2")}) == 2  # both at one height


def test_limits_stand_above_and_below_in_display_and_beside_in_text():
    sign, above = glyphs(r"\sum^n")[:2]
    assert sign[0] < above[0] + 400
    assert above[1] < sign[1] - 700
    assert box(r"\sum_{i=1}^n").width < box(r"\sum_{i=1}^n", 1).width
    assert box(r"\lim_{x\to 0}").depth > box(r"\lim_{x\to 0}", 1).depth
    assert box(r"\int_0^1", 0).width > box(r"\int", 0).width  # beside an integral always


def test_brackets_grow_with_what_they_hold():
    heights = [box(rf"\left( {inner} \right)").total for inner in ("x", r"\frac12", r"\frac{\frac12}{\frac12}")]
    assert heights == sorted(heights)
    tall = r"\left( \begin{matrix} " + r"a \\ " * 12 + r"\end{matrix} \right)"
    assert box(tall).total > 12_000
    assert len(glyphs(tall)) > 14 + 2  # put together from pieces
    whole = box(r"\left( x \right)")
    assert whole.height + whole.depth == pytest.approx(whole.total)


def test_a_root_covers_its_body():
    for body in ("x", r"\frac{a}{b}", "x^2", r"\sqrt{\sqrt{x}}"):
        [(x, y, rule), *_] = sorted(rules(rf"\sqrt{{{body}}}"), key=lambda found: found[1])
        assert -y > box(body).height
        assert x + rule.width == pytest.approx(box(rf"\sqrt{{{body}}}").width)


def test_the_degree_of_a_root_stands_smaller_on_its_left():
    by_sign = {mark.glyph: (x, y, mark) for x, y, mark in glyphs(r"\sqrt[3]{x}")}
    (x, y, degree), (body, _, _) = by_sign[math_font().glyph("3")], by_sign[math_font().glyph("𝑥")]
    assert 0 <= x < x + box("3", 3).width < body
    assert y < 0
    assert degree.scale < 1
    assert box(r"\sqrt[3]{x}").width < box(r"\sqrt[333]{x}").width


def test_an_accent_stands_above_the_middle():
    letter, accent = glyphs(r"\hat{x}")
    assert abs(accent[0] - letter[0]) < 700
    assert box(r"\hat{x}").height > box("x").height
    assert box(r"\hat{x}").width == box("x").width
    assert glyphs(r"\hat{\imath}")[0][2] == glyphs(r"\hat{i}")[0][2]  # without its dot


def test_the_columns_of_equations_are_aligned():
    first = [x for x, _, mark in glyphs(r"\begin{aligned} a &= b \\ ccc &= d \end{aligned}") if _is(mark, "=")]
    assert first[0] == pytest.approx(first[1])
    lines = rules(r"\begin{array}{|c|c|}\hline A & B\\\hline 1&2\\\hline\end{array}")
    assert len(lines) == 6


def _is(mark: Ink, character: str) -> bool:
    return mark.glyph == math_font().glyph(character)


def test_there_is_air_around_relations_and_none_within_scripts():
    alone = sum(box(sign).width for sign in ("a", "=", "b"))
    assert box("a=b").width == pytest.approx(alone + 2 * 5 / 18 * EM)
    assert box("-a").width == pytest.approx(box("-").width + box("a").width)
    assert box("a(-b)").width < box("a-b").width + box("()").width


def test_boxes_are_put_together():
    one, other = Box(10, 5, 1), Box(20, 3, 4)
    assert (beside([one, other]).width, beside([one, other]).height, beside([one, other]).depth) == (30, 5, 4)
    assert (lifted(one, 2).height, lifted(one, 2).depth) == (7, -1)
    assert stacked(one, [(10, other)]).height == 13


# Bounds


HOSTILE = {
    "braces": "{" * 4000,
    "commands": "\\frac" * 800,
    "left": "\\left(" * 600,
    "scripts": "x^{" * 900 + "x" + "}" * 900,
    "letters": "x+" * 2000,
    "texts": "\\text{" * 500 + "}" * 500,
    "rows": "\\begin{matrix}" + "a\\\\" * 900 + "\\end{matrix}",
    "nested": "\\begin{matrix}" * 100 + "x" + "\\end{matrix}" * 100,
    "primes": "x" + "'" * 3000,
    "long": "x" * 5000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_formulas_are_given_up_quickly(name):
    drawing("x", is_display=True)
    started = time.process_time()
    assert drawing(HOSTILE[name], is_display=True) is None
    assert time.process_time() - started < 1.0


@pytest.mark.parametrize("error", [RecursionError, MemoryError, KeyError, ZeroDivisionError, AttributeError, Unshown])
def test_whatever_goes_wrong_there_is_no_drawing(monkeypatch, error):
    def fail(_formula: str) -> None:
        raise error

    monkeypatch.setattr(formulas, "tree_of", fail)
    assert drawing(f"x + {error.__name__}", is_display=True) is None


def test_deep_formulas_do_not_reach_the_end_of_the_stack():
    limit = sys.getrecursionlimit()
    nested = "\\frac{1}{" * 15 + "x" + "}" * 15
    assert drawing(nested, is_display=True) is not None
    assert sys.getrecursionlimit() == limit


def test_a_formula_is_laid_out_once_for_all_sizes():
    formulas.drawing.cache_clear()
    assert laid_out("x + 1") is laid_out("x + 1")
    assert laid_out("x + 1") is not laid_out("x + 1", is_display=False)
    assert formulas.drawing.cache_info().misses == 2


def test_a_formula_has_parts_between_which_a_line_may_end():
    assert len(parts("a + b = c")) == 3
    assert len(parts(r"\frac{a + b}{c}")) == len(parts("-a")) == len(parts("f(x)")) == 1
    assert sum(part.width for part in parts("a + b = c")) == pytest.approx(laid_out("a + b = c").width)
    assert parts(r"\unknown = 2") == ()
    assert inked("a + b", is_display=False, part=1) is not None
    assert inked("a + b", is_display=False, part=2) is None


def test_without_the_font_there_is_no_drawing(monkeypatch):
    def missing() -> None:
        raise ValueError("ziamath is not installed")

    monkeypatch.setattr(formulas, "math_font", missing)
    assert drawing("without + font", is_display=True) is None


_PIECES = [
    "\\frac", "\\sqrt", "{", "}", "^", "_", "x", "1", "\\left(", "\\right)", "\\sum", "\\hat", "&", "\\\\", "'", "[",
    "\\begin{matrix}", "\\end{matrix}", "\\text{", "\\limits", "\\over", "\\middle|", "]", "\\big", "\\mathbf", "\\not",
    "\\hspace", "\\tag", "\\substack{", "\\operatorname", "\\displaystyle", "\\phantom", "\\xrightarrow", "$", "%", " ",
    "\\begin{array}{c|c}", "\\hline", "\\end{array}", "\\overset", "\\color", "\n", "\\sin", "-", "\\cancel", "é", "漢",
]  # fmt: skip


@settings(max_examples=250, deadline=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=30).map("".join))
def test_whatever_a_model_writes_is_laid_out_or_not(formula):
    drawn = drawing(formula, is_display=True)
    assert drawn is None or (drawn.width > 0 and drawn.ascent >= 0 and drawn.descent >= 0)
