"""The base of the detection augmenters, and those that need no search: borrowed ones, a choice of one, mirroring."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from autohybrid import ndarray as nd
from autohybrid.image.augmenters import Augmenter, plain_settings
from autohybrid.ndarray import NDArray

Label = np.ndarray[Any, Any]
Range = tuple[float, float]


class DetAugmenter:
    """Base: a callable that takes an image and its label, and returns both. Keywords are what `dumps` writes."""

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = plain_settings(kwargs)

    def dumps(self) -> Any:
        """The name (in lower case) and the settings, as JSON; augmenters made of others give nested lists of them."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, src: NDArray, label: Label) -> tuple[NDArray, Label]:
        raise NotImplementedError(f"{type(self).__name__} must define __call__(self, src, label)")


class DetBorrowAug(DetAugmenter):
    """An augmenter of `mx.image` that leaves boxes where they are (as shares of the image)."""

    def __init__(self, augmenter: Augmenter) -> None:
        if not isinstance(augmenter, Augmenter):
            raise TypeError(f"DetBorrowAug takes an image.Augmenter, not {type(augmenter).__name__}")
        super().__init__(augmenter=augmenter.dumps())
        self.augmenter = augmenter

    def dumps(self) -> Any:
        """The name and what the augmenter dumps."""
        return [type(self).__name__.lower(), self.augmenter.dumps()]

    def __call__(self, src: NDArray, label: Label) -> tuple[NDArray, Label]:
        return self.augmenter(src), label


class DetRandomSelectAug(DetAugmenter):
    """One of the augmenters at random, or none with probability `skip_prob`."""

    def __init__(self, aug_list: DetAugmenter | Sequence[DetAugmenter], skip_prob: float = 0) -> None:
        super().__init__(skip_prob=skip_prob)
        members: list[Any] = list(aug_list) if isinstance(aug_list, (list, tuple)) else [aug_list]
        for member in members:
            if not isinstance(member, DetAugmenter):
                raise ValueError(f"DetRandomSelectAug takes DetAugmenters, not {type(member).__name__}")
        self.aug_list = members
        self.skip_prob = skip_prob if members else 1

    def dumps(self) -> Any:
        """The name and what each member dumps."""
        return [type(self).__name__.lower(), [member.dumps() for member in self.aug_list]]

    def __call__(self, src: NDArray, label: Label) -> tuple[NDArray, Label]:
        if random.random() < self.skip_prob:
            return src, label
        random.shuffle(self.aug_list)
        changed: tuple[NDArray, Label] = self.aug_list[0](src, label)
        return changed


class DetHorizontalFlipAug(DetAugmenter):
    """Left and right exchanged, in the image and (in place) in the label, with probability `p`."""

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = p

    def __call__(self, src: NDArray, label: Label) -> tuple[NDArray, Label]:
        if random.random() < self.p:
            src = nd.flip(src, axis=1)
            label[:, [1, 3]] = 1.0 - label[:, [3, 1]]
        return src, label


def as_range(given: Any) -> Range:
    """A range that may be given as its only number."""
    return (given[0], given[1]) if isinstance(given, (tuple, list)) else (given, given)
