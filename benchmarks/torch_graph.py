"""The contender `torch`: the graph of a workload's net, call by call with torch's eager operators.

The net is made, filled and traced by autohybrid, so torch computes the same function of the same parameters. Only the
operators that the workloads use are known; another one is an error.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from benchmarks.gluon import Workload, fill

Step = tuple[Callable[..., Any], tuple[int, ...], int]


class TorchNet:
    """A traced net: `parameters` by name, and a call for each node."""

    def __init__(self, make_net: Callable[[Any], Any], inputs: Sequence[np.ndarray[Any, Any]]) -> None:
        import autohybrid as mx

        net = make_net(mx)
        net.initialize()
        net(*[mx.nd.array(x, dtype=x.dtype) for x in inputs])
        fill(net, mx)
        names = [f"data{i}" for i in range(len(inputs))]
        symbol = net(*[mx.sym.var(name) for name in names])
        symbol = symbol[0] if isinstance(symbol, (list, tuple)) else symbol
        values = {p.name: torch.from_numpy(p.data().asnumpy()) for p in net.collect_params().values()}
        internals = symbol.get_internals()
        _, shapes, _ = internals.infer_shape(**{n: x.shape for n, x in zip(names, inputs)})
        self._shapes = dict(zip(internals.list_outputs(), shapes))
        self.parameters = values
        self._inputs = names
        graph = json.loads(symbol.tojson())
        self._nodes = graph["nodes"]
        self._result = graph["heads"][0][0]
        self._steps = [self._step(i, node) for i, node in enumerate(self._nodes) if node["op"] != "null"]

    def _step(self, position: int, node: dict[str, Any]) -> Step:
        attrs = {k: _value(v) for k, v in node.get("attrs", {}).items()}
        shape = next((self._shapes[n] for n in (f"{node['name']}_output", node["name"]) if n in self._shapes), None)
        sources = [self._nodes[i]["name"] for i, *_ in node["inputs"]]
        maker = _MAKERS.get(node["op"])
        if maker is None:
            raise ValueError(f"no torch operator is written down for {node['op']}")
        return (
            maker(attrs, shape, [self.parameters.get(name) for name in sources]),
            tuple(i for i, *_ in node["inputs"]),
            position,
        )

    def __call__(self, *inputs: torch.Tensor) -> torch.Tensor:
        values: list[Any] = [None] * len(self._nodes)
        fed = dict(zip(self._inputs, inputs))
        for i, node in enumerate(self._nodes):
            if node["op"] == "null":
                values[i] = fed.get(node["name"], self.parameters.get(node["name"]))
        for function, sources, position in self._steps:
            values[position] = function(*[values[i] for i in sources])
        result: torch.Tensor = values[self._result]
        return result


def inference(make_net: Callable[[Any], Any], inputs: Sequence[np.ndarray[Any, Any]]) -> Workload:
    """One call without gradients."""
    net = TorchNet(make_net, inputs)
    data = [torch.from_numpy(x) for x in inputs]

    def call() -> Any:
        with torch.inference_mode():
            return net(*data)

    call()
    return call, lambda: _shown(call())


def training(make_net: Callable[[Any], Any], x: np.ndarray[Any, Any]) -> Workload:
    """One step of SGD with momentum, as `benchmarks.gluon.training`."""
    net = TorchNet(make_net, [x])
    parameters = [p.requires_grad_() for p in net.parameters.values()]
    optimizer = torch.optim.SGD(parameters, lr=0.001 / len(x), momentum=0.9)
    data, labels = torch.from_numpy(x), torch.arange(len(x)) % 10

    def call() -> Any:
        optimizer.zero_grad()
        losses = functional.cross_entropy(net(data), labels, reduction="none")
        losses.sum().backward()
        optimizer.step()
        return losses

    call()
    call()
    third = _shown(call())
    return call, lambda: third


def _shown(array: Any) -> list[float]:
    return [float(v) for v in array.detach().numpy().ravel()[:512]]


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _convolution(attrs: Any, shape: Any, weights: Any) -> Callable[..., Any]:
    more = {"stride": attrs.get("stride", 1), "padding": attrs.get("pad", 0), "groups": attrs.get("num_group", 1)}
    return lambda x, w, b=None: functional.conv2d(x, w, b, **more)


def _batch_norm(attrs: Any, shape: Any, weights: Any) -> Callable[..., Any]:
    eps = attrs.get("eps", 1e-3)
    return lambda x, gamma, beta, mean, var: functional.batch_norm(x, mean, var, gamma, beta, eps=eps)


def _pooling(attrs: Any, shape: Any, weights: Any) -> Callable[..., Any]:
    if attrs.get("global_pool"):
        return lambda x: x.mean((2, 3), keepdim=True)
    function = functional.max_pool2d if attrs.get("pool_type", "max") == "max" else functional.avg_pool2d
    more = {"stride": attrs.get("stride", 1), "padding": attrs.get("pad", 0)}
    more["ceil_mode"] = attrs.get("pooling_convention") == "full"
    return lambda x: function(x, attrs["kernel"], **more)


def _dense(attrs: Any, shape: Any, weights: Any) -> Callable[..., Any]:
    if attrs.get("flatten", True):
        return lambda x, w, b=None: functional.linear(x.flatten(1), w, b)
    return functional.linear


def _layer_norm(attrs: Any, shape: Any, weights: Any) -> Callable[..., Any]:
    eps = attrs.get("eps", 1e-5)
    return lambda x, gamma, beta: functional.layer_norm(x, (x.shape[-1],), gamma, beta, eps)


def _batch_dot(attrs: Any, shape: Any, weights: Any) -> Callable[..., Any]:
    if attrs.get("transpose_b"):
        return lambda a, b: torch.bmm(a, b.transpose(1, 2))
    return torch.bmm


def _lstm(attrs: Any, shape: Any, weights: Any) -> Callable[..., Any]:
    layers, units = attrs["num_layers"], attrs["state_size"]
    made: list[Any] = []

    def run(x: Any, parameters: Any, *states: Any) -> Any:
        if not made:
            made.append(_torch_lstm(parameters, x.shape[2], units, layers))
        return made[0](x)[0]

    return run


def _torch_lstm(parameters: Any, width: int, units: int, layers: int) -> Any:
    """torch keeps the gates in the order of MXNet's vector: input, forget, cell, output; biases follow all weights."""
    module = torch.nn.LSTM(width, units, layers)
    order = [(f"{kind}_{part}_l{i}") for kind in ("weight", "bias") for i in range(layers) for part in ("ih", "hh")]
    offset = 0
    with torch.no_grad():
        for name in order:
            target = getattr(module, name)
            target.copy_(parameters[offset : offset + target.numel()].reshape(target.shape))
            offset += target.numel()
    return module


def _of(function: Callable[..., Any]) -> Callable[..., Callable[..., Any]]:
    return lambda attrs, shape, weights: function


def _with_scalar(function: Callable[[Any, Any], Any]) -> Callable[..., Callable[..., Any]]:
    return lambda attrs, shape, weights: lambda x: function(x, attrs["scalar"])


_ACTIVATIONS = {"relu": torch.relu, "sigmoid": torch.sigmoid, "tanh": torch.tanh}
_MAKERS: dict[str, Callable[..., Callable[..., Any]]] = {
    "Convolution": _convolution,
    "BatchNorm": _batch_norm,
    "Pooling": _pooling,
    "FullyConnected": _dense,
    "LayerNorm": _layer_norm,
    "batch_dot": _batch_dot,
    "RNN": _lstm,
    "Activation": lambda attrs, shape, weights: _ACTIVATIONS[attrs["act_type"]],
    "LeakyReLU": lambda attrs, shape, weights: {"gelu": functional.gelu}[attrs["act_type"]],
    "clip": lambda attrs, shape, weights: lambda x: torch.clamp(x, attrs["a_min"], attrs["a_max"]),
    "softmax": lambda attrs, shape, weights: lambda x: torch.softmax(x, attrs.get("axis", -1)),
    "Reshape": lambda attrs, shape, weights: lambda x: x.reshape(shape),
    "Flatten": _of(lambda x: x.flatten(1)),
    "transpose": lambda attrs, shape, weights: lambda x: x.permute(attrs["axes"]),
    "Dropout": _of(lambda x: x),
    "_copy": _of(lambda x: x),
    "_rnn_param_concat": _of(lambda *parts: torch.cat([part.reshape(-1) for part in parts])),
    "_zeros": lambda attrs, shape, weights: lambda: torch.zeros(shape),
    "elemwise_add": _of(torch.add),
    "elemwise_sub": _of(torch.sub),
    "elemwise_mul": _of(torch.mul),
    "broadcast_add": _of(torch.add),
    "_mul_scalar": _with_scalar(torch.mul),
    "_div_scalar": _with_scalar(torch.div),
    "negative": _of(torch.neg),
    "relu": _of(torch.relu),
    "sigmoid": _of(torch.sigmoid),
    "tanh": _of(torch.tanh),
    "exp": _of(torch.exp),
}
