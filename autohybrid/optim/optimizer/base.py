"""Optimizer: hyper-parameters, learning-rate and weight-decay multipliers, update counts; and the registry.

The rule of an update is in the subclasses; what keeps the states is `Updater`.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np

from autohybrid import ndarray as nd
from autohybrid.ndarray import NDArray
from autohybrid.numpy_semantics import is_np_array
from autohybrid.optim.lr_scheduler import LRScheduler

T = TypeVar("T", bound=type)
Index = Any  # an int or text; or a sequence of them for optimizers that aggregate
State = Any  # an NDArray, None, or tuples of them


class Optimizer:
    """Base of all optimizers (MXNet 1.9.1's `mx.optimizer.Optimizer`).

    rescale_grad     gradients are multiplied by it first (Trainer sets it to 1 / batch size)
    param_idx2name   index -> parameter name, for the multipliers
    wd               weight decay; not applied to parameters whose names end neither in `_weight` nor in `_gamma`
    clip_gradient    gradients are clipped to `[-clip_gradient, clip_gradient]` after rescaling
    learning_rate, lr_scheduler   a constant rate, or a schedule of it
    sym              a Symbol whose `__lr_mult__` and `__wd_mult__` attributes give multipliers
    multi_precision  keep a float32 copy of float16 weights and update that

    Subclasses define `create_state(index, weight)` and `update(index, weight, grad, state)`; `update` starts with
    `_start(...)`.
    """

    opt_registry: ClassVar[dict[str, type[Optimizer]]] = {}

    def __init__(
        self,
        rescale_grad: float = 1.0,
        param_idx2name: Mapping[Index, str] | None = None,
        wd: float = 0.0,
        clip_gradient: float | None = None,
        learning_rate: float | None = None,
        lr_scheduler: LRScheduler | None = None,
        sym: Any = None,
        begin_num_update: int = 0,
        multi_precision: bool = False,
        param_dict: Mapping[Index, Any] | None = None,
    ) -> None:
        if param_idx2name is not None and not isinstance(param_idx2name, dict):
            raise AssertionError("param_idx2name must be a dict of parameter indices to names")
        self.rescale_grad = rescale_grad
        self.wd = wd
        self.clip_gradient = clip_gradient
        self.multi_precision = multi_precision
        self.lr_scheduler = lr_scheduler
        self.lr = 0.01 if learning_rate is None and lr_scheduler is None else learning_rate
        if lr_scheduler is not None and learning_rate is not None and lr_scheduler.base_lr != learning_rate:
            warnings.warn(
                f"the schedule's base_lr {lr_scheduler.base_lr} is replaced by learning_rate {learning_rate}",
                UserWarning,
                stacklevel=3,
            )
            lr_scheduler.base_lr = learning_rate
        self.begin_num_update = begin_num_update
        self.num_update = begin_num_update
        self._all_index_update_counts: dict[int, dict[Index, int]] = {0: {}}
        self._index_update_count = self._all_index_update_counts[0]
        self.aggregate_num = 0
        self.idx2name = dict(param_idx2name or {})
        self.sym_info = () if sym is None else (sym.attr_dict(), sym.list_arguments())
        self.param_dict = param_dict or {}
        self.allow_np_array = is_np_array()
        self.lr_mult: dict[Index, float] = {}
        self.wd_mult: dict[Index, float] = {}
        self.set_lr_mult({})
        self.set_wd_mult({})

    # -- the registry ------------------------------------------------------------------------------------------------
    @staticmethod
    def register(klass: T) -> T:
        """Make an optimizer class available to `create` under its name in lower case."""
        name = klass.__name__.lower()
        old = Optimizer.opt_registry.get(name)
        if old is not None:
            warnings.warn(
                f"optimizer {klass.__module__}.{klass.__name__} takes the name {name!r} from "
                f"{old.__module__}.{old.__name__}",
                UserWarning,
                stacklevel=2,
            )
        Optimizer.opt_registry[name] = klass
        return klass

    @staticmethod
    def create_optimizer(name: str, **kwargs: Any) -> Optimizer:
        """An optimizer by name (any case). Raises ValueError for an unknown one."""
        klass = Optimizer.opt_registry.get(name.lower())
        if klass is None:
            raise ValueError(f"there is no optimizer {name!r}; known are {', '.join(sorted(Optimizer.opt_registry))}")
        return klass(**kwargs)

    # -- what subclasses define --------------------------------------------------------------------------------------
    def create_state(self, index: Index, weight: NDArray) -> State:
        """The state that `update` keeps for a weight: arrays, tuples of them, or None."""

    def update(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        """Change `weight` (and `state`) in place."""
        raise NotImplementedError(f"{type(self).__name__} must define update(self, index, weight, grad, state)")

    # -- multi-precision ---------------------------------------------------------------------------------------------
    def create_state_multi_precision(self, index: Index, weight: NDArray) -> State:
        """`create_state`, or `(float32 copy, its state)` for float16 weights with `multi_precision`."""
        if self._uses_master_copy(weight):
            master = weight.astype("float32")
            return master, self.create_state(index, master)
        return self.create_state(index, weight)

    def update_multi_precision(self, index: Index, weight: Any, grad: Any, state: State) -> None:
        """`update`, through the float32 copy for float16 weights with `multi_precision`.

        Optimizers with `aggregate_num` also take a list of each argument.
        """
        if not self._uses_master_copy(weight, warn=False):
            self.update(index, weight, grad, state)
            return
        master, inner = state
        self.update(index, master, grad.astype("float32"), inner)
        nd.cast(master, dtype=weight.dtype, out=weight)

    def _uses_master_copy(self, weight: NDArray, warn: bool = True) -> bool:
        if weight.dtype != np.float16:
            return False
        if warn and not self.multi_precision:
            warnings.warn(
                f"{type(self).__name__} accumulates in float16, which can converge slowly or badly; "
                "consider multi_precision=True",
                UserWarning,
                stacklevel=3,
            )
        return self.multi_precision

    # -- rates -------------------------------------------------------------------------------------------------------
    @property
    def learning_rate(self) -> float:
        """The rate in force, before multipliers."""
        return self.lr if self.lr_scheduler is None else self.lr_scheduler(self.num_update)  # type: ignore[return-value]

    def set_learning_rate(self, lr: float) -> None:
        """Change the constant rate. Raises UserWarning when a schedule decides the rate."""
        if self.lr_scheduler is not None:
            raise UserWarning(
                "this optimizer has an lr_scheduler, which decides the learning rate: "
                "set `lr_scheduler.base_lr`, or create the optimizer without a schedule"
            )
        self.lr = lr

    def set_lr_mult(self, args_lr_mult: Mapping[Index, float]) -> None:
        """Multipliers of the rate by parameter name or index; they replace earlier ones."""
        self.lr_mult = {**self._multipliers_of_symbol("__lr_mult__"), **args_lr_mult}

    def set_wd_mult(self, args_wd_mult: Mapping[Index, float]) -> None:
        """Multipliers of the weight decay by name or index; 0 for all that are neither weights nor gammas."""
        undecayed = {n: 0.0 for n in self.idx2name.values() if not n.endswith(self._decayed_names)}
        self.wd_mult = {**undecayed, **self._multipliers_of_symbol("__wd_mult__"), **args_wd_mult}

    _decayed_names: ClassVar[tuple[str, ...]] = ("_weight", "_gamma")

    def _multipliers_of_symbol(self, attribute: str) -> dict[str, float]:
        if not self.sym_info:
            return {}
        attrs, arguments = self.sym_info
        return {n: float(attrs[n][attribute]) for n in arguments if attribute in attrs.get(n, ())}

    def _get_lrs(self, indices: Sequence[Index]) -> list[float]:
        lr = self.learning_rate
        return [lr * self._multiplier(i, "lr_mult", self.lr_mult) for i in indices]

    def _get_wds(self, indices: Sequence[Index]) -> list[float]:
        return [self.wd * self._multiplier(i, "wd_mult", self.wd_mult) for i in indices]

    def _multiplier(self, index: Index, field: str, table: Mapping[Hashable, float]) -> float:
        if index in self.param_dict:
            return float(getattr(self.param_dict[index], field))
        if index in table:
            return table[index]
        return table.get(self.idx2name[index], 1.0) if index in self.idx2name else 1.0

    def _get_lr(self, index: Index) -> float:
        return self._get_lrs([index])[0]

    def _get_wd(self, index: Index) -> float:
        return self._get_wds([index])[0]

    # -- counting ----------------------------------------------------------------------------------------------------
    def _set_current_context(self, device_id: int) -> None:
        """Count the updates of this device (each device of data-parallel training updates its own copy)."""
        self._index_update_count = self._all_index_update_counts.setdefault(device_id, {})

    def _update_count(self, index: Index) -> None:
        counts = self._index_update_count
        for each in index if isinstance(index, (list, tuple)) else (index,):
            counts[each] = counts.get(each, self.begin_num_update) + 1
            self.num_update = max(counts[each], self.num_update)

    # -- helpers of the update rules ---------------------------------------------------------------------------------
    def _start(self, index: Index, weight: NDArray, grad: NDArray) -> tuple[float, float, int]:
        """Begin an update: check the arrays, count it; gives the rate, the weight decay and the count."""
        check_arrays(weight, grad)
        self._update_count(index)
        return self._get_lr(index), self._get_wd(index), self._index_update_count[index]

    def _scaling(self, clip_name: str = "clip_gradient") -> dict[str, float]:
        """The attributes that all update operators share."""
        scaling = {"rescale_grad": self.rescale_grad}
        if self.clip_gradient:
            scaling[clip_name] = self.clip_gradient
        return scaling

    def _scaled(self, grad: NDArray, decay: NDArray | None = None) -> NDArray:
        """The gradient rescaled, `decay` added, then clipped; for rules that have no update operator."""
        grad = grad * self.rescale_grad
        if decay is not None:
            grad = grad + decay
        if self.clip_gradient is not None:
            grad = nd.clip(grad, -self.clip_gradient, self.clip_gradient)
        return grad

    # -- pickling ----------------------------------------------------------------------------------------------------
    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "param_dict"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.param_dict = {}


def check_arrays(weight: Any, grad: Any) -> None:
    """Raise AssertionError when a weight or gradient is not an array."""
    for what, value in (("weight", weight), ("gradient", grad)):
        if not isinstance(value, NDArray):
            raise AssertionError(f"the {what} must be an NDArray, not {type(value).__name__}")


def zeros_like(weight: NDArray, dtype: Any = None, stype: str = "default") -> NDArray:
    """Zeros of a weight's shape on its device, for optimizer states."""
    dtype = weight.dtype if dtype is None else dtype
    if stype == "default":
        return nd.zeros(weight.shape, weight.context, dtype=dtype)
    return nd.sparse.zeros(stype, weight.shape, ctx=weight.context, dtype=dtype)


register = Optimizer.register
create = Optimizer.create_optimizer
