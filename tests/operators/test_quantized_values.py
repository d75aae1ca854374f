"""Quantized operators give the integers and ranges that MXNet 1.9.1 (its CPU build with MKL-DNN) gave."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid.base import MXNetError

nd = mx.nd
BYTES = [[45, -80, -10], [65, -60, 124]]
WORDS = [[58, 193, 230], [39, 87, 174]]
WEIGHT = [[68, -24, -118], [84, -106, 115], [-91, -40, -57], [89, -39, 13]]
LOW, HIGH, LOW_2, HIGH_2 = ([-2.0], [3.0], [-1.0], [0.5])


def _array(values: Any, dtype: str = "float32") -> Any:
    return nd.array(values, dtype=dtype)


def _ranges(*ends: list[float]) -> list[Any]:
    return [_array(end) for end in ends]


def _check(results: Any, dtype: str, values: Any, low: float, high: float) -> None:
    assert np.dtype(results[0].dtype).name == dtype
    np.testing.assert_array_equal(results[0].asnumpy(), values)
    np.testing.assert_allclose([results[1].asscalar(), results[2].asscalar()], [low, high], rtol=1e-6)


DATA = [[-0.5, -1.875, 1.027], [1.846, 2.172, 1.79]]


@pytest.mark.parametrize(
    "values, top, dtype, expected",
    [
        ([0.5, 1.5, 2.5, -0.5, -1.5, 126.5, 200, -127.5, -300], 127.5, "int8", [0, 2, 2, 0, -2, 126, 127, -128, -128]),
        ([0.5, 1.5, 2.5, -0.5, -1.5, 126.5, 200, -127.5, -300], 127.0, "int8", [1, 2, 3, -1, -2, 127, 127, -128, -128]),
    ],
)
def test_halves_go_to_even_integers_and_what_does_not_fit_is_cut_off(
    values: Any, top: float, dtype: str, expected: Any
) -> None:
    results = nd.contrib.quantize_v2(_array(values), out_type=dtype, min_calib_range=-top, max_calib_range=top)
    _check(results, dtype, expected, -top, top)


def test_quantize_and_quantize_v2_count_to_different_tops() -> None:
    """127 of the old operator, 127.5 of the new one: 0.5 of 1 is 63.5 and 63.75."""
    ends = _ranges([-127.5], [127.5])
    old = nd.contrib.quantize(_array([0.5, 1.5, 2.5, -1.5, 126.5, 200, -300]), *ends, out_type="int8")
    _check(old, "int8", [0, 1, 2, -1, 126, 127, -128], -127.5, 127.5)


def test_zeros_have_no_range_and_an_answer_all_the_same() -> None:
    _check(nd.contrib.quantize_v2(nd.zeros((3,)), out_type="int8"), "int8", [127, 127, 127], 0, 0)
    _check(nd.contrib.quantize_v2(nd.zeros((3,)), out_type="uint8"), "uint8", [0, 0, 0], 0, 0)


def test_auto_is_unsigned_only_for_a_given_range_from_zero_on() -> None:
    _check(nd.contrib.quantize_v2(_array([1, 2, 3]), out_type="auto"), "int8", [42, 85, 127], -3, 3)
    given = nd.contrib.quantize_v2(_array([-0.5, 2, 3]), out_type="auto", min_calib_range=0.0, max_calib_range=2.0)
    _check(given, "uint8", [0, 255, 255], 0, 2)


def test_sums_are_quantized_over_their_largest_or_the_given_range() -> None:
    sums = _array([[100000, -2000000], [3, 2**30]], "int32")
    _check(nd.contrib.requantize(sums, *_ranges(LOW, HIGH)), "int8", [[0, 0], [0, 127]], -1.5, 1.5)
    given = nd.contrib.requantize(sums, *_ranges(LOW, HIGH), min_calib_range=-0.1, max_calib_range=0.1)
    _check(given, "int8", [[0, -4], [0, 127]], -0.1, 0.1)


@pytest.mark.parametrize(
    "data, dtype, expected, high",
    [
        (BYTES, "int8", [[6202, 11195, -198, 2745], [-8730, 26165, -10456, 5487]], 399432.75),
        (WORDS, "uint8", [[-27743, 11034, -25853, -7891], [-19883, 14234, -16692, -6176]], 198933.1875),
    ],
)
def test_dense_layers_bring_the_bias_to_the_steps_of_the_sums(
    data: Any, dtype: str, expected: Any, high: float
) -> None:
    arrays = (_array(data, dtype), _array(WEIGHT, "int8"), _array([1, 2, 3, -100], "int8"))
    ranges = _ranges(LOW, HIGH, LOW_2, HIGH_2, LOW_2, HIGH_2)
    _check(nd.contrib.quantized_fully_connected(*arrays, *ranges, num_hidden=4), "int32", expected, -high, high)


def test_joined_arrays_have_the_range_of_all() -> None:
    data = _array([[-128, -64, 0, 127]], "int8")
    results = nd.contrib.quantized_concat(data, data, *_ranges(LOW, HIGH, LOW_2, HIGH_2), num_args=2)
    _check(results, "int8", [[-128, -64, 0, 127, -43, -21, 0, 42]], -2, 3)


def test_the_range_of_joined_arrays_holds_zero() -> None:
    """Also where ranges lie on one side of it, or their ends are in the wrong order."""
    data, other = _array([[10, 20]], "int8"), _array([[5, 250]], "uint8")
    right = nd.contrib.quantized_concat(data, other, *_ranges([1.0], [2.0], [3.0], [4.0]), num_args=2)
    _check(right, "int8", [[5, 10, 2, 125]], 0, 4)
    turned = nd.contrib.quantized_concat(data, other, *_ranges([2.0], [1.0], [3.0], [-4.0]), num_args=2)
    _check(turned, "int8", [[20, 40, 10, 127]], 0, 1)


def test_flatten_act_and_embedding_keep_the_range() -> None:
    data, ends = _array(BYTES, "int8"), _ranges(LOW, HIGH)
    _check(nd.contrib.quantized_flatten(data.reshape((1, 2, 3)), *ends), "int8", [[*BYTES[0], *BYTES[1]]], -2, 3)
    _check(nd.contrib.quantized_act(data, *ends, act_type="relu"), "int8", np.maximum(BYTES, 0), -2, 3)
    table = nd.contrib.quantized_embedding(_array([0, 3]), _array(WEIGHT, "int8"), *ends, input_dim=4, output_dim=3)
    _check(table, "int8", [WEIGHT[0], WEIGHT[3]], -2, 3)


def test_what_is_quantized_is_found_again_within_a_step() -> None:
    data = _array(DATA)
    for dtype, top in (("int8", 127.5), ("uint8", 255.5)):
        known = data if dtype == "int8" else nd.abs(data)
        again = nd.contrib.dequantize(*nd.contrib.quantize_v2(known, out_type=dtype))
        assert np.abs(again.asnumpy() - known.asnumpy()).max() <= 0.51 * 2.172 / top


def test_other_dtypes_are_refused() -> None:
    with pytest.raises(MXNetError, match="int8 or uint8"):
        nd.contrib.dequantize(_array([1], "int32"), *_ranges(LOW, HIGH))
    with pytest.raises(MXNetError, match="already"):
        nd.contrib.quantize_v2(_array([1], "uint8"), out_type="int8")


def test_symbols_have_the_names_and_shapes_of_mxnet() -> None:
    dense = mx.sym.contrib.quantized_fully_connected(num_hidden=4, name="fc")
    assert dense.list_arguments() == [
        "fc_data", "fc_weight", "fc_bias", "fc_min_data", "fc_max_data",
        "fc_min_weight", "fc_max_weight", "fc_min_bias", "fc_max_bias",
    ]  # fmt: skip
    assert dense.list_outputs() == ["fc_output", "fc_min_output", "fc_max_output"]
    arguments, results, _ = dense.infer_shape(fc_data=(2, 3))
    assert arguments == [(2, 3), (4, 3), (4,)] + [(1,)] * 6
    assert results == [(2, 4), (1,), (1,)]
    assert mx.sym.contrib.quantize_v2(name="q").list_outputs() == ["q_output0", "q_output1", "q_output2"]


IMAGE = [[[[45, -80, -10], [65, -60, 124], [-128, 127, 3]]]]
UNSIGNED_IMAGE = [[[[58, 193, 230], [39, 87, 174], [0, 255, 9]]]]


@pytest.mark.parametrize(
    "attrs, signed, unsigned",
    [
        ({"pool_type": "max"}, [[65, 124], [127, 127]], [[193, 230], [255, 255]]),
        ({"pool_type": "avg"}, [[-8, -6], [1, 48]], [[94, 171], [95, 131]]),
        (
            {"pool_type": "avg", "stride": (2, 2), "pooling_convention": "full"},
            [[-8, 28], [0, 1]],
            [[94, 101], [64, 2]],
        ),
        (
            {"pool_type": "avg", "pad": (1, 1), "count_include_pad": False, "stride": (2, 2)},
            [[45, -45], [-32, 48]],
            [[58, 212], [20, 131]],
        ),
        (
            {"pool_type": "max", "kernel": (1, 1), "stride": (3, 3), "pooling_convention": "full"},
            [[45, -128], [-128, -128]],
            [[58, 0], [0, 0]],
        ),
        ({"pool_type": "avg", "global_pool": True}, [[10]], [[116]]),
    ],
)
def test_pooling_rounds_averages_and_keeps_the_range(attrs: Any, signed: Any, unsigned: Any) -> None:
    """Windows over the edge are averaged with all that they cover, in `pooling_convention='full'` too."""
    for data, dtype, expected in ((IMAGE, "int8", signed), (UNSIGNED_IMAGE, "uint8", unsigned)):
        results = nd.contrib.quantized_pooling(_array(data, dtype), *_ranges(LOW, HIGH), **{"kernel": (2, 2), **attrs})
        _check(results, dtype, [[expected]], -2, 3)


def test_convolutions_are_summed_exactly() -> None:
    """The bias is added as it is, and the range is that of int8 data."""
    kernel = _array([[[[68, -24], [-118, 84]]], [[[-106, 115], [-91, -40]]]], "int8")
    data, attrs, high = _array(UNSIGNED_IMAGE, "uint8"), {"kernel": (2, 2), "num_filter": 2}, 399432.75
    ranges = _ranges(LOW, HIGH, LOW_2, HIGH_2)
    biased = nd.contrib.quantized_conv(
        data, kernel, _array([100, -3], "int8"), *ranges, *_ranges(LOW_2, HIGH_2), **attrs
    )
    expected: Any = [[[[2118, 12054], [22084, -27494]], [[9015, -8888], [-4332, -12780]]]]
    _check(biased, "int32", expected, -high, high)
    strided = nd.contrib.quantized_conv(data, kernel, *ranges, no_bias=True, pad=(1, 0), stride=(2, 2), **attrs)
    _check(strided, "int32", [[[[9368], [21984]], [[-12998], [-4329]]]], -high, high)


@pytest.mark.parametrize(
    "data, dtype, expected",
    [
        ([[45, -80], [65, 124]], "int8", [[22, 16], [45, 110]]),
        ([[58, 193], [39, 255]], "uint8", [[4, 97], [-7, 111]]),
    ],
)
def test_batch_norm_counts_eps_twice(data: Any, dtype: str, expected: Any) -> None:
    statistics = [_array(values) for values in ([2, 0.5], [-0.5, 1], [0.25, -1], [1.5, 0.5])]
    calibration = {"min_calib_range": -4.0, "max_calib_range": 1.0, "eps": 0.1}
    results = nd.contrib.quantized_batch_norm(_array(data, dtype), *statistics, *_ranges(LOW, HIGH), **calibration)
    _check(results, "int8", expected, -4, 1)
    with pytest.raises(MXNetError, match="min_calib_range"):
        nd.contrib.quantized_batch_norm(_array(data, dtype), *statistics, *_ranges(LOW, HIGH))
    with pytest.raises(MXNetError, match="axis 1"):
        nd.contrib.quantized_batch_norm(_array(data, dtype), *statistics, *_ranges(LOW, HIGH), axis=0, **calibration)


LEFT = {"int8": [45, -80, -10, 127], "uint8": [58, 193, 230, 255]}
RIGHT = {"int8": [-7, 100, 3, 127], "uint8": [7, 200, 3, 255]}


@pytest.mark.parametrize(
    "left, right, dtype, expected",
    [
        ("int8", "int8", "int8", [43, -47, -9, 127]),
        ("int8", "uint8", "int8", [46, -47, -10, 127]),
        ("uint8", "int8", "int8", [27, 127, 116, 127]),
        ("uint8", "uint8", "uint8", [60, 255, 231, 255]),
    ],
)
def test_sums_over_a_given_range_are_bytes(left: str, right: str, dtype: str, expected: Any) -> None:
    arrays = (_array(LEFT[left], left), _array(RIGHT[right], right), *_ranges(LOW, HIGH, LOW_2, [1.0]))
    results = nd.contrib.quantized_elemwise_add(*arrays, min_calib_range=-3.0, max_calib_range=2.5)
    _check(results, dtype, expected, -3, 2.5)


def test_sums_without_a_range_are_int32_over_the_sum_of_ranges() -> None:
    ends = _ranges(LOW, HIGH, LOW_2, [1.0])
    for dtype, expected in (
        ("int8", [538976320, -589505280, -113690312, 2139062144]),
        ("uint8", [380327360, 1636878336, 1456170368, 2143281152]),
    ):
        arrays = (_array(LEFT[dtype], dtype), _array(RIGHT[dtype], dtype))
        _check(nd.contrib.quantized_elemwise_add(*arrays, *ends), "int32", expected, -4, 4)


def test_sums_of_both_kinds_of_bytes_lose_nothing() -> None:
    """MXNet cuts the unsigned array off at 127 of the 2,147,483,648 steps."""
    arrays = (_array(LEFT["int8"], "int8"), _array(RIGHT["uint8"], "uint8"), *_ranges(LOW, HIGH, LOW_2, [1.0]))
    total, _, high = nd.contrib.quantized_elemwise_add(*arrays)
    expected = np.array(LEFT["int8"]) * 3 / 127.5 + np.array(RIGHT["uint8"]) / 255.5
    np.testing.assert_allclose(total.asnumpy() * (high.asscalar() / 2**31), expected, rtol=1e-5)


@pytest.mark.parametrize("bins, threshold, divergence", [(3, 3.5, 0.08665628731250763), (5, 5.5, 0.15151402354240417)])
def test_the_range_with_the_least_divergence(bins: int, threshold: float, divergence: float) -> None:
    hist, edges = _array([3, 0, 9, 40, 77, 120, 61, 30, 12, 5, 1]), _array(np.linspace(-5.5, 5.5, 12))
    results = nd.contrib.calibrate_entropy(hist, edges, num_quantized_bins=bins)
    np.testing.assert_allclose([result.asscalar() for result in results], [threshold, divergence], rtol=1e-6)


def test_histograms_that_do_not_fit_are_refused() -> None:
    with pytest.raises(MXNetError, match="odd number of bins"):
        nd.contrib.calibrate_entropy(nd.ones(6), nd.ones(7), num_quantized_bins=3)
    with pytest.raises(MXNetError, match="num_quantized_bins"):
        nd.contrib.calibrate_entropy(nd.ones(7), nd.ones(8))
