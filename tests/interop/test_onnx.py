"""ONNX models against the symbols they were written from, run by onnxruntime, or else by the reference of onnx."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import nd
from autohybrid.cli.main import main
from autohybrid.errors import MXNetError
from autohybrid.gluon import nn
from autohybrid.interop.onnx import OPERATORS, export_onnx

S = mx.sym
_D = S.var("data")
_IMAGE = {"data": (2, 4, 7, 6)}
_TABLE = {"data": (3, 5)}
_BATCHES = {"data": (2, 3, 4)}

#: Symbol, and the shapes of its inputs; everything else is a parameter.
CASES: dict[str, tuple[Any, dict[str, tuple[int, ...]]]] = {
    "conv": (S.Convolution(_D, kernel=(3, 2), stride=(2, 1), pad=(1, 0), num_filter=6, num_group=2), _IMAGE),
    "dilated": (S.Convolution(_D, kernel=(2, 2), dilate=(2, 2), num_filter=3, no_bias=True), _IMAGE),
    "deconv": (S.Deconvolution(_D, kernel=(3, 3), stride=(2, 2), pad=(1, 1), adj=(1, 1), num_filter=3), _IMAGE),
    "batch norm": (S.BatchNorm(_D, fix_gamma=False, name="bn"), _IMAGE),
    "batch norm, gamma fixed": (S.BatchNorm(_D, eps=1e-4, name="bn"), _IMAGE),
    "layer norm": (S.LayerNorm(_D), _BATCHES),
    "instance norm": (S.InstanceNorm(_D), _IMAGE),
    "max pool": (S.Pooling(_D, kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type="max"), _IMAGE),
    "max pool, full": (S.Pooling(_D, kernel=(2, 2), stride=(2, 2), pooling_convention="full"), _IMAGE),
    "avg pool": (S.Pooling(_D, kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type="avg"), _IMAGE),
    "avg pool, real pixels": (
        S.Pooling(_D, kernel=(3, 3), pad=(1, 1), pool_type="avg", count_include_pad=False), _IMAGE,
    ),
    "global pool": (S.Pooling(_D, global_pool=True, pool_type="avg", kernel=(1, 1)), _IMAGE),
    "dense": (S.FullyConnected(_D, num_hidden=3), _IMAGE),
    "dense of rows": (S.FullyConnected(_D, num_hidden=3, flatten=False), _BATCHES),
    "dense without bias": (S.FullyConnected(_D, num_hidden=3, no_bias=True, flatten=False), _BATCHES),
    **{f"activation {a}": (S.Activation(_D, act_type=a), _TABLE) for a in ("relu", "sigmoid", "softrelu", "softsign")},
    **{f"leaky {a}": (S.LeakyReLU(_D, act_type=a), _IMAGE) for a in ("leaky", "elu", "selu", "gelu", "prelu")},
    "softmax": (S.softmax(_D, axis=1), _IMAGE),
    "log_softmax": (S.log_softmax(_D), _TABLE),
    "loss": (S.SoftmaxOutput(_D, name="softmax"), _TABLE),
    "dropout": (S.Dropout(_D, p=0.5) + 1, _TABLE),
    "lrn": (S.LRN(_D, nsize=3, alpha=0.1), _IMAGE),
    "up": (S.UpSampling(_D, scale=2, sample_type="nearest"), _IMAGE),
    "l2": (S.L2Normalization(_D, mode="channel"), _IMAGE),
    "l2 instance": (S.L2Normalization(_D), _TABLE),
    "arithmetic": (1 - (2 * _D + 3) / 4 - S.exp(_D) ** 2 + S.square(_D), _TABLE),
    "reflected": (S.sqrt(S.abs(2 / (_D + 5))) + S.maximum(_D, 0.1) + S.minimum(_D, S.tanh(_D)), _TABLE),
    "broadcast": (S.broadcast_mul(S.broadcast_add(_D, S.var("b", shape=(1, 5))), S.var("c", shape=(3, 1))), _TABLE),
    "compare": ((_D > 0) + (S.sin(_D) > _D) + S.broadcast_equal(_D, _D), _TABLE),
    "where": (S.where(_D > 0.2, _D, -_D), _TABLE),
    "clip": (S.clip(_D, -0.5, 0.4), _TABLE),
    "hard sigmoid": (S.hard_sigmoid(_D), _TABLE),
    "reduce": (S.sum(_D, axis=1) + S.mean(_D, axis=(1,)) * S.max(_D, axis=1) - S.min(_D, axis=1), _BATCHES),
    "reduce all but": (S.sum(_D, axis=1, exclude=True, keepdims=True), _BATCHES),
    "prod": (S.prod(_D, axis=-1), _BATCHES),
    "batch_dot": (S.batch_dot(_D, _D, transpose_b=True), _BATCHES),
    "dot": (S.dot(_D, S.var("w", shape=(5, 2))), _TABLE),
    "reshape": (S.reshape(_D, (0, -1)), _BATCHES),
    "reshape by codes": (S.reshape(_D, (-3, -2)), _BATCHES),
    "flatten": (S.Flatten(_D), _IMAGE),
    "transpose": (S.transpose(S.transpose(_D, (0, 2, 1))), _BATCHES),
    "swap": (S.swapaxes(_D, 0, 2), _BATCHES),
    "join": (S.concat(_D, S.stack(*S.split(_D, 3, axis=1, squeeze_axis=True), axis=1), dim=2), _BATCHES),
    "split": (S.Group(list(S.split(_D, 2, axis=2))), _BATCHES),
    "cut": (S.slice_axis(S.slice(_D, (0, 1), (None, 3)), axis=2, begin=-3, end=None), _BATCHES),
    "cut backwards": (S.slice(_D, begin=(None, None), end=(None, None), step=(1, -1)), _BATCHES),
    "squeeze": (S.squeeze(S.expand_dims(_D, 1), axis=1), _BATCHES),
    "pad": (S.pad(_D, mode="constant", pad_width=(0, 0, 0, 0, 1, 2, 3, 0), constant_value=0.5), _IMAGE),
    "pad edge": (S.pad(_D, mode="edge", pad_width=(0, 0, 0, 0, 1, 2, 3, 0)), _IMAGE),
    "tile": (S.tile(_D, (2, 1, 2)), _TABLE),
    "embedding": (S.Embedding(S.abs(_D * 3), input_dim=4, output_dim=3), _TABLE),
    "cast": (S.cast(S.cast(_D * 3, "int32"), "float32"), _TABLE),
}  # fmt: skip


def _filled(symbol: Any, shapes: dict[str, tuple[int, ...]]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    drawn = np.random.RandomState(0)
    arguments, _, states = symbol.infer_shape(**shapes)
    both = zip((*symbol.list_arguments(), *symbol.list_auxiliary_states()), (*arguments, *states))
    values = {name: drawn.uniform(0.1 if "var" in name else -1, 1, shape).astype("float32") for name, shape in both}
    return {n: v for n, v in values.items() if n not in shapes}, {n: values[n] for n in shapes}


def _expected(symbol: Any, parameters: dict[str, np.ndarray], inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    arrays = {name: nd.array(value) for name, value in {**parameters, **inputs}.items()}
    states = {name: arrays.pop(name) for name in symbol.list_auxiliary_states()}
    executor = symbol.bind(mx.cpu(), arrays, aux_states=states)
    return [output.asnumpy() for output in executor.forward(is_train=False)]


def _run(path: Path, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    if importlib.util.find_spec("onnxruntime") is not None:
        return importlib.import_module("onnxruntime").InferenceSession(str(path)).run(None, inputs)
    from onnx.reference import ReferenceEvaluator

    return ReferenceEvaluator(str(path)).run(None, inputs)


@pytest.mark.parametrize("name", CASES)
def test_the_model_computes_what_the_symbol_does(name: str, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    if name == "lrn":
        pytest.importorskip(
            "onnxruntime", reason="the reference implementation of LRN is not that of its specification"
        )
    symbol, shapes = CASES[name]
    parameters, inputs = _filled(symbol, shapes)
    given = {n: v for n, v in parameters.items() if not n.endswith("label")}
    export_onnx(symbol, given, shapes, str(tmp_path / "model.onnx"))
    results = _run(tmp_path / "model.onnx", inputs)
    for result, wanted in zip(results, _expected(symbol, parameters, inputs), strict=True):
        assert result.shape == wanted.shape
        np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-5)


def _net() -> Any:
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3, activation="relu"), nn.BatchNorm(), nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dense(3))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    return net


def test_a_block_that_is_called_twice_has_two_results(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    dense, drop = nn.Dense(5, in_units=5, prefix="d_"), nn.Dropout(0.5, prefix="drop_")
    dense.initialize(mx.init.Uniform(1))
    symbol = drop(dense(drop(dense(_D))))
    parameters = {p.name: p.data().asnumpy() for p in dense.collect_params().values()}
    export_onnx(symbol, parameters, _TABLE, str(tmp_path / "x.onnx"))
    x = np.random.RandomState(0).uniform(-1, 1, _TABLE["data"]).astype("float32")
    wanted = dense(dense(nd.array(x))).asnumpy()
    np.testing.assert_allclose(_run(tmp_path / "x.onnx", {"data": x})[0], wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("layer", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_recurrent_layers(layer: str, bidirectional: bool, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="the reference implementations know one direction of two")
    more = {"activation": "relu"} if layer == "RNN" else {}
    net = getattr(mx.gluon.rnn, layer)(3, 2, input_size=4, bidirectional=bidirectional, **more)
    net.initialize(mx.init.Uniform(0.5))
    net.hybridize()
    x, path = nd.random.uniform(-1, 1, shape=(5, 2, 4)), str(tmp_path / "net")
    wanted = net(x).asnumpy()
    net.export(path)
    mx.onnx.export_model(f"{path}-symbol.json", f"{path}-0000.params", [x.shape], onnx_file_path=f"{path}.onnx")
    result = _run(tmp_path / "net.onnx", {"data": x.asnumpy()})[0]
    np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-6)
    again = mx.onnx.import_to_gluon(f"{path}.onnx", mx.cpu())
    np.testing.assert_allclose(again(x).asnumpy(), wanted, rtol=1e-4, atol=1e-6)


def test_the_command_converts_an_exported_net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnx")
    monkeypatch.chdir(tmp_path)
    net, x = _net(), nd.random.uniform(shape=(1, 3, 8, 8))
    wanted = net(x).asnumpy()
    net.export("net")
    assert main(["convert", "net-symbol.json", "net.onnx", "--shape", "data=1x3x8x8"]) == 0
    np.testing.assert_allclose(_run(Path("net.onnx"), {"data": x.asnumpy()})[0], wanted, rtol=1e-4, atol=1e-6)
    assert main(["convert", "net-symbol.json", "net.onnx", "--shape", "data=1x3x8x8"]) == 2
    assert mx.onnx.export_model("net-symbol.json", "net-0000.params", [(1, 3, 8, 8)], onnx_file_path="two.onnx")
    assert Path("two.onnx").read_bytes() == Path("net.onnx").read_bytes()


def test_what_has_no_counterpart_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", object())
    path = str(tmp_path / "x.onnx")
    with pytest.raises(MXNetError, match=r"there is no ONNX for _contrib_box_nms, topk"):
        export_onnx(S.topk(S.contrib.box_nms(_D)), {}, {"data": (1, 3, 6)}, path)


@pytest.mark.parametrize(
    ("message", "symbol"),
    [
        ("its layout is NHWC", S.Convolution(_D, kernel=(1, 1), num_filter=2, layout="NHWC")),
        ("its axis is 3", S.BatchNorm(_D, axis=3)),
        ("when predicting", S.Dropout(_D, mode="always")),
        ("its pool_type is sum", S.Pooling(_D, kernel=(2, 2), pool_type="sum")),
        ("it has a length or a temperature", S.softmax(_D, temperature=2.0)),
        ("only nearest neighbours", S.UpSampling(_D, S.var("w"), scale=2, sample_type="bilinear", num_filter=4)),
        ("`b` is neither a parameter nor an input", S.broadcast_add(_D, S.var("b", shape=(1, 1, 1, 1)))),
    ],
)
def test_what_cannot_be_written_is_refused(message: str, symbol: Any, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    parameters, _ = _filled(symbol, _IMAGE)
    parameters.pop("b", None)
    with pytest.raises(MXNetError, match=message):
        export_onnx(symbol, parameters, _IMAGE, str(tmp_path / "x.onnx"))


def test_a_shape_is_needed_and_the_package_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MXNetError, match=r"pip install 'autohybrid\[onnx\]'"):
        export_onnx(_D + 1, {}, _TABLE, str(tmp_path / "x.onnx"))
    with pytest.raises(MXNetError, match="not offered"):
        mx.onnx.export_model(_D, {}, [(1,)], dynamic=True)
    with pytest.raises(MXNetError, match="inputs of exported models are float32"):
        mx.onnx.export_model(_D, {}, [(1,)], in_types=np.float16)
    assert "Convolution" in mx.onnx.get_operator_support()


def test_operators_are_those_of_the_catalogue() -> None:
    from autohybrid.tensor.ops import operators

    assert {operators()[name].name for name in OPERATORS} == set(OPERATORS)
