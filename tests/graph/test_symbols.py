"""Symbols: names, attributes, missing inputs, inference, creation, composition and pickling as MXNet 1.9.1 has them."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

import autohybrid as mx


@pytest.fixture(autouse=True)
def fresh_names() -> Any:
    with mx.name.NameManager():
        yield


def last(symbol: Any) -> tuple[str, str, dict[str, str]]:
    node = json.loads(symbol.tojson())["nodes"][-1]
    return node["op"], node["name"], node.get("attrs", {})


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("a + a", ("elemwise_add", "_plus0", {})),
        ("a % a", ("_mod", "_mod0", {})),
        ("a > a", ("_greater", "_greater0", {})),
        ("a + 1", ("_plus_scalar", "_plusscalar0", {"scalar": "1"})),
        ("1 - a", ("_rminus_scalar", "_rminusscalar0", {"scalar": "1"})),
        ("2 ** a", ("_rpower_scalar", "_rpower_scalar0", {"scalar": "2"})),
        ("sym.pow(2, a)", ("_rpower_scalar", "_rpowerscalar0", {"scalar": "2"})),
        ("a > 1", ("_greater_scalar", "_greater_scalar0", {"scalar": "1"})),
        ("-a", ("_mul_scalar", "_mulscalar0", {"scalar": "-1.0"})),
        ("abs(a)", ("abs", "abs0", {})),
        ("sym.maximum(a, 2)", ("_maximum_scalar", "_maximumscalar0", {"scalar": "2"})),
        ("a.astype('int32')", ("Cast", "cast0", {"dtype": "int32"})),
        ("a.squeeze()", ("squeeze", "squeeze0", {"axis": "None"})),
        ("a.flatten()", ("Flatten", "flatten0", {})),
        ("a.reshape((0, -1))", ("Reshape", "reshape0", {"shape": "(0, -1)"})),
        ("sym.zeros((2, 3))", ("_zeros", "_zeros0", {"dtype": "float32", "shape": "(2, 3)"})),
        ("sym.full((2,), 3)", ("_full", "_full0", {"dtype": "float32", "shape": "(2,)", "value": "3.0"})),
        ("sym.eye(3)", ("_eye", "_eye0", {"M": "0", "N": "3", "dtype": "float32", "k": "0"})),
        (
            "sym.arange(5)",
            ("_arange", "_arange0",
             {"dtype": "float32", "infer_range": "False", "repeat": "1", "start": "5", "step": "1.0",
              "stop": "None"}),
        ),
        (
            "sym.linspace(0, 1, 5)",
            ("_linspace", "_linspace0",
             {"dtype": "float32", "endpoint": "True", "num": "5", "start": "0",
              "stop": "1"}),
        ),
    ],
)  # fmt: skip
def test_nodes_are_named_and_written_as_mxnet_does(expression: str, expected: Any) -> None:
    assert last(eval(expression, {"a": mx.sym.var("a"), "sym": mx.sym})) == expected


def test_variables_made_for_missing_inputs_take_the_attributes_of_their_operator() -> None:
    with mx.AttrScope(ctx_group="g"):
        net = mx.sym.FullyConnected(mx.sym.var("x", lr_mult=0.5), num_hidden=3, attr={"__tag__": "t"})
    shown = {"num_hidden": "3", "__tag__": "t", "__ctx_group__": "g", "ctx_group": "g"}
    assert net.attr_dict() == {
        "x": {"__lr_mult__": "0.5", "lr_mult": "0.5", "__ctx_group__": "g", "ctx_group": "g"},
        "fullyconnected0_weight": shown,
        "fullyconnected0_bias": shown,
        "fullyconnected0": shown,
    }
    assert net.attr("ctx_group") == net.attr("__ctx_group__") == "g"
    assert json.loads(net.tojson())["nodes"][-1]["attrs"] == {"num_hidden": "3", "__tag__": "t", "__ctx_group__": "g"}


def test_inference_overrides_declared_shapes_and_refuses_unknown_names() -> None:
    a = mx.sym.var("a", shape=(2, 3))
    total = a + mx.sym.var("b")
    assert total.infer_shape()[1] == [(2, 3)]
    assert total.infer_shape(a=(5, 6))[0] == [(5, 6), (5, 6)]
    with pytest.raises(mx.MXNetError, match="`c`, which the symbol does not have"):
        total.infer_shape(c=(1,))
    with pytest.warns(UserWarning, match="cannot decide the shape of these arguments.*: b"):
        assert mx.sym.exp(mx.sym.var("b")).infer_shape() == (None, None, None)


def test_children_are_those_of_the_distinct_nodes() -> None:
    parts = mx.sym.SliceChannel(mx.sym.var("x"), num_outputs=3, name="s")
    assert parts.get_children().list_outputs() == ["x"]
    joined = mx.sym.Concat(*parts)
    assert joined.get_children().list_outputs() == ["s_output0", "s_output1", "s_output2"]
    assert mx.sym.var("x").get_children() is None


def test_pickles_hold_the_graph() -> None:
    net = mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=3, name="fc") + 1
    assert pickle.loads(pickle.dumps(net)).tojson() == net.tojson()


def test_arrays_are_no_inputs_of_symbolic_calls() -> None:
    with pytest.raises(AssertionError, match="inputs of a symbolic call are Symbols, got NDArray"):
        mx.sym.exp(mx.nd.ones((1,)))


def test_partial_shapes_where_numpy_shapes_are_on() -> None:
    x, y = mx.sym.var("x"), mx.sym.var("y")
    product = mx.sym.dot(x, y)
    assert product.infer_shape_partial(x=(0, 3, 4), y=(4, 5))[1] == [(0, 3, 5)]
    with mx.np_shape():
        assert product.infer_shape_partial(x=(-1, 3, 4), y=(4, 5))[1] == [(-1, 3, 5)]
        assert product.infer_shape_partial()[:2] == ([None, None], [None])
        assert mx.sym.relu(x).infer_shape(x=()) == ([()], [()], [])
        assert mx.sym.relu(x).infer_shape(x=(0, 2)) == ([(0, 2)], [(0, 2)], [])
