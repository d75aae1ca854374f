"""From the source of one function to its lowered text, with a map from the text back to the user's places."""

from __future__ import annotations

import re

import libcst as cst

from autohybrid.transform.expressions import IsOwnFunction, Origin
from autohybrid.transform.lowered_text import LoweredText
from autohybrid.transform.lowering import Lowering
from autohybrid.transform.syntax import code_and_places, positions, walk


def lower_source(source: str, namespace_position: int | None, own: IsOwnFunction) -> LoweredText:
    """Lower the function that `source` defines.

    With `namespace_position`, the parameter at that position is the operator namespace: it goes, its uses become `g`.
    """
    parsed = cst.parse_module(source)
    function = _function(parsed)
    parameters = list(function.params.params)
    namespace = None
    if namespace_position is not None and len(parameters) > namespace_position:
        namespace = parameters.pop(namespace_position).name.value
        if _is_rebound(function, namespace):
            namespace, parameters = None, list(function.params.params)
    origin = Origin(positions(parsed), _attribute_names(function))
    runtime = _runtime_name(source)
    lowering = Lowering(function, runtime, namespace, own, origin)
    first = cst.Param(cst.Name(runtime))
    params = function.params.with_changes(params=[first, *parameters])
    body = lowering.body(_statements(function), _names_of(params))
    lowered = function.with_changes(
        params=params, decorators=[], returns=None, body=cst.IndentedBlock(body), name=cst.Name(function.name.value)
    )
    module = cst.Module([lowered.with_changes(leading_lines=[])])
    text, emitted = code_and_places(module)
    found = {(place, original) for node, place in emitted if (original := origin.find(node)) is not None}
    return LoweredText(text, function.name.value, tuple(sorted(found)))


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


def _attribute_names(function: cst.FunctionDef) -> set[int]:
    """The Names (by `id`) that are no uses of variables: behind a dot, keywords of calls, parameters, functions."""
    found: set[int] = set()
    for node in walk(function):
        if isinstance(node, cst.Attribute):
            found.add(id(node.attr))
        elif isinstance(node, cst.Arg):
            found.add(id(node.keyword))
        elif isinstance(node, (cst.Param, cst.FunctionDef)):
            found.add(id(node.name))
    return found


def _is_rebound(function: cst.FunctionDef, name: str) -> bool:
    """Whether the body assigns the namespace, or a function inside has a parameter of that name."""
    for node in walk(function.body):
        if isinstance(node, cst.AssignTarget):
            target: cst.CSTNode = node.target
        elif isinstance(node, cst.Param):
            target = node.name
        else:
            continue
        if isinstance(target, cst.Name) and target.value == name:
            return True
    return False
