"""What the recorded cases share: parameters filled by a rule, arrays by a rule, and calls with their gradients.

Everything takes the module under test as `mx`, so that the same case runs on MXNet and on autohybrid.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def ramp(mx: Any, *shape: int, scale: float = 0.1, dtype: str = "float32") -> Any:
    """An array of this shape with different small values of both signs."""
    count = int(np.prod(shape))
    values = (np.arange(count) * 7 % 11 - 5) * scale + np.arange(count) % 3 * scale / 3
    return mx.nd.array(values.reshape(shape), dtype=dtype)


def fill(mx: Any, net: Any) -> Any:
    """Give every parameter values that depend on its place and shape alone; variances stay positive."""
    for place, parameter in enumerate(net.collect_params().values()):
        values = ramp(mx, *parameter.shape).asnumpy() * (1 + place % 3)
        if "var" in parameter.name or "gamma" in parameter.name:
            values = values**2 + 0.5
        parameter.set_data(mx.nd.array(values))
    return net


def flat(value: Any) -> list[Any]:
    """Nested results as one list."""
    return [item for part in value for item in flat(part)] if isinstance(value, (list, tuple)) else [value]


def ready(mx: Any, net: Any, *args: Any) -> Any:
    """`net` with its shapes inferred from one call on `args`, and filled."""
    net.initialize()
    net(*args)
    return fill(mx, net)


def trained_once(mx: Any, net: Any, *args: Any) -> list[Any]:
    """Outputs in predict mode, outputs in train mode, gradients of the inputs and parameters, and states afterwards."""
    ready(mx, net, *args)
    predicted = flat(net(*args))
    inputs = [a for a in flat(list(args)) if a is not None and np.dtype(a.dtype).kind == "f"]
    for array in inputs:
        array.attach_grad()
    with mx.autograd.record():
        outputs = flat(net(*args))
        loss = sum((o * o).sum() for o in outputs)
    loss.backward()
    parameters = list(net.collect_params().values())
    gradients = [p.grad() for p in parameters if p.grad_req != "null"]
    states = [p.data() for p in parameters if p.grad_req == "null"]
    return [predicted, outputs, [a.grad for a in inputs], gradients, states]


def described(net: Any) -> list[Any]:
    """Repr, names of parameters without the block's own prefix, shapes and gradient requests, structural names."""
    parameters = net.collect_params()
    cut = len(net.prefix)
    return [
        repr(net),
        [name[cut:] if name.startswith(net.prefix) else name for name in parameters],
        [[list(p.shape), p.grad_req] for p in parameters.values()],
        sorted(net._collect_params_with_prefix()),
    ]
