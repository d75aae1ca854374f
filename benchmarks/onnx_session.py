"""The contender `onnxruntime`: the net of a workload, exported by autohybrid as ONNX and run as a session.

autohybrid makes and fills the net, so the session computes the same function of the same parameters. Prediction only.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnxruntime

import autohybrid as mx
from autohybrid.interop.onnx import export_onnx
from benchmarks.gluon import Workload, fill

_SHOWN = 512


def inference(make_net: Callable[[Any], Any], inputs: Sequence[np.ndarray[Any, Any]], threads: int) -> Workload:
    """One run of the session on arrays of NumPy."""
    net = make_net(mx)
    net.initialize()
    net(*[mx.nd.array(x, dtype=x.dtype) for x in inputs])
    fill(net, mx)
    fed = {f"data{i}": x for i, x in enumerate(inputs)}
    outputs = net(*[mx.sym.var(name) for name in fed])
    symbol = outputs[0] if isinstance(outputs, (list, tuple)) else outputs
    parameters = {p.name: p.data().asnumpy() for p in net.collect_params().values()}
    session = _session(symbol, parameters, {name: x.shape for name, x in fed.items()}, threads)

    def call() -> Any:
        return session.run(None, fed)[0]

    call()
    return call, lambda: [float(v) for v in call().ravel()[:_SHOWN]]


def _session(symbol: Any, parameters: dict[str, Any], shapes: dict[str, tuple[int, ...]], threads: int) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "net.onnx")
        export_onnx(symbol, parameters, shapes, path)
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
