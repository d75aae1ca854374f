"""Makes the operator records of an update rule: for one weight, for a half-precision weight with a float32 master copy
(`mp_*`), and for many weights in one call (`multi_*`, `preloaded_multi_*`).

The new weight is the output (callers give `out=weight`); the states change in place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Dtypes, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.precision import narrow, widen
from autohybrid.tensor.shapes import same_dtype, unify, unify_all, unify_dtypes
from autohybrid.tensor.update_rules import Rule

_RATES: tuple[tuple[float, ...], ...] = ((0.1, 0.2), (0.0, 0.1))


def update_record(
    name: str,
    rule: Rule,
    states: tuple[str, ...],
    attrs: tuple[Attr, ...],
    doc: str,
    aliases: tuple[str, ...] = (),
    **given: Any,
) -> OpDef:
    """The record of a rule for one weight; `given` are further attributes of its samples."""

    def kernel(xp: Any, attrs: Attrs, *arrays: Any) -> tuple[Any, ...]:
        results = rule(xp, attrs, *widen(xp, *arrays), lr=attrs.lr, wd=attrs.wd)
        return tuple([narrow(r, a) for r, a in zip(results, (arrays[0], *arrays[2:]))])

    return OpDef(
        name,
        kernel,
        inputs=("weight", "grad", *states),
        attrs=attrs,
        aux=states,
        mutates=states,
        aliases=aliases,
        doc=f"{doc} The output is the new weight{_changing(states)}.",
        samples=_samples(2 + len(states), given),
    )


def master_record(name: str, rule: Rule, states: tuple[str, ...], attrs: tuple[Attr, ...], doc: str) -> OpDef:
    """The record of a rule for a half-precision weight: it is applied to `weight32` and the states in float32."""

    def kernel(xp: Any, attrs: Attrs, *arrays: Any) -> tuple[Any, ...]:
        weight, grad, *kept, weight32 = arrays
        fresh, *kept = rule(xp, attrs, weight32, grad.astype(weight32.dtype), *kept, lr=attrs.lr, wd=attrs.wd)
        return fresh.astype(weight.dtype), *kept, fresh

    kept = (*states, "weight32")
    count = 2 + len(kept)
    dtypes = ("float16", "float16", *["float32"] * len(kept))
    return OpDef(
        name,
        kernel,
        inputs=("weight", "grad", *kept),
        attrs=attrs,
        infer_dtype=master_dtype,
        aux=kept,
        mutates=kept,
        doc=f"{doc} Computed on the float32 copy `weight32`; the output is the new weight in its own dtype.",
        samples=(
            Sample(((2, 3),) * count, {"lr": 0.1}, low=0.1, dtypes=dtypes),
            Sample(((1,),) * count, {"lr": 0.1, "wd": 0.1}, low=0.1, dtypes=dtypes),
            Sample(((0, 2),) * count, {"lr": 0.1}, dtypes=dtypes),
        ),
    )


def master_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    """weight, grad and the output have one dtype; the states and the master copy are float32."""
    half = unify_dtypes([*ins[:2], *outs])
    return [half, half, *[d or "float32" for d in ins[2:]]], [half]


@dataclass(frozen=True, slots=True)
class _Multi:
    """How the inputs of an update of many weights are laid out: see `multi_record`."""

    step: Callable[..., Sequence[Any]]
    group: tuple[str, ...]
    counter: str
    tail: tuple[str, ...]

    def count(self, attrs: Attrs) -> int:
        return int(getattr(attrs, self.counter))

    def names(self, attrs: Attrs) -> tuple[str, ...]:
        numbered = [f"{base}_{i}" for i in range(self.count(attrs)) for base in self.group]
        return (*numbered, *self.tail)

    def output_names(self, attrs: Attrs) -> tuple[str, ...]:
        return tuple(f"output{i}" for i in range(self.count(attrs)))

    def split(self, attrs: Attrs, values: Sequence[Any]) -> tuple[list[Sequence[Any]], Sequence[Any]]:
        """The values of each weight's group, and those of the tail."""
        width, count = len(self.group), self.count(attrs)
        return [values[i * width : (i + 1) * width] for i in range(count)], values[count * width :]

    def kernel(self, xp: Any, attrs: Attrs, *arrays: Any) -> tuple[Any, ...]:
        groups, shared = self.split(attrs, arrays)
        weights, kept = [], []
        for i, mine in enumerate(groups):
            fresh, *changed = self.step(xp, attrs, i, mine, shared)
            weights.append(fresh.astype(mine[0].dtype, copy=False))
            kept += [narrow(c, a) for c, a in zip(changed, mine[2:])]
        return (*weights, *kept)

    def infer_shape(self, attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
        _check_rates(attrs, self.count(attrs))
        groups, shared = self.split(attrs, ins)
        found = [unify_all([*mine, out]) for mine, out in zip(groups, outs)]
        rates: Shape = (self.count(attrs),)
        tail = [unify(s, rates) if n in ("lrs", "wds") else s for s, n in zip(shared, self.tail)]
        return [*[shape for shape in found for _ in self.group], *tail], found

    def infer_dtype(self, attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
        groups, shared = self.split(attrs, ins)
        rule = master_dtype if "weight32" in self.group else same_dtype
        found = [rule(attrs, list(mine), [out]) for mine, out in zip(groups, outs)]
        return [*[d for mine, _ in found for d in mine], *shared], [out[0] for _, out in found]


def multi_record(
    name: str,
    step: Callable[..., Sequence[Any]],
    group: tuple[str, ...],
    attrs: tuple[Attr, ...],
    counter: str,
    doc: str,
    tail: tuple[str, ...] = (),
    given: Mapping[str, Any] | None = None,
) -> OpDef:
    """The record of an update of many weights.

    `step(xp, attrs, index, arrays, tail arrays)` updates one: it returns the new weight, then the new values of the
    group's inputs behind `grad`. `group` names the inputs of one weight, `tail` those that all share.
    """
    layout = _Multi(step, group, counter, tail)
    return OpDef(
        name,
        layout.kernel,
        inputs=group,
        attrs=attrs,
        outputs=layout.output_names,
        variadic=counter,
        active_inputs=layout.names,
        infer_shape=layout.infer_shape,
        infer_dtype=layout.infer_dtype,
        aux=group[2:],
        mutates=group[2:],
        doc=f"{doc} The outputs are the new weights{_changing(group[2:])}.",
        samples=_multi_samples(layout, {counter: 2, **(given or {})}),
    )


def _multi_samples(layout: _Multi, attrs: dict[str, Any]) -> tuple[Sample, ...]:
    width = len(layout.group)
    states = ("float32",) * (width - 2)
    half = "float16" if "weight32" in layout.group else "float32"
    tail = [(2,) if n in ("lrs", "wds") else (1,) for n in layout.tail]
    return (
        Sample(
            (*((2, 3),) * width, *((4,),) * width, *tail),
            attrs,
            low=0.1,
            dtypes=(*(half, half, *states) * 2, *["float32"] * len(tail)),
        ),
        Sample(((2, 3),) * width, attrs, error="MXNetError"),
    )


def _check_rates(attrs: Attrs, count: int) -> None:
    for name in ("lrs", "wds", "etas", "learning_rates", "step_count"):
        values = getattr(attrs, name, None)
        if values is not None and len(values) != count:
            raise MXNetError(f"`{name}` must have one number for each of the {count} weights, got {len(values)}")


def _samples(count: int, given: dict[str, Any]) -> tuple[Sample, ...]:
    rate = {"lr": 0.1, **given}
    decayed = {"lr": 0.1, "wd": 0.1, "rescale_grad": 0.5, **given}
    return (
        Sample(((2, 3),) * count, rate, low=0.1),
        Sample(((1,),) * count, decayed, low=0.1),
        Sample(((3, 1, 5),) * count, decayed, low=0.1),
        Sample(((0, 2),) * count, rate),
        Sample(((2, 3),) * (count - 1) + ((2, 4),), rate, error="MXNetError"),
        Sample(((2, 3),) * count, dict(given), error="MXNetError"),
    )


def _changing(states: tuple[str, ...]) -> str:
    return f"; {', '.join(f'`{s}`' for s in states)} change in place" if states else ""


#: Rates of the samples of `multi_*` records.
SAMPLE_RATES = {"lrs": _RATES[0], "wds": _RATES[1]}
