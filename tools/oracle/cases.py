"""Random calls of every operator, as plain data.

A call starts from a sample of the operator's record. Its extents are replaced by others, consistently; attributes are
drawn from the schema; floating-point inputs may become another dtype; values are drawn anew. What the record's own
inference refuses is mostly drawn again, but not always: refusals are compared too.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import DTYPE_FLAGS, Attr, Attrs
from autohybrid.tensor.namespaces import public_place
from autohybrid.tensor.opdef import OpDef, Sample
from autohybrid.tensor.ops import records
from autohybrid.tensor.shapes import same_shape

Shape = tuple[int, ...]
Case = dict[str, Any]
_DTYPES = ("float64", "float16", "int32", "int8", "uint8", "int64")
_ATTEMPTS = 6
_KEEP_REFUSED = 0.2


@dataclass(frozen=True, slots=True)
class Call:
    """A call without values."""

    shapes: tuple[Shape, ...]
    dtypes: tuple[str, ...]
    attrs: Mapping[str, Any]


def make_cases(count: int, only: str, seed: int) -> Iterator[Case]:
    """`count` calls for each operator with `only` in its name: where the function is, input arrays, keywords."""
    for op in records():
        if op.is_numpy:  # they take other arrays, see numpy_calls
            continue
        usable = [s for s in op.samples if s.error is None and not any(0 in shape for shape in s.shapes)]
        private = op.name.startswith("_backward_")  # MXNet's own of that name take other inputs
        if private or op.random or op.open_attrs or only not in op.name or not usable:
            continue
        state = np.random.RandomState(seed + zlib.crc32(op.name.encode()) % 2**16)
        for k in range(count):
            sample = usable[k % len(usable)]
            call = _original(op, sample) if k == 0 else _vary(state, op, sample)
            yield _case(state, op, sample, call, symbolic=k % 2 == 1)


def _case(state: np.random.RandomState, op: OpDef, sample: Sample, call: Call, symbolic: bool) -> Case:
    namespace, spelling = public_place(op.name)
    attrs = op.parse(call.attrs)
    names = op.input_names(attrs)
    # an update writes the weights it is given as `out`
    weights = [i for i, n in enumerate(names) if "update" in op.name and n.partition("_")[0] == "weight"]
    return {
        "op": op.name,
        "places": [[p for p in (namespace, spelling) if p], ["_internal", op.name]],
        "mode": "symbol" if symbolic and not op.mutates and not weights else "array",
        "inputs": [_values(state, sample, i, *of) for i, of in enumerate(zip(call.shapes, call.dtypes))],
        "aux": [i for i, n in enumerate(names) if n in op.aux_names(attrs)],
        "attrs": dict(call.attrs),
        "grad": op.differentiable == "yes" and not op.mutates,
        "nograd": list(sample.nograd),
        "changes": bool(op.mutates or weights),
        "out": weights,
    }


def _original(op: OpDef, sample: Sample) -> Call:
    attrs = dict(sample.attrs)
    if op.variadic:
        attrs.setdefault(op.variadic, len(sample.shapes))
    return Call(sample.shapes, sample.dtypes or ("float32",) * len(sample.shapes), attrs)


def _vary(state: np.random.RandomState, op: OpDef, sample: Sample) -> Call:
    """Another call like the sample; the sample's own when nothing else is found."""
    base = _original(op, sample)
    for _ in range(_ATTEMPTS):
        shapes = base.shapes
        if not sample.values and state.rand() < 0.7:
            shapes = _with_new_extents(state, shapes)
        attrs = dict(base.attrs)
        if op.attrs and state.rand() < 0.7:
            for _ in range(int(state.randint(1, 3))):
                attr = op.attrs[state.randint(len(op.attrs))]
                rank = len(shapes[0]) if shapes else 1
                if attr.name != op.variadic and not attr.type.startswith("str"):
                    attrs[attr.name] = _draw(state, attr, attrs, rank)
        dtypes = base.dtypes
        if state.rand() < 0.3:
            other = str(state.choice(_DTYPES))
            dtypes = tuple(other if d == "float32" else d for d in dtypes)
        found = _fit(op, sample, attrs, shapes)
        if found is not None and (found[1] or state.rand() < _KEEP_REFUSED):
            return Call(found[0], tuple(dtypes), attrs)
    return base


def _fit(
    op: OpDef, sample: Sample, given: Mapping[str, Any], shapes: tuple[Shape, ...]
) -> tuple[tuple[Shape, ...], bool] | None:
    """Shapes for the inputs of a call with these attributes and whether inference takes them; None where the call
    cannot be made from the sample (it has too few inputs)."""
    try:
        attrs = op.parse(given)
        names = op.input_names(attrs)
    except MXNetError:
        return None
    before = op.input_names(op.parse(_original(op, sample).attrs))
    if len(names) > len(shapes) or (names != before and not set(names) <= set(before)):
        return None
    kept = tuple(shape for name, shape in zip(before, shapes) if name in names)
    if _inferred(op, attrs, list(kept)) is not None:
        return kept, True
    filled = _inferred(op, attrs, [kept[0], *[None] * (len(kept) - 1)]) if kept else None
    if filled is not None and all(s is not None and -1 not in s for s in filled):
        return tuple(filled), True
    return kept, False


def _inferred(op: OpDef, attrs: Attrs, shapes: list[Shape | None]) -> list[Shape] | None:
    count = len(op.output_names(attrs))
    try:
        found, _ = (op.infer_shape or same_shape)(attrs, shapes, [None] * count)
    except (MXNetError, IndexError):
        return None
    return list(found)  # type: ignore[arg-type]


def _with_new_extents(state: np.random.RandomState, shapes: tuple[Shape, ...]) -> tuple[Shape, ...]:
    """Another extent for some of the extents above 1, the same wherever it occurs."""
    found = sorted({e for shape in shapes for e in shape if e > 1})
    new = {e: int(state.randint(1, 8)) if state.rand() < 0.6 else e for e in found}
    return tuple(tuple(new.get(e, e) for e in shape) for shape in shapes)


def _draw(state: np.random.RandomState, attr: Attr, attrs: Mapping[str, Any], rank: int) -> Any:
    """A value for an attribute, near the one that the call or the schema has."""
    kind, now = attr.type.rstrip("?"), attrs.get(attr.name, None if attr.required else attr.default)
    if attr.type.endswith("?") and state.rand() < 0.15:
        return None
    if attr.choices:
        return attr.choices[state.randint(len(attr.choices))]
    if kind == "bool":
        return bool(state.randint(2))
    if kind == "dtype":
        return DTYPE_FLAGS[state.randint(7)]
    if "axis" in attr.name or "axes" in attr.name:
        return _axes(state, attr, kind, now, rank)
    if kind in ("int", "float"):
        return _near(state, kind, now)
    if kind in ("shape", "ints", "floats") and isinstance(now, (tuple, list)):
        return tuple(_near(state, "float" if kind == "floats" else "int", v) for v in now)
    return now if now is not None or attr.type.endswith("?") else attr.parse("0")


def _axes(state: np.random.RandomState, attr: Attr, kind: str, now: Any, rank: int) -> Any:
    drawn = [int(a) - rank * int(state.rand() < 0.4) for a in state.permutation(max(rank, 1))]
    if kind == "int":
        return drawn[0]
    count = len(now) if isinstance(now, (tuple, list)) and now else int(state.randint(1, rank + 1)) if rank else 1
    return tuple(drawn[:count])


def _near(state: np.random.RandomState, kind: str, now: Any) -> Any:
    """A number near `now`. Counts and extents stay above 0: a stride of 0 kills MXNet's process."""
    if now is None:
        return None if kind == "int" and state.rand() < 0.7 else int(state.randint(1, 4))
    if kind == "float":
        return round(float(now) * float(state.choice([0.5, 1, 1.5])) + (now == 0) * float(state.choice([0, 0.5])), 4)
    low = 1 if now >= 1 else 0 if now == 0 else now - 1
    return max(low, int(now) + int(state.randint(-1, 3)))


def _values(state: np.random.RandomState, sample: Sample, index: int, shape: Shape, dtype: str) -> Any:
    if index in sample.values and np.size(sample.values[index]) == int(np.prod(shape)):
        with np.errstate(invalid="ignore"):  # NaN as an integer
            return np.asarray(sample.values[index], dtype="float64").reshape(shape).astype(dtype)
    scale = 4 if dtype.startswith(("int", "uint")) and not (sample.dtypes and sample.dtypes[index] == dtype) else 1
    drawn = state.uniform(sample.low * scale, sample.high * scale, shape)
    whole = dtype.startswith(("int", "uint", "bool"))
    return np.asarray(np.floor(drawn) if whole else drawn, dtype=dtype)  # floor makes a number of an array without axes
