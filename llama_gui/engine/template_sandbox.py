"""A jinja sandbox in which CPU, memory and output are bounded: a template is a program from a stranger.

Jinja's own sandbox keeps a template from Python's internals, but not from ``'x' * 10**9``. Here every value that a
template makes is weighed, and what an operation would make is estimated before it is done; loops, macros, filters and
tests look at the clock. Nothing that a template can do between two looks takes longer than a fraction of a second.
"""

import functools
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from types import BuiltinMethodType
from typing import Any

import jinja2
import jinja2.ext
from jinja2 import nodes
from jinja2.runtime import Context, Macro, str_join
from jinja2.sandbox import ImmutableSandboxedEnvironment, SecurityError
from jinja2.utils import Namespace, pass_context
from jinja2.visitor import NodeTransformer

from llama_gui.engine.template_meter import Meter, binop_size, check_filter, check_numbers, method_size

MAX_SOURCE = 100_000

_meter: ContextVar[Meter] = ContextVar("meter")  # one rendering's own, in its thread


class _Instrument(NodeTransformer):
    """Rewrites a parsed template so that its loops, macros, literals, slices and joins pass the meter.

    The filters that it calls have names that no template can write.
    """

    def visit_For(self, node: nodes.For) -> nodes.For:
        self.generic_visit(node)
        if node.test is not None:
            node.test = nodes.And(_filtered(nodes.Const(0), "tick!"), node.test)
        node.body.insert(0, _tick(node.body))
        return node

    def visit_Macro(self, node: nodes.Macro | nodes.CallBlock | nodes.Block) -> nodes.Node:
        self.generic_visit(node)
        node.body.insert(0, _tick(node.body))
        return node

    visit_CallBlock = visit_Block = visit_Macro  # noqa: N815 - jinja calls them by the names of its nodes

    def visit_Concat(self, node: nodes.Concat) -> nodes.Expr:
        self.generic_visit(node)
        return _filtered(nodes.List(node.nodes), "concat!")

    def visit_List(self, node: nodes.List | nodes.Dict) -> nodes.Expr:
        self.generic_visit(node)
        return _filtered(node, "made!")

    visit_Dict = visit_List  # noqa: N815 - jinja's name

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Expr:
        self.generic_visit(node)
        return _filtered(node, "made!") if node.ctx == "load" else node

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Expr:
        self.generic_visit(node)
        return _filtered(node, "made!") if isinstance(node.arg, nodes.Slice) else node


def _filtered(node: nodes.Expr, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None)


def _tick(body: list[nodes.Node]) -> nodes.ExprStmt:
    """A statement that charges what `body` writes literally."""
    written = sum(len(data.data) for node in body for data in node.find_all(nodes.TemplateData))
    written += sum(len(node.data) for node in body if isinstance(node, nodes.TemplateData))
    return nodes.ExprStmt(_filtered(nodes.Const(written), "tick!"))


class _Namespace(Namespace):
    """Jinja's, without names that lead to Python's internals (as in transformers)."""

    def __init__(*args: Any, **kwargs: Any) -> None:
        attributes = dict(*args[1:], **kwargs)
        for name in attributes:
            _check_name(name)
        Namespace.__init__(args[0], attributes)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_name(name)
        super().__setitem__(name, value)


def _check_name(name: Any) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise SecurityError(f"a namespace may not hold the name {name!r}")


def _make_dict(*args: Any, **kwargs: Any) -> dict[Any, Any]:
    return dict(*args, **kwargs)


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """Jinja's sandbox with a meter. Templates that it made may be rendered in any thread, through `render` only."""

    intercepted_binops = frozenset(["+", "-", "*", "/", "//", "%", "**"])

    def __init__(self, **options: Any) -> None:
        # Not optimised: constant folding would run operations while the template is compiled, without a meter.
        super().__init__(optimized=False, finalize=_finalize, **options)
        del self.globals["lipsum"]
        self.globals |= {"dict": _make_dict, "namespace": _Namespace}
        self.filters = {name: _metered_filter(name, function) for name, function in self.filters.items()}
        self.tests = {name: _metered_test(function) for name, function in self.tests.items()}
        self.filters |= {"tick!": _tick_filter, "made!": _made_filter, "concat!": _concat_filter}

    def add_filter(self, name: str, function: Callable[..., Any]) -> None:
        """Offer `function` to templates, metered."""
        self.filters[name] = _metered_filter(name, function)

    def render(self, template: jinja2.Template, values: Mapping[str, Any]) -> str:
        """What `template` writes.

        Raises:
            TooMuchError: it runs too long, or makes or writes too much.
            Exception: whatever else goes wrong in it.
        """
        meter = Meter()
        for value in values.values():
            meter.weigh(value)
        token = _meter.set(meter)
        try:
            pieces: list[str] = []
            size = 0
            for piece in template.generate(values):
                size += len(piece)
                meter.expect(size)
                pieces.append(piece)
            return "".join(pieces)
        finally:
            _meter.reset(token)

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        if len(source) > MAX_SOURCE:
            raise jinja2.TemplateSyntaxError(f"it has more than {MAX_SOURCE:,} characters", 1)
        return _Instrument().visit(super()._parse(source, name, filename))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Do a binary operation if its result is of a reasonable size."""
        meter = _meter.get()
        meter.expect(binop_size(meter, operator, left, right))
        return meter.made(super().call_binop(context, operator, left, right))

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805 - jinja's
        """Call a function if its result is of a reasonable size."""
        meter = _meter.get()
        if not isinstance(__obj, Macro):
            for value in (*args, *kwargs.values()):
                meter.weigh(value)
            method = getattr(__obj, "__wrapped__", __obj)  # jinja wraps str.format
            if isinstance(method, BuiltinMethodType):
                args = tuple(meter.listed(value) for value in args)
                check_numbers(args, kwargs)
                owner = method.__self__
                if isinstance(owner, str | bytes):
                    meter.expect(method_size(meter, method.__name__, owner, [*args, *kwargs.values()]))
        return meter.made(super().call(__context, __obj, *args, **kwargs))


def _metered_filter(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    first = 1 if hasattr(function, "jinja_pass_arg") else 0  # behind the context that jinja hands it

    @functools.wraps(function)
    def metered(*args: Any, **kwargs: Any) -> Any:
        meter = _meter.get()
        meter.tick()
        values = [meter.listed(value) if name == "join" else value for value in args[first:]]
        if name not in ("default", "d", "attr"):
            weight = sum(meter.weigh(value) for value in (*values, *kwargs.values()))
            check_numbers(values[1:], kwargs)
            check_filter(meter, name, values, kwargs, weight)
        return meter.made(function(*args[:first], *values, **kwargs))

    return metered


def _metered_test(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def metered(*args: Any, **kwargs: Any) -> Any:
        _meter.get().tick()
        return function(*args, **kwargs)

    return metered


@pass_context
def _finalize(_context: Context, value: Any) -> Any:
    """Charge for an output. It takes the context so that jinja does not finalize constants while compiling."""
    return _meter.get().made(value)


def _tick_filter(characters: int) -> bool:
    _meter.get().tick(characters)
    return True


def _made_filter(value: Any) -> Any:
    return _meter.get().made(value)


def _concat_filter(values: list[Any]) -> str:
    meter = _meter.get()
    meter.expect(sum(meter.weigh(value) for value in values))
    return meter.made(str_join(values))
