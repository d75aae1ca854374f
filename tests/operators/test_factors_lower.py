"""`lower` of potrf and potri, which MXNet's lists of attributes leave out; the answers are MXNet 1.9.1's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autohybrid as mx

_WEIGHTS = [[1.0, 2], [3, 4]]


class _Factor(mx.gluon.HybridBlock):
    def __init__(self, name: str, lower: bool) -> None:
        super().__init__()
        self._name, self._lower = name, lower

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return getattr(F.linalg, self._name)(x, lower=self._lower)


@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.parametrize(
    ("name", "lower", "matrix", "result", "gradient"),
    [
        ("potrf", True, [[4, 2], [2, 5]], [[2, 0], [1, 2]], [[0.125, 0.25], [0.25, 1]]),
        ("potrf", False, [[4, 2], [2, 5]], [[2, 1], [0, 2]], [[0.25, 0], [0, 1]]),
        ("potri", True, [[2, 0], [1, 2]], [[0.3125, -0.125], [-0.125, 0.25]], [[0, 0], [-0.5, -0.4375]]),
        ("potri", False, [[2, 1], [0, 2]], [[0.3125, -0.125], [-0.125, 0.25]], [[0, -0.5], [0, -0.4375]]),
    ],
)
def test_factors_of_either_side(name: str, lower: bool, matrix: Any, result: Any, gradient: Any, hybrid: bool) -> None:
    net = _Factor(name, lower)
    if hybrid:
        net.hybridize()
    x = mx.nd.array(matrix, dtype="float64")
    x.attach_grad()
    with mx.autograd.record():
        y = net(x)
        loss = (y * mx.nd.array(_WEIGHTS, dtype="float64")).sum()
    loss.backward()
    np.testing.assert_allclose(y.asnumpy(), result)
    np.testing.assert_allclose(x.grad.asnumpy(), gradient, atol=1e-12)
