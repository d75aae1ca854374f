"""Export says what of the first call's inputs the graph holds; a graph that read nothing is portable."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import nd
from autohybrid.gluon import HybridBlock, SymbolBlock, nn


class ReadsShape(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        return x / x.shape[1]


class ReadsDtype(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        return x * (2 if x.dtype == np.float32 else 3)


class ReadsContext(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        return x + 1 if x.context == mx.cpu() else x - 1


class ReadsAll(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        return x * len(x) if x.dtype == np.float32 and x.ctx == mx.cpu() else x


class ReadsNothing(HybridBlock):
    """Not what MXNet can trace, yet of no particular shape."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dense = nn.Dense(2, in_units=3, flatten=False)

    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        y = self.dense(x)
        print("built")
        return nd.broadcast_add(F.slice_axis(y, axis=0, begin=0, end=1), nd.relu(y))


def exported(net: HybridBlock, folder: Path) -> tuple[str, list[str]]:
    net.initialize()
    net.hybridize()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mx.HybridizeWarning)
        net(nd.ones((2, 3)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        net.export(str(folder / "net"))
    return str(folder / "net"), [str(w.message) for w in caught]


@pytest.mark.parametrize(
    ("block", "parts"),
    [
        (ReadsShape, ["the shape (", "x.shape[1]", "here (2, 3)"]),
        (ReadsDtype, ["the dtype (", "2 if x.dtype == np.float32", "here float32"]),
        (ReadsContext, ["the context (", "if x.context == mx.cpu()", "here cpu(0)"]),
        (ReadsAll, ["the context (", "the dtype (", "the shape (", "len(x)"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_export_names_what_was_baked_in_and_where(block: type[HybridBlock], parts: list[str], tmp_path: Path) -> None:
    path, messages = exported(block(), tmp_path)
    assert len(messages) == 1
    assert "[AH803]" in messages[0]
    with open(__file__, encoding="utf-8") as stream:
        lines = list(stream)
    for part in parts:
        number = next((i for i, line in enumerate(lines, 1) if part in line and "[" not in line[:12]), None)
        if part[0] in "xl2i" and part[1] in ".e f":
            assert f"{__file__}:{number}:" in messages[0]
        else:
            assert part in messages[0]
    graph = SymbolBlock.imports(f"{path}-symbol.json", ["data"])
    np.testing.assert_allclose(graph(nd.ones((2, 3))).asnumpy(), block()(nd.ones((2, 3))).asnumpy())


def test_a_graph_that_read_nothing_is_portable(tmp_path: Path) -> None:
    net = ReadsNothing()
    path, messages = exported(net, tmp_path)
    assert messages == []
    names = {node["op"] for node in json.loads(Path(f"{path}-symbol.json").read_text())["nodes"]}
    assert "FullyConnected" in names
    assert not any(name.startswith("_branch") for name in names)
    graph = SymbolBlock.imports(f"{path}-symbol.json", ["data"], f"{path}-0000.params")
    x = nd.array(np.random.RandomState(1).uniform(-1, 1, (5, 3)))
    np.testing.assert_allclose(graph(x).asnumpy(), net(x).asnumpy(), rtol=1e-6)
