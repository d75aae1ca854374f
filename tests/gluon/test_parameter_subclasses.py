"""Parameters of other classes that stand in for one another, as packages for language models drop out weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import autograd, nd
from autohybrid.gluon import Parameter, nn, rnn

_COPIED = ("_deferred_init", "_var", "_data", "_grad", "_ctx_list", "_ctx_map", "_trainer")


class Halved(Parameter):
    """Takes over another parameter's state, and hands out half of its values."""

    def __init__(self, other: Parameter) -> None:
        super().__init__(
            other.name, other.grad_req, other._shape, other.dtype, other.lr_mult, other.wd_mult, other.init,
            allow_deferred_init=other._allow_deferred_init, differentiable=other._differentiable,
        )  # fmt: skip
        for name in _COPIED:
            setattr(self, name, getattr(other, name))

    def data(self, ctx: Any = None) -> Any:
        return nd.Dropout(self._check_and_get(self._data, ctx), p=0.0) / 2


def _halve(block: Any, name: str) -> Halved:
    parameter = block._reg_params[name]
    made = Halved(parameter)
    block._reg_params[name] = block.params._params[parameter.name] = made
    return made


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("first", [False, True])
def test_a_dense_layer_uses_what_the_subclass_gives(hybridize: bool, first: bool) -> None:
    layer = nn.Dense(3, in_units=2)
    if not first:
        layer.initialize(mx.init.One())
    weight = _halve(layer, "weight")
    if first:
        layer.initialize(mx.init.One())
    if hybridize:
        layer.hybridize()
    x = nd.ones((1, 2))
    for _ in range(2):
        with autograd.record():
            y = layer(x)
        y.backward()
        assert y.asnumpy().tolist() == [[1, 1, 1]]
        np.testing.assert_array_equal(weight.grad().asnumpy(), np.full((3, 2), 0.5))


@pytest.mark.parametrize("hybridize", [False, True])
def test_a_recurrent_layer_uses_what_the_subclass_gives(hybridize: bool) -> None:
    def run(halved: bool) -> Any:
        layer = rnn.LSTM(4, input_size=3)
        if halved:
            _halve(layer, "l0_h2h_weight")
        layer.initialize(mx.init.Constant(0.2))
        if not halved:
            layer.l0_h2h_weight.set_data(layer.l0_h2h_weight.data() / 2)
        if hybridize:
            layer.hybridize()
        return layer(nd.ones((5, 2, 3))).asnumpy()

    np.testing.assert_allclose(run(True), run(False), rtol=1e-6)
