"""Every operator on a second array library that is as strict as CuPy: kernels, the tape and gradients never leave the
device, and give what NumPy gives. The double is `tests/device_double.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from device_double import DeviceArray, DeviceGenerator, Transfers, namespace
from drawing import call, draw, label, pairs

from autohybrid import autograd
from autohybrid.ndarray import NDArray
from autohybrid.tensor import random_state
from autohybrid.tensor.array import wrap
from autohybrid.tensor.opdef import OpDef

CASES = [(op, k) for op, k in pairs() if op.samples[k].shapes]
#: Operators that must read a number from the device, because how much memory they need, or whether they raise, follows
#: from values: what it is.
READERS = {
    "_contrib_calibrate_entropy": "the divergence of a range",
    "_contrib_ROIAlign": "the largest number of samples of a bin",
    "_backward_ROIAlign": "the same",
    "_npi_insert_tensor": "whether the positions lie inside",
    "_npi_delete": "the same",
    "_npi_multinomial": "whether the probabilities are some",
    "_npx_constraint_check": "the truth that it is about",
    "_contrib_RROIAlign": "the same",
}


def check_transfers(op: OpDef) -> None:
    assert Transfers.count == 0 or op.name in READERS, f"{op.name} moved {Transfers.count} arrays to the host"


def on_device(array: np.ndarray[Any, Any]) -> NDArray:
    return wrap(namespace.asarray(array.copy()))


@pytest.fixture(autouse=True)
def device_random(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_state, "generator", lambda ctx: DeviceGenerator(0))
    Transfers.count = 0


@pytest.mark.parametrize("op, k", CASES, ids=label)
def test_kernels_stay_on_the_device(op: OpDef, k: int) -> None:
    sample = op.samples[k]
    arrays = draw(op, sample)
    inputs = [on_device(a) for a in arrays]
    outputs = call(op, sample.attrs, inputs)
    assert all(isinstance(o._data, DeviceArray) for o in [*outputs, *inputs])
    check_transfers(op)
    if op.random:
        return
    for got, expected in zip(outputs, call(op, sample.attrs, [wrap(a.copy()) for a in arrays])):
        np.testing.assert_allclose(got.asnumpy(), expected.asnumpy(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("op, k", [(op, k) for op, k in CASES if op.differentiable == "yes"], ids=label)
def test_gradients_stay_on_the_device(op: OpDef, k: int) -> None:
    sample = op.samples[k]
    inputs = [on_device(a) for a in draw(op, sample)]
    leaves = [x for i, x in enumerate(inputs) if x._data.dtype.kind == "f" and i not in sample.nograd]
    for leaf in leaves:
        leaf.attach_grad()
    with autograd.record():
        outputs = [o for o in call(op, sample.attrs, inputs) if o._entry is not None]
    if not outputs:
        pytest.skip("nothing was recorded")
    autograd.backward(outputs)
    check_transfers(op)
    for leaf in leaves:
        assert leaf.grad is not None
        assert isinstance(leaf.grad._data, DeviceArray)
        assert leaf.grad.shape == leaf.shape


def test_the_double_refuses_arrays_of_the_host() -> None:
    device, host = namespace.ones((2,)), np.ones(2)
    for mix in (
        lambda: device + host,
        lambda: host + device,
        lambda: namespace.add(device, host),
        lambda: np.exp(device),
    ):
        with pytest.raises(TypeError):
            mix()


def test_the_double_refuses_implicit_conversion_and_counts_explicit_ones() -> None:
    device = namespace.ones((1,))
    for convert in (float, int, bool, np.asarray):
        with pytest.raises(TypeError):
            convert(device)
    assert Transfers.count == 0
    device.get()
    assert Transfers.count == 1


def test_the_double_knows_only_what_cupy_has() -> None:
    with pytest.raises(AttributeError, match="CuPy has no"):
        namespace.errstate  # noqa: B018
    assert isinstance(namespace.ones((2,)).sum(), DeviceArray)
