"""`mx.monitor` (`mx.mon`): statistics of the arrays of an executor while it runs."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable
from typing import Any

from autohybrid.ndarray import NDArray


class Monitor:
    """Every `interval` batches: a statistic of each array whose name matches `pattern`.

    `install(executor)` first; `tic()` before a batch, `toc()` or `toc_print()` after it. The statistic is
    `stat_func(array)`, by default the norm divided by the root of the size.
    """

    def __init__(
        self,
        interval: int,
        stat_func: Callable[[NDArray], Any] | None = None,
        pattern: str = ".*",
        sort: bool = False,
        monitor_all: bool = False,
    ) -> None:
        self.stat_func = stat_func or _root_mean_square
        self.interval = interval
        self.activated = False
        self.queue: list[tuple[int, str, Any]] = []
        self.step = 0
        self.exes: list[Any] = []
        self.re_prog = re.compile(pattern)
        self.sort = sort
        self.monitor_all = monitor_all

    def stat_helper(self, name: str, array: NDArray) -> None:
        """What an executor calls with each array it computes."""
        if self.activated and self.re_prog.match(name):
            self.queue.append((self.step, name, self.stat_func(array)))

    def install(self, exe: Any) -> None:
        """Watch an executor."""
        exe.set_monitor_callback(self.stat_helper, self.monitor_all)
        self.exes.append(exe)

    def tic(self) -> None:
        """Start collecting, if this batch's turn has come."""
        if self.step % self.interval == 0:
            self.queue = []
            self.activated = True
        self.step += 1

    def toc(self) -> list[tuple[int, str, str]]:
        """Stop collecting; (step, name, statistic as text) of all arrays, the executors' own ones included."""
        if not self.activated:
            return []
        for exe in self.exes:
            for name, array in [*exe.arg_dict.items(), *exe.aux_dict.items()]:
                self.stat_helper(name, array)
        self.activated = False
        found = sorted(self.queue, key=lambda entry: entry[1]) if self.sort else self.queue
        self.queue = []
        return [(step, name, _as_text(value)) for step, name, value in found]

    def toc_print(self) -> None:
        """Stop collecting, and log the statistics."""
        for step, name, text in self.toc():
            logging.info("Batch: %7d %30s %s", step, name, text)


def _root_mean_square(array: NDArray) -> NDArray:
    norm: NDArray = array.norm()
    return norm / math.sqrt(array.size)


def _as_text(value: Any) -> str:
    values = value if isinstance(value, list) else [value]
    return "".join(f"{v.asscalar() if v.shape == (1,) else v.asnumpy()}\t" for v in values)
