"""Worker processes that make batches ahead of time.

Each worker has a pipe of its own and no lock is shared, so ending one at any moment (or its being ended for lack of
memory) cannot block the others, as it can with `multiprocessing.Pool`.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import pickle
import random
import signal
import sys
import time
import traceback
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from autohybrid.numpy_semantics import is_np_array, is_np_shape, set_np
from autohybrid.tensor import random_state

#: How often an idle worker looks whether its parent is still there, in seconds.
_LOOK_FOR_PARENT = 5.0
#: A worker that ends within this time after being asked to is not killed.
_GRACE = 1.0


class Task:
    """A batch being made. `result` is its bytes, or an exception with the worker's traceback as its cause."""

    __slots__ = ("done", "request", "result")

    def __init__(self, samples: list[Any], batchify_fn: Callable[[list[Any]], Any], seed: int) -> None:
        self.request = samples, batchify_fn, seed
        self.done = False
        self.result: Any = None


class WorkerPool:
    """`count` processes that know `dataset`. They are forked where that is safe, so that it need not be pickled."""

    def __init__(self, count: int, dataset: Any) -> None:
        context: Any = multiprocessing.get_context(_start_method())
        switches = is_np_shape(), is_np_array()
        self._waiting: deque[Task] = deque()
        self._busy: dict[Any, Task] = {}
        self._processes: dict[Any, Any] = {}
        for _ in range(count):
            here, there = context.Pipe()
            process = context.Process(target=_work, args=(there, dataset, switches, os.getpid()), daemon=True)
            process.start()
            there.close()
            self._processes[here] = process
        self._idle = list(self._processes)
        self._finalizer = weakref.finalize(self, _end, self._processes)

    def submit(self, samples: list[Any], batchify_fn: Callable[[list[Any]], Any], seed: int) -> Task:
        """Have a batch made; `get` gives it."""
        task = Task(samples, batchify_fn, seed)
        self._waiting.append(task)
        self._exchange(0)
        return task

    def get(self, task: Task, timeout: float) -> Any:
        """The batch. Raises what the worker raised, TimeoutError, and RuntimeError when the worker has ended."""
        deadline = time.monotonic() + timeout
        while not task.done:
            left = deadline - time.monotonic()
            if left <= 0:
                self.close()
                raise multiprocessing.TimeoutError(
                    f"a worker of the DataLoader gave nothing for {timeout} seconds: the transform may be slow; "
                    "raise `timeout`"
                )
            self._exchange(left)
        if isinstance(task.result, BaseException):
            raise task.result
        return pickle.loads(task.result)

    def _exchange(self, patience: float) -> None:
        """Take finished batches from the workers (waiting for the first) and give the idle ones new work."""
        self._hand_out()
        for connection in multiprocessing.connection.wait(list(self._busy), patience):
            pipe: Any = connection
            task = self._busy.pop(pipe)
            try:
                task.result = pipe.recv_bytes() if pipe.recv() else _failure(pipe)
            except (EOFError, ConnectionError):
                process = self._processes[pipe]
                process.join(_GRACE)
                self.close()
                raise RuntimeError(
                    f"a worker of the DataLoader ended (exit code {process.exitcode}) before it gave its batch, "
                    "perhaps for lack of memory; lower `num_workers`, or use num_workers=0 to see the error"
                ) from None
            task.done = True
            self._idle.append(pipe)
        self._hand_out()

    def _hand_out(self) -> None:
        while self._idle and self._waiting:
            connection, task = self._idle.pop(), self._waiting.popleft()
            connection.send(task.request)
            self._busy[connection] = task

    def close(self) -> None:
        """End the workers; a second call does nothing."""
        self._finalizer()


def _failure(connection: Any) -> BaseException:
    error, text = connection.recv()
    error.__cause__ = RuntimeError(f"in a worker of the DataLoader:\n{text}")
    return error  # type: ignore[no-any-return]


def _end(processes: dict[Any, Any]) -> None:
    for connection, process in processes.items():
        connection.close()
        process.terminate()
    for process in processes.values():
        process.join(_GRACE)
        if process.is_alive():
            process.kill()


def _start_method() -> str | None:
    # A process that uses CUDA must not fork; macOS's own libraries do not survive it either.
    forks = "fork" in multiprocessing.get_all_start_methods() and sys.platform != "darwin"
    return "fork" if forks and "cupy" not in sys.modules else None


def _work(connection: Any, dataset: Any, switches: tuple[bool, bool], parent: int) -> None:
    """What a worker process does: make the batches it is asked for, until its parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's; it ends the workers
    set_np(*switches)
    while True:
        while not connection.poll(_LOOK_FOR_PARENT):
            if os.getppid() != parent:
                return
        try:
            samples, batchify_fn, seed = connection.recv()
        except EOFError:
            return
        made: bytes | BaseException
        try:
            made = _make(dataset, samples, batchify_fn, seed)
        except BaseException as error:  # whatever the dataset raises is the parent's to see
            made = error
        if isinstance(made, BaseException):
            _report(connection, made)
        else:
            connection.send(True)
            connection.send_bytes(made)


def _make(dataset: Any, samples: list[Any], batchify_fn: Callable[[list[Any]], Any], seed: int) -> bytes:
    # Each batch has a seed of its own: workers would else all draw the same numbers, and augment every image alike;
    # and what a batch looks like must not depend on which worker happens to make it.
    np.random.seed(seed)
    random.seed(seed)
    random_state.seed(seed)
    return pickle.dumps(batchify_fn([dataset[i] for i in samples]), pickle.HIGHEST_PROTOCOL)


def _report(connection: Any, error: BaseException) -> None:
    text = "".join(traceback.format_exception(error))
    connection.send(False)
    try:
        connection.send((error, text))
    except (pickle.PicklingError, TypeError, AttributeError):  # an exception that cannot be pickled
        connection.send((RuntimeError(f"{type(error).__name__}: {error}"), text))
