"""Draws the inputs that an operator record's samples ask for, and calls the operator on them."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from autohybrid.ndarray import NDArray
from autohybrid.tensor.array import wrap
from autohybrid.tensor.gradient_namespace import gradient_namespace
from autohybrid.tensor.opdef import OpDef, Sample
from autohybrid.tensor.ops import records


def pairs(errors: bool = False) -> list[tuple[OpDef, int]]:
    """Every record with the number of each of its samples; only those that must raise, or only those that must not."""
    return [(op, k) for op in records() for k, sample in enumerate(op.samples) if (sample.error is not None) == errors]


def label(value: Any) -> str:
    """The test id of a record or a sample number."""
    return value.name if isinstance(value, OpDef) else str(value)


def draw(op: OpDef, sample: Sample, dtype: str | None = None) -> list[np.ndarray[Any, Any]]:
    """The inputs of a sample, the same on every call. `dtype` replaces every floating-point dtype."""
    rng = np.random.default_rng(zlib.crc32(f"{op.name}{op.samples.index(sample)}".encode()))
    arrays = []
    for k, shape in enumerate(sample.shapes):
        name = sample.dtypes[k] if sample.dtypes else "float32"
        values = rng.uniform(sample.low, sample.high, shape)
        if k in sample.values:
            values = np.asarray(sample.values[k], dtype="float64").reshape(shape)
        elif name.startswith(("int", "uint")):
            values = np.floor(values)
        if dtype is not None and name.startswith("float"):
            name = dtype
        arrays.append(values.astype(name))
    return arrays


def call(op: OpDef, attrs: Mapping[str, Any], inputs: list[NDArray]) -> list[NDArray]:
    """The visible outputs of the operator."""
    result = getattr(gradient_namespace(), op.name)(*inputs, **attrs)
    return [result] if isinstance(result, NDArray) else list(result)


def run(op: OpDef, sample: Sample, arrays: list[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
    """The values of the visible outputs for fresh copies of these inputs."""
    return [out.asnumpy() for out in call(op, sample.attrs, [wrap(a.copy()) for a in arrays])]
