"""contrib.allclose, fft, ifft and count_sketch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Dtypes, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.shapes import same_floating, unify, unify_dtypes

_SIZE = (Attr("compute_size", "int", 128),)


def _allclose_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    if ins[0] is not None and ins[1] is not None:
        unify(ins[0], ins[1])
    return ins, [unify((), outs[0])]


def _allclose_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Sequence[str | None], Sequence[str | None]]:
    dtype = unify_dtypes(ins)
    return [dtype, dtype], ["uint8"]


def _allclose(xp: Any, attrs: Attrs, a: Any, b: Any) -> Any:
    close = xp.abs(a - b) <= attrs.atol + attrs.rtol * xp.abs(b)
    close |= a == b
    if attrs.equal_nan:
        close |= xp.isnan(a) & xp.isnan(b)
    return xp.asarray(close.all(), dtype=xp.uint8)


def _needs_gpu(xp: Any, name: str) -> None:
    if not hasattr(xp, "cuda"):
        raise MXNetError(
            f"contrib.{name} runs on GPUs only, as in MXNet; move the arrays with `as_in_context(mx.gpu())`"
        )


def _spectrum_shape(factor: float) -> Any:
    def infer(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
        data = ins[0]
        if data is None:
            return ins, outs
        if len(data) not in (2, 4):
            raise MXNetError(f"data must have 2 or 4 dimensions, got {data}")
        return ins, [unify((*data[:-1], -1 if data[-1] == -1 else int(data[-1] * factor)), outs[0])]

    return infer


def _fft(xp: Any, attrs: Attrs, data: Any) -> Any:
    _needs_gpu(xp, "fft")
    spectrum = xp.fft.fft(data, axis=-1)
    return xp.stack([spectrum.real, spectrum.imag], axis=-1).reshape(*data.shape[:-1], -1).astype(data.dtype)


def _ifft(xp: Any, attrs: Attrs, data: Any) -> Any:
    _needs_gpu(xp, "ifft")
    pairs = data.reshape(*data.shape[:-1], -1, 2)
    signal = xp.fft.ifft(pairs[..., 0] + 1j * pairs[..., 1], axis=-1)
    return (signal.real * signal.shape[-1]).astype(data.dtype)


def _sketch_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data = ins[0]
    if data is None:
        return ins, outs
    row = (1, data[-1])
    return [data, unify(ins[1], row), unify(ins[2], row)], [unify((*data[:-1], attrs.out_dim), outs[0])]


def _sketch(xp: Any, attrs: Attrs, data: Any, h: Any, s: Any) -> Any:
    _needs_gpu(xp, "count_sketch")
    targets = (h.reshape(-1, 1).astype(xp.int64) == xp.arange(attrs.out_dim)).astype(data.dtype)
    return xp.matmul(data, s.reshape(-1, 1) * targets)


def _sketch_grad(F: Any, node: Any, heads: Sequence[Any]) -> list[Any]:
    _, h, s = node.inputs
    return [F._backward_count_sketch(heads[0], h, s), None, None]


def _sketch_backward(xp: Any, attrs: Attrs, head: Any, h: Any, s: Any) -> Any:
    return xp.take(head, h.reshape(-1).astype(xp.int64), axis=-1) * s.reshape(-1)


OPERATORS = (
    OpDef(
        "_contrib_allclose",
        _allclose,
        inputs=("a", "b"),
        attrs=(Attr("rtol", "float", 1e-5), Attr("atol", "float", 1e-8), Attr("equal_nan", "bool", True)),
        infer_shape=_allclose_shape,
        infer_dtype=_allclose_dtype,
        doc="1 (uint8, without axes) when |a - b| <= atol + rtol * |b| everywhere, else 0.",
        samples=(Sample(((2, 3), (2, 3))), Sample(((0,), (0,))), Sample(((2, 3), (3, 2)), error="MXNetError")),
    ),
    OpDef(
        "_contrib_fft",
        _fft,
        attrs=_SIZE,
        infer_shape=_spectrum_shape(2),
        infer_dtype=same_floating,
        grad=lambda F, node, heads: F._contrib_ifft(heads[0]),
        doc="""The Fourier transform along the last axis, real and imaginary parts interleaved: (n, 2 d). On GPUs
        only.""",
        samples=(Sample(((2, 4),), error="MXNetError"),),
    ),
    OpDef(
        "_contrib_ifft",
        _ifft,
        attrs=_SIZE,
        infer_shape=_spectrum_shape(0.5),
        infer_dtype=same_floating,
        grad=lambda F, node, heads: F._contrib_fft(heads[0]),
        doc="The inverse transform of (n, 2 d) interleaved parts, real parts times d: (n, d). On GPUs only.",
        samples=(Sample(((2, 4),), error="MXNetError"),),
    ),
    OpDef(
        "_contrib_count_sketch",
        _sketch,
        inputs=("data", "h", "s"),
        attrs=(Attr("out_dim", "int"), Attr("processing_batch_size", "int", 32)),
        infer_shape=_sketch_shape,
        infer_dtype=same_floating,
        grad=_sketch_grad,
        doc="Adds column i of data (n, d), times s[i], to column h[i] of (n, out_dim). On GPUs only.",
        samples=(Sample(((2, 4), (1, 4), (1, 4)), {"out_dim": 3}, error="MXNetError"),),
    ),
    OpDef(
        "_backward_count_sketch",
        _sketch_backward,
        inputs=("head", "h", "s"),
        infer_shape=lambda attrs, ins, outs: (ins, outs),
        doc="The gradient of count_sketch for its data.",
        samples=(Sample(((2, 3), (1, 4), (1, 4)), low=0, high=3),),
    ),
)
