"""Comprehensions and generator expressions."""

from __future__ import annotations

import ast

from autohybrid.analysis.assignments import assign
from autohybrid.analysis.conditions import assume, test
from autohybrid.analysis.frame import Frame
from autohybrid.analysis.subscripts import iterate
from autohybrid.analysis.values import NEVER, Map, Seq, Static, Unknown, Value, make_seq

_UNROLL = 8


def evaluate_comprehension(frame: Frame, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
    """A list, set or generator: known elements are followed one by one when there are few of them."""
    kind = {"ListComp": "list", "SetComp": "set"}.get(type(node).__name__, "iterator")
    before = dict(frame.env)
    first = node.generators[0]
    if len(node.generators) == 1 and not first.ifs:
        source = frame.eval(first.iter)
        if isinstance(source, Seq) and source.items is not None and 0 < len(source.items) <= _UNROLL:
            values: list[Value] = []
            for item in source.items:
                assign(frame, first.target, item, first.iter)
                values.append(frame.eval(node.elt))
            frame.env = before
            return make_seq(kind, values)
        assign(frame, first.target, iterate(frame, source, first.iter, "comprehension"), first.iter)
        element = frame.eval(node.elt)
        frame.env = before
        return Seq(kind, None, element)
    element = frame.eval(node.elt) if _bind_generators(frame, node.generators) else NEVER
    frame.env = before
    return Seq(kind, None, element)


def evaluate_dict_comprehension(frame: Frame, node: ast.DictComp) -> Value:
    """A dictionary comprehension."""
    before = dict(frame.env)
    value: Value = NEVER
    if _bind_generators(frame, node.generators):
        key = frame.eval(node.key)
        if not isinstance(key, Static | Seq):
            from autohybrid.analysis.expressions import check_hash

            check_hash(frame, key, node.key)
        value = frame.eval(node.value)
    frame.env = before
    return Map((), Unknown("item") if value is NEVER else value)


def _bind_generators(frame: Frame, generators: list[ast.comprehension]) -> bool:
    for generator in generators:
        source = frame.eval(generator.iter)
        assign(frame, generator.target, iterate(frame, source, generator.iter, "comprehension"), generator.iter)
        for condition in generator.ifs:
            if test(frame, condition, "comprehension") is False:
                return False
            if not assume(frame, condition, True):
                return False
    return True
