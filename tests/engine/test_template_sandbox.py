"""Templates that take the machine's time and memory end soon, with an error; honest ones do not notice."""
# ruff: noqa: E501 - a bomb is read best on one line

import subprocess
import sys
import time
from pathlib import Path

import jinja2
import pytest

from llama_gui.engine import template_meter
from llama_gui.engine.template_meter import TooMuchError
from llama_gui.engine.template_sandbox import MAX_SOURCE, BoundedEnvironment
from tests.fakes.lone_module import ALONE

resource = pytest.importorskip("resource")  # not on Windows

MESSAGES = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]

BOMBS = {
    "nested loops": "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
    "a loop that skips everything": "{% for i in range(99999) %}{% for j in range(99999) if false %}{% endfor %}{% endfor %}",
    "a loop over a long text": "{% set x = 'x' * 9999999 %}{% for i in x %}{% for j in x %}{% endfor %}{% endfor %}",
    "nested output": "{% for i in range(99999) %}{% for j in range(99999) %}xxxxxxxxxx{% endfor %}{% endfor %}",
    "repeated text": "{{ 'x' * 1000000000 }}",
    "repeated list": "{{ [1, 2, 3] * 1000000000 }}",
    "repeated twice": "{{ 1000000 * ('xxxxx' * 1000000) }}",
    "constant folding": "{% if 'x' * 1000000000 == 'y' %}{% endif %}",
    "doubled text": "{% set x = 'xxxxxxxx' %}" + "{% set x = x + x %}" * 60,
    "doubled by ~": "{% set x = 'xxxxxxxx' %}" + "{% set x = x ~ x %}" * 60,
    "doubled list": "{% set x = [1] %}" + "{% set x = x + x %}" * 60,
    "nested lists": "{% set x = [1] %}" + "{% set x = [x, x] %}" * 60 + "{{ x }}",
    "nested lists as json": "{% set x = [1] %}" + "{% set x = [x, x] %}" * 60 + "{{ x | tojson }}",
    "nested dicts": "{% set x = {} %}" + "{% set x = {'a': x, 'b': x} %}" * 60 + "{{ x }}",
    "dict()": "{% set x = {} %}" + "{% set x = dict(a=x, b=x) %}" * 60 + "{{ x }}",
    "nested tuples": "{% set x = () %}" + "{% set x = (x, x, 1) %}" * 60 + "{{ x == x }}{{ x | string }}",
    "namespaces": "{% set a = namespace() %}{% set b = namespace() %}{% set a.x = [b, b] %}{{ a.x }}",
    "a namespace as text": "{% set a = namespace(x=1) %}{{ a ~ a }}",
    "lists in namespaces": "{% set n = namespace(x=[1]) %}{% for i in range(90) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x }}",
    "doubled in a namespace": "{% set n = namespace(x='x') %}{% for i in range(90) %}{% set n.x = n.x + n.x %}{% endfor %}",
    "power": "{{ 10 ** 10000000000 }}",
    "squares": "{% set x = 10 %}" + "{% set x = x * x %}" * 60,
    "a wide number": "{{ '%0999999999d' % 1 }}",
    "a wide number by argument": "{{ '%*d' % (999999999, 1) }}",
    "format": "{{ '{:999999999}'.format(1) }}",
    "format by argument": "{{ '{:{}}'.format(1, 999999999) }}",
    "format filter": "{{ '%999999999d' | format(1) }}",
    "format a text often": "{% set x = 'x' * 999999 %}{{ ('{0}' * 9999).format(x) }}",
    "format_map": "{{ '{a:999999999}'.format_map({'a': 1}) }}",
    "center filter": "{{ 'x' | center(999999999) }}",
    "center": "{{ 'x'.center(999999999) }}",
    "rjust": "{{ 'x'.rjust(999999999) }}",
    "zfill": "{{ '1'.zfill(999999999) }}",
    "zfill of bytes": "{{ '1'.encode().zfill(999999999) }}",
    "to_bytes": "{{ (1).to_bytes(999999999, 'big') }}",
    "expandtabs": "{{ ('\\t' * 99999).expandtabs(99999) }}",
    "indent": "{{ ('\\n' * 99999) | indent(99999) }}",
    "indent by a text": "{{ ('\\n' * 99999) | indent('x' * 99999) }}",
    "batch": "{{ [1] | batch(999999999, 'x') | list }}",
    "slice": "{{ [1] | slice(999999999) | list }}",
    "replace": "{{ ('x' * 99999).replace('x', 'y' * 99999) }}",
    "replace filter": "{{ ('x' * 99999) | replace('x', 'y' * 99999) }}",
    "replace nothing": "{{ ('x' * 99999).replace('', 'y' * 99999) }}",
    "join": "{{ ('x' * 99999).join(range(99999) | map('string')) }}",
    "join filter": "{{ range(99999) | join('x' * 99999) }}",
    "translate": "{{ ('x' * 99999).translate({120: 'y' * 99999}) }}",
    "split": "{{ ('x ' * 9999999).split() | length }}",
    "tojson indent": "{{ messages | tojson(indent=999999999) }}",
    "tojson separators": "{{ range(9999) | list | tojson(separators=('x' * 99999, ':')) }}",
    "json of a large list": "{% set x = range(99999) | list %}{% for i in range(999) %}{{ x | tojson(indent=1) }}{% endfor %}",
    "sum of lists": "{{ [[1]] * 99999 | sum(start=[]) }}{{ ([[1] * 99] * 9999) | sum(start=[]) }}",
    "filters in filters": "{{ range(99999) | map('batch', 9) | map('list') | list }}" * 40,
    "tests in filters": "{% set x = range(99999) | list %}{{ x | select('in', x) | list | length }}",
    "sort": "{% for i in range(9999) %}{{ range(99999) | sort | length }}{% endfor %}",
    "wordwrap": "{{ ('x ' * 999999) | wordwrap(1, true, 'y' * 9999) }}",
    "title": "{% set x = 'x ' * 499999 %}{% for i in range(999) %}{{ x | title | length }}{% endfor %}",
    "urlize": "{% set x = 'http://x ' * 99999 %}{% for i in range(999) %}{{ x | urlize | length }}{% endfor %}",
    "striptags": "{{ ('<' * 9999999) | striptags }}",
    "slices": "{% set x = 'x' * 9999999 %}{% for i in range(99999) %}{% set y = x[i:] %}{% endfor %}",
    "recursive macro": "{% macro f(n) %}{{ f(n) }}{% endmacro %}{{ f(1) }}",
    "branching macro": "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(90) }}",
    "silent macro": "{% macro f(n) %}{% if n %}{% set a = f(n - 1) %}{% set a = f(n - 1) %}{% endif %}{% endmacro %}{{ f(90) }}",
    "recursive loop": "{% for x in [[1, 1]] recursive %}{% for i in range(99999) %}{{ loop([x, x]) }}{% endfor %}{% endfor %}",
    "a macro that repeats": "{% macro f(x) %}{% for i in range(99999) %}{{ x }}{% endfor %}{% endmacro %}{{ f('x' * 9999) }}",
    "a macro of literal text": "{% macro f() %}{% for i in range(99999) %}"
    + "x" * 9999
    + "{% endfor %}{% endmacro %}{{ f() }}",
    "a block set": "{% set x %}{% for i in range(99999) %}{{ 'x' * 9999 }}{% endfor %}{% endset %}",
    "a filter block": "{% filter upper %}{% for i in range(99999) %}{{ 'x' * 9999 }}{% endfor %}{% endfilter %}",
    "a call block": "{% macro f() %}{% for i in range(99999) %}{{ caller() }}{% endfor %}{% endmacro %}{% call f() %}{{ 'x' * 9999 }}{% endcall %}",
    "a block in itself": "{% block a %}{{ self.a() }}{{ self.a() }}{% endblock %}",
    "lipsum": "{{ lipsum(n=1000000) }}",
    "many texts": "{% set x = 'x' * 9999999 %}" * 999,
    "kept texts": "{% set n = namespace(x=[]) %}{% for i in range(9999) %}{% set n.x = n.x + ['x' * 99999] %}{% endfor %}",
    "comparison": "{% set x = 'x' * 9999999 %}{% for i in range(99999) %}{% if x + 'y' == x %}{% endif %}{% endfor %}",
    "a long template": "x" * 10_000_000,
    "brackets": "{{ " + "[" * 5000 + "]" * 5000 + " }}",
}

BUSY = {
    "nested loops",
    "a loop over a long text",
    "a loop that skips everything",
    "tests in filters",
    "sort",
    "title",
    "urlize",
    "branching macro",
    "silent macro",
}
"""They take time and keep nothing, so that a fifth of the seconds shows as much."""


def _render(source: str) -> str:
    environment = BoundedEnvironment()
    return environment.render(environment.from_string(source), {"messages": MESSAGES})


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.sampled(25)
def test_a_bomb_ends_soon(name: str, monkeypatch: pytest.MonkeyPatch):
    if name in BUSY:
        monkeypatch.setattr(template_meter, "MAX_SECONDS", template_meter.MAX_SECONDS / 5)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    with pytest.raises((jinja2.TemplateError, RecursionError, TypeError, MemoryError)):
        _render(BOMBS[name])
    assert time.process_time() - started < 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000  # KB


def test_the_longest_template_that_is_read_compiles_soon():
    """Run in a child process of its own, so that the compiler's memory is not ours."""
    program = ALONE + (
        "from llama_gui.engine.template_sandbox import *\n"
        "unit = '{% if a[1] ~ b|upper %}{{ c.d }}x{% endif %}'\n"
        "source = unit * (MAX_SOURCE // len(unit))\n"
        "BoundedEnvironment().from_string(source)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60, cwd=Path(__file__).parents[2])
    with pytest.raises(jinja2.TemplateError, match="characters"):
        BoundedEnvironment().from_string("x" * (MAX_SOURCE + 1))


def test_an_honest_template_renders_a_long_conversation():
    turns = [{"role": "user", "content": f"{i} " + "word " * 2000} for i in range(1000)]
    source = "{% for m in messages %}{{ '<' + m.role + '>' ~ m['content'] | trim + '\n' }}{% endfor %}"
    environment = BoundedEnvironment()
    prompt = environment.render(environment.from_string(source), {"messages": turns})
    assert prompt == "".join(f"<user>{turn['content'].strip()}\n" for turn in turns)


def test_a_generator_stays_lazy():
    environment = BoundedEnvironment()
    source = "{{ messages | selectattr('role', 'equalto', 'nobody') is string }}{{ messages | map(attribute='role') | first }}"
    assert environment.render(environment.from_string(source), {"messages": MESSAGES}) == "Falseuser"


def test_two_renderings_have_their_own_meters():
    environment = BoundedEnvironment()
    template = environment.from_string("{{ 'x' * 9999999 }}")
    for _ in range(10):  # together far more than one may make
        assert len(environment.render(template, {})) == 9999999
    with pytest.raises(TooMuchError):
        environment.render(environment.from_string("{{ 'x' * 9999999 }}" * 10), {})


def test_time_in_which_the_template_does_not_run_is_not_its_own():
    """The machine sleeps or swaps, or other threads compute."""
    environment = BoundedEnvironment()
    environment.add_filter("pause", lambda value: time.sleep(1.2 * template_meter.MAX_SECONDS) or value)
    assert environment.render(environment.from_string("{{ 'a' | pause }}{{ 'b' | upper }}"), {}) == "aB"
