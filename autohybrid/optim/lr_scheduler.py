"""`mx.lr_scheduler`: the learning rate as a function of the number of updates, with MXNet 1.9.1's names and meaning.

A scheduler is called with the number of updates done so far. `base_lr` is its state: the rate after warm-up.
"""

from __future__ import annotations

import itertools
import logging
import math

_MODES = ("linear", "constant")


class LRScheduler:
    """Base of the schedulers: owns warm-up. Subclasses define `__call__(num_update)`.

    During the first `warmup_steps` updates the rate rises from `warmup_begin_lr` to `base_lr` ('linear') or stays at
    `warmup_begin_lr` ('constant').
    """

    def __init__(
        self,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        if not isinstance(warmup_steps, int):
            raise AssertionError(f"warmup_steps must be an int, not {type(warmup_steps).__name__}")
        if warmup_begin_lr > base_lr:
            raise ValueError(f"warmup_begin_lr {warmup_begin_lr} is higher than base_lr {base_lr}")
        if warmup_steps < 0:
            raise ValueError(f"warmup_steps must not be negative, but is {warmup_steps}")
        if warmup_mode not in _MODES:
            raise ValueError(f"warmup_mode must be 'linear' or 'constant', not {warmup_mode!r}")
        self.base_lr = base_lr
        self.warmup_steps = warmup_steps
        self.warmup_begin_lr = warmup_begin_lr
        self.warmup_final_lr = base_lr
        self.warmup_mode = warmup_mode

    def get_warmup_lr(self, num_update: int) -> float:
        """The rate at update `num_update` of the warm-up."""
        if num_update >= self.warmup_steps:
            raise AssertionError(f"update {num_update} is past the warm-up of {self.warmup_steps}")
        if self.warmup_mode == "constant":
            return self.warmup_begin_lr
        rise = self.warmup_final_lr - self.warmup_begin_lr
        return self.warmup_begin_lr + rise * num_update / self.warmup_steps

    def __call__(self, num_update: int) -> float:
        raise NotImplementedError(f"{type(self).__name__} must define __call__(self, num_update)")

    def _lower(self, num_update: int, rate: float) -> None:
        self.base_lr = rate
        logging.info("update %d: learning rate is now %0.5e", num_update, rate)


def _check_factor(factor: float) -> None:
    if factor > 1.0:
        raise ValueError(f"factor must be at most 1, so that the rate falls, not {factor}")


class FactorScheduler(LRScheduler):
    """Times `factor` after every `step` updates, down to `stop_factor_lr`."""

    def __init__(
        self,
        step: int,
        factor: float = 1,
        stop_factor_lr: float = 1e-8,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if step < 1:
            raise ValueError(f"step must be at least 1, not {step}")
        _check_factor(factor)
        self.step = step
        self.factor = factor
        self.stop_factor_lr = stop_factor_lr
        self.count = 0

    def __call__(self, num_update: int) -> float:
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        # Not a formula: training may start anew with a higher num_update, or change base_lr in between.
        while num_update > self.count + self.step:
            self.count += self.step
            self._lower(num_update, max(self.base_lr * self.factor, self.stop_factor_lr))
        return self.base_lr


class MultiFactorScheduler(LRScheduler):
    """Times `factor` after each of the update numbers in the list `step`."""

    def __init__(
        self,
        step: list[int],
        factor: float = 1,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if not isinstance(step, list) or not step:
            raise AssertionError(f"step must be a list with at least one number, not {step!r}")
        if any(b <= a for a, b in itertools.pairwise(step)):
            raise ValueError(f"step must be increasing, but is {step}")
        if step[0] < 1:
            raise ValueError(f"each step must be at least 1, but the list is {step}")
        _check_factor(factor)
        self.step = step
        self.cur_step_ind = 0
        self.factor = factor
        self.count = 0

    def __call__(self, num_update: int) -> float:
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        while self.cur_step_ind < len(self.step) and num_update > self.step[self.cur_step_ind]:
            self.count = self.step[self.cur_step_ind]
            self.cur_step_ind += 1
            self._lower(num_update, self.base_lr * self.factor)
        return self.base_lr


class _Decay(LRScheduler):
    """From `base_lr` at the end of warm-up to `final_lr` at update `max_update`; constant from there on."""

    def __init__(self, max_update: int, base_lr: float, final_lr: float, warmup: tuple[int, float, str]) -> None:
        super().__init__(base_lr, *warmup)
        if not isinstance(max_update, int):
            raise AssertionError(f"max_update must be an int, not {type(max_update).__name__}")
        if max_update < 1:
            raise ValueError(f"max_update must be positive, not {max_update}")
        self.base_lr_orig = base_lr
        self.max_update = max_update
        self.final_lr = final_lr
        self.max_steps = max_update - self.warmup_steps

    def _remaining(self, done: float) -> float:
        """The part of the way still to go (1 to 0) when `done` of the updates (0 to 1) are over."""
        raise NotImplementedError

    def __call__(self, num_update: int) -> float:
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        if num_update <= self.max_update:
            left = self._remaining((num_update - self.warmup_steps) / self.max_steps)
            self.base_lr = self.final_lr + (self.base_lr_orig - self.final_lr) * left
        return self.base_lr


class PolyScheduler(_Decay):
    """Falls as `(1 - done) ** pwr`."""

    def __init__(
        self,
        max_update: int,
        base_lr: float = 0.01,
        pwr: float = 2,
        final_lr: float = 0,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(max_update, base_lr, final_lr, (warmup_steps, warmup_begin_lr, warmup_mode))
        self.power = pwr

    def _remaining(self, done: float) -> float:
        return float((1 - done) ** self.power)


class CosineScheduler(_Decay):
    """Falls as half a cosine wave."""

    def __init__(
        self,
        max_update: int,
        base_lr: float = 0.01,
        final_lr: float = 0,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(max_update, base_lr, final_lr, (warmup_steps, warmup_begin_lr, warmup_mode))

    def _remaining(self, done: float) -> float:
        return (1 + math.cos(math.pi * done)) / 2
