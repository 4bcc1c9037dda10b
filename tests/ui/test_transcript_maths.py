"""Formulas are readable where Unicode has the letters, stay source where not, and money stays money."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt

from llama_gui.ui.markdown.blocks import PARSER
from llama_gui.ui.markdown.latex.unicode import readable
from llama_gui.ui.markdown.typesetting.formulas import drawing
from tests.ui.transcripts import answer, look_of, user


def shown(formula: str) -> str | None:
    runs = readable(formula)
    return None if runs is None else "".join(text for text, _ in runs)


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("E = mc^2", "E = mc²"),
        (r"\frac{a+b}{2c}", "(a + b)/(2c)"),
        (r"\frac{n(n+1)}{2}", "n(n + 1)/2"),
        (r"\frac{P(B \mid A)P(A)}{P(B)}", "P(B ∣ A)P(A)/P(B)"),
        (r"e^{i\pi}+1=0", "e^(iπ) + 1 = 0"),
        (r"\sum_{i=1}^{n} i", "∑ᵢ₌₁ⁿ i"),
        (r"\int_0^\infty e^{-x}\,dx", "∫₀^∞ e⁻ˣ dx"),
        (r"\lim_{x\to 0}\frac{\sin x}{x}=1", "lim_(x → 0) sin x/x = 1"),
        (r"x = \frac{-b \pm \sqrt{b^2-4ac}}{2a}", "x = (−b ± √(b² − 4ac))/(2a)"),
        (r"\mathbb{R}^n \to \mathcal{L}", "ℝⁿ → ℒ"),
        (r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}", "(a b; c d)"),
        (r"\begin{cases} 1 & x>0 \\ 0 & \text{otherwise}\end{cases}", "⎧ 1, x > 0\n⎩ 0, otherwise"),
        (r"\begin{aligned} a &= b \\ &= -c \end{aligned}", "a = b\n= −c"),
        (r"\hat{x}, \vec{v}", "x̂, v⃗"),
        (r"\left( \frac{1}{2} \right)^n", "(1/2)ⁿ"),
        (r"O(n \log_2 n)", "O(n log₂ n)"),
        (r"\sqrt[3]{x+1} \leq \sqrt 2", "∛(x + 1) ≤ √2"),
        (r"\text{speed} = \frac{\text{distance}}{\text{time}}", "speed = distance/time"),
        (r"x' + 50\%", "x′ + 50%"),
        (r"90^\circ, x^*, a * b, \epsilon", "90°, x∗, a * b, ε"),
        (r"\mathbf{v}_{\text{größe}} \in \mathbb{1}", "v_(größe) ∈ 𝟙"),
        (r"\frac{a}{b}^2, \overbrace{a+b}^2, {}^{14}_6C", "(a/b)², (a + b)², ¹⁴₆C"),
        (r"(\sin x), \ln\left(x\right), \operatorname{rank} A", "(sin x), ln(x), rank A"),
        (r"a \not\in A \Longrightarrow b \nmid c", "a ∉ A ⟹ b ∤ c"),
        (r"\left[\begin{array}{c|c} 1 & 2 \\\hline 3 & 4 \end{array}\right]", "[1 2; 3 4]"),
        (r"\begin{cases} x, & y \\ -x, & z. \end{cases}", "⎧ x, y\n⎩ −x, z."),
        (r"\begin{rcases} a \\ b \\ c \end{rcases}", "a ⎫\nb ⎬\nc ⎭"),
        (r"\begin{alignedat}{2} a &= b \\[2pt] &= -c \end{alignedat}", "a = b\n= −c"),
        (r"a &= b \\ &= c", "a = b\n= c"),
        (r"\ce{2H2 + O2 ->[heat] 2H2O}", "2 H₂ + O₂ →ʰᵉᵃᵗ 2 H₂O"),
        (r"a \equiv b \pmod{n} \tag{1}", "a ≡ b (mod n) (1)"),
        (r"\stackrel{!}{=} \underset{x}{\operatorname{argmax}} f", "=^! argmaxₓ f"),
        (r"\cancel{x} + \boxed{y} + \phantom{z}", "x̸ + y +"),
        (r"\text{for all $x>0$ in } S % all", "for all x > 0 in S"),
        (r"{n \choose k} {a \over b}", "C(n, k)a/b"),
        (r"\sum_{\substack{a \\ b}}", None),
        (r"{a \atop b}", None),
        (r"\left( x", None),
        ("x^2^3", None),
        (r"\unknown{x}", None),
        (r"\begin{tikzpicture} x \end{tikzpicture}", None),
        ("{" * 5000, None),
        (r"\frac{1}", None),
        ("a}b", None),
        ("", None),
    ],
)
def test_a_formula_in_one_line(formula, text):
    assert shown(formula) == text


@pytest.mark.parametrize(
    "formula",
    [
        "\\frac",
        "\\left",
        "\\hat",
        "_{",
        "\\sqrt[",
        "\\begin{matrix}",
        "\\not",
        "{",
        "\\mathbb",
        "^",
        "\\over",
        "\\bf",
        "\\displaystyle",
        "\\substack{",
        "\\ce{",
        "&",
        "\\\\",
    ],
)
def test_hostile_formulas_are_shown_as_they_were_written(formula):
    assert readable((formula * 4000)[:4000]) is None


def test_what_is_too_long_or_has_too_many_cells_to_be_laid_out_is_unicode():
    sum_of_many = "+".join(["x"] * 600)
    cells = r"\begin{matrix}" + r" \\ ".join(["&".join("x" * 21)] * 20) + r"\end{matrix}"
    for formula, letters in ((sum_of_many, 600), (cells, 420)):
        assert drawing(formula, is_display=True) is None
        assert shown(formula).count("x") == letters


@pytest.mark.parametrize("lines", ["\\[\na\n", "$$\na", "> $$\n", "- \\[\n", "\\(", "$a "])
@pytest.mark.sampled(3)
def test_hostile_signs_are_read_once(lines):
    text = lines * 20_000
    tokens = PARSER.parse(text)  # where each sign looked for its end to the last line, this took an hour
    assert tokens[-1].map is None or tokens[-1].map[1] <= text.count("\n") + 1


def test_variables_are_slanted_and_names_are_not():
    assert readable(r"\sin x + \text{abc}") == (("sin ", False), ("x", True), (" + abc", False))


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="\\{}[]^_&$ ab1+-fracsqtleginopmx\n", max_size=60))
def test_whatever_a_model_writes_is_shown_or_not(formula):
    text = shown(formula)
    assert text is None or text.strip()


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("costs $5 and $6", []),
        ("between $5 and 6$ of it", []),
        ("US$5/US$6, a $1,000 bill, $20-$30, $HOME/bin:$PATH", []),
        (r"\$5 and $6$ and `$x$`", []),
        (r"\[not a link\]", []),
        ("I have $5, you have $x$ and $3 + 4$", ["x", "3 + 4"]),
        (r"\(a+b\), \[c\], $$d$$, $n$-th", ["a+b", "c", "d", "n"]),
        ("| a |\n|---|\n| $x^2$ |", ["x^2"]),
        ("a\n$$\n- b\n= c\n$$\nd", ["- b\n= c"]),
        ("- item\n  \\[\n  x\n  \\]\n- b", ["x"]),
        ("$$\nx", ["x"]),
        ("$$\nx\n\ny", []),
        ("    $$x$$", []),
    ],
)
def test_what_is_a_formula(text, formulas):
    tokens = PARSER.parse(text)
    every = [child for token in tokens for child in (token, *(token.children or ()))]
    assert [token.content for token in every if token.type.startswith("maths")] == formulas


def test_it_streams_and_ends_as_the_whole(view):
    text = "Let $x^2$ be\n\n$$\n\\frac{a}{b}\n- c\n$$\n\nand \\(\\odd{y}\\) cost $5 or $6.\n\n\\[ \\odd \\]\n\n$$\nopen"
    view.show_path([user(1), answer(1, status="streaming")])
    for letter in text:
        view.add_text("a1", letter)
        view.flush()
    view.replace_node(answer(1, text))
    streamed = look_of(view)
    view.show_path([user(1), answer(1, text)])
    assert look_of(view) == streamed
    view.selectAll()
    lines = view.toPlainText().split("\n")
    assert lines[2] == "Let x²\u2060\ufffc be"
    lines = view.createMimeDataFromSelection().text().split("\n")
    assert lines[2:6] == ["Let x² be", "a/b − c", "and \\(\\odd{y}\\) cost $5 or $6.", "\\odd"]


def test_a_formula_stands_in_the_middle_and_in_the_code_font_when_it_cannot_be_shown(view):
    view.show_path([user(1), answer(1, "$$x^2$$\n\n$$\\odd$$")])
    found = view.document().find("x²").block()
    assert found.blockFormat().alignment() == Qt.AlignmentFlag.AlignHCenter
    source = view.document().find("odd")
    assert source.charFormat().fontFixedPitch()
