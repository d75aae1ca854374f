"""From the source of one function to its lowered text, with a map from the text back to the user's places."""

from __future__ import annotations

import re

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from autohybrid.transform.expressions import IsOwnFunction, Origin
from autohybrid.transform.lowered_text import LoweredText, Range
from autohybrid.transform.lowering import Lowering


def lower_source(source: str, namespace_position: int | None, own: IsOwnFunction) -> LoweredText:
    """Lower the function that `source` defines.

    With `namespace_position`, the parameter at that position is the operator namespace: it goes, its uses become `g`.
    """
    wrapper = MetadataWrapper(cst.parse_module(source))
    positions = wrapper.resolve(PositionProvider)
    function = _function(wrapper.module)
    parameters = list(function.params.params)
    namespace = None
    if namespace_position is not None and len(parameters) > namespace_position:
        namespace = parameters.pop(namespace_position).name.value
        if _is_rebound(function, namespace):
            namespace, parameters = None, list(function.params.params)
    origin = Origin(lambda node: positions.get(node), _attribute_names(function))
    runtime = _runtime_name(source)
    lowering = Lowering(function, runtime, namespace, own, origin)
    first = cst.Param(cst.Name(runtime))
    params = function.params.with_changes(params=[first, *parameters])
    body = lowering.body(_statements(function), _names_of(params))
    lowered = function.with_changes(
        params=params, decorators=[], returns=None, body=cst.IndentedBlock(body), name=cst.Name(function.name.value)
    )
    module = cst.Module([lowered.with_changes(leading_lines=[])])
    return LoweredText(module.code, function.name.value, tuple(_places(module, origin)))


def _runtime_name(source: str) -> str:
    """`g`, or the first of `g_`, `g__`... that the user's code does not use itself."""
    name = "g"
    while re.search(rf"\b{name}\b", source):
        name += "_"
    return name


def _function(module: cst.Module) -> cst.FunctionDef:
    for statement in module.body:
        if isinstance(statement, cst.FunctionDef):
            return statement
    raise ValueError("the source does not begin with a function definition")


def _statements(function: cst.FunctionDef) -> list[cst.BaseStatement]:
    body = function.body
    if isinstance(body, cst.IndentedBlock):
        return list(body.body)
    assert isinstance(body, cst.SimpleStatementSuite)
    return [cst.SimpleStatementLine(body.body)]


def _names_of(params: cst.Parameters) -> list[str]:
    listed = [*params.posonly_params, *params.params, *params.kwonly_params]
    stars = [p for p in (params.star_arg, params.star_kwarg) if isinstance(p, cst.Param)]
    return [p.name.value for p in (*listed, *stars)]


class _NameRoles(cst.CSTVisitor):
    """Collects Names that are no uses of variables: behind a dot, keywords of calls, parameters."""

    def __init__(self) -> None:
        self.found: set[int] = set()

    def visit_Attribute(self, node: cst.Attribute) -> None:
        self.found.add(id(node.attr))

    def visit_Arg(self, node: cst.Arg) -> None:
        if node.keyword is not None:
            self.found.add(id(node.keyword))

    def visit_Param(self, node: cst.Param) -> None:
        self.found.add(id(node.name))

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self.found.add(id(node.name))


def _attribute_names(function: cst.FunctionDef) -> set[int]:
    finder = _NameRoles()
    function.visit(finder)
    return finder.found


def _is_rebound(function: cst.FunctionDef, name: str) -> bool:
    """Whether the body assigns the namespace, or a function inside has a parameter of that name."""

    class Finder(cst.CSTVisitor):
        found = False

        def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
            if isinstance(node.target, cst.Name) and node.target.value == name:
                self.found = True

        def visit_Param(self, node: cst.Param) -> None:
            if node.name.value == name:
                self.found = True

    finder = Finder()
    function.body.visit(finder)
    return finder.found


def _places(module: cst.Module, origin: Origin) -> list[tuple[Range, Range]]:
    emitted = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    places = []
    for node, position in emitted.items():
        source = origin.found.get(id(node))
        if source is not None and isinstance(source[1], CodeRange):
            places.append((_range(position), _range(source[1])))
    return sorted(set(places))


def _range(position: CodeRange) -> Range:
    return position.start.line, position.start.column, position.end.line, position.end.column
