"""The hybridize tutorial: every claim of it, and the files that MXNet 1.9.1 loaded and computed the same from."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import nd, sym
from autohybrid.gluon import HybridBlock, SymbolBlock, nn

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data" / "tutorial"
TUTORIAL = runpy.run_path(str(ROOT / "examples" / "hybridize_tutorial.py"))
KINDS = ("indexing", "dtype", "context", "shape", "item assignment", "in place", "slice assignment")
RULE_OF = {
    "indexing": "AH104", "dtype": "AH102", "context": "AH103", "shape": "AH101", "item assignment": "AH108",
    "in place": "AH109", "slice assignment": "AH108",
}  # fmt: skip


class EveryLimit(HybridBlock):
    """All limits of the tutorial in one block; the last one cannot be lowered."""

    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        y = x * x.shape[0] if x.dtype == "float32" and x.context == mx.cpu() else x
        y[0] = 2
        y += x
        return y[0, 0] * float(y.asnumpy().mean())


def make_net() -> nn.HybridSequential:
    """The network of the recorded files, with its weights."""
    net = nn.HybridSequential(prefix="mlp_")
    with net.name_scope():
        net.add(nn.Dense(16, activation="relu"), nn.Dense(8, activation="relu"), nn.Dense(2))
    net.initialize()
    net(nd.zeros((1, 12)))
    for k, parameter in enumerate(net.collect_params().values()):
        parameter.set_data(nd.array(np.random.RandomState(k + 1).uniform(-1, 1, parameter.shape)))
    return net


def test_export_writes_the_files_that_mxnet_loaded(tmp_path: Path) -> None:
    recorded = np.load(DATA / "mxnet_outcome.npz")
    net = make_net()
    net.hybridize()
    np.testing.assert_allclose(net(nd.array(recorded["x"])).asnumpy(), recorded["y"], rtol=1e-5)
    net.export(str(tmp_path / "my_mlp"))
    for name in ("my_mlp-symbol.json", "my_mlp-0000.params"):
        assert (tmp_path / name).read_bytes() == (DATA / name).read_bytes()


def test_imported_files_compute_what_mxnet_computed() -> None:
    recorded = np.load(DATA / "mxnet_outcome.npz")
    block = SymbolBlock.imports(str(DATA / "my_mlp-symbol.json"), ["data"], str(DATA / "my_mlp-0000.params"))
    np.testing.assert_allclose(block(nd.array(recorded["x"])).asnumpy(), recorded["y"], rtol=1e-5)


def test_results_are_the_same_before_and_after_hybridize() -> None:
    net = TUTORIAL["get_net"]()
    x = nd.random.normal(shape=(1, 512))
    before = net(x).asnumpy()
    net.hybridize()
    np.testing.assert_allclose(net(x).asnumpy(), before, rtol=1e-5, atol=1e-6)
    nd.waitall()


def test_calling_with_a_symbol_gives_a_graph() -> None:
    net = make_net()
    y = net(sym.var("data"))
    arguments = ["data", *net.collect_params()]
    assert y.list_arguments() == arguments
    assert y.infer_shape(data=(4, 12))[1] == [(4, 2)]
    assert sym.load_json(y.tojson()).list_outputs() == y.list_outputs()
    values = {name: p.data() for name, p in net.collect_params().items()}
    x = nd.ones_like(nd.array(np.zeros((4, 12))))
    np.testing.assert_allclose(y.eval(data=x, **values)[0].asnumpy(), net(x).asnumpy(), rtol=1e-5)


def test_prints_happen_once_after_hybridize(capsys: pytest.CaptureFixture[str]) -> None:
    net = TUTORIAL["HybridNet"]()
    net.initialize()
    x = nd.ones((1, 3))
    net(x)
    imperative = capsys.readouterr().out
    assert "autohybrid.ndarray" in imperative and "[[1. 1. 1.]]" in imperative
    net.hybridize()
    with pytest.warns(mx.HybridizeWarning, match="AH301"):
        net(x)
    assert "GraphTensor" in capsys.readouterr().out
    net(x)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("kind", KINDS)
def test_limit_is_lowered_exactly_and_reported(kind: str) -> None:
    block = TUTORIAL["Limits"](kind)
    x = nd.array([[1, 2, 3], [4, 5, 6]])
    expected = block(x).asnumpy()
    block.hybridize()
    with pytest.warns(mx.HybridizeWarning, match=RULE_OF[kind]):
        found = block(x)
    np.testing.assert_array_equal(found.asnumpy(), expected)


def test_host_value_is_refused_with_every_finding() -> None:
    block = EveryLimit()
    block.hybridize()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(mx.HybridizeError, match="asnumpy") as caught:
            block(nd.array([[1, 2, 3]]))
    codes = {d.code for d in caught.value.diagnostics}
    assert {"AH101", "AH102", "AH103", "AH104", "AH108", "AH109", "AH201"} <= codes


def test_check_finds_each_limit_at_its_range() -> None:
    path = ROOT / "examples" / "hybridize_tutorial.py"
    lines = path.read_text().splitlines()
    found = {
        (d.code, lines[d.span.line - 1][d.span.column - 1 : d.span.end_column - 1])
        for d in mx.check(path)
        if d.span.line == d.span.end_line
    }
    texts: set[Any] = {text for _, text in found}
    assert {"x[0, 0]", "x.dtype", "x.context", "x.shape", "a += b"} <= texts
    for finding in mx.check(path):
        assert finding.help
        assert finding.message[0].islower() or finding.message.startswith("`")
