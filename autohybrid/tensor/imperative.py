"""Run one operator now: check its inputs, call its kernel, record it on the tape, write `out=` and mutated inputs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from autohybrid.context import Context, current_context
from autohybrid.errors import IndexOutOfBoundsError, MXNetError
from autohybrid.tensor import random_state
from autohybrid.tensor.array import INPLACE_REFUSED, NDArray, refuse_inplace, wrap
from autohybrid.tensor.attrs import Attrs
from autohybrid.tensor.backend import array_namespace, namespace_of
from autohybrid.tensor.frontend import BoundCall
from autohybrid.tensor.numpy_array import ndarray
from autohybrid.tensor.observing import observing
from autohybrid.tensor.opdef import OpDef
from autohybrid.tensor.ops import get_operator
from autohybrid.tensor.quiet import hush, unhush
from autohybrid.tensor.shapes import same_dtype, same_shape
from autohybrid.tensor.tape import TapeNode, state

KERNEL_ERRORS = (ValueError, IndexError, TypeError, ZeroDivisionError, OverflowError, np.linalg.LinAlgError)
_REMEMBERED = 1024


def call_operator(call: BoundCall) -> Any:
    """Run a bound call on arrays: what `nd.<operator>(...)` does. Returns an NDArray, or a list of several."""
    op = call.op
    for value in call.inputs:
        if isinstance(value, NDArray):
            continue
        delegate = getattr(type(value), "__tensor_call__", None)
        if delegate is not None:
            return delegate(value, call)
        raise _bad_input(call)
    return invoke(op, call.attrs, call.inputs, call.out)


def invoke(op: OpDef, attrs: Attrs, inputs: Sequence[NDArray], out: Any = None) -> Any:
    """Run `op` on NDArrays. Raises MXNetError for shapes, dtypes or values that the operator refuses."""
    if out is not None and op.out_join is not None and (joint := op.out_join(attrs)) is not None:
        join = get_operator(joint)
        return invoke(join, join.parse({}), [out, invoke(op, attrs, inputs)], out)
    if state.builder is not None:
        return state.builder.stage(op, attrs, inputs, out)
    if out is None and op.is_plain and inputs:
        numpy = op.is_numpy
        for x in inputs:
            if type(x) is not NDArray:
                if type(x) is not ndarray:
                    break
                numpy = True
        else:
            return _invoke_plain(op, attrs, inputs, numpy)
    if op.stores_sparse or any([x.stype != "default" for x in inputs]):
        from autohybrid.tensor.sparse_calls import invoke_sparse

        return invoke_sparse(op, attrs, inputs, out)
    targets = None if out is None else _targets(op, attrs, inputs, out)
    if inputs:
        ctx = inputs[0]._ctx
        arrays = [x._data for x in inputs]
        xp = array_namespace(arrays[0])
        if op.validate:
            check_inputs(op, attrs, arrays)
    else:
        arrays, ctx = [], _creation_context(attrs)
        xp = namespace_of(ctx)
        check_inputs(op, attrs, arrays)
    results = run_kernel(op, attrs, xp, arrays, state.training, ctx)
    if op.mutates:
        results = _apply_mutations(op, attrs, inputs, results)
    if op.view:
        results = tuple([unaliased(r, arrays) for r in results])
    visible = len(results) if op.visible is None else op.visible(attrs)
    outputs = [wrap(r, ctx) for r in results[:visible]]
    if gives_numpy(op, inputs):
        for output in outputs:
            output.as_class(numpy=True)
    if state.recording or observing.observer is not None:
        record_call(op, attrs, xp, inputs, results, outputs)
    if targets is not None:
        _write_out(op, attrs, targets, outputs)
        return out
    return outputs[0] if visible == 1 else outputs


def gives_numpy(op: OpDef, inputs: Sequence[NDArray]) -> bool:
    """Whether a call gives `mx.np` arrays: an operator of numpy mode does, and any that gets one."""
    return op.is_numpy or any([isinstance(x, ndarray) for x in inputs])


def _invoke_plain(op: OpDef, attrs: Attrs, inputs: Sequence[NDArray], numpy: bool) -> NDArray:
    """`invoke` for what nearly all small calls are: dense arrays in, one fresh array out, nothing else touched."""
    first = inputs[0]._data
    if len(inputs) == 1:
        arrays = [first]
        signature: tuple[Any, ...] = (op, first.shape, first.dtype)
    else:
        arrays = [x._data for x in inputs]
        signature = (op, *[a.shape for a in arrays], *[a.dtype for a in arrays])
    if op.validate and signature not in attrs.accepted:
        check_inputs(op, attrs, arrays)
    xp = np if type(first) is np.ndarray else array_namespace(first)
    token = hush()
    try:
        result = op.kernel(xp, attrs, *arrays)
    except (MXNetError, *KERNEL_ERRORS) as error:
        raise explain(op, attrs, arrays, error) from error
    finally:
        unhush(token)
    output = wrap(result[0] if type(result) is tuple else result, inputs[0]._ctx)
    if numpy:
        output.as_class(numpy=True)
    if state.recording or observing.observer is not None:
        record_call(op, attrs, xp, inputs, (output._data,), (output,))
    return output


def run_kernel(op: OpDef, attrs: Attrs, xp: Any, arrays: Sequence[Any], train: bool, ctx: Context) -> tuple[Any, ...]:
    """Call the kernel on raw arrays; always a tuple. NumPy's complaints become MXNetErrors that name the operator."""
    extra: dict[str, Any] = {}
    if op.train_dependent:
        extra["train"] = train
    if op.random:
        extra["rng"] = random_state.generator(ctx)
    token = hush()
    try:
        result = op.kernel(xp, attrs, *arrays, **extra)
    except (MXNetError, *KERNEL_ERRORS) as error:
        raise explain(op, attrs, arrays, error) from error
    finally:
        unhush(token)
    return result if isinstance(result, tuple) else (result,)


@cache
def _name_of(dtype: Any) -> str:
    """`dtype.name`, which NumPy makes up anew each time it is asked."""
    return str(dtype.name)


def check_inputs(op: OpDef, attrs: Attrs, arrays: Sequence[Any]) -> None:
    """Shape and dtype inference over concrete inputs; `attrs` remembers the signatures that passed."""
    signature = (op, *[a.shape for a in arrays], *[a.dtype for a in arrays])
    if signature in attrs.accepted:
        return
    outputs = len(op.output_names(attrs))
    try:
        (op.infer_shape or same_shape)(attrs, [tuple(a.shape) for a in arrays], [None] * outputs)
        (op.infer_dtype or same_dtype)(attrs, [_name_of(a.dtype) for a in arrays], [None] * outputs)
    except MXNetError as error:
        raise explain(op, attrs, arrays, error) from error
    if len(attrs.accepted) > _REMEMBERED:
        attrs.accepted.clear()
    attrs.accepted.add(signature)


def explain(op: OpDef, attrs: Attrs, arrays: Sequence[Any], error: Exception) -> MXNetError:
    """The error of a kernel or of inference with the operator, its inputs and its attributes named."""
    names = op.input_names(attrs)
    inputs = ", ".join(f"{n}: {tuple(a.shape)} {a.dtype}" for n, a in zip(names, arrays))
    given = ", ".join(f"{k}={v}" for k, v in attrs.given.items())
    text = str(error) or type(error).__name__
    kind = MXNetError
    if isinstance(error, MXNetError):
        kind = type(error)
    elif isinstance(error, IndexError):
        kind = IndexOutOfBoundsError
    return kind(f"operator {op.name}({inputs}{', ' if inputs and given else ''}{given}): {text}")


def _bad_input(call: BoundCall) -> Exception:
    op = call.op
    for name, value in zip(op.input_names(call.attrs), call.inputs):
        if value is None:
            return MXNetError(f"operator {op.name}: input `{name}` was not given")
        if not isinstance(value, NDArray):
            # An AssertionError is what MXNet's generated functions raise here.
            return AssertionError(f"operator {op.name}: input `{name}` must be an NDArray, got {type(value).__name__}")
    raise AssertionError("every input is an NDArray")


def _creation_context(attrs: Attrs) -> Context:
    text = getattr(attrs, "ctx", None)
    if not text:
        return current_context()
    kind, _, number = text.rstrip(")").partition("(")
    return Context(kind, int(number or 0))


def _apply_mutations(op: OpDef, attrs: Attrs, inputs: Sequence[NDArray], results: tuple[Any, ...]) -> tuple[Any, ...]:
    kept, changes = split_mutations(op, attrs, results)
    for position, value in changes:
        inputs[position]._store(value)
    return kept


def split_mutations(op: OpDef, attrs: Attrs, results: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[tuple[int, Any]]]:
    """What a kernel returned, as its outputs and the new values of the inputs (by position) that it replaces."""
    names = op.input_names(attrs)
    changed = op.mutated_names(attrs)
    kept = len(results) - len(changed)
    changes = [(names.index(n), value) for n, value in zip(changed, results[kept:]) if value is not None]
    return results[:kept], changes


def unaliased(result: Any, arrays: Sequence[Any]) -> Any:
    """What a kernel gave, in memory of its own, in the order of its axes."""
    if result.base is not None or any(result is a for a in arrays):
        return result.copy()
    return result


def record_call(
    op: OpDef, attrs: Attrs, xp: Any, inputs: Sequence[NDArray], results: Sequence[Any], outputs: Sequence[NDArray]
) -> None:
    """Put a call on the tape when one of its inputs is on it. `results` are all raw outputs, `outputs` the visible."""
    if observing.observer is not None:
        observing.observer(op, outputs)
    if not state.recording or not any([x._entry is not None for x in inputs]):
        return
    effect = None
    if op.backward_state is not None and state.training:
        effect = _backward_effect(op, attrs, xp, tuple(inputs), tuple(results))
    node = TapeNode(op.name, op.grad, attrs, inputs, results, state.training, effect)
    for index, output in enumerate(outputs):
        output._entry = (node, index)


def _backward_effect(op: OpDef, attrs: Attrs, xp: Any, inputs: tuple[NDArray, ...], results: tuple[Any, ...]) -> Any:
    def apply() -> None:
        assert op.backward_state is not None
        names = op.input_names(attrs)
        changes = op.backward_state(xp, attrs, [x._data for x in inputs], results)
        for name, value in changes.items():
            inputs[names.index(name)]._store(value)

    return apply


def _targets(op: OpDef, attrs: Attrs, inputs: Sequence[NDArray], out: Any) -> list[NDArray]:
    """The arrays of `out=`. Raises TypeError for something else, MXNetError for another number of them than the
    outputs, and while recording for an array of the recorded graph: overwriting it would falsify gradients."""
    targets = list(out) if isinstance(out, (list, tuple)) else [out]
    for target in targets:
        if not isinstance(target, NDArray):
            raise TypeError(f"operator {op.name}: `out` must be an NDArray or a list, not {type(target).__name__}")
        if state.recording:
            refuse_inplace(target)
    if len(targets) not in (op.visible_outputs(attrs), len(op.output_names(attrs))):
        raise MXNetError(
            f"operator {op.name}: `out` has {len(targets)} arrays, the operator gives {op.visible_outputs(attrs)}"
        )
    if state.recording and any(t is x for t in targets for x in inputs) and any(x._entry is not None for x in inputs):
        raise MXNetError(
            f"operator {op.name}: `out` is also an input. {INPLACE_REFUSED} while a recorded array takes part; "
            "write `x = x + y`"
        )
    return targets


def _write_out(op: OpDef, attrs: Attrs, targets: Sequence[NDArray], outputs: Sequence[NDArray]) -> None:
    for target, value in zip(targets, outputs):
        if target.shape != value.shape:
            raise MXNetError(f"operator {op.name}: `out` has shape {target.shape}, the result has shape {value.shape}")
        # Operators without inputs take the dtype of `out`.
        if target.dtype != value.dtype and op.input_names(attrs):
            raise MXNetError(
                f"operator {op.name}: `out` has dtype {target.dtype.__name__}, the result has {value.dtype.__name__}"
            )
        target._store(value._data)
        if value._entry is not None:
            target._entry = value._entry
