"""Where each of MXNet's module paths lives in autohybrid. One table; every other path keeps its name."""

from __future__ import annotations

import importlib.util

#: `mxnet.<key>` is `<value>`; a path below a key continues below its value.
_MOVED: dict[str, str] = {
    "nd": "autohybrid.ndarray",
    "sym": "autohybrid.symbol",
    "symbol.symbol": "autohybrid.symbol",
    "autograd": "autohybrid.compat.autograd",
    "random": "autohybrid.tensor.random",
    "rnd": "autohybrid.tensor.random",
    "init": "autohybrid.optim.initializer",
    "initializer": "autohybrid.optim.initializer",
    "np": "autohybrid.numpy",
    "npx": "autohybrid.numpy_extension",
    "operator": "autohybrid.tensor.custom",
    "optimizer": "autohybrid.optim.optimizer",
    "optimizer.optimizer": "autohybrid.optim.optimizer",
    "lr_scheduler": "autohybrid.optim.lr_scheduler",
    "metric": "autohybrid.optim.metric",
    "error": "autohybrid.compat.error",
    "executor": "autohybrid.graph.executor_api",
    "executor_manager": "autohybrid.compat.executor_manager",
    "libinfo": "autohybrid.compat.libinfo",
    "library": "autohybrid.compat.library",
    "log": "autohybrid.compat.log",
    "name": "autohybrid.naming",
    "attribute": "autohybrid.naming",
    "context": "autohybrid.context",
    "contrib.nd": "autohybrid.ndarray.contrib",
    "contrib.ndarray": "autohybrid.ndarray.contrib",
    "contrib.sym": "autohybrid.symbol.contrib",
    "contrib.symbol": "autohybrid.symbol.contrib",
    "contrib.text.utils": "autohybrid.contrib.text.counting",
    "image.image": "autohybrid.image",
    "img": "autohybrid.image",
    "callback": "autohybrid.training.callback",
    "io": "autohybrid.training.io",
    "io.io": "autohybrid.training.io",
    "kv": "autohybrid.training.kvstore",
    "kvstore": "autohybrid.training.kvstore",
    "kvstore.kvstore": "autohybrid.training.kvstore.local",
    "mod": "autohybrid.module",
    "model": "autohybrid.training.checkpoint",
    "mon": "autohybrid.training.monitor",
    "monitor": "autohybrid.training.monitor",
    "onnx": "autohybrid.contrib.onnx",
    "recordio": "autohybrid.training.recordio",
    "test_utils": "autohybrid.training.testing",
    "rnn.io": "autohybrid.rnn.sentences",
    "rnn.rnn": "autohybrid.rnn.checkpoints",
    "rnn.rnn_cell": "autohybrid.rnn",
    "ndarray.utils": "autohybrid.ndarray",
    "ndarray.gen_op": "autohybrid.ndarray.op",
    "ndarray.gen_contrib": "autohybrid.ndarray.contrib",
    "ndarray.gen_image": "autohybrid.ndarray.image",
    "ndarray.gen_linalg": "autohybrid.ndarray.linalg",
    "ndarray.gen_random": "autohybrid.ndarray.random",
    "ndarray.gen_sparse": "autohybrid.ndarray.sparse",
    "ndarray.gen__internal": "autohybrid.ndarray._internal",
    "symbol.gen_op": "autohybrid.symbol.op",
    "symbol.gen_contrib": "autohybrid.symbol.contrib",
    "symbol.gen_image": "autohybrid.symbol.image",
    "symbol.gen_linalg": "autohybrid.symbol.linalg",
    "symbol.gen_random": "autohybrid.symbol.random",
    "symbol.gen_sparse": "autohybrid.symbol.sparse",
    "symbol.gen__internal": "autohybrid.symbol._internal",
    "visualization": "autohybrid.training.visualization",
    "viz": "autohybrid.training.visualization",
}


def find_module(path: str) -> str | None:
    """The autohybrid module that `mxnet.<path>` stands for ('' for mxnet itself); None when there is none."""
    if not path:
        return "autohybrid.compat.mxnet_root"
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        moved = _MOVED.get(".".join(parts[:length]))
        if moved is not None:
            return _existing(".".join([moved, *parts[length:]]))
    return _existing(f"autohybrid.{path}")


def _existing(name: str) -> str | None:
    try:
        return name if importlib.util.find_spec(name) is not None else None
    except ModuleNotFoundError:
        return None
