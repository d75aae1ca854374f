"""Every operator on its samples as a graph of one node: what the symbol computes, infers, saves and differentiates is
what the arrays give."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from drawing import call, draw, label, pairs

from autohybrid import autograd
from autohybrid import symbol as sym
from autohybrid.context import cpu
from autohybrid.graph.compose import call_operator
from autohybrid.ndarray import NDArray
from autohybrid.tensor.array import wrap
from autohybrid.tensor.frontend import make_function
from autohybrid.tensor.opdef import OpDef
from autohybrid.tensor.ops import get_operator

CASES = [(op, k) for op, k in pairs() if op.samples[k].shapes and not op.random and op.outputs and not op.stores_sparse]


def compose(op: OpDef, k: int) -> tuple[Any, dict[str, NDArray]]:
    sample = op.samples[k]
    arrays = draw(op, sample)
    names = [f"input{i}" for i in range(len(arrays))]
    output = make_function(op, op.name, call_operator)(*[sym.var(n) for n in names], **sample.attrs)
    return output, {n: wrap(a.copy()) for n, a in zip(names, arrays)}


def bound(output: Any, arrays: dict[str, NDArray], gradients: dict[str, NDArray] | None = None) -> Any:
    arguments = {n: arrays[n] for n in output.list_arguments()}
    states = {n: arrays[n] for n in output.list_auxiliary_states()}
    reqs = {n: "write" if gradients and n in gradients else "null" for n in arguments}
    return output.bind(cpu(), args=arguments, args_grad=gradients, grad_req=reqs, aux_states=states)


@pytest.mark.parametrize("op, k", CASES, ids=label)
def test_symbols_infer_and_compute_what_arrays_give(op: OpDef, k: int) -> None:
    output, arrays = compose(op, k)
    expected = call(op, op.samples[k].attrs, [wrap(a.asnumpy()) for a in arrays.values()])
    shapes = None
    if all(a.size for a in arrays.values()):  # to a symbol an extent of 0 is an unknown one
        _, shapes, _ = output.infer_shape(**{n: a.shape for n, a in arrays.items()})
    _, types, _ = output.infer_type(**{n: a.dtype for n, a in arrays.items() if n in output.list_arguments()})
    results = bound(output, arrays).forward(is_train=False)
    assert len(results) == len(expected)
    for position, (result, reference) in enumerate(zip(results, expected)):
        np.testing.assert_allclose(result.asnumpy(), reference.asnumpy(), rtol=1e-6, atol=1e-6)
        assert result.dtype == reference.dtype
        assert shapes is None or 0 in shapes[position] or shapes[position] == reference.shape
        assert types is None or types[position] == reference.dtype


@pytest.mark.parametrize("op, k", CASES, ids=label)
def test_symbols_come_back_from_their_files(op: OpDef, k: int) -> None:
    output, arrays = compose(op, k)
    again = sym.load_json(output.tojson())
    assert again.tojson() == output.tojson()
    first = bound(output, {n: wrap(a.asnumpy()) for n, a in arrays.items()}).forward(is_train=False)
    second = bound(again, arrays).forward(is_train=False)
    for a, b in zip(first, second):
        np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())


@pytest.mark.parametrize("op, k", [(op, k) for op, k in CASES if op.differentiable == "yes"], ids=label)
def test_symbols_have_the_gradients_of_arrays(op: OpDef, k: int) -> None:
    sample = op.samples[k]
    output, arrays = compose(op, k)
    names = [
        n
        for i, (n, a) in enumerate(arrays.items())
        if a._data.dtype.kind == "f" and i not in sample.nograd and n in output.list_arguments()
    ]
    leaves = {n: wrap(a.asnumpy()) for n, a in arrays.items()}
    for name in names:
        leaves[name].attach_grad()
    with autograd.record():
        recorded = call(op, sample.attrs, list(leaves.values()))
        if not any(o._entry is not None for o in recorded):
            pytest.skip("nothing was recorded")
        heads = [o.ones_like() for o in recorded]
    autograd.backward(recorded, heads)
    gradients = {n: arrays[n].zeros_like() for n in names}
    executor = bound(output, arrays, gradients)
    executor.forward(is_train=True)
    executor.backward(heads)
    for name in names:
        reference = leaves[name].grad
        assert reference is not None
        np.testing.assert_allclose(gradients[name].asnumpy(), reference.asnumpy(), rtol=1e-5, atol=1e-6, err_msg=name)


@pytest.mark.parametrize(
    ("name", "attrs", "count"),
    [
        ("BilinearSampler", {}, 2),
        ("CTCLoss", {}, 2),
        ("Correlation", {}, 3),
        ("GridGenerator", {"transform_type": "warp"}, 2),
        ("ROIPooling", {"pooled_size": (1, 1), "spatial_scale": 1}, 2),
        ("SpatialTransformer", {"transform_type": "affine", "sampler_type": "bilinear"}, 3),
        ("_contrib_BatchNormWithReLU", {}, 4),
        ("_linalg_det", {}, 3),
        ("_linalg_slogdet", {}, 4),
        ("sort", {}, 2),
        ("argsort", {}, 1),
        ("_contrib_box_nms", {}, 2),
    ],
)
def test_files_count_the_outputs_that_mxnet_keeps_for_itself(name: str, attrs: dict[str, Any], count: int) -> None:
    op = get_operator(name)
    inputs = [sym.var(n) for n in op.input_names(op.parse(attrs)) if n not in op.aux_names(op.parse(attrs))]
    rows = json.loads(make_function(op, name, call_operator)(*inputs, **attrs).tojson())["node_row_ptr"]
    assert rows[-1] - rows[-2] == count
