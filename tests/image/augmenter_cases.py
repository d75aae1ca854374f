"""Augmenters with their settings, and what they make of one image under several seeds: the same for any `mx`."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

SEEDS = (0, 1, 2)
IMAGE = np.random.RandomState(0).randint(0, 256, (13, 18, 3))
OBJECTS = np.array([[0, 0.1, 0.1, 0.4, 0.5], [3, 0.3, 0.2, 0.9, 0.95], [1, 0.5, 0.5, 0.52, 0.9]])
_EIGVEC = np.arange(9).reshape(3, 3) / 9 - 0.4


def _plain(image: Any) -> dict[str, tuple[str, Any]]:
    """Name -> dtype of the image, and the augmenter."""
    return {
        "short": ("uint8", image.ResizeAug(9)),
        "force": ("uint8", image.ForceResizeAug((11, 20))),
        "crop": ("uint8", image.RandomCropAug((8, 10))),
        "crop of a small image": ("uint8", image.RandomCropAug((30, 10))),
        "sized crop": ("uint8", image.RandomSizedCropAug((10, 10), 0.08, (0.75, 1.33))),
        "sized crop between": ("uint8", image.RandomSizedCropAug((10, 12), (0.3, 0.5), (0.75, 1.33), interp=1)),
        "centre": ("uint8", image.CenterCropAug((10, 6))),
        "flip": ("uint8", image.HorizontalFlipAug(0.5)),
        "cast": ("uint8", image.CastAug()),
        "brightness": ("float32", image.BrightnessJitterAug(0.3)),
        "contrast": ("float32", image.ContrastJitterAug(0.3)),
        "saturation": ("float32", image.SaturationJitterAug(0.3)),
        "hue": ("float32", image.HueJitterAug(0.3)),
        "jitter": ("float32", image.ColorJitterAug(0.1, 0.2, 0.3)),
        "lighting": ("float32", image.LightingAug(0.1, np.array([55.5, 4.8, 1.1]), _EIGVEC)),
        "normalize": ("float32", image.ColorNormalizeAug(np.array([1.0, 2, 3]), np.array([4.0, 5, 6]))),
        "scale only": ("float32", image.ColorNormalizeAug(None, np.array([4.0, 5, 6]))),
        "grey": ("float32", image.RandomGrayAug(0.5)),
        "sequence": ("float32", image.SequentialAug([image.BrightnessJitterAug(0.3), image.CenterCropAug((5, 5))])),
        "any order": ("float32", image.RandomOrderAug([image.BrightnessJitterAug(0.3), image.HueJitterAug(0.2)])),
    }


def _with_objects(image: Any) -> dict[str, Any]:
    select = image.DetRandomSelectAug([image.DetHorizontalFlipAug(1), image.DetRandomPadAug()], 0.3)
    return {
        "objects: flip": image.DetHorizontalFlipAug(0.5),
        "objects: crop": image.DetRandomCropAug(),
        "objects: crop more": image.DetRandomCropAug(0.5, (0.5, 2), (0.2, 0.9), 0.4, 20),
        "objects: crop fixed": image.DetRandomCropAug(0.1, 1.0, 0.3),
        "objects: pad": image.DetRandomPadAug(),
        "objects: pad more": image.DetRandomPadAug((0.5, 2), (1.0, 5.0), 10, (1, 2, 3)),
        "objects: borrow": image.DetBorrowAug(image.CastAug()),
        "objects: select": select,
        "objects: several crops": image.CreateMultiRandCropAugmenter([0.1, 0.3], area_range=[(0.1, 1.0), (0.3, 0.9)]),
    }


LISTS: tuple[dict[str, Any], ...] = (
    {},
    {"resize": 12, "rand_crop": True, "rand_mirror": True, "mean": True, "std": True},
    {"rand_crop": True, "rand_resize": True, "brightness": 0.1, "contrast": 0.1, "hue": 0.1, "pca_noise": 0.1},
    {"mean": np.array([1.0, 2, 3]), "saturation": 0.2, "rand_gray": 0.3, "inter_method": 1},
)
OBJECT_LISTS: tuple[dict[str, Any], ...] = (
    {},
    {"resize": 12, "rand_crop": 0.5, "rand_pad": 0.5, "rand_mirror": True, "mean": True, "std": True, "hue": 0.1},
    {"rand_crop": 1, "min_object_covered": [0.1, 0.5], "brightness": 0.2, "rand_gray": 0.2},
)


def results(mx: Any) -> dict[str, np.ndarray[Any, Any]]:
    """Name of the case, seed and position in the result -> values; name and 'dumps' -> the augmenter's text."""
    found: dict[str, np.ndarray[Any, Any]] = {}
    for name, dumped, call in _calls(mx):
        found[f"{name}/dumps"] = np.array(json.dumps(dumped))
        for seed in SEEDS:
            random.seed(seed)
            np.random.seed(seed)
            for position, value in enumerate(call()):
                found[f"{name}/{seed}/{position}"] = value.asnumpy() if isinstance(value, mx.nd.NDArray) else value
    return found


def _calls(mx: Any) -> Iterator[tuple[str, Any, Callable[[], tuple[Any, ...]]]]:
    def image(dtype: str = "uint8") -> Any:
        return mx.nd.array(IMAGE, dtype=dtype)

    for name, (dtype, augmenter) in _plain(mx.image).items():
        yield name, augmenter.dumps(), lambda augmenter=augmenter, dtype=dtype: (augmenter(image(dtype)),)
    for name, augmenter in _with_objects(mx.image).items():
        yield name, augmenter.dumps(), lambda augmenter=augmenter: augmenter(image(), OBJECTS.copy())
    for number, settings in enumerate(LISTS):
        made = mx.image.CreateAugmenter((3, 8, 10), **settings)
        yield f"list {number}", [each.dumps() for each in made], lambda made=made: (_apply(made, image()),)
    for number, settings in enumerate(OBJECT_LISTS):
        made = mx.image.CreateDetAugmenter((3, 8, 10), **settings)
        yield (
            f"objects: list {number}",
            [each.dumps() for each in made],
            lambda made=made: _apply_both(made, image(), OBJECTS.copy()),
        )


def _apply(augmenters: list[Any], image: Any) -> Any:
    for augmenter in augmenters:
        image = augmenter(image)
    return image


def _apply_both(augmenters: list[Any], image: Any, objects: Any) -> tuple[Any, Any]:
    for augmenter in augmenters:
        image, objects = augmenter(image, objects)
    return image, objects
