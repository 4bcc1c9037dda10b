"""The package as trees, and where in it a text is written: what `problem_templates` reads errors with."""

import ast
import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.translations import ROOT

AnyFunction = ast.FunctionDef | ast.AsyncFunctionDef
_MOST_NAMESAKES = 4
"""Functions that share a name with more others than this are called `get` or `read`: who calls which is not known."""
_WRAPPERS = ("str", "repr", "brief", "shown", "_short", "_reason", "map", "sorted", "list", "tuple", "join")
"""Functions that give back what they are given, as far as its words are meant."""


class Module:
    """One file: its tree, what stands above each node, and its constants."""

    def __init__(self, path: Path) -> None:
        self.name = path.relative_to(ROOT).with_suffix("").as_posix()
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.nodes: list[ast.AST] = []
        self.above: dict[ast.AST, ast.AST] = {}
        waiting: list[ast.AST] = [self.tree]
        while waiting:
            node = waiting.pop()
            for body in (getattr(node, "body", None), getattr(node, "orelse", None)):
                if isinstance(body, list):
                    _join_additions(body)
            self.nodes.append(node)
            children = list(ast.iter_child_nodes(node))
            self.above |= dict.fromkeys(children, node)
            waiting += reversed(children)
        self.constants = {name: value for node in self.tree.body for name, value in _assignments(node) if name}
        self.imports = {
            alias.asname or alias.name: (node.module.replace(".", "/"), alias.name)
            for node in self.nodes
            if isinstance(node, ast.ImportFrom) and node.module
            for alias in node.names
        }

    def function_of(self, node: ast.AST) -> AnyFunction | None:
        """The function that `node` stands in."""
        above = self.above.get(node)
        return above if above is None or isinstance(above, AnyFunction) else self.function_of(above)


Place = tuple[Module, ast.expr]


@dataclass(frozen=True, slots=True)
class _Function:
    module: Module
    node: AnyFunction

    @property
    def called(self) -> str:
        """The name that it is called by: of `__init__`, its class."""
        above = self.module.above[self.node]
        return above.name if self.node.name == "__init__" and isinstance(above, ast.ClassDef) else self.node.name

    def parameters(self) -> list[str]:
        """The names of those that callers give by their place."""
        args = [arg.arg for arg in (*self.node.args.posonlyargs, *self.node.args.args)]
        is_method = isinstance(self.module.above[self.node], ast.ClassDef)
        is_static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in self.node.decorator_list)
        return args[1:] if is_method and not is_static else args


class Source:
    """All modules, and the ways between them."""

    def __init__(self, modules: Sequence[Module]) -> None:
        self.modules = {module.name: module for module in modules}
        self._functions: dict[str, list[_Function]] = defaultdict(list)
        self._calls: dict[str, list[tuple[Module, ast.Call]]] = defaultdict(list)
        for module in modules:
            for node in module.nodes:
                if isinstance(node, AnyFunction):
                    function = _Function(module, node)
                    self._functions[function.called].append(function)
                elif isinstance(node, ast.Call):
                    self._calls[name_of(node.func)].append((module, node))

    def constant(self, module: Module, name: str) -> Place | None:
        """Where a constant of this or of another module is written."""
        if name in module.constants:
            return module, module.constants[name]
        place, original = module.imports.get(name, ("", ""))
        other = self.modules.get(place) or self.modules.get(f"{place}/__init__")
        return self.constant(other, original) if other is not None and other is not module else None

    def values(self, module: Module, name: ast.Name) -> list[Place]:
        """All that a name may stand for: a constant, a variable, a parameter; nothing where that cannot be told."""
        function = module.function_of(name)
        assigned = list(_assigned(function, name.id)) if function else []
        if function and name.id in _changed(function):
            return []
        if function and name.id in [arg.arg for arg in ast.walk(function.args) if isinstance(arg, ast.arg)]:
            return list(self._arguments(_Function(module, function), name.id)) if not assigned else []
        if assigned:
            return [] if any(_names(value, name.id) for value in assigned) else [(module, value) for value in assigned]
        constant = self.constant(module, name.id)
        return [constant] if constant else []

    def table(self, module: Module, node: ast.expr) -> tuple[Module, ast.Dict] | None:
        """The table that `node` takes a text from: `TABLE[key]`, or `TABLE.get(key, other)`."""
        match node:
            case (
                ast.Subscript(value=ast.Name(id=name))
                | ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="get"))
            ):
                place = self.constant(module, name)
                if place and isinstance(place[1], ast.Dict):
                    return place[0], place[1]
        return None

    def origins(self, module: Module, node: ast.expr) -> Iterator[Place]:
        """Where what `node` stands for may be written."""
        match node:
            case ast.Name(id=name):
                yield from self._origins_of_name(module, node, name)
            case ast.Attribute(attr=name):
                yield from ((module, value) for found, value in _attributes(module) if found == name)
            case ast.Call(func=func, args=args):
                if name_of(func) in _WRAPPERS:
                    yield from ((module, arg) for arg in args)
                else:
                    yield from itertools.chain.from_iterable(map(_returned, self._called(module, name_of(func))))
            case ast.Subscript(value=value) | ast.NamedExpr(value=value) | ast.Starred(value=value):
                yield module, value
            case ast.Dict(values=values) | ast.List(elts=values) | ast.Tuple(elts=values):
                yield from ((module, value) for value in values)
            case ast.GeneratorExp(elt=elt) | ast.ListComp(elt=elt):
                yield module, elt

    def _origins_of_name(self, module: Module, node: ast.Name, name: str) -> Iterator[Place]:
        function = module.function_of(node)
        if function is not None:
            yield from ((module, value) for value in _assigned(function, name))
            yield from self._arguments(_Function(module, function), name)
        if constant := self.constant(module, name):
            yield constant

    def _called(self, module: Module, name: str) -> list[_Function]:
        """The functions of this name that a room may mean: its own, or all."""
        functions = self._functions.get(name, [])
        own = [function for function in functions if function.module is module]
        return own or (functions if len(functions) <= _MOST_NAMESAKES else [])

    def _arguments(self, function: _Function, name: str) -> Iterator[Place]:
        """What callers give for one of the parameters of a function."""
        names = function.parameters()
        for module, call in self._calls[function.called]:
            if function not in self._called(module, function.called):
                continue
            yield from ((module, keyword.value) for keyword in call.keywords if keyword.arg == name)
            if name in names and names.index(name) < len(call.args):
                yield module, call.args[names.index(name)]


def name_of(func: ast.expr) -> str:
    """The name that is called, without what it is called on."""
    return func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""


def _join_additions(body: list[ast.stmt]) -> None:
    """Make `text = "a"` and `text += "b"` behind it one assignment."""
    for place in range(len(body) - 1, 0, -1):
        match body[place - 1], body[place]:
            case ast.Assign(targets=[ast.Name(id=one)], value=left) as first, ast.AugAssign(
                target=ast.Name(id=two), op=ast.Add(), value=right
            ) if one == two:
                first.value = ast.copy_location(ast.BinOp(left, ast.Add(), right), left)
                del body[place]
            case ast.AugAssign(target=ast.Name(id=one), op=ast.Add(), value=left) as first, ast.AugAssign(
                target=ast.Name(id=two), op=ast.Add(), value=right
            ) if one == two:
                first.value = ast.copy_location(ast.BinOp(left, ast.Add(), right), left)
                del body[place]


def _assignments(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that a statement, or a walrus, gives a value."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            yield name, value
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield name, value
        case ast.AugAssign(target=ast.Name(id=name), value=value):
            yield name, value
        case ast.NamedExpr(target=ast.Name(id=name), value=value):
            yield name, value
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[value]):
            yield name, value
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
            yield from ((part.id, value) for part in ast.walk(target) if isinstance(part, ast.Name))
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
            pairs = zip(names, values, strict=False)
            yield from ((name.id, value) for name, value in pairs if isinstance(name, ast.Name))
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=value):
            yield from ((name.id, value) for name in names if isinstance(name, ast.Name))


@cache
def _values(function: AnyFunction) -> list[tuple[str, ast.expr]]:
    return [pair for node in ast.walk(function) for pair in _assignments(node)]


def _assigned(function: AnyFunction, name: str) -> Iterator[ast.expr]:
    return (value for found, value in _values(function) if found == name)


@cache
def _changed(function: AnyFunction) -> frozenset[str]:
    """The names that something is added to."""
    additions = [node for node in ast.walk(function) if isinstance(node, ast.AugAssign | ast.Call)]
    return frozenset(name for node in additions for name, _ in _assignments(node))


def _names(node: ast.expr, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node))


@cache
def _attributes(module: Module) -> list[tuple[str, ast.expr]]:
    """The attributes that a module sets, and to what."""
    return [
        (node.targets[0].attr, node.value)
        for node in module.nodes
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute)
    ]


def _returned(function: _Function) -> Iterator[Place]:
    for node in ast.walk(function.node):
        if isinstance(node, ast.Return) and node.value is not None:
            yield function.module, node.value
