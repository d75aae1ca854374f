"""The code templates of operators (`OpDef.fast`): generated code gives exactly what kernels give, also where it writes
into the buffer of an intermediate, and leaves its inputs alone."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from drawing import call, draw, label, pairs

from autohybrid import symbol as sym
from autohybrid.graph.compose import call_operator
from autohybrid.graph.function import GraphFunction, GraphOutputs
from autohybrid.graph.structure import ARRAY
from autohybrid.tensor.array import wrap
from autohybrid.tensor.frontend import make_function
from autohybrid.tensor.opdef import OpDef

CASES = [
    (op, k)
    for op, k in pairs()
    if op.fast is not None and not callable(op.outputs) and len(op.outputs) == 1 and not op.random
]


def function_of(op: OpDef, k: int, through: bool) -> tuple[GraphFunction, list[np.ndarray[Any, Any]]]:
    """The sample as a graph; with `through`, every input first passes through an operator that makes a fresh array."""
    arrays = draw(op, op.samples[k])
    names = [f"input{i}" for i in range(len(arrays))]
    inputs = [sym.var(name) for name in names]
    if through:
        inputs = [sym.identity(x) for x in inputs]
    output = make_function(op, op.name, call_operator)(*inputs, **op.samples[k].attrs)
    return GraphFunction(names, {}, GraphOutputs(tuple(output._heads), ARRAY), frozenset()), arrays


@pytest.mark.parametrize("through", [False, True], ids=["inputs", "intermediates"])
@pytest.mark.parametrize("op, k", CASES, ids=label)
def test_templates_give_what_kernels_give(op: OpDef, k: int, through: bool) -> None:
    function, arrays = function_of(op, k, through)
    inputs = [wrap(a.copy()) for a in arrays]
    result = function(inputs)
    reference = call(op, op.samples[k].attrs, [wrap(a.copy()) for a in arrays])[0]
    assert result.dtype == reference.dtype
    np.testing.assert_allclose(result.asnumpy(), reference.asnumpy(), rtol=2e-7, atol=1e-7)
    for before, after in zip(arrays, inputs):
        np.testing.assert_array_equal(before, after.asnumpy())
        assert not np.shares_memory(result._data, after._data) or not result.size


def test_a_dead_intermediate_is_written_into() -> None:
    x = sym.var("x")
    output = sym.exp(sym.negative(x))
    function = GraphFunction(["x"], {}, GraphOutputs(tuple(output._heads), ARRAY), frozenset())
    source = function.code((((3,), np.dtype("float32")),), False).source  # type: ignore[attr-defined]
    assert re.search(r"= exp\((\w+), out=\1\)", source)


def test_an_integer_signature_calls_the_kernel() -> None:
    output = sym.exp(sym.var("x"))
    function = GraphFunction(["x"], {}, GraphOutputs(tuple(output._heads), ARRAY), frozenset())
    result = function([wrap(np.array([0, 1, 2], dtype="int32"))])
    np.testing.assert_array_equal(result.asnumpy(), np.array([1, 2, 7], dtype="int32"))
