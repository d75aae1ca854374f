"""contrib.autograd, the older interface of the tape, and contrib.io, Gluon's DataLoader as an iterator for Module."""

from __future__ import annotations

import numpy as np
import pytest

from autohybrid import autograd, nd
from autohybrid.contrib import autograd as old
from autohybrid.contrib.io import DataLoaderIter
from autohybrid.gluon.data import ArrayDataset, DataLoader


def test_gradients_and_the_result_of_a_function() -> None:
    x, y = nd.array([1.0, 2.0]), nd.array([3.0, 4.0])
    gradients, product = old.grad_and_loss(lambda a, b: a * b)(x, y)
    assert [g.asnumpy().tolist() for g in gradients] == [[3, 4], [1, 2]]
    assert product.asnumpy().tolist() == [3, 8]
    (only,) = old.grad(lambda a, b: a * b, argnum=1)(x, y)
    assert only.asnumpy().tolist() == [1, 2]
    with pytest.raises(AssertionError, match="not of int"):
        old.grad(lambda a: a)(3)


def test_sections_switch_recording_and_train_mode_together() -> None:
    with old.train_section():
        assert autograd.is_recording() and autograd.is_training()
        with old.test_section():
            assert not autograd.is_recording() and not autograd.is_training()
        assert autograd.is_recording() and autograd.is_training()
    assert not autograd.is_recording() and not autograd.is_training()


def test_backward_takes_lists() -> None:
    x, gradient = nd.array([1.0, 2.0]), nd.zeros(2)
    old.mark_variables([x], [gradient])
    with old.train_section():
        y = x * x
    old.backward([y], [nd.array([1.0, 10.0])])
    assert gradient.asnumpy().tolist() == [2, 40]
    with pytest.raises(AssertionError, match="must be a list or tuple"):
        old.backward(y)
    with pytest.raises(AssertionError, match="1 outputs, but 2 out_grads"):
        old.backward([y], [y, y])


def test_a_data_loader_feeds_a_module() -> None:
    data, label = np.arange(10, dtype="float32").reshape(5, 2), np.arange(5, dtype="float32")
    iterator = DataLoaderIter(DataLoader(ArrayDataset(data, label), batch_size=2))
    assert [(d.name, d.shape) for d in iterator.provide_data + iterator.provide_label] == [
        ("data", (2, 2)),
        ("softmax_label", (2,)),
    ]
    for _ in range(2):
        batches = list(iterator)
        assert [batch.pad for batch in batches] == [0, 0, 1]
        assert batches[2].data[0].asnumpy().tolist() == [[8, 9], [0, 0]]
        assert batches[2].label[0].asnumpy().tolist() == [4, 0]
        iterator.reset()
