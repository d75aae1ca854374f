"""Operators at the edge of what they take: extents of 0, numbers beyond a dtype, ties. MXNet 1.9.1's answers."""

from __future__ import annotations

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import autograd, nd
from autohybrid.errors import MXNetError


def test_a_diagonal_that_starts_at_the_edge_is_empty() -> None:
    assert nd.diag(nd.ones((2, 3)), k=3).shape == (0,)
    assert nd.diag(nd.ones((2, 3)), k=-2).shape == (0,)
    with pytest.raises(MXNetError, match="lies outside"):
        nd.diag(nd.ones((2, 3)), k=4)


def test_padding_may_leave_nothing_of_a_deconvolution_but_not_less() -> None:
    data, weight = nd.ones((2, 2, 3, 3)), nd.ones((2, 3, 3, 2))
    settings = {"kernel": (3, 2), "stride": (2, 1), "num_filter": 3}
    assert nd.Deconvolution(data, weight, pad=(1, 2), **settings).shape == (2, 3, 5, 0)
    with pytest.raises(MXNetError, match="less than nothing"):
        nd.Deconvolution(data, weight, pad=(1, 3), **settings)


@pytest.mark.parametrize(
    ("dtype", "on", "off", "row"),
    [
        ("uint8", 2, -1, [255, 2]),
        ("uint8", 300, 0.5, [0, 44]),
        ("int8", 300, 0, [0, 44]),
        ("int32", 1.7, -1.7, [-1, 1]),
    ],
)
def test_one_hot_values_wrap_around_in_small_dtypes(dtype: str, on: float, off: float, row: list[int]) -> None:
    hot = nd.one_hot(nd.array([1]), depth=2, on_value=on, off_value=off, dtype=dtype)
    assert hot.asnumpy().tolist() == [row]


@pytest.mark.parametrize(("scalar", "wanted"), [(0.5, [0, 0, 0, 0]), (1.5, [7, 1, 0, 2]), (0, [0, 0, 0, 0])])
def test_smooth_l1_of_integers_cuts_its_scalar_to_an_integer(scalar: float, wanted: list[int]) -> None:
    data = nd.array([-8, -2, 1, 3], dtype="int32")
    assert nd.smooth_l1(data, scalar=scalar).asnumpy().tolist() == wanted


def test_normalize_of_integers_computes_in_single_precision() -> None:
    image = nd.array(np.arange(-4, 5).reshape(1, 3, 3), dtype="int32")
    single = (image.asnumpy().astype("float32") - np.float32(0.1)) / np.float32(0.3)
    assert (nd.image.normalize(image, mean=0.1, std=0.3).asnumpy() == single.astype("int32")).all()


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8"])
def test_the_nearest_pixel_is_taken_of_integers_too(dtype: str) -> None:
    image = nd.array(np.arange(24).reshape(3, 4, 2), dtype=dtype)
    assert nd.image.resize(image, size=(2, 3), interp=0).asnumpy().ravel()[:6].tolist() == [0, 1, 4, 5, 8, 9]


def test_box_nms_of_no_boxes_gives_the_data() -> None:
    boxes = nd.array([[0, 0.2, 0.1, 0.1, 0.5, 0.5], [1, 0.8, 0.1, 0.1, 0.5, 0.5]])
    boxes.attach_grad()
    with autograd.record():
        kept = nd.contrib.box_nms(boxes, topk=0, valid_thresh=0.5, out_format="center")
    kept.backward()
    assert (kept.asnumpy() == boxes.asnumpy()).all()
    assert (boxes.grad.asnumpy() == 1).all()


def test_the_gradient_of_the_absolute_error_at_the_label_is_minus_one() -> None:
    data = nd.array([[1.0], [2.0], [3.0]])
    data.attach_grad()
    with autograd.record():
        loss = nd.MAERegressionOutput(data, nd.array([1.0, 3.0, 2.0]))
    loss.backward()
    assert data.grad.asnumpy().ravel().tolist() == [-1, -1, 1]


def test_classes_along_axis_one_need_no_further_axis() -> None:
    data, label = mx.sym.Variable("data"), mx.sym.Variable("label")
    shapes, _, _ = mx.sym.SoftmaxOutput(data, label, multi_output=True).infer_shape(data=(2, 3))
    assert shapes == [(2, 3), (2, 1)]
    flat = nd.array([[1.0, 0.2, 0.3], [0.4, 0.5, 0.6]])
    flat.attach_grad()
    with autograd.record():
        out = nd.SoftmaxOutput(flat, nd.array([1, 2]), multi_output=True)
    out.backward()
    wanted = out.asnumpy() - np.array([[0, 1, 0], [0, 0, 1]])
    np.testing.assert_allclose(flat.grad.asnumpy(), wanted, rtol=1e-6)


def test_moments_of_small_integers_do_not_overflow() -> None:
    mean, variance = nd.moments(nd.array([[200, 100, 90], [190, 100, 104]], dtype="uint8"), axes=(0,))
    assert mean.asnumpy().tolist() == [195, 100, 97]
    assert variance.asnumpy().tolist() == [25, 0, 49]


@pytest.mark.parametrize("step", [-1, -2])
def test_a_slice_backwards_from_in_front_of_the_axis_is_empty(step: int) -> None:
    column = nd.arange(6).reshape((6, 1))
    column.attach_grad()
    with autograd.record():
        part = nd.slice(column, begin=(0, -2), end=(6, None), step=(2, step))
    assert part.shape == (3, 0)
    part.backward()
    assert (column.grad.asnumpy() == 0).all()


@pytest.mark.parametrize(
    ("dtype", "limits", "counts"),
    [
        ("int32", (0.5, 4.0), [0, 2, 3, 2]),
        ("int8", (0.5, 2.0), [0, 0, 2, 3]),
        ("int64", (1, 2.9), [0, 2, 0, 3]),
        ("float32", (0.5, 4.0), [2, 3, 1, 1]),
        ("float32", (1, 2.9), [2, 0, 3, 0]),
        ("float32", (1, 2.1), [2, 0, 0, 3]),
    ],
)
def test_histograms_of_integers_count_between_the_limits_given(
    dtype: str, limits: tuple[float, float], counts: list[int]
) -> None:
    found, _ = nd.histogram(nd.array([0, 1, 2, 3, 4, 2, 2, 1], dtype=dtype), bins=4, range=limits)
    assert found.asnumpy().tolist() == counts


def test_reshape_like_needs_axes_to_replace() -> None:
    with pytest.raises(MXNetError, match="no range of axes"):
        nd.reshape_like(nd.ones((5, 1)), nd.ones((1, 5, 1)), lhs_begin=1, lhs_end=1, rhs_begin=2, rhs_end=2)


def test_the_gradients_of_gamma_functions_at_poles() -> None:
    data = nd.array([0.0, -1.0, 1.0])
    data.attach_grad()
    with autograd.record():
        total = nd.gammaln(data)
    total.backward()
    np.testing.assert_allclose(data.grad.asnumpy(), [np.inf, np.inf, -0.5772157], rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gamma_overflows_to_infinity(dtype: str) -> None:
    values = nd.gamma(nd.array([-0.0, 0.0, 200.0, 1e4, 1e30, np.inf, -1.5, -1e4 - 0.5], dtype=dtype)).asnumpy()
    wanted = [-np.inf, np.inf, np.inf, np.inf, np.inf, np.inf, 2.3632718, 0]
    np.testing.assert_allclose(values, wanted, rtol=1e-6)
