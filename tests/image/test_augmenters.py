"""The augmenters of mx.image against what MXNet 1.9.1 made of the same image under the same seeds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from image.augmenter_cases import results

import autohybrid as mx

_RECORDED = Path(__file__).resolve().parents[1] / "data" / "image" / "augmenters.npz"


@pytest.fixture(scope="module")
def ours() -> dict[str, np.ndarray]:
    return results(mx)


def test_augmenters_give_what_mxnet_gives(ours: dict[str, np.ndarray]) -> None:
    recorded = np.load(_RECORDED)
    assert set(ours) == set(recorded)
    assert len(ours) > 140
    for name in recorded:
        wanted, given = recorded[name], ours[name]
        if wanted.dtype.kind == "U":
            assert json.loads(str(given)) == json.loads(str(wanted)), name
            continue
        assert (given.shape, given.dtype) == (wanted.shape, wanted.dtype), name
        # Resizing rounds to whole numbers: of thousands of values a few lie on the border and may round the other way.
        slack = 1.0 if wanted.dtype == np.uint8 else 1e-3
        difference = np.abs(given.astype("float64") - wanted)
        assert difference.max(initial=0) <= slack, name
        assert (difference > 1e-3).mean() < 0.01, name


def test_augmenters_refuse_what_they_cannot_use() -> None:
    image = mx.image
    with pytest.raises(AssertionError, match="rand_resize needs rand_crop"):
        image.CreateAugmenter((3, 8, 8), rand_resize=True)
    with pytest.raises(AssertionError, match="mean must be True or an array"):
        image.CreateAugmenter((3, 8, 8), mean=np.zeros(2))
    with pytest.raises(AssertionError, match="does not know width"):
        image.RandomSizedCropAug((8, 8), 0.1, (1, 1), width=3)
    with pytest.raises(TypeError, match=r"takes an image.Augmenter, not int"):
        image.DetBorrowAug(3)
    with pytest.raises(ValueError, match="takes DetAugmenters, not CastAug"):
        image.DetRandomSelectAug([image.CastAug()])
    with pytest.raises(AssertionError, match="must have one length"):
        image.CreateMultiRandCropAugmenter([0.1, 0.2], max_attempts=[1, 2, 3])
    with pytest.raises(NotImplementedError, match="must define __call__"):
        image.Augmenter()(None)


@pytest.mark.parametrize(
    ("kind", "setting"),
    [
        ("DetRandomCropAug", {"area_range": (0.5, 0.1)}),
        ("DetRandomCropAug", {"aspect_ratio_range": (2, 1)}),
        ("DetRandomPadAug", {"area_range": (1.0, 1.0)}),
        ("DetRandomPadAug", {"aspect_ratio_range": (-1, 1)}),
    ],
)
def test_an_empty_range_switches_off_with_a_warning(kind: str, setting: dict[str, tuple[float, float]]) -> None:
    with pytest.warns(UserWarning, match="does nothing"):
        augmenter = getattr(mx.image, kind)(**setting)
    source, objects = mx.nd.ones((5, 6, 3)), np.array([[0, 0.1, 0.1, 0.9, 0.9]])
    image, label = augmenter(source, objects)
    assert image is source and label is objects
