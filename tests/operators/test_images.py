"""Operators on images against what OpenCV gives through MXNet 1.9.1 (recorded in tests/data/operators/images.npz)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import nd

RECORDED = np.load(Path(__file__).parents[1] / "data" / "operators" / "images.npz")
RESIZED = sorted(name for name in RECORDED.files if name.startswith("resized"))
BORDERS = sorted(name for name in RECORDED.files if name.startswith("border"))


def _close(result: Any, name: str, tolerance: float = 2e-3) -> None:
    expected = RECORDED[name]
    assert result.dtype == expected.dtype
    assert result.shape == expected.shape
    np.testing.assert_allclose(result.asnumpy().astype("float64"), expected, rtol=1e-5, atol=tolerance)


@pytest.mark.parametrize("name", RESIZED)
def test_resize_is_opencvs(name: str) -> None:
    number, interp, dtype = name.removeprefix("resized").split("_")
    height, width = RECORDED[name].shape[:2]
    image = nd.array(RECORDED[f"image{number}"], dtype=dtype)
    _close(nd.image.resize(image, size=(width, height), interp=int(interp)), name)
    batch = nd.image.resize(nd.stack(image, image), size=(width, height), interp=int(interp))
    _close(batch[1], name)


@pytest.mark.parametrize("name", BORDERS)
def test_borders_are_opencvs(name: str) -> None:
    number, kind = name.removeprefix("border").split("_")
    image = nd.array(RECORDED[f"image{number}"], dtype="uint8")
    _close(nd._internal._cvcopyMakeBorder(image, top=1, bot=2, left=2, right=0, type=int(kind), value=7), name)


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("operator, factor", [("brightness", 1.4), ("contrast", 0.6), ("hue", 1.15), ("hue2", 0.7)])
def test_colors_are_adjusted_like_mxnet(operator: str, factor: float, dtype: str) -> None:
    image = nd.array(RECORDED["colors"], dtype=dtype)
    adjust = getattr(nd.image, f"random_{operator.rstrip('2')}")
    # Fractions are cut off, so that a rounding error in the hue can show as a step of one.
    tolerance = 1.0 if operator.startswith("hue") and dtype == "uint8" else 2e-3
    _close(adjust(image, min_factor=factor, max_factor=factor), f"{operator}_{dtype}", tolerance)


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_lighting_is_mxnets(dtype: str) -> None:
    image = nd.array(RECORDED["colors"], dtype=dtype)
    _close(nd.image.adjust_lighting(image, alpha=(0.1, 0.5, -0.3)), f"lighting_{dtype}")


def test_saturation_of_zero_leaves_the_gray() -> None:
    pixels = nd.array([[[100.0, 0, 0], [0, 100, 0], [0, 0, 100]]])
    gray = nd.image.random_saturation(pixels, min_factor=0, max_factor=0).asnumpy()
    np.testing.assert_allclose(gray[0, :, 0], [29.9, 58.7, 11.4], rtol=1e-5)
    np.testing.assert_allclose(gray, gray[..., :1].repeat(3, -1))


def test_neutral_jitter_changes_nothing_and_a_strong_one_does() -> None:
    image = nd.array(RECORDED["colors"], dtype="uint8")
    same = nd.image.random_color_jitter(image, brightness=0, contrast=0, saturation=0, hue=0)
    assert (same == image).asnumpy().all()
    mx.random.seed(1)
    changed = nd.image.random_color_jitter(image, brightness=0.9, contrast=0.9, saturation=0.9, hue=0.4)
    assert (changed.asnumpy() != image.asnumpy()).any()


def test_random_flips_flip_about_half_of_the_time() -> None:
    mx.random.seed(5)
    image = nd.array([[[1.0], [2.0]]])
    flipped = sum(int(nd.image.random_flip_left_right(image)[0, 0, 0].asscalar() == 2) for _ in range(200))
    assert 60 < flipped < 140


def test_the_gradient_of_a_resize_adds_up_to_that_of_the_sum() -> None:
    image = nd.array(np.random.default_rng(0).normal(size=(5, 7, 2)))
    image.attach_grad()
    with mx.autograd.record():
        small = nd.image.resize(image, size=(3, 2), interp=3)
    small.backward()
    np.testing.assert_allclose(image.grad.asnumpy().sum(), small.size, rtol=1e-5)
