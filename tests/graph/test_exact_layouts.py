"""`hybridize(exact=True)`: values that are permuted or spread before they are added up lie in memory as they do
imperatively, so that every sum goes in the same order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid.gluon import HybridBlock

KINDS: dict[str, Callable[[Any, Any], Any]] = {
    "reshape and T": lambda F, y: (y * 2).reshape((5, -1)).T.sum(),
    "T": lambda F, y: (y * 2).T.sum(),
    "T between element-wise calls": lambda F, y: ((y + 1).T * 3).sum(axis=0),
    "transpose of three axes": lambda F, y: F.transpose(F.reshape(y, shape=(5, 7, -1)), axes=(2, 0, 1)).mean(),
    "swapaxes": lambda F, y: F.exp(F.swapaxes(y, 0, 1)).sum(),
    "softmax over columns": lambda F, y: F.softmax(F.transpose(y + 1), axis=-1),
    "slice": lambda F, y: F.slice_axis(y + 1, axis=1, begin=1, end=90).sum(),
    "slice of a slice, flipped": lambda F, y: F.flip(y[3:30][:, 2:], axis=1).sum(axis=1),
    "broadcast": lambda F, y: F.broadcast_to(F.expand_dims(y, 0), shape=(3, *y.shape)).sum(),
    "pooling": lambda F, y: F.Pooling(
        F.transpose(F.reshape(y, shape=(1, 5, 7, -1)), axes=(0, 3, 1, 2)), global_pool=True, pool_type="avg"
    ),
    "product of a transposed matrix": lambda F, y: F.dot(F.transpose(y + 1), y).sum(),
    "product by a transposed matrix": lambda F, y: F.dot(y, y, transpose_b=True).sum(),
    "norm": lambda F, y: F.norm(F.transpose(y + 1), axis=0),
    "split and stack": lambda F, y: F.stack(*F.split(F.transpose(y), num_outputs=5, axis=1), axis=1).sum(axis=0),
}


class Net(HybridBlock):
    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return KINDS[self.kind](F, x)


def values(net: Net, x: Any) -> list[bytes]:
    """Result outside of recording, result under recording, gradient."""
    alone = net(x)
    x.attach_grad()
    with mx.autograd.record():
        result = net(x)
    result.backward()
    return [alone.asnumpy().tobytes(), result.asnumpy().tobytes(), x.grad.asnumpy().tobytes()]


@pytest.mark.filterwarnings("ignore::autohybrid.HybridizeWarning")
@pytest.mark.parametrize("shape", [(35, 97), (70, 131), (700, 301)])
@pytest.mark.parametrize("kind", KINDS)
def test_exact_calls_equal_imperative_ones_bit_for_bit(kind: str, shape: tuple[int, int]) -> None:
    x = mx.nd.array(np.random.RandomState(1).randn(*shape).astype("float32"))
    compiled = Net(kind)
    compiled.hybridize(exact=True)
    assert values(compiled, x) == values(Net(kind), x)
