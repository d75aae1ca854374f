"""NumpySymbol: a Symbol with the operators and methods of numpy mode, and the dialect that makes such symbols."""

from __future__ import annotations

from typing import Any

from autohybrid.graph.compose import make_call
from autohybrid.graph.symbol import Symbol
from autohybrid.tensor.frontend import BoundCall
from autohybrid.tensor.namespaces import name_hint
from autohybrid.tensor.numpy_arithmetic import operators
from autohybrid.tensor.numpy_functions import functions
from autohybrid.tensor.ops import get_operator


class NumpySymbol(Symbol):
    """Outputs of a graph with numpy's operators: `x + y` broadcasts, `x == y` is boolean.

    A subscript of a symbol with several outputs picks one; of one with a single output it is what a subscript of an
    `mx.np` array is, for integers, slices, None and `...`.
    """

    __slots__ = ()

    def as_np_ndarray(self) -> NumpySymbol:
        """Itself."""
        return self

    def as_nd_ndarray(self) -> Symbol:
        """The classic symbol of the same outputs."""
        return Symbol(self._heads)

    def __iter__(self) -> Any:
        return (NumpySymbol([head]) for head in self._heads)

    def __getitem__(self, key: Any) -> Any:
        if len(self._heads) > 1 or isinstance(key, str):
            return NumpySymbol(super().__getitem__(key)._heads)
        return _subscript(self, key)


def _subscript(x: NumpySymbol, key: Any) -> Any:
    """A basic subscript with operators: slices, then axes taken away and added. Raises TypeError for another key."""
    parts = key if isinstance(key, tuple) else (key,)
    if not all(p is None or p is Ellipsis or isinstance(p, (int, slice)) for p in parts):
        raise TypeError(f"a subscript of a symbol takes integers, slices, None and `...`, got {key!r}")
    dots = next((k for k, p in enumerate(parts) if p is Ellipsis), len(parts))
    if any(isinstance(p, (int, slice)) for p in parts[dots + 1 :]):
        raise TypeError("behind `...` a subscript of a symbol takes None only: the number of axes is not known here")
    begin: list[int | None] = []
    end: list[int | None] = []
    step: list[int | None] = []
    gone: list[int] = []
    for part in (p for p in parts if p is not None and p is not Ellipsis):
        if isinstance(part, slice):
            begin.append(part.start)
            end.append(part.stop)
            step.append(part.step)
        else:
            gone.append(len(begin))
            begin.append(part)
            end.append(part + 1 or None)
            step.append(None)
    if begin:
        attrs = {"begin": tuple(begin), "end": tuple(end)}
        x = SYMBOLS.call("_npi_slice", x, **attrs, **({"step": tuple(step)} if set(step) != {None} else {}))
    if gone:
        x = SYMBOLS.call("_np_squeeze", x, axis=tuple(gone))
    place = 0
    for part in parts:
        if part is Ellipsis:
            place = -1
        elif part is None:
            x = SYMBOLS.call("_npi_expand_dims", x, axis=place)
        if part is None or (isinstance(part, slice) and place >= 0):
            place += place >= 0
    return x


class SymbolDialect:
    """Numpy mode on symbols."""

    symbolic = True

    def call(self, name: str, *inputs: Any, out: Any = None, **attrs: Any) -> Any:
        """A call as a node. Raises TypeError for an input that is no symbol."""
        op = get_operator(name)
        for value in inputs:
            if not isinstance(value, Symbol):
                raise TypeError(f"{name}: an input must be a symbol, got {type(value).__name__}")
        if op.variadic is not None and op.active_inputs is None:
            attrs = {op.variadic: len(inputs), **attrs}
        made = make_call(BoundCall(op, name, op.parse(attrs), inputs, None, None, None), name_hint(name))
        return NumpySymbol(made._heads)

    def is_tensor(self, value: Any) -> bool:
        """Whether a value is a symbol."""
        return isinstance(value, Symbol)

    def constant(self, value: Any) -> Any:
        """Raises TypeError: a graph has no constants of several elements."""
        if isinstance(value, (int, float)):
            return self.call("_npi_full", shape=(), value=float(value))
        raise TypeError(f"a symbol is needed here, got {type(value).__name__}; make it a variable")


SYMBOLS = SymbolDialect()


def call_operator(call: BoundCall) -> NumpySymbol:
    """What `sym.npx.<operator>(...)` does."""
    return NumpySymbol(make_call(call, name_hint(call.registered))._heads)


def _call(name: str, *args: Any, **kwargs: Any) -> Any:
    """The function `mx.np.<name>` on symbols."""
    return functions()[""][name](SYMBOLS, *args, **kwargs)


def _method(name: str) -> Any:
    function = functions()[""][name]

    def method(self: NumpySymbol, *args: Any, **kwargs: Any) -> Any:
        return function(SYMBOLS, self, *args, **kwargs)

    method.__name__ = name
    method.__doc__ = function.__doc__
    return method


def _reshape(self: NumpySymbol, *args: Any, order: str = "C") -> Any:
    """The elements in another shape, given as extents or as a tuple; one may be -1."""
    shape = args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args
    return _call("reshape", self, tuple(shape), order)


def _transpose(self: NumpySymbol, *axes: Any) -> Any:
    """The array with its axes in another order; reversed by default."""
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
        axes = tuple(axes[0] or ())
    return _call("transpose", self, axes or None)


def _astype(self: NumpySymbol, dtype: Any, **kwargs: Any) -> Any:
    """The values in another dtype."""
    return SYMBOLS.call("_npi_cast", self, dtype=dtype)


def _flatten(self: NumpySymbol, order: str = "C") -> Any:
    """All elements as a vector."""
    return _call("ravel", self, order)


def _floor_divide(self: NumpySymbol, other: Any) -> Any:
    return SYMBOLS.call("_npi_floor", self / other)


_SAME = (
    "all", "any", "argmax", "argmin", "argsort", "clip", "cumsum", "diag", "diagonal", "dot", "max", "mean", "min",
    "prod", "repeat", "round", "sort", "squeeze", "std", "sum", "swapaxes", "take", "tile", "trace", "var", "copy",
    "expand_dims", "flip", "broadcast_to", "abs", "sign", "sqrt", "square", "exp", "log", "sin", "cos", "tanh", "floor",
    "ceil", "ravel", "split", "zeros_like", "ones_like",
)  # fmt: skip


def _install() -> None:
    for name, method in operators(SYMBOLS, None).items():
        setattr(NumpySymbol, name, method)
    for name in _SAME:
        setattr(NumpySymbol, name, _method(name))
    methods: dict[str, Any] = {
        "reshape": _reshape, "transpose": _transpose, "astype": _astype, "flatten": _flatten,
        "T": property(lambda self: self.transpose(), doc="The array with its axes reversed."),
        "__neg__": lambda self: SYMBOLS.call("_npi_negative", self),
        "__abs__": lambda self: SYMBOLS.call("_npi_abs", self),
        "__invert__": lambda self: SYMBOLS.call("_npi_bitwise_not", self),
        "__floordiv__": _floor_divide, "__hash__": None,
        "__matmul__": lambda self, other: _call("matmul", self, other),
        "__rmatmul__": lambda self, other: _call("matmul", other, self),
    }  # fmt: skip
    for name, value in methods.items():
        setattr(NumpySymbol, name, value)


_install()
