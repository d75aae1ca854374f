"""ParameterDict: parameters by name, made on demand with a prefix, possibly shared with another dictionary."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import Any

import numpy as np

from autohybrid.gluon.constant import Constant
from autohybrid.gluon.parameter import Parameter
from autohybrid.gluon.parameter_files import load_by_name, named_values
from autohybrid.tensor.array import NDArray


class ParameterDict:
    """Parameters by full name. `get` makes those that neither it nor `shared` has, with `prefix` before the name.

    >>> params = mx.gluon.ParameterDict('model_')
    >>> params.get('weight', shape=(2, 3))
    Parameter model_weight (shape=(2, 3), dtype=<class 'numpy.float32'>)
    """

    def __init__(self, prefix: str = "", shared: ParameterDict | None = None) -> None:
        self._prefix = prefix
        self._params: dict[str, Parameter] = {}
        self._shared = shared

    def __repr__(self) -> str:
        name = f"{self._prefix} " if self._prefix else ""
        body = "\n".join("  " + repr(p).replace("\n", "\n  ") for p in self.values())
        return f"{name}(\n{body}\n)"

    def __getitem__(self, key: str) -> Parameter:
        return self._params[key]

    def __contains__(self, key: object) -> bool:
        return key in self._params

    def __iter__(self) -> Iterator[str]:
        return iter(self._params)

    def __len__(self) -> int:
        return len(self._params)

    def __bool__(self) -> bool:
        return True

    def items(self) -> ItemsView[str, Parameter]:
        """(name, parameter) pairs."""
        return self._params.items()

    def keys(self) -> KeysView[str]:
        """The full names."""
        return self._params.keys()

    def values(self) -> ValuesView[Parameter]:
        """The parameters."""
        return self._params.values()

    @property
    def prefix(self) -> str:
        """What goes before the names given to `get`."""
        return self._prefix

    # -- making and sharing ------------------------------------------------------------------------------------------
    def get(self, name: str, **kwargs: Any) -> Parameter:
        """The parameter `prefix + name`: held, shared, or new with `kwargs` (as for Parameter).

        Raises AssertionError when an existing one contradicts `kwargs`; unknown extents are filled in from either.
        """
        name = self.prefix + name
        found = self._find(name)
        if found is None:
            found = self._params[name] = Parameter(name, **kwargs)
            return found
        for key, value in kwargs.items():
            _agree(found, key, value)
        return found

    def get_constant(self, name: str, value: Any = None) -> Constant:
        """The constant `prefix + name`: held, shared, or new with `value`.

        Raises KeyError for a new one without a value, AssertionError when an existing one differs.
        """
        name = self.prefix + name
        found = self._find(name)
        if found is None:
            if value is None:
                raise KeyError(f"no constant named `{name}`; give `value` to make one")
            made = Constant(name, value)
            self._params[name] = made
            return made
        if not isinstance(found, Constant):
            if value is None:
                return found  # type: ignore[return-value]  # MXNet hands out whatever has the name
            raise AssertionError(f"parameter `{name}` exists and is not a constant")
        if value is not None:
            given = value.asnumpy() if isinstance(value, NDArray) else np.asarray(value)
            if found.shape != given.shape or not (found.value.asnumpy() == given).all():
                raise AssertionError(f"constant `{name}` exists with another value")
        return found

    def _find(self, name: str) -> Parameter | None:
        found = self._params.get(name)
        if found is None and self._shared is not None:
            found = self._shared._params.get(name)
            if found is not None:
                self._params[name] = found
        return found

    def update(self, other: ParameterDict | Mapping[str, Parameter]) -> None:
        """Take in all of `other`. Raises AssertionError when another parameter has one of the names."""
        for name, parameter in other.items():
            if self._params.get(name, parameter) is not parameter:
                raise AssertionError(
                    f"two different parameters are named `{name}`: {self._params[name].describe()} and "
                    f"{parameter.describe()}; give one of the blocks another prefix"
                )
        self._params.update(other.items())

    # -- all at once -------------------------------------------------------------------------------------------------
    def initialize(self, init: Any = None, ctx: Any = None, verbose: bool = False, force_reinit: bool = False) -> None:
        """Initialise all parameters; `init` (default `Uniform()`) is for those without an initializer of their own."""
        if init is None:
            from autohybrid.optim.initializer import Uniform

            init = Uniform()
        if verbose:
            init.set_verbosity(verbose=verbose)
        for parameter in self.values():
            parameter.initialize(None, ctx, init, force_reinit=force_reinit)

    def zero_grad(self) -> None:
        """Set all gradients to zero."""
        for parameter in self.values():
            if parameter.grad_req != "null":
                parameter.zero_grad()

    def reset_ctx(self, ctx: Any) -> None:
        """Move all parameters to other devices."""
        for parameter in self.values():
            parameter.reset_ctx(ctx)

    def list_ctx(self) -> list[Any]:
        """Every device that holds one of the parameters."""
        return list(dict.fromkeys(ctx for parameter in self.values() for ctx in parameter.list_ctx()))

    def setattr(self, name: str, value: Any) -> None:
        """Set an attribute of every parameter: `setattr('grad_req', 'null')` freezes them."""
        for parameter in self.values():
            setattr(parameter, name, value)

    # -- files -------------------------------------------------------------------------------------------------------
    def save(self, filename: str, strip_prefix: str = "") -> None:
        """Write all values by name, without `strip_prefix`. Raises ValueError for a name that lacks it."""
        from autohybrid import ndarray

        ndarray.save(filename, named_values(self.values(), strip_prefix))

    def load(
        self,
        filename: str,
        ctx: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        restore_prefix: str = "",
        cast_dtype: bool = False,
        dtype_source: str = "current",
    ) -> None:
        """Read values by name, `restore_prefix` put before the names in the file; `arg:` and `aux:` are dropped.

        Raises AssertionError for parameters missing in the file and names in it that are not here, unless allowed,
        and when nothing matched at all.
        """
        from autohybrid import ndarray

        for name in self.keys() if restore_prefix else ():
            if not name.startswith(restore_prefix):
                raise AssertionError(f"restore_prefix is {restore_prefix!r}, but parameter `{name}` does not begin so")
        self.load_dict(
            ndarray.load(filename), ctx, allow_missing, ignore_extra, restore_prefix, filename, cast_dtype, dtype_source
        )

    def load_dict(
        self,
        param_dict: Any,
        ctx: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        restore_prefix: str = "",
        filename: str | None = None,
        cast_dtype: bool = False,
        dtype_source: str = "current",
    ) -> None:
        """`load` from a dictionary of arrays instead of a file."""
        where = f"file {filename!r}" if filename else "the dictionary"
        load_by_name(
            self._params, param_dict, where, ctx, allow_missing, ignore_extra, restore_prefix, cast_dtype, dtype_source
        )


def _agree(parameter: Parameter, key: str, value: Any) -> None:
    """Reconcile one keyword of `get` with an existing parameter."""
    existing = getattr(parameter, key, None)
    if existing is None:
        setattr(parameter, key, value)
        return
    if key == "shape" and value is not None:
        merged = _merged_shape((value,) if isinstance(value, int) else tuple(value), existing)
        if merged is not None:
            parameter._shape = merged
            return
    if value is None or (key == "dtype" and np.dtype(value) == np.dtype(existing)) or value == existing:
        return
    raise AssertionError(f"{parameter.describe()} exists with {key}={existing!r}, but {key}={value!r} was asked for")


def _merged_shape(wanted: tuple[int, ...], existing: tuple[int, ...]) -> tuple[int, ...] | None:
    if len(wanted) != len(existing) or any(w != e and w > 0 and e > 0 for w, e in zip(wanted, existing)):
        return None
    return tuple(e if w in (0, -1) else w for w, e in zip(wanted, existing))
