"""ONNX models as symbols: each operator against the reference implementation of the package onnx, whole models too."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_onnx import CASES, _expected, _filled, _run

import autohybrid as mx
from autohybrid import nd
from autohybrid.cli.main import main
from autohybrid.errors import MXNetError
from autohybrid.interop.onnx import READERS, export_onnx

_TABLE, _BATCHES, _IMAGE = (3, 5), (2, 3, 4), (2, 4, 6, 5)
_I = np.int64


def _drawn(*shape: int, low: float = -1.0) -> np.ndarray:
    return np.random.RandomState(sum(shape)).uniform(low, 1, shape).astype("float32")


def _whole(*numbers: int) -> np.ndarray:
    return np.array(numbers, _I)


#: ONNX operator, its data (shapes of inputs, or arrays for constants; None for one left out), its attributes.
OPERATORS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    *((kind, (_TABLE,), {}) for kind in ("Abs", "Neg", "Exp", "Floor", "Ceil", "Sign", "Sin", "Tanh", "Erf", "Relu")),
    *((kind, (_TABLE, (5,)), {}) for kind in ("Add", "Sub", "Mul", "Div", "Max", "Min")),
    *((kind, (_TABLE, np.float32(0.3)), {}) for kind in ("Add", "Sub", "Mul", "Div", "Less", "Greater", "Equal")),
    *((kind, (np.float32(0.3), _TABLE), {}) for kind in ("Sub", "Div", "Pow", "Less", "Greater", "LessOrEqual")),
    ("Sub", (_TABLE, _drawn(1, 1, 1)), {}),
    ("Sum", (_TABLE, _TABLE, _TABLE), {}),
    ("Mean", (_TABLE, _TABLE), {}),
    ("Round", (np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.3], "float32"), ), {}),
    ("Clip", (_TABLE, np.float32(-0.2), None), {}),
    ("Clip", (_TABLE, np.float32(-0.2), np.float32(0.1)), {}),
    ("Mod", (_TABLE, np.float32(0.4)), {"fmod": 1}),
    ("Not", (np.array([True, False]),), {}),
    *((kind, (_TABLE,), {"alpha": 0.7}) for kind in ("Elu", "LeakyRelu", "Celu", "ThresholdedRelu")),
    *((kind, (_TABLE,), {}) for kind in ("Selu", "Softplus", "Softsign", "HardSigmoid", "HardSwish")),
    ("PRelu", (_IMAGE, _drawn(4, 1, 1)), {}),
    ("Softmax", (_BATCHES,), {"axis": 1}),
    ("LogSoftmax", (_BATCHES,), {}),
    *((f"Reduce{kind}", (_BATCHES,), {"axes": [0, 2], "keepdims": 0}) for kind in ("Max", "Min", "Mean", "Prod")),
    *((f"Reduce{kind}", (_BATCHES,), {"axes": [1]}) for kind in ("L1", "L2", "SumSquare", "LogSumExp")),
    ("ReduceSum", (_BATCHES, _whole(0, -1)), {"keepdims": 0}),
    ("ReduceSum", (_BATCHES,), {"noop_with_empty_axes": 1}),
    ("ArgMax", (_BATCHES,), {"axis": 1, "keepdims": 0}),
    ("ArgMin", (_BATCHES,), {"axis": -1}),
    ("CumSum", (_BATCHES, np.int64(1)), {}),
    ("Trilu", (_BATCHES, np.int64(1)), {"upper": 0}),
    ("MatMul", (_BATCHES, (4, 5)), {}),
    ("MatMul", ((2, 1, 3, 4), (3, 4, 2)), {}),
    ("Gemm", (_TABLE, _drawn(5, 2), _drawn(2)), {"alpha": 0.5, "beta": 2.0}),
    ("Gemm", (_TABLE, _drawn(2, 5), _drawn(2)), {"transB": 1}),
    ("Gemm", ((5, 3), _drawn(5, 2)), {"transA": 1}),
    ("Einsum", (_BATCHES, (2, 5, 4)), {"equation": "bik,bjk->bji"}),
    ("Einsum", (_BATCHES, (4, 6)), {"equation": "bik,kn->nib"}),
    ("Conv", (_IMAGE, _drawn(6, 2, 3, 2), _drawn(6)), {"group": 2, "pads": [1, 0, 1, 0], "strides": [2, 1]}),
    ("Conv", (_IMAGE, _drawn(6, 4, 3, 2)), {"pads": [0, 1, 2, 0]}),
    ("Conv", (_IMAGE, _drawn(6, 4, 3, 2)), {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    ("Conv", ((2, 4, 9), _drawn(6, 4, 3)), {"dilations": [2]}),
    ("ConvTranspose", (_IMAGE, _drawn(4, 3, 3, 3)), {"strides": [2, 2], "pads": [1, 0, 0, 1]}),
    ("MaxPool", (_IMAGE,), {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 0]}),
    ("MaxPool", (_IMAGE,), {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
    ("MaxPool", (_IMAGE,), {"kernel_shape": [3, 2], "pads": [0, 1, 1, 0]}),
    ("AveragePool", (_IMAGE,), {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
    ("AveragePool", (_IMAGE,), {"kernel_shape": [3, 2], "pads": [0, 1, 1, 0], "count_include_pad": 1}),
    ("AveragePool", (_IMAGE,), {"kernel_shape": [3, 2], "pads": [0, 1, 1, 0]}),
    ("GlobalAveragePool", (_IMAGE,), {}),
    ("GlobalMaxPool", (_IMAGE,), {}),
    ("BatchNormalization", (_IMAGE, _drawn(4), _drawn(4), _drawn(4), _drawn(4, low=0.1)), {"epsilon": 1e-3}),
    ("LayerNormalization", (_BATCHES, _drawn(4)), {}),
    ("LayerNormalization", (_BATCHES, _drawn(3, 4), _drawn(3, 4)), {"axis": 1}),
    ("InstanceNormalization", (_IMAGE, _drawn(4), _drawn(4)), {}),
    ("Reshape", (_BATCHES, _whole(0, -1)), {}),
    ("Flatten", ((2, 3, 4, 5),), {"axis": 2}),
    ("Flatten", (_BATCHES,), {"axis": 0}),
    ("Transpose", (_BATCHES,), {}),
    ("Concat", (_BATCHES, _BATCHES), {"axis": -1}),
    ("Slice", (_BATCHES, _whole(-1), _whole(-(2**63) + 1), _whole(2), _whole(-1)), {}),
    ("Slice", (_BATCHES, _whole(1, 0), _whole(2**63 - 1, -1), _whole(2, 1), _whole(2, 1)), {}),
    ("Slice", (_BATCHES, _whole(0, 9), _whole(99, 10)), {}),
    ("Squeeze", ((1, 3, 1), _whole(-1)), {}),
    ("Unsqueeze", (_TABLE, _whole(-1, 0)), {}),
    ("Expand", ((3, 1), _whole(2, 1, 4)), {}),
    ("Tile", (_TABLE, _whole(2, 3)), {}),
    ("Gather", (_TABLE, np.int64(-1)), {"axis": 1}),
    ("Gather", (_TABLE, np.array([[0, -1]], _I)), {"axis": 1}),
    ("GatherElements", (_TABLE, np.array([[0, 4], [2, 2], [1, -1]], _I)), {"axis": 1}),
    ("GatherND", (_BATCHES, np.array([[0, 1], [1, 2]], _I)), {}),
    ("OneHot", (np.array([1, -1, 0], _I), np.int64(4), np.array([2, 5], "float32")), {}),
    ("Pad", (_TABLE, _whole(1, 0, 2, 3), np.float32(0.5)), {}),
    ("Pad", (_IMAGE, _whole(0, 1, 1, 0, 0, 0, 2, 1)), {}),
    ("Pad", (_BATCHES, _whole(0, 1, 1, 0, 0, 2)), {"mode": "reflect"}),
    ("DepthToSpace", ((1, 8, 2, 3),), {"blocksize": 2, "mode": "CRD"}),
    ("DepthToSpace", ((1, 8, 2, 3),), {"blocksize": 2}),
    ("SpaceToDepth", ((1, 2, 4, 6),), {"blocksize": 2}),
    ("Where", (np.array([[True], [False], [True]]), _TABLE, np.float32(2)), {}),
    ("Cast", (_TABLE,), {"to": 6}),
]  # fmt: skip


def _model(onnx: Any, nodes: list[Any], inputs: dict[str, Any], outputs: list[str], constants: dict[str, Any]) -> Any:
    """A model of these nodes; the shapes of its inputs are tuples, whose extents may be names."""
    helper = onnx.helper
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info(name, 1, shape) for name, shape in inputs.items()],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [onnx.numpy_helper.from_array(np.asarray(values), name) for name, values in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize(("kind", "operands", "attributes"), OPERATORS, ids=[kind for kind, *_ in OPERATORS])
def test_an_operator_computes_what_its_definition_says(
    kind: str, operands: tuple[Any, ...], attributes: dict[str, Any], tmp_path: Path
) -> None:
    onnx = pytest.importorskip("onnx")
    names = ["" if each is None else f"x{i}" for i, each in enumerate(operands)]
    fed = {n: _drawn(*each) for n, each in zip(names, operands) if isinstance(each, tuple)}
    constants = {n: each for n, each in zip(names, operands) if each is not None and n not in fed}
    if not fed:  # constants alone are computed while the model is read: make the first one an input
        fed = {"x0": np.asarray(constants.pop("x0"))}
    node = onnx.helper.make_node(kind, names, ["y"], name="call", **attributes)
    model = _model(onnx, [node], {}, ["y"], constants)
    for name, values in fed.items():
        dtype = onnx.helper.np_dtype_to_tensor_dtype(values.dtype)
        model.graph.input.append(onnx.helper.make_tensor_value_info(name, dtype, values.shape))
    onnx.save(model, str(tmp_path / "x.onnx"))
    (wanted,) = _run(tmp_path / "x.onnx", fed)
    block = mx.contrib.onnx.import_to_gluon(str(tmp_path / "x.onnx"), mx.cpu())
    given = {n: v.astype("float32") if v.dtype == np.bool_ else v for n, v in fed.items()}
    for hybridized in (False, True):
        block.hybridize(hybridized)
        result = block(*(nd.array(values, dtype=values.dtype) for values in given.values())).asnumpy()
        assert result.shape == np.shape(wanted)
        assert result.dtype == (np.float32 if wanted.dtype == np.bool_ else wanted.dtype)
        np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_what_was_written_is_read_again(name: str, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    symbol, shapes = CASES[name]
    parameters, inputs = _filled(symbol, shapes)
    given = {n: v for n, v in parameters.items() if not n.endswith("label")}
    export_onnx(symbol, given, shapes, str(tmp_path / "x.onnx"))
    again, arguments, states = mx.contrib.onnx.import_model(str(tmp_path / "x.onnx"))
    arrays = {**{n: nd.array(v) for n, v in inputs.items()}, **arguments}
    executor = again.bind(mx.cpu(), arrays, aux_states=states)
    results = [output.asnumpy() for output in executor.forward(is_train=False)]
    for result, wanted in zip(results, _expected(symbol, parameters, inputs), strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-5)


def _nodes_of_a_view(onnx: Any) -> list[Any]:
    """`x.view(x.shape[0], -1)`, as torch writes it."""
    make = onnx.helper.make_node
    return [
        make("Shape", ["x"], ["shape"]),
        make("Gather", ["shape", "zero"], ["rows"]),
        make("Unsqueeze", ["rows", "axis"], ["first"]),
        make("Concat", ["first", "rest"], ["target"], axis=0),
        make("Reshape", ["x", "target"], ["y"]),
    ]


_VIEW = {"zero": np.int64(0), "axis": _whole(0), "rest": _whole(-1)}


def test_shapes_are_computed_while_the_model_is_read(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    path = str(tmp_path / "x.onnx")
    onnx.save(_model(onnx, _nodes_of_a_view(onnx), {"x": (2, 3, 4)}, ["y"], _VIEW), path)
    symbol, arguments, states = mx.contrib.onnx.import_model(path)
    assert (symbol.list_inputs(), arguments, states) == (["x"], {}, {})
    assert symbol.infer_shape(x=(2, 3, 4))[1] == [(2, 12)]
    onnx.save(_model(onnx, _nodes_of_a_view(onnx), {"x": ("N", 3, 4)}, ["y"], _VIEW), path)
    assert mx.onnx.get_model_metadata(path) == {
        "input_tensor_data": [("x", (0, 3, 4))],
        "output_tensor_data": [("y", ())],
    }
    with pytest.raises(MXNetError, match=r"Shape \(`shape`\) cannot be read.*give the shape of every input"):
        mx.onnx.import_model(path)
    symbol, _, _ = mx.onnx.import_model(path, shapes={"x": (5, 3, 4)})
    assert symbol.infer_shape(x=(5, 3, 4))[1] == [(5, 12)]
    with pytest.raises(MXNetError, match="no input `z`; it has x"):
        mx.onnx.import_model(path, shapes={"z": (5, 3, 4)})


def test_a_known_condition_chooses_its_branch(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    make = onnx.helper.make_node
    branches = {
        f"{side}_branch": onnx.helper.make_graph(
            [make(kind, ["x"], [side])], side, [], [onnx.helper.make_empty_tensor_value_info(side)]
        )
        for side, kind in (("then", "Neg"), ("else", "Exp"))
    }
    nodes = [make("If", ["choice"], ["y"], **branches)]
    onnx.save(_model(onnx, nodes, {"x": (2,)}, ["y"], {"choice": np.array(False)}), str(tmp_path / "x.onnx"))
    block = mx.onnx.import_to_gluon(str(tmp_path / "x.onnx"), mx.cpu())
    np.testing.assert_allclose(block(nd.array([0, 1])).asnumpy(), np.exp([0, 1]), rtol=1e-6)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_recurrent_layers(kind: str, direction: str, tmp_path: Path) -> None:
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    gates, ways = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind], 1 + (direction == "bidirectional")
    constants = {"w": _drawn(ways, gates * 3, 4), "r": _drawn(ways, gates * 3, 3), "b": _drawn(ways, gates * 6)}
    more = {"linear_before_reset": 1} if kind == "GRU" else {}
    outputs = ["y", "h", "c"] if kind == "LSTM" else ["y", "h"]
    node = onnx.helper.make_node(kind, ["x", "w", "r", "b"], outputs, hidden_size=3, direction=direction, **more)
    model = _model(onnx, [node], {"x": (5, 2, 4)}, [], constants)
    model.graph.output.extend(onnx.helper.make_tensor_value_info(n, 1, None) for n in outputs)
    onnx.save(model, str(tmp_path / "x.onnx"))
    x = _drawn(5, 2, 4)
    wanted = runtime.InferenceSession(str(tmp_path / "x.onnx")).run(None, {"x": x})
    results = mx.onnx.import_to_gluon(str(tmp_path / "x.onnx"), mx.cpu())(nd.array(x))
    for result, array in zip(results, wanted, strict=True):
        np.testing.assert_allclose(result.asnumpy(), array, rtol=1e-4, atol=1e-5)


def test_what_cannot_be_read_is_named_with_its_place(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    path, make = str(tmp_path / "x.onnx"), onnx.helper.make_node
    onnx.save(_model(onnx, [make("NonZero", ["x"], ["y"], name="where")], {"x": (2, 3)}, ["y"], {}), path)
    with pytest.raises(MXNetError, match=r"NonZero \(`where`\); run it with onnxruntime"):
        mx.onnx.import_model(path)
    node = make("AveragePool", ["x"], ["y"], name="mean", kernel_shape=[2], dilations=[2])
    onnx.save(_model(onnx, [node], {"x": (2, 3, 9)}, ["y"], {}), path)
    with pytest.raises(MXNetError, match=r"AveragePool \(`mean`\) cannot be read: its window is dilated"):
        mx.onnx.import_model(path)
    (tmp_path / "bad.onnx").write_bytes(b"no model at all")
    with pytest.raises(MXNetError, match=r"bad.onnx` is not an ONNX model"):
        mx.onnx.import_model(tmp_path / "bad.onnx")
    with pytest.raises(MXNetError, match="there is no such file"):
        mx.onnx.get_model_metadata(tmp_path / "absent.onnx")


def test_reading_needs_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MXNetError, match=r"reading ONNX needs the package onnx: `pip install 'autohybrid\[onnx\]'`"):
        mx.contrib.onnx.import_model("x.onnx")


def test_every_name_is_an_operator_of_onnx() -> None:
    onnx = pytest.importorskip("onnx")
    assert [name for name in READERS if not onnx.defs.has(name)] == []


def test_the_command_makes_an_export_pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    onnx = pytest.importorskip("onnx")
    monkeypatch.chdir(tmp_path)
    constants = {"w": _drawn(6, 4, 3, 3), **{n: _drawn(6, low=0.1) for n in ("gamma", "beta", "mean", "var")}}
    make = onnx.helper.make_node
    nodes = [
        make("Conv", ["x", "w"], ["conv"], name="conv"),
        make("BatchNormalization", ["conv", "gamma", "beta", "mean", "var"], ["y"], name="norm"),
    ]
    model = _model(onnx, nodes, {"x": ("N", 4, 6, 5)}, ["y"], constants)
    onnx.save(model, "net.onnx")
    assert main(["convert", "net.onnx", "net-symbol.json"]) == 0
    assert sorted(nd.load("net-0000.params")) == ["arg:beta", "arg:gamma", "arg:w", "aux:mean", "aux:var"]
    block = mx.gluon.SymbolBlock.imports("net-symbol.json", ["x"], "net-0000.params")
    x = _drawn(*_IMAGE)
    (wanted,) = _run(Path("net.onnx"), {"x": x})
    np.testing.assert_allclose(block(nd.array(x)).asnumpy(), wanted, rtol=1e-4, atol=1e-5)
