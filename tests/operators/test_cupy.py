"""Every operator on CuPy, where a CUDA device is found: kernels and gradients against NumPy's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from drawing import call, draw, label, pairs

from autohybrid import autograd
from autohybrid.context import gpu
from autohybrid.errors import MXNetError
from autohybrid.ndarray import NDArray
from autohybrid.tensor.array import wrap
from autohybrid.tensor.backend import num_gpus, to_device
from autohybrid.tensor.opdef import OpDef

pytestmark = pytest.mark.gpu
if num_gpus() == 0:
    pytest.skip("no CUDA device with CuPy was found", allow_module_level=True)

CASES = [(op, k) for op, k in pairs() if op.samples[k].shapes]


@pytest.mark.parametrize("op, k", CASES, ids=label)
def test_operators_give_on_a_gpu_what_they_give_on_a_cpu(op: OpDef, k: int) -> None:
    sample = op.samples[k]
    arrays = draw(op, sample)
    device = [wrap(to_device(a, gpu(0)), gpu(0)) for a in arrays]
    host = [wrap(a.copy()) for a in arrays]
    leaves = [i for i, a in enumerate(arrays) if a.dtype.kind == "f" and i not in sample.nograd]
    found, expected = (_run(op, sample.attrs, inputs, leaves) for inputs in (device, host))
    if op.random:
        return
    for got, want in zip(found, expected):
        np.testing.assert_allclose(got.asnumpy(), want.asnumpy(), rtol=1e-4, atol=1e-5)


def _run(op: OpDef, attrs: Mapping[str, Any], inputs: list[NDArray], leaves: list[int]) -> list[NDArray]:
    """The outputs, and where there are gradients those of `leaves`."""
    for i in leaves:
        inputs[i].attach_grad()
    with autograd.record():
        outputs = call(op, attrs, inputs)
    recorded = [o for o in outputs if o._entry is not None]
    if op.differentiable != "yes" or not recorded:
        return outputs
    try:
        autograd.backward(recorded)
    except MXNetError as error:
        assert "not differentiable" in str(error)
        return outputs
    return [*outputs, *[g for g in (inputs[i].grad for i in leaves) if g is not None]]
