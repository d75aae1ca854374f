"""How calls of operators sort out their arguments: keywords that nothing is known about."""

from __future__ import annotations

import json
import warnings

import pytest

import autohybrid as mx
from autohybrid import nd
from autohybrid.errors import MXNetError


def test_a_keyword_means_nothing_to_an_operator_without_attributes() -> None:
    data = nd.array([1.0, 4.0])
    with pytest.warns(UserWarning, match="sqrt: unknown keyword argument `axis`.* ignored") as caught:
        assert nd.sqrt(data, axis=1).asnumpy().tolist() == [1, 2]
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="did you mean `data`"):
        nd.sqrt(data, dat=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nd.sqrt(data, lr_mult=2)


def test_graphs_keep_such_a_keyword_as_text() -> None:
    with pytest.warns(UserWarning, match="`foo`"):
        root = mx.sym.sqrt(mx.sym.Variable("a"), foo=[1, 2])
    assert json.loads(root.tojson())["nodes"][1]["attrs"] == {"foo": "[1, 2]"}
    assert mx.sym.load_json(root.tojson()).attr_dict() == {root.name: {"foo": "[1, 2]"}}


@pytest.mark.parametrize("name", ["sum", "dot", "add_n", "clip"])
def test_operators_with_attributes_refuse_unknown_keywords(name: str) -> None:
    with pytest.raises(MXNetError, match="unknown keyword argument `foo`"):
        getattr(nd, name)(nd.ones(2), foo=1)


def test_an_array_is_never_ignored() -> None:
    with pytest.raises(MXNetError, match="unknown keyword argument `foo`"):
        nd.sqrt(nd.ones(2), foo=nd.ones(2))


def test_the_operators_alone_are_in_op() -> None:
    assert nd.op.relu(nd.array([-1.0, 2.0])).asnumpy().tolist() == [0, 2]
    assert mx.sym.op.relu(mx.sym.Variable("a")).list_arguments() == ["a"]
    assert mx.sym.contrib.uniform(shape=(2,)).infer_shape()[1] == [(2,)]


@pytest.mark.parametrize("shape", [(4, -1), (5,), (0,)])
def test_the_method_reshape_raises_both_classes_for_another_number_of_elements(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="cannot"):
        nd.ones((2, 3)).reshape(shape)
    with pytest.raises(MXNetError, match="cannot"):
        nd.reshape(nd.ones((2, 3)), shape=shape)


def test_attributes_of_nodes_of_one_name_are_shown_together() -> None:
    first = mx.sym.Activation(mx.sym.Variable("a"), act_type="relu", name="n")
    second = mx.sym.expand_dims(mx.sym.BlockGrad(first, name="m"), axis=0, name="n")
    assert mx.sym.relu(second, name="m").attr_dict() == {"n": {"act_type": "relu", "axis": "0"}}
