"""Parameter: the weights of blocks. One array for each device, with its gradient; initialised when its shape is known.

`Constant` and `ParameterDict` have files of their own and are offered here too, as in MXNet.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from autohybrid.context import Context, cpu, current_context
from autohybrid.errors import DeferredInitializationError
from autohybrid.gluon.parameter_errors import UninitializedParameterError, deferred_message
from autohybrid.numpy_semantics import is_np_array
from autohybrid.tensor import autograd, random_state
from autohybrid.tensor.array import NDArray, mark_variable, wrap
from autohybrid.tensor.backend import namespace_of, to_device
from autohybrid.tensor.epoch import epoch
from autohybrid.tensor.numpy_array import ndarray
from autohybrid.tensor.tape import state

if TYPE_CHECKING:
    from autohybrid.gluon.constant import Constant
    from autohybrid.gluon.parameter_dict import ParameterDict

__all__ = ["Constant", "DeferredInitializationError", "Parameter", "ParameterDict"]
_STORAGE_TYPES = ("default", "row_sparse", "csr")


def __getattr__(name: str) -> Any:
    if name == "Constant":
        from autohybrid.gluon.constant import Constant

        return Constant
    if name == "ParameterDict":
        from autohybrid.gluon.parameter_dict import ParameterDict

        return ParameterDict
    if name == "tensor_types":
        from autohybrid.symbol import Symbol

        return (Symbol, NDArray)
    raise AttributeError(f"module 'autohybrid.gluon.parameter' has no attribute '{name}'")


class Parameter:
    """A weight of a block: its arrays (one for each device), gradients and how they start (MXNet 1.9.1's).

    An extent of 0 in `shape` is unknown and inferred by the first forward pass (`allow_deferred_init`). `grad_req`:
    'write', 'add' or 'null'. `lr_mult`, `wd_mult` scale the optimizer's learning rate and weight decay.

    >>> weight = mx.gluon.Parameter('weight', shape=(2, 2), init='ones')
    >>> weight.initialize()
    >>> weight.data().sum().asscalar()
    4.0
    """

    def __init__(
        self,
        name: str,
        grad_req: str = "write",
        shape: int | Sequence[int] | None = None,
        dtype: Any = np.float32,
        lr_mult: float = 1.0,
        wd_mult: float = 1.0,
        init: Any = None,
        allow_deferred_init: bool = False,
        differentiable: bool = True,
        stype: str = "default",
        grad_stype: str = "default",
    ) -> None:
        for what, given in (("stype", stype), ("grad_stype", grad_stype)):
            if given not in _STORAGE_TYPES:
                raise AssertionError(f"`{what}` of parameter `{name}` must be one of {_STORAGE_TYPES}, not {given!r}")
        self.name = name
        self.lr_mult = lr_mult
        self.wd_mult = wd_mult
        self.init = init
        self._shape = _as_shape(shape)
        self._dtype = dtype
        self._stype = stype
        #: Whether `data()` is the array itself: it is dense, and no subclass computes with it.
        self._gives_its_array = stype == "default" and type(self).data is Parameter.data
        self._grad_stype = grad_stype
        self._allow_deferred_init = allow_deferred_init
        self._differentiable = differentiable
        self._data: list[NDArray] | None = None
        self._grad: list[NDArray] | None = None
        self._ctx_list: list[Context] | None = None
        #: MXNet's table from devices to positions, which packages copy from one parameter to another; not read here.
        self._ctx_map: None = None
        #: (initializer, devices, default initializer, array or None), () when nothing is pending.
        self._deferred_init: tuple[Any, ...] = ()
        self._grad_req: str | None = None
        self._trainer: Any = None
        self._var: Any = None
        #: Class and name of the block that owns it, and the argument that would have told the shape; for messages.
        self._owner: tuple[str, str, str | None] | None = None
        self.grad_req = grad_req

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_data":
            epoch.move()  # compiled graphs hold the arrays
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        return f"Parameter {self.name} (shape={self.shape}, dtype={self.dtype})"

    def describe(self) -> str:
        """Name, shape and owner, for messages."""
        owner = f" of {self._owner[0]} `{self._owner[1]}`" if self._owner else ""
        return f"parameter `{self.name}` (shape {self.shape}){owner}"

    # -- what it is --------------------------------------------------------------------------------------------------
    @property
    def grad_req(self) -> str:
        """What `backward` does with the gradient: 'write', 'add' or 'null'. May be set at any time."""
        assert self._grad_req is not None
        return self._grad_req

    @grad_req.setter
    def grad_req(self, req: str) -> None:
        if req not in ("write", "add", "null"):
            raise AssertionError(f"grad_req must be 'write', 'add' or 'null', not {req!r}")
        if not self._differentiable:
            req = "null"
        if self._grad_req == req:
            return
        self._grad_req = req
        if self._data is None:
            return
        if req == "null":
            self._grad = None
            self._data = [array.detach() for array in self._data]
        else:
            self._init_grad()

    @property
    def dtype(self) -> Any:
        """The dtype, as it was given. Setting it casts."""
        return self._dtype

    @dtype.setter
    def dtype(self, dtype: Any) -> None:
        self.cast(dtype)

    @property
    def stype(self) -> str:
        """Storage type of the values."""
        return self._stype

    @property
    def grad_stype(self) -> str:
        """Storage type of the gradient."""
        return self._grad_stype

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape; 0 stands for an extent not known yet, None for an unknown rank."""
        return self._shape

    @shape.setter
    def shape(self, shape: int | Sequence[int] | None) -> None:
        new = _as_shape(shape)
        old = self._shape
        if old is not None and (new is None or len(old) != len(new) or any(o > 0 and n != o for o, n in zip(old, new))):
            raise AssertionError(f"{self.describe()}: shape {new} does not fit the shape that was declared")
        self._shape = new

    # -- values ------------------------------------------------------------------------------------------------------
    def data(self, ctx: Context | None = None) -> NDArray:
        """The array on `ctx` (default: the only one, or that of the current device); not a copy.

        Raises DeferredInitializationError before the shape is known, RuntimeError before `initialize()`, on another
        device, and for sparse storage.
        """
        self._refuse_sparse("data", "row_sparse_data")
        array = self._check_and_get(self._data, ctx)
        if state.builder is not None:
            return state.builder.lift(array, self.name, lambda: self._check_and_get(self._data, ctx))  # type: ignore[no-any-return]
        return array  # type: ignore[no-any-return]

    def list_data(self) -> list[NDArray]:
        """The arrays on all devices. Raises as `data` does."""
        self._refuse_sparse("list_data", "list_row_sparse_data")
        return self._check_and_get(self._data, list)  # type: ignore[no-any-return]

    def grad(self, ctx: Context | None = None) -> NDArray:
        """The gradient on `ctx`. Raises RuntimeError where `grad_req` is 'null', and as `data` does."""
        self._refuse_null()
        return self._check_and_get(self._grad, ctx)  # type: ignore[no-any-return]

    def list_grad(self) -> list[NDArray]:
        """The gradients on all devices."""
        self._refuse_null()
        return self._check_and_get(self._grad, list)  # type: ignore[no-any-return]

    def list_ctx(self) -> list[Context]:
        """The devices it is, or will be, initialised on."""
        if self._data is not None and self._ctx_list is not None:
            return self._ctx_list
        if self._deferred_init:
            return self._deferred_init[1]  # type: ignore[no-any-return]
        raise UninitializedParameterError([self])

    def row_sparse_data(self, row_id: NDArray) -> NDArray:
        """The rows `row_id` of a row_sparse parameter. Raises RuntimeError for another storage type."""
        return self._row_sparse(self._check_and_get(self._data, row_id._ctx), row_id)

    def list_row_sparse_data(self, row_id: NDArray) -> list[NDArray]:
        """`row_sparse_data` on all devices."""
        return [self._row_sparse(array, row_id) for array in self._check_and_get(self._data, list)]

    def _row_sparse(self, array: NDArray, row_id: NDArray) -> NDArray:
        if self._stype != "row_sparse":
            raise RuntimeError(f"{self.describe()} has storage type {self._stype!r}, not 'row_sparse'; use data()")
        if self._trainer is None:
            raise RuntimeError(f"{self.describe()}: row_sparse values are read through a Trainer; create one first")
        self._trainer._row_sparse_pull(self, array, row_id)
        return array

    def set_data(self, data: Any) -> None:
        """Set the values on all devices. Raises AssertionError for another shape, or before `initialize()`."""
        self.shape = data.shape
        if self._data is None:
            if not self._deferred_init:
                raise AssertionError(f"{self.describe()} has not been initialized; call `initialize()` first")
            self._deferred_init = (*self._deferred_init[:3], data)
            return
        trainer = self._trainer
        if trainer and trainer._kv_initialized and trainer._update_on_kvstore and self not in trainer._params_to_init:
            trainer._reset_kvstore()  # its store holds the old values
        for array in self._data:
            array[:] = data

    def zero_grad(self) -> None:
        """Set the gradients to zero, where there are any."""
        for gradient in self._grad or ():
            gradient[:] = 0

    def var(self) -> Any:
        """The Symbol variable that stands for it; always the same one."""
        if self._var is None:
            from autohybrid import symbol

            self._var = symbol.var(
                self.name, shape=self.shape, dtype=self.dtype, lr_mult=self.lr_mult, wd_mult=self.wd_mult,
                init=self.init, stype=self._stype,
            )  # fmt: skip
        return self._var

    # -- initialisation ------------------------------------------------------------------------------------------------
    def initialize(
        self, init: Any = None, ctx: Any = None, default_init: Any = None, force_reinit: bool = False
    ) -> None:
        """Make the arrays on `ctx` (a device or several) with `init`, else the parameter's own, else `default_init`.

        With unknown extents it happens at the first forward pass. Raises ValueError where that is not allowed.
        """
        if self._data is not None and not force_reinit:
            warnings.warn(
                f"{self.describe()} is already initialized, ignoring; pass force_reinit=True to start over",
                stacklevel=2,
            )
            return
        self._data = self._grad = None
        if default_init is None:
            from autohybrid.optim.initializer import Uniform

            default_init = Uniform()
        if init is None:
            init = default_init if self.init is None else self.init
        self._deferred_init = (init, _as_devices(ctx), default_init, None)
        if _is_whole(self._shape):
            self._finish_deferred_init()
        elif not self._allow_deferred_init:
            self._deferred_init = ()
            raise ValueError(
                f"cannot initialize {self.describe()}: its shape is not fully known; give it, or create the parameter "
                "with allow_deferred_init=True"
            )

    def _finish_deferred_init(self) -> None:
        """Make the arrays that `initialize` put off. Raises AssertionError while the shape is not known."""
        if not self._deferred_init:
            return
        init, devices, default_init, data = self._deferred_init
        if not _is_whole(self._shape):
            raise AssertionError(deferred_message([self], "cannot be initialized: "))
        self._deferred_init = ()
        with autograd.pause(), outside_graph(), random_state.stream("initializers"):
            if data is None:
                from autohybrid.optim import initializer

                data = wrap(namespace_of(cpu()).zeros(self._shape, dtype=np.dtype(self.dtype)), cpu())
                initializer.create(default_init)(initializer.InitDesc(self.name, {"__init__": init}), data)
            self._init_impl(data, devices)

    def _init_impl(self, data: NDArray, devices: Iterable[Context]) -> None:
        self._ctx_list = list(devices)
        dtype = np.dtype(self.dtype)
        dense = data if data.stype == "default" else data.tostype("default")
        arrays = [wrap(to_device(dense._data.astype(dtype), ctx), ctx) for ctx in self._ctx_list]
        if is_np_array():
            arrays = [array.as_class(numpy=True) for array in arrays]
        self._data = arrays if self._stype == "default" else [array.tostype(self._stype) for array in arrays]
        self._init_grad()

    def _init_grad(self) -> None:
        if self.grad_req == "null":
            self._grad = None
            return
        assert self._data is not None
        self._grad = [self._zeros_like(array) for array in self._data]
        for array, gradient in zip(self._data, self._grad):
            mark_variable(array, gradient, self.grad_req)

    def _zeros_like(self, array: NDArray) -> NDArray:
        zeros = wrap(namespace_of(array._ctx).zeros(array.shape, dtype=np.dtype(array.dtype)), array._ctx)
        zeros.as_class(numpy=isinstance(array, ndarray))
        return zeros if self._grad_stype == "default" else zeros.tostype(self._grad_stype)

    def _load_init(self, data: Any, ctx: Any, cast_dtype: bool = False, dtype_source: str = "current") -> None:
        """Take the values of `data`, initialising on `ctx` if need be. Raises AssertionError on another shape, dtype
        (unless `cast_dtype`) or device."""
        if cast_dtype and dtype_source not in ("current", "saved"):
            raise AssertionError(f"dtype_source must be 'current' or 'saved', not {dtype_source!r}")
        if self._shape is not None:
            known = self._shape
            if len(known) != len(data.shape) or any(k > 0 and k != d for k, d in zip(known, data.shape)):
                raise AssertionError(f"cannot load {self.describe()}: the saved array has shape {data.shape}")
        self._shape = tuple(data.shape)
        data = self._load_dtype(data, cast_dtype, dtype_source)
        devices = [ctx] if isinstance(ctx, Context) else None if ctx is None else list(ctx)
        if self._data is None and not self._deferred_init:
            self._init_impl(data, devices or [cpu()])
            return
        if devices is not None and set(devices) != set(self.list_ctx()):
            raise AssertionError(
                f"cannot load {self.describe()} on {devices}: it was initialized on {self.list_ctx()}; "
                "call reset_ctx() first"
            )
        if self._data is None:
            self._init_impl(data, self._deferred_init[1])
        else:
            self.set_data(data)
        self._deferred_init = ()

    def _load_dtype(self, data: Any, cast_dtype: bool, dtype_source: str) -> Any:
        if not self.dtype or np.dtype(self.dtype) == np.dtype(data.dtype):
            return data
        if not cast_dtype:
            raise AssertionError(
                f"cannot load {self.describe()}: it has dtype {np.dtype(self.dtype)}, the saved array "
                f"{np.dtype(data.dtype)}; pass cast_dtype=True to convert"
            )
        if dtype_source == "current":
            return data.astype(self.dtype)
        self.cast(data.dtype)
        return data

    # -- moving and casting --------------------------------------------------------------------------------------------
    def reset_ctx(self, ctx: Any) -> None:
        """Move to other devices. Raises ValueError before `initialize()`."""
        devices = _as_devices(ctx)
        if self._data is not None:
            data = self._reduce()
            with autograd.pause():
                self._init_impl(data, devices)
        elif self._deferred_init:
            init, _, default_init, data = self._deferred_init
            self._deferred_init = (init, devices, default_init, data)
        else:
            raise ValueError(f"cannot reset the context of {self.describe()}: it has not been initialized")

    def cast(self, dtype: Any) -> None:
        """Convert values and gradients to another dtype."""
        self._dtype = dtype
        self._var = None
        if self._data is None:
            return
        with autograd.pause():
            self._data = [array.astype(dtype) for array in self._data]
            if self._grad is None:
                return
            self._grad = [array.astype(dtype) for array in self._grad]
            for array, gradient in zip(self._data, self._grad):
                mark_variable(array, gradient, self.grad_req)

    def _reduce(self) -> NDArray:
        """The values on the CPU; the mean over devices."""
        copies = [array.copyto(cpu()) for array in self._check_and_get(self._data, list)]
        if len(copies) == 1:
            return copies[0]  # type: ignore[no-any-return]
        total = sum(copy._data for copy in copies) / len(copies)
        return wrap(total.astype(copies[0]._data.dtype), cpu())

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_var": None, "_trainer": None}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        """A copy, or what was pickled, trains like the original (MXNet's does not)."""
        self.__dict__.update(saved)
        for array, gradient in zip(self._data or (), self._grad or ()):
            mark_variable(array, gradient, self.grad_req)

    def _set_trainer(self, trainer: Any) -> None:
        """Remember the Trainer. Raises RuntimeError for a second Trainer of a sparse parameter."""
        if self._stype != "default" and self._trainer and trainer and self._trainer is not trainer:
            raise RuntimeError(f"{self.describe()} is {self._stype} and already has a Trainer; it can have only one")
        self._trainer = trainer

    def _check_and_get(self, arrays: list[NDArray] | None, ctx: Any) -> Any:
        if arrays is None:
            if self._deferred_init:
                raise DeferredInitializationError(deferred_message([self]))
            raise UninitializedParameterError([self])
        if ctx is list:
            return arrays
        if ctx is None:
            if len(arrays) == 1:
                return arrays[0]
            ctx = current_context()
        assert self._ctx_list is not None
        for own, array in zip(self._ctx_list, arrays):
            # Pinned and shared host memory is the CPU's, as MXNet has it.
            if own is ctx or ((own.device_typeid ^ ctx.device_typeid) & 1 == 0 and own.device_id == ctx.device_id):
                return array
        raise RuntimeError(f"{self.describe()} was not initialized on {ctx}, only on {self._ctx_list}")

    def _refuse_sparse(self, method: str, instead: str) -> None:
        if self._stype != "default":
            raise RuntimeError(
                f"{self.describe()} has storage type {self._stype!r}: use {instead}() instead of {method}()"
            )

    def _refuse_null(self) -> None:
        if self._data is not None and self._grad is None:
            raise RuntimeError(f"{self.describe()} has no gradient because its grad_req is 'null'")


@contextmanager
def outside_graph() -> Iterator[None]:
    """Run operators now, also while a graph is being built."""
    builder, state.builder = state.builder, None
    try:
        yield
    finally:
        state.builder = builder


def _as_shape(shape: int | Sequence[int] | None) -> tuple[int, ...] | None:
    if shape is None:
        return None
    if isinstance(shape, (int, np.integer)):
        return (int(shape),)
    return tuple([0 if extent == -1 else int(extent) for extent in shape])


def _is_whole(shape: tuple[int, ...] | None) -> bool:
    return shape is not None and all(extent > 0 for extent in shape)


def _as_devices(ctx: Any) -> list[Context]:
    if ctx is None:
        return [current_context()]
    return [ctx] if isinstance(ctx, Context) else list(ctx)
