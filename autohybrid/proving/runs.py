"""Running an example: its calls in order, imperatively or hybridized, recorded or not, and all that came of them."""

from __future__ import annotations

import random
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import FrameType, ModuleType, TracebackType
from typing import Any

import numpy as np

from autohybrid import ndarray
from autohybrid.compat import autograd
from autohybrid.errors import HybridizeError
from autohybrid.optim.initializer import Uniform
from autohybrid.proving.examples import Example, make_example
from autohybrid.tensor import random as tensor_random
from autohybrid.tensor.array import NDArray

Arrays = list["np.ndarray[Any, Any]"]
_SEED = 17


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception: its type, its message, the line of the user's file, and whether it is a refusal to hybridize."""

    text: str
    is_refusal: bool


@dataclass(frozen=True, slots=True)
class CallResult:
    """One call: the shape of its result as text with the scalars in it, the arrays, the gradients of the arguments and
    of the parameters, and the arguments after the call."""

    structure: str
    outputs: Arrays
    gradients: Arrays
    parameter_gradients: Arrays
    arguments: Arrays


@dataclass(frozen=True, slots=True)
class Run:
    """All calls of one run up to the first that failed, and the parameters after them."""

    calls: tuple[CallResult, ...]
    failure: Failure | None
    parameters: Arrays


class Attempt:
    """A context manager that keeps what user code raises, as `failure`; only Ctrl-C passes."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self.failure: Failure | None = None
        self._paths = frozenset(paths)

    def __enter__(self) -> Attempt:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None or isinstance(error, KeyboardInterrupt):
            return False
        first = (str(error).strip().splitlines() or [""])[0]
        frames = [frame for frame in traceback.extract_tb(trace) if frame.filename in self._paths]
        where = f" in line {frames[-1].lineno}" if frames else ""
        self.failure = Failure(f"{type(error).__name__}{where}: {first}", isinstance(error, HybridizeError))
        return True


def run_example(module: ModuleType, example: Example, *, hybridized: bool, recorded: bool, paths: Iterable[str]) -> Run:
    """Make the block and run its calls. Every run draws the same random numbers; nothing raises."""
    done: list[CallResult] = []
    block: Any = None
    attempt = Attempt(paths)
    with warnings.catch_warnings(), attempt:
        warnings.simplefilter("ignore")
        _seed(0)
        block, calls = make_example(module, example)
        if hasattr(block, "collect_params"):
            block.initialize(Uniform(0.5))
        if hybridized:
            _hybridize(block)
        for number, arguments in enumerate(calls):
            _seed(number + 1)
            done.append(_record(block, arguments) if recorded else _predict(block, arguments))
    return Run(tuple(done), attempt.failure, [] if block is None else _parameters(block))


def _hybridize(block: Any) -> None:
    """Where a block cannot be a graph it says so, instead of running imperatively after all."""
    if hasattr(block, "hybrid_forward"):
        block.hybridize(fallback=False)
    elif hasattr(block, "hybridize"):
        block.hybridize()


def _seed(number: int) -> None:
    random.seed(_SEED + number)
    np.random.seed(_SEED + number)
    tensor_random.seed(_SEED + number)


def _predict(block: Callable[..., Any], arguments: Sequence[Any]) -> CallResult:
    arguments = _copied(arguments)
    result = block(*arguments)
    found: list[NDArray] = []
    structure = _flatten(result, found)
    return CallResult(structure, _values(found), [], [], _values(_arrays(arguments)))


def _record(block: Callable[..., Any], arguments: Sequence[Any]) -> CallResult:
    arguments = _copied(arguments)
    leaves = [array for array in _arrays(arguments) if array.dtype in (np.float16, np.float32, np.float64)]
    for leaf in leaves:
        leaf.attach_grad()
    for parameter in _collect(block):
        # What a call does not reach keeps the gradient of the call before.
        parameter.zero_grad()
    with autograd.record(train_mode=True):
        result = block(*arguments)
    found: list[NDArray] = []
    structure = _flatten(result, found)
    heads = [array for array in found if array._entry is not None]
    if heads:
        autograd.backward(heads, [_head_gradient(head) for head in heads])
    gradients = [leaf.grad for leaf in leaves if leaf.grad is not None]
    own = [p.grad() for p in _collect(block) if p.grad_req != "null" and p._data is not None]
    return CallResult(structure, _values(found), _values(gradients), _values(own), _values(_arrays(arguments)))


def _head_gradient(head: NDArray) -> NDArray:
    """Weights that differ from place to place: ones would hide what cancels in a sum."""
    weights = np.linspace(0.5, 1.5, int(np.prod(head.shape))).reshape(head.shape)
    return ndarray.array(weights, dtype=head.dtype)


def _collect(block: Any) -> list[Any]:
    return list(block.collect_params().values()) if hasattr(block, "collect_params") else []


def _parameters(block: Any) -> Arrays:
    return _values(p.data() for p in _collect(block) if p._data is not None)


def _values(arrays: Iterable[NDArray]) -> Arrays:
    return [array.asnumpy().copy() for array in arrays]


def _copied(value: Any) -> Any:
    if isinstance(value, NDArray):
        return value.copy()
    if type(value) in (list, tuple):
        return type(value)(_copied(item) for item in value)
    return value


def _arrays(value: Any) -> list[NDArray]:
    found: list[NDArray] = []
    _flatten(value, found)
    return found


def _flatten(value: Any, found: list[NDArray]) -> str:
    """Append the arrays in a value to `found`; returns everything else of it as text."""
    if isinstance(value, NDArray):
        found.append(value)
        return "array"
    if isinstance(value, list | tuple):
        inner = ", ".join([_flatten(item, found) for item in value])
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    if isinstance(value, dict):
        return "{" + ", ".join([f"{key!r}: {_flatten(item, found)}" for key, item in value.items()]) + "}"
    plain = value is None or isinstance(value, bool | int | float | str | bytes)
    return repr(value) if plain else type(value).__name__


class LineTrace:
    """Notes which lines of some files run while it is entered."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.lines: dict[str, set[int]] = {path: set() for path in paths}

    def __enter__(self) -> LineTrace:
        sys.settrace(self._enter)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sys.settrace(None)

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        lines = self.lines.get(frame.f_code.co_filename)
        if lines is None:
            return None

        def note(frame: FrameType, event: str, argument: Any) -> Any:
            lines.add(frame.f_lineno)
            return note

        return note
