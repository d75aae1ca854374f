"""What the workloads share: the framework under test, equal parameters for every contender, the calls to time.

Parameters are filled in the order of `collect_params()`, from one generator, so every framework computes the same.
"""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Workload = tuple[Callable[[], object], Callable[[], list[float]]]
_SHOWN = 512


def load(framework: str) -> Any:
    """The module that plays `mx` for a contender. Raises ValueError for a contender that has no Gluon."""
    names = {"autohybrid": "autohybrid", "mxnet": "mxnet", "mxnet-static": "mxnet"}
    if framework not in names:
        raise ValueError(f"{framework} runs no Gluon code")
    return importlib.import_module(names[framework])


def inference(framework: str, make_net: Callable[[Any], Any], inputs: Sequence[np.ndarray[Any, Any]]) -> Workload:
    """One hybridized call of `make_net(mx)` on `inputs`; of the same graph for the contenders that know no Gluon."""
    if framework == "onnxruntime":
        threads = int(os.environ["OMP_NUM_THREADS"])
        return importlib.import_module("benchmarks.onnx_session").inference(make_net, inputs, threads)  # type: ignore[no-any-return]
    if framework == "torch":
        return importlib.import_module("benchmarks.torch_graph").inference(make_net, inputs)  # type: ignore[no-any-return]
    mx = load(framework)
    net = make_net(mx)
    net.initialize()
    data = [mx.nd.array(x, dtype=x.dtype) for x in inputs]
    leaves(net(*data))[0].wait_to_read()
    fill(net, mx)
    hybridize(net, framework)

    def call() -> None:
        for output in leaves(net(*data)):
            output.wait_to_read()

    for _ in range(3):
        call()
    return call, lambda: shown(leaves(net(*data))[0])


def training(framework: str, make_net: Callable[[Any], Any], x: np.ndarray[Any, Any]) -> Workload:
    """One step of training with ten classes; what is compared is the loss of each image after three steps."""
    if framework == "torch":
        return importlib.import_module("benchmarks.torch_graph").training(make_net, x)  # type: ignore[no-any-return]
    mx = load(framework)
    net = make_net(mx)
    net.initialize()
    data = mx.nd.array(x)
    labels = mx.nd.array(np.arange(len(x)) % 10)
    net(data).wait_to_read()
    fill(net, mx)
    hybridize(net, framework)
    loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    hybridize(loss, framework)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.001, "momentum": 0.9})

    def call() -> Any:
        with mx.autograd.record():
            losses = loss(net(data), labels)
        losses.backward()
        trainer.step(len(x))
        losses.wait_to_read()
        return losses

    call()
    call()
    third = shown(call())
    return call, lambda: third


def hybridize(net: Any, framework: str) -> None:
    """Hybridize; the contender `mxnet-static` with static memory and shapes."""
    static = framework == "mxnet-static"
    net.hybridize(static_alloc=static, static_shape=static)


def leaves(result: Any) -> list[Any]:
    """The arrays of a result, nested lists flattened."""
    if isinstance(result, (list, tuple)):
        return [leaf for part in result for leaf in leaves(part)]
    return [result]


def shown(array: Any) -> list[float]:
    """The first numbers of an array, for the comparison of contenders."""
    return [float(v) for v in array.asnumpy().ravel()[:_SHOWN]]


def fill(net: Any, mx: Any) -> None:
    """Give every parameter values of a size that keeps activations near one."""
    state = np.random.RandomState(0)
    for parameter in net.collect_params().values():
        shape = parameter.shape
        width = math.prod(shape[1:]) if len(shape) > 1 else 1
        if len(shape) > 1:
            values = state.uniform(-1, 1, shape) * math.sqrt(3 / width)
        elif parameter.name.endswith(("gamma", "var")):
            values = state.uniform(0.5, 1.5, shape)
        else:
            values = state.uniform(-0.1, 0.1, shape)
        parameter.set_data(mx.nd.array(values.astype("float32")))


def images(batch: int, size: int, channels: int = 3) -> np.ndarray[Any, Any]:
    """Random images (batch, channels, size, size)."""
    return np.random.RandomState(1).uniform(-1, 1, (batch, channels, size, size)).astype("float32")
