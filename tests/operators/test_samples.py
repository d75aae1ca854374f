"""Every operator on its samples: results as inference says, inputs untouched, dtypes stable, gradients (first and
second) as finite differences in float64 have them, and the errors that samples promise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drawing import call, draw, label, pairs, run

from autohybrid import autograd
from autohybrid import errors as package_errors
from autohybrid.context import cpu
from autohybrid.errors import MXNetError
from autohybrid.tensor.array import wrap
from autohybrid.tensor.gradient_namespace import gradient_namespace
from autohybrid.tensor.imperative import run_kernel
from autohybrid.tensor.opdef import OpDef, Sample
from autohybrid.tensor.ops import records
from autohybrid.tensor.shapes import same_dtype, same_shape

VALID, INVALID = pairs(), pairs(errors=True)
DIFFERENTIABLE = [(op, k) for op, k in VALID if op.differentiable == "yes" and not op.random]
STEP = 1e-5


@pytest.mark.parametrize("op", records(), ids=label)
def test_every_operator_has_samples_and_a_description(op: OpDef) -> None:
    assert op.samples or op.session is not None, f"{op.name} has no samples, so nothing checks it"
    assert op.doc.strip(), f"{op.name} has no description"


@pytest.mark.parametrize("op, k", VALID, ids=label)
def test_results_are_what_inference_says(op: OpDef, k: int) -> None:
    sample = op.samples[k]
    attrs = op.parse(_attrs(op, sample))
    arrays = draw(op, sample)
    results = run(op, sample, arrays)
    count = len(op.output_names(attrs))
    shapes = [tuple(a.shape) for a in arrays]
    dtypes = [a.dtype.name for a in arrays]
    _, found = (op.infer_shape or same_shape)(attrs, list(shapes), [None] * count)
    _, types = (op.infer_dtype or same_dtype)(attrs, list(dtypes), [None] * count)
    assert len(results) == op.visible_outputs(attrs)
    for result, shape, dtype in zip(results, found, types):
        assert shape is None or result.shape == _filled(shape, result.shape)
        assert dtype is None or result.dtype.name == dtype


@pytest.mark.parametrize("op, k", VALID, ids=label)
def test_inference_from_less_contradicts_nothing(op: OpDef, k: int) -> None:
    sample = op.samples[k]
    attrs = op.parse(_attrs(op, sample))
    count = len(op.output_names(attrs))
    _, results = (op.infer_shape or same_shape)(attrs, [tuple(s) for s in sample.shapes], [None] * count)
    for known in ([None] * len(sample.shapes), [tuple(s) if i == 0 else None for i, s in enumerate(sample.shapes)]):
        try:
            ins, outs = (op.infer_shape or same_shape)(attrs, list(known), [None] * count)
        except MXNetError as error:  # as MXNet, some operators ask for a whole shape instead of answering "unknown"
            assert "must be known" in str(error)
            continue
        assert len(ins) == len(sample.shapes)
        assert len(outs) == count
        for partial, full in zip(outs, results):
            if partial is not None and full is not None:
                assert _filled(partial, full) == tuple(full)
    dtypes = sample.dtypes or ("float32",) * len(sample.shapes)
    _, complete = (op.infer_dtype or same_dtype)(attrs, list(dtypes), [None] * count)
    _, types = (op.infer_dtype or same_dtype)(attrs, [None] * len(dtypes), [None] * count)
    for partial, full in zip(types, complete):
        assert partial is None or partial == full


@pytest.mark.parametrize("op, k", VALID, ids=label)
def test_inputs_are_left_alone(op: OpDef, k: int) -> None:
    sample = op.samples[k]
    attrs = op.parse(_attrs(op, sample))
    arrays = draw(op, sample)
    inputs = [wrap(a.copy()) for a in arrays]
    outputs = call(op, sample.attrs, inputs)
    mutated = op.mutated_names(attrs)
    for name, before, after in zip(op.input_names(attrs), arrays, inputs):
        if name not in mutated:
            np.testing.assert_array_equal(before, after.asnumpy(), err_msg=f"input {name} was written to")
    if op.name == "_unbroadcast":  # on the tape it hands on an array that has the shape already
        return
    for output in outputs:
        assert not any(np.shares_memory(output._data, x._data) for x in inputs if x.size)


@pytest.mark.parametrize("op, k", [(op, k) for op, k in VALID if not op.view], ids=label)
def test_only_kernels_of_views_return_memory_of_their_inputs(op: OpDef, k: int) -> None:
    """The generated executor writes into the outputs of all others."""
    sample = op.samples[k]
    arrays = draw(op, sample)
    attrs = op.parse(_attrs(op, sample))
    results = run_kernel(op, attrs, np, arrays, False, cpu())
    for result in results[: len(op.output_names(attrs))]:
        assert not any(np.shares_memory(result, a) for a in arrays if a.size)


@pytest.mark.parametrize("op, k", VALID, ids=label)
def test_dtypes_are_kept_in_half_and_double_precision(op: OpDef, k: int) -> None:
    sample = op.samples[k]
    if "dtype" in sample.attrs or not any(a.dtype.kind == "f" for a in draw(op, sample)):
        pytest.skip("the sample is about dtypes")
    attrs = op.parse(_attrs(op, sample))
    count = len(op.output_names(attrs))
    single = run(op, sample, draw(op, sample))
    for dtype, tolerance in (("float64", 1e-4), ("float16", 0.03)):
        arrays = draw(op, sample, dtype)
        try:
            _, types = (op.infer_dtype or same_dtype)(attrs, [a.dtype.name for a in arrays], [None] * count)
            results = run(op, sample, arrays)
        except MXNetError:
            assert dtype == "float16", f"{op.name} refuses float64"
            continue
        for result, reference, expected in zip(results, single, types):
            assert expected is None or result.dtype.name == expected
            assert result.shape == reference.shape
            if not op.random and reference.dtype.kind == "f" and not _is_discrete(op):
                scale = np.abs(reference[np.isfinite(reference)]).max(initial=1.0)
                np.testing.assert_allclose(
                    result.astype("float64"), reference.astype("float64"), rtol=tolerance, atol=tolerance * scale
                )


@pytest.mark.parametrize("op, k", INVALID, ids=label)
def test_invalid_calls_raise_what_the_sample_says(op: OpDef, k: int) -> None:
    sample = op.samples[k]
    assert sample.error is not None
    expected = getattr(package_errors, sample.error, None) or getattr(__builtins__, sample.error, None)
    with pytest.raises(expected or Exception) as caught:
        run(op, sample, draw(op, sample))
    assert sample.error in [cls.__name__ for cls in type(caught.value).__mro__]
    assert op.name in str(caught.value) or any(alias in str(caught.value) for alias in op.aliases)


@pytest.mark.parametrize("op, k", DIFFERENTIABLE, ids=label)
def test_gradients_agree_with_finite_differences(op: OpDef, k: int) -> None:
    sample = op.samples[k]
    problem = _Problem(op, sample)
    if not problem.variables:
        pytest.skip("no input to differentiate")
    gradients = problem.gradients(problem.arrays)
    for index, gradient in zip(problem.variables, gradients):
        direction = problem.direction(index)
        slope = problem.slope(lambda arrays: problem.loss(arrays), index, direction)
        np.testing.assert_allclose(
            (gradient * direction).sum(), slope, rtol=1e-5, atol=1e-7, err_msg=f"gradient of input {index}"
        )


@pytest.mark.parametrize("op, k", DIFFERENTIABLE, ids=label)
def test_second_derivatives_agree_with_finite_differences(op: OpDef, k: int) -> None:
    sample = op.samples[k]
    problem = _Problem(op, sample)
    if not problem.variables:
        pytest.skip("no input to differentiate")
    for index in problem.variables:
        weights = [problem.direction(i) for i in problem.variables]
        try:
            again = problem.second(problem.arrays, weights, index)
        except MXNetError as error:
            assert "is not differentiable" in str(error)
            pytest.skip("refuses to be differentiated twice")

        def weighted(arrays: list[Any], weights: list[Any] = weights) -> float:
            return float(sum((g * w).sum() for g, w in zip(problem.gradients(arrays), weights)))

        direction = problem.direction(index)
        slope = problem.slope(weighted, index, direction)
        np.testing.assert_allclose(
            (again * direction).sum(), slope, rtol=1e-4, atol=1e-6, err_msg=f"second derivative by input {index}"
        )


class _Problem:
    """A sample in float64 as a scalar function: the outputs weighted with fixed numbers and summed."""

    def __init__(self, op: OpDef, sample: Sample) -> None:
        self.op, self.sample = op, sample
        self.arrays = draw(op, sample, "float64")
        attrs = op.parse(_attrs(op, sample))
        skipped = {*sample.nograd, *[i for i, n in enumerate(op.input_names(attrs)) if n in op.aux]}
        self.variables = [i for i, a in enumerate(self.arrays) if a.dtype.kind == "f" and i not in skipped and a.size]
        self.rng = np.random.default_rng(7)
        outputs = run(op, sample, self.arrays)
        self.weights = [self.rng.uniform(0.5, 1.5, a.shape) for a in outputs]
        if any(a.dtype.kind == "f" and a.dtype != "float64" for a in outputs):
            self.variables = []  # finite differences would measure the rounding of a narrower dtype

    def direction(self, index: int) -> np.ndarray[Any, Any]:
        return self.rng.uniform(-1, 1, self.arrays[index].shape)

    def slope(self, function: Any, index: int, direction: np.ndarray[Any, Any]) -> float:
        ends = []
        for sign in (1, -1):
            moved = list(self.arrays)
            moved[index] = moved[index] + sign * STEP * direction
            ends.append(function(moved))
        return float((ends[0] - ends[1]) / (2 * STEP))

    def loss(self, arrays: list[Any]) -> float:
        with autograd.train_mode():
            outputs = run(self.op, self.sample, arrays)
        return float(sum((o * w).sum() for o, w in zip(outputs, self.weights) if o.dtype.kind == "f"))

    def _recorded(self, arrays: list[Any]) -> tuple[list[Any], Any]:
        inputs = [wrap(a.copy()) for a in arrays]
        for i in self.variables:
            inputs[i].attach_grad()
        total = None
        for output, weight in zip(call(self.op, self.sample.attrs, inputs), self.weights):
            if output._data.dtype.kind == "f" and output._entry is not None:
                part = gradient_namespace().Cast(
                    (output * wrap(weight.astype(output._data.dtype))).sum(), dtype="float64"
                )
                total = part if total is None else total + part
        return [inputs[i] for i in self.variables], total

    def gradients(self, arrays: list[Any]) -> list[np.ndarray[Any, Any]]:
        with autograd.record():
            variables, total = self._recorded(arrays)
        return [g.asnumpy() for g in autograd.grad(total, variables)]

    def second(self, arrays: list[Any], weights: list[Any], index: int) -> np.ndarray[Any, Any]:
        with autograd.record():
            variables, total = self._recorded(arrays)
            first = autograd.grad(total, variables, create_graph=True)
            scalar = None
            for gradient, weight in zip(first, weights):
                part = (gradient * wrap(weight)).sum()
                scalar = part if scalar is None else scalar + part
        position = self.variables.index(index)
        if scalar is None or scalar._entry is None:
            return np.zeros_like(arrays[index])
        return autograd.grad(scalar, [variables[position]])[0].asnumpy()


def _attrs(op: OpDef, sample: Sample) -> dict[str, Any]:
    if op.variadic is not None and (op.active_inputs is None or op.schema[op.variadic].required):
        return {op.variadic: len(sample.shapes), **sample.attrs}
    return dict(sample.attrs)


def _filled(partial: Any, full: Any) -> tuple[int, ...]:
    """`partial` with its unknown extents taken from `full`."""
    assert len(partial) == len(full)
    return tuple(f if p == -1 else p for p, f in zip(partial, full))


def _is_discrete(op: OpDef) -> bool:
    """Whether rounding an input may change the result at a jump."""
    return op.differentiable != "yes"


def test_the_namespace_of_gradients_refuses_unknown_operators() -> None:
    with pytest.raises(AttributeError, match="no_such"):
        gradient_namespace().no_such  # noqa: B018
