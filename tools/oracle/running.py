"""Runs one call under either library: outputs, gradients, changed inputs, inference, or how it is refused.

Imported by both sides; under MXNet the NumPy is an old one, so results travel as plain bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Result = dict[str, Any]


def run_case(mx: Any, case: dict[str, Any]) -> Result:
    """What `mx` (autohybrid or MXNet) makes of a case."""
    function = _find(mx.nd if case["mode"] == "array" else mx.sym, case["places"])
    if function is None:
        return {"missing": True}
    result: Result = {"inference": _inference(mx, case)}
    try:
        run = _run_arrays if case["mode"] == "array" else _run_symbol
        run(mx, function, case, result)
    except Exception as error:  # that a call is refused, and how, is what is compared
        stage = "gradient_error" if "outputs" in result else "error"
        result[stage] = (type(error).__name__, " ".join(str(error).split())[:240])
    return result


def _find(namespace: Any, places: list[list[str]]) -> Any:
    for place in places:
        found = namespace
        for part in place:
            found = getattr(found, part, None)
        if found is not None:
            return found
    return None


def _run_arrays(mx: Any, function: Any, case: dict[str, Any], result: Result) -> None:
    arrays = [mx.nd.array(a, dtype=a.dtype) for a in case["inputs"]]
    wanted = _wanted(case)
    for i in wanted:
        arrays[i].attach_grad()
    out = {"out": [arrays[i] for i in case["out"]]} if case["out"] else {}
    with mx.autograd.record():
        returned = function(*arrays, **case["attrs"], **out)
    outputs = list(returned) if isinstance(returned, (list, tuple)) else [returned]
    result["outputs"] = [o.asnumpy() for o in outputs]
    result["inputs"] = [a.asnumpy() for a in arrays]
    live = [o for o in outputs if _is_real(o)]
    if wanted and live:
        mx.autograd.backward(live, [mx.nd.array(_head(o.shape), dtype=o.dtype) for o in live])
        result["gradients"] = [arrays[i].grad.asnumpy() for i in wanted]


def _run_symbol(mx: Any, function: Any, case: dict[str, Any], result: Result) -> None:
    symbol = function(*_variables(mx, case), **case["attrs"])
    wanted = _wanted(case)
    try:
        _execute(mx, symbol, case, wanted, result)
    except Exception:
        if "outputs" in result or not wanted:
            raise
        _execute(mx, symbol, case, [], result)  # was it the gradient?
        raise


def _execute(mx: Any, symbol: Any, case: dict[str, Any], wanted: list[int], result: Result) -> None:
    arrays = [mx.nd.array(a, dtype=a.dtype) for a in case["inputs"]]
    aux = case["aux"]
    names, states = symbol.list_arguments(), symbol.list_auxiliary_states()
    at = [i for i in range(len(arrays)) if i not in aux]
    executor = symbol.bind(
        mx.cpu(),
        dict(zip(names, [arrays[i] for i in at])),
        args_grad={n: mx.nd.zeros(arrays[i].shape, dtype=arrays[i].dtype) for n, i in zip(names, at) if i in wanted},
        grad_req={n: "write" if i in wanted else "null" for n, i in zip(names, at)},
        aux_states=dict(zip(states, [arrays[i] for i in aux])),
    )
    outputs = executor.forward(is_train=True)
    result["outputs"] = [o.asnumpy() for o in outputs]
    if wanted and any(_is_real(o) for o in outputs):
        executor.backward([mx.nd.array(_head(o.shape) * _is_real(o), dtype=o.dtype) for o in outputs])
        result["gradients"] = [executor.grad_dict[n].asnumpy() for n, i in zip(names, at) if i in wanted]
        result["inputs"] = [a.asnumpy() for a in arrays]


def _inference(mx: Any, case: dict[str, Any]) -> dict[str, Any]:
    """Shapes and dtypes of arguments, outputs and states: from all inputs, and from the first one only."""
    function = _find(mx.sym, case["places"])
    known = [i for i in range(len(case["inputs"])) if i not in case["aux"]]
    if function is None or not known or case["changes"]:
        return {}
    try:
        symbol = function(*_variables(mx, case), **case["attrs"])
        names = symbol.list_arguments()
    except Exception as error:
        return {"composition": type(error).__name__}
    shapes = {n: case["inputs"][i].shape for n, i in zip(names, known)}
    types = {n: case["inputs"][i].dtype.name for n, i in zip(names, known)}
    first = names[:1]
    return {
        "shapes": _asked(symbol.infer_shape, shapes),
        "shapes from the first input": _asked(symbol.infer_shape_partial, {n: shapes[n] for n in first}),
        "dtypes": _asked(symbol.infer_type, types),
        "dtypes from the first input": _asked(symbol.infer_type_partial, {n: types[n] for n in first}),
    }


def _asked(ask: Any, given: dict[str, Any]) -> Any:
    """What inference answers, as tuples and names; the word 'refused' where it raises."""
    try:
        answer = ask(**given)
    except Exception:
        return "refused"
    return [None if part is None else [_plain_kind(v) for v in part] for part in answer]


def _plain_kind(value: Any) -> Any:
    if value is None or isinstance(value, tuple):
        return value if value != () else None
    return np.dtype(value).name


def _variables(mx: Any, case: dict[str, Any]) -> list[Any]:
    return [mx.sym.Variable(f"x{i}") for i in range(len(case["inputs"])) if i not in case["aux"]]


def _wanted(case: dict[str, Any]) -> list[int]:
    """The inputs whose gradients are compared."""
    skipped = {*case["nograd"], *case["aux"]}
    return [i for i, a in enumerate(case["inputs"]) if case["grad"] and _is_real(a) and i not in skipped]


def _is_real(array: Any) -> bool:
    return array.dtype in (np.float32, np.float64)


def _head(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return np.cos(np.arange(int(np.prod(shape)), dtype="float64")).reshape(shape)


def pack(value: Any) -> Any:
    """Arrays inside lists and dictionaries as (marker, dtype, shape, bytes)."""
    if isinstance(value, np.ndarray):
        return ("array", str(value.dtype), value.shape, np.ascontiguousarray(value).tobytes())
    if isinstance(value, dict):
        return {k: pack(v) for k, v in value.items()}
    return [pack(v) for v in value] if isinstance(value, list) else value


def unpack(value: Any) -> Any:
    """What `pack` took apart."""
    if isinstance(value, tuple) and len(value) == 4 and value[0] == "array":
        return np.frombuffer(value[3], dtype=value[1]).reshape(value[2]).copy()
    if isinstance(value, dict):
        return {k: unpack(v) for k, v in value.items()}
    return [unpack(v) for v in value] if isinstance(value, list) else value
