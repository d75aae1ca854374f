"""The cells of `mx.rnn`: names, fused against single cells, modifiers, weights by gate, sentences, checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import nd


def _run(outputs: Any, arrays: dict[str, nd.NDArray]) -> np.ndarray[Any, Any]:
    symbol = outputs if isinstance(outputs, mx.sym.Symbol) else mx.sym.Group(outputs)
    shapes = {name: arrays[name].shape for name in symbol.list_arguments() if name in arrays}
    executor = symbol.simple_bind(mx.cpu(), grad_req="null", **shapes)
    executor.copy_params_from(arrays, allow_extra_params=True)
    return np.stack([out.asnumpy() for out in executor.forward()])


@pytest.mark.parametrize(
    ("cell", "states", "gates"),
    [(mx.rnn.RNNCell, 1, 1), (mx.rnn.LSTMCell, 2, 4), (mx.rnn.GRUCell, 1, 3)],
    ids=["rnn", "lstm", "gru"],
)
def test_names_and_shapes(cell: Any, states: int, gates: int) -> None:
    made = cell(10, prefix="c_")
    outputs, last = made.unroll(3, [mx.sym.var(f"x{t}") for t in range(3)])
    group = mx.sym.Group(outputs)
    assert group.list_outputs() == [f"c_t{t}_out_output" for t in range(3)]
    assert sorted(made.params._params) == ["c_h2h_bias", "c_h2h_weight", "c_i2h_bias", "c_i2h_weight"]
    arguments, outs, _ = group.infer_shape(x0=(4, 5), x1=(4, 5), x2=(4, 5))
    assert outs == [(4, 10)] * 3 and len(last) == states == len(made.state_info)
    assert dict(zip(group.list_arguments(), arguments))["c_i2h_weight"] == (10 * gates, 5)


@pytest.mark.parametrize("bidirectional", [False, True], ids=["forward", "both ways"])
@pytest.mark.parametrize("mode", ["rnn_relu", "rnn_tanh", "lstm", "gru"])
@pytest.mark.parametrize("layout", ["NTC", "TNC"])
def test_fused_layers_equal_the_cells_they_unfuse_to(mode: str, bidirectional: bool, layout: str) -> None:
    draw = np.random.RandomState(0)
    fused = mx.rnn.FusedRNNCell(4, num_layers=2, mode=mode, bidirectional=bidirectional, prefix="f_")
    data = mx.sym.var("data")
    whole, _ = fused.unroll(3, data, layout=layout, merge_outputs=True)
    apart, _ = fused.unfuse().unroll(3, data, layout=layout, merge_outputs=True)
    x = nd.array(draw.randn(*((2, 3, 5) if layout == "NTC" else (3, 2, 5))).astype("float32"))
    size = dict(zip(whole.list_arguments(), whole.infer_shape(data=x.shape)[0]))["f_parameters"]
    packed = {"f_parameters": nd.array(draw.randn(*size) * 0.3, dtype="float32")}
    unpacked = fused.unpack_weights(packed)
    again = fused.pack_weights(unpacked)
    np.testing.assert_array_equal(again["f_parameters"].asnumpy(), packed["f_parameters"].asnumpy())
    single = fused.unfuse().pack_weights(unpacked)
    np.testing.assert_allclose(
        _run(whole, {"data": x, **packed}), _run(apart, {"data": x, **single}), rtol=1e-4, atol=1e-5
    )


def test_forget_gates_begin_at_their_bias() -> None:
    outputs, _ = mx.rnn.LSTMCell(3, prefix="l_", forget_bias=2.0).unroll(1, mx.sym.var("data"), merge_outputs=True)
    module = mx.mod.Module(outputs, label_names=None)
    module.bind([("data", (2, 1, 4))])
    module.init_params()
    np.testing.assert_array_equal(module.get_params()[0]["l_i2h_bias"].asnumpy(), [0] * 3 + [2] * 3 + [0] * 6)


def test_modifiers() -> None:
    x = nd.array(np.random.RandomState(1).randn(2, 3, 4).astype("float32"))
    base = mx.rnn.RNNCell(4, prefix="b_")
    weights = {
        "b_i2h_weight": nd.ones((4, 4)) * 0.1,
        "b_i2h_bias": nd.zeros((4,)),
        "b_h2h_weight": nd.ones((4, 4)) * 0.2,
        "b_h2h_bias": nd.zeros((4,)),
    }
    plain = _run(
        mx.rnn.RNNCell(4, prefix="b_").unroll(3, mx.sym.var("data"), merge_outputs=True)[0], {"data": x, **weights}
    )
    residual = mx.rnn.ResidualCell(base)
    with pytest.raises(AssertionError, match="call the modifier cell instead"):
        base.begin_state()
    added = _run(residual.unroll(3, mx.sym.var("data"), merge_outputs=True)[0], {"data": x, **weights})
    np.testing.assert_allclose(added, plain + x.asnumpy()[None], rtol=1e-5)
    zoneout = mx.rnn.ZoneoutCell(mx.rnn.RNNCell(4, prefix="b_"), 0.5, 0.5)
    stack = mx.rnn.SequentialRNNCell()
    stack.add(zoneout)
    stack.add(mx.rnn.DropoutCell(0.5))
    steps = stack.unroll(3, mx.sym.var("data"))[0]
    np.testing.assert_allclose(_run(steps, {"data": x, **weights}), plain[0].transpose(1, 0, 2), rtol=1e-5)
    with pytest.raises(AssertionError, match="unfuse it"):
        mx.rnn.ZoneoutCell(mx.rnn.FusedRNNCell(4))


@pytest.mark.parametrize("cell", [mx.rnn.ConvRNNCell, mx.rnn.ConvLSTMCell, mx.rnn.ConvGRUCell])
def test_convolutional_cells_keep_the_size(cell: Any) -> None:
    made = cell(input_shape=(1, 3, 8, 6), num_hidden=5, prefix="v_")
    outputs, _ = made.unroll(2, [mx.sym.var("x0"), mx.sym.var("x1")])
    shapes = mx.sym.Group(outputs).infer_shape(x0=(2, 3, 8, 6), x1=(2, 3, 8, 6))[1]
    assert shapes == [(2, 5, 8, 6)] * 2
    with pytest.raises(AssertionError, match="must be odd"):
        cell(input_shape=(1, 3, 8, 6), num_hidden=5, h2h_kernel=(2, 3))


def test_sentences_in_buckets() -> None:
    text = [["a", "b"], ["b", "c", "a"], ["c", "a"], ["a", "b", "c"], ["a"] * 9]
    encoded, vocabulary = mx.rnn.encode_sentences(text, start_label=1, invalid_label=0)
    assert encoded[1] == [2, 3, 1] and vocabulary == {"\n": 0, "a": 1, "b": 2, "c": 3}
    with pytest.raises(AssertionError, match="does not have the word 'z'"):
        mx.rnn.encode_sentences([["z"]], vocab=dict(vocabulary))
    with pytest.warns(UserWarning, match="1 sentences are longer"):
        iterator = mx.rnn.BucketSentenceIter(encoded, 2, buckets=[2, 4], invalid_label=0, layout="TN")
    assert iterator.default_bucket_key == 4
    seen = {}
    for batch in iterator:
        data, label = (array[0].asnumpy().T for array in (batch.data, batch.label))
        np.testing.assert_array_equal(label[:, :-1], data[:, 1:])
        assert (label[:, -1] == 0).all()
        seen[batch.bucket_key] = data.shape
    assert seen == {2: (2, 2), 4: (2, 4)}


def test_checkpoints_of_fused_layers_are_read_by_single_cells(tmp_path: Path) -> None:
    fused = mx.rnn.FusedRNNCell(3, mode="gru", prefix="g_")
    outputs, _ = fused.unroll(2, mx.sym.var("data"), merge_outputs=True)
    size = dict(zip(outputs.list_arguments(), outputs.infer_shape(data=(1, 2, 3))[0]))["g_parameters"]
    weights = {"g_parameters": nd.array(np.arange(size[0]), dtype="float32")}
    prefix = str(tmp_path / "g")
    mx.rnn.do_rnn_checkpoint(fused, prefix)(0, outputs, weights, {})
    _, single, _ = mx.rnn.load_rnn_checkpoint(fused.unfuse(), prefix, 1)
    assert sorted(single) == ["g_l0_h2h_bias", "g_l0_h2h_weight", "g_l0_i2h_bias", "g_l0_i2h_weight"]
    assert single["g_l0_i2h_weight"].shape == (9, 3)
