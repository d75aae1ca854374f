"""`autohybrid summary` and `autohybrid convert`, on models that autohybrid exports and on files that MXNet wrote."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from cli_support import Cli

import autohybrid as mx
from autohybrid.gluon import nn

DATA = Path(__file__).resolve().parents[1] / "data"


@pytest.fixture
def net(tmp_path: Path, cli: Cli) -> nn.HybridSequential:
    """A small network, exported as `net` in the folder of `cli`."""
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Conv2D(4, 3, in_channels=2), nn.BatchNorm(in_channels=4), nn.Dense(3, in_units=64))
    net.initialize(mx.init.Uniform(0.5))
    net.hybridize()
    net(mx.nd.ones((1, 2, 6, 6)))
    net.export(str(tmp_path / "net"))
    net.save_parameters(str(tmp_path / "plain.params"))
    return net


def rows_of(text: str) -> dict[str, list[str]]:
    return {line.split()[0]: line.split()[1:] for line in text.splitlines()}


def test_summary_of_a_graph(net: nn.HybridSequential, cli: Cli) -> None:
    result = cli("summary", "net-symbol.json", "--shape", "data=2x2x6x6")
    assert (result.code, result.err) == (0, "")
    rows = rows_of(result.out)
    assert rows["data"] == ["input", "2x2x6x6"]
    assert rows["net_conv0_fwd"] == ["Convolution", "2x4x4x4", "76", "data"]
    assert rows["net_batchnorm0_fwd"] == ["BatchNorm", "2x4x4x4", "16", "net_conv0_fwd"]
    assert rows["net_dense0_fwd"] == ["FullyConnected", "2x3", "195", "net_batchnorm0_fwd"]
    assert "8 parameter arrays with 287 elements" in result.out


def test_what_is_not_known_is_shown_as_such(net: nn.HybridSequential, cli: Cli) -> None:
    assert "not known without --shape NAME=SHAPE" in cli("summary", "net-symbol.json").out
    counted = cli("summary", "net-symbol.json", "--params", "net-0000.params").out
    assert rows_of(counted)["data"] == ["input", "?"]
    assert "8 parameter arrays with 287 elements" in counted


@pytest.mark.parametrize("path", sorted((DATA / "symbols").glob("*-symbol.json")), ids=lambda p: p.name)
def test_every_graph_of_mxnet_has_a_summary(path: Path, cli: Cli) -> None:
    result = cli("summary", str(path))
    assert (result.code, result.err) == (0, "")
    layers = {node["name"] for node in json.loads(mx.sym.load(str(path)).tojson())["nodes"] if node["op"] != "null"}
    assert layers <= {line.split()[0] for line in result.out.splitlines()}


def test_summary_of_arrays(net: nn.HybridSequential, cli: Cli) -> None:
    result = cli("summary", "net-0000.params")
    assert rows_of(result.out)["arg:net_conv0_weight"] == ["4x2x3x3", "float32", "72", "288", "B"]
    assert "8 arrays, 287 elements, 1.1 KiB; the file takes" in result.out
    cli("convert", "plain.params", "plain.npz")
    assert rows_of(cli("summary", "plain.npz").out)["0.weight"] == ["4x2x3x3", "float32", "72", "288", "B"]


def test_colours_bring_a_frame(net: nn.HybridSequential, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    out = cli("summary", "net-symbol.json", "--shape", "data=2x2x6x6").out
    assert "┃" in out
    assert "\x1b[1m" in out


def test_summary_counts_the_file_beside_and_says_what_is_unknown(cli: Cli, tmp_path: Path) -> None:
    dense = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4, name="fc")
    dense.save(str(tmp_path / "dense-symbol.json"))
    said = "2 parameter arrays with 0 elements and 2 of unknown size; `?` is not known without --shape"
    assert said in cli("summary", "dense-symbol.json").out
    mx.nd.save(str(tmp_path / "dense-0003.params"), {"arg:fc_weight": mx.nd.ones((4, 5)), "arg:fc_bias": mx.nd.ones(4)})
    assert "2 parameter arrays with 24 elements; `?`" in cli("summary", "dense-symbol.json").out


def test_summary_of_an_onnx_model(net: nn.HybridSequential, cli: Cli) -> None:
    pytest.importorskip("onnx")
    assert cli("convert", "net-symbol.json", "net.onnx", "--shape", "data=1x2x6x6").code == 0
    assert "8 parameter arrays with 287 elements" in cli("summary", "net.onnx").out
    refused = cli("summary", "net.onnx", "--params", "net-0000.params")
    assert (refused.code, "holds its parameters" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("absent.params",), "cannot read `absent.params`"),
        (("absent-symbol.json",), "absent-symbol.json"),
        (("net-symbol.json", "--shape", "data"), "`data` is not of the form NAME=SHAPE"),
        (("net-symbol.json", "--shape", "data=1x0"), "`data=1x0` is not of the form"),
        (("net-symbol.json", "--shape", "dta=1x2"), "no input `dta`; it has data"),
        (("net-0000.params", "--shape", "data=1x2"), "are for graphs"),
        (("net.pt",), "no known format"),
    ],
)
def test_summary_says_what_is_wrong(net: nn.HybridSequential, cli: Cli, words: tuple[str, ...], reason: str) -> None:
    result = cli("summary", *words)
    assert (result.code, result.out) == (2, "")
    assert reason in result.err


def test_a_pair_goes_into_one_file_and_back(net: nn.HybridSequential, cli: Cli, tmp_path: Path) -> None:
    assert cli("convert", "net-symbol.json", "net.safetensors").code == 0
    assert cli("convert", "net.safetensors", "new-symbol.json", "--epoch", "7").code == 0
    assert (tmp_path / "new-symbol.json").read_bytes() == (tmp_path / "net-symbol.json").read_bytes()
    old, new = mx.nd.load(str(tmp_path / "net-0000.params")), mx.nd.load(str(tmp_path / "new-0007.params"))
    assert {n: a.asnumpy().tolist() for n, a in new.items()} == {n: a.asnumpy().tolist() for n, a in old.items()}
    block = mx.gluon.SymbolBlock.imports(str(tmp_path / "new-symbol.json"), ["data"], str(tmp_path / "new-0007.params"))
    x = mx.nd.random.uniform(shape=(2, 2, 6, 6))
    block.hybridize(exact=True)
    net.hybridize(exact=True)
    np.testing.assert_allclose(block(x).asnumpy(), net(x).asnumpy(), rtol=1e-6)


def test_parameters_round_trip_and_load_into_a_block(net: nn.HybridSequential, cli: Cli, tmp_path: Path) -> None:
    for source, target in (("plain.params", "a.npz"), ("a.npz", "b.safetensors"), ("b.safetensors", "c.params")):
        assert cli("convert", source, target).code == 0
    x = mx.nd.ones((1, 2, 6, 6))
    before = net(x).asnumpy()
    net.initialize(force_reinit=True)
    net.load_parameters(str(tmp_path / "c.params"))
    np.testing.assert_array_equal(net(x).asnumpy(), before)


def test_plain_names(net: nn.HybridSequential, cli: Cli, tmp_path: Path) -> None:
    assert cli("convert", "net-0000.params", "p.npz", "--names", "plain").code == 0
    with np.load(tmp_path / "p.npz") as archive:
        assert set(archive.files) == set(net.collect_params())
    mx.nd.save(str(tmp_path / "twins.params"), {"arg:a": mx.nd.ones(1), "aux:a": mx.nd.ones(1)})
    assert "the same name" in cli("convert", "twins.params", "q.npz", "--names", "plain").err


def test_files_of_old_versions_convert(cli: Cli, tmp_path: Path) -> None:
    shutil.copy(DATA / "params" / "arg_aux.params", tmp_path / "a.params")
    assert cli("convert", "a.params", "a.safetensors").code == 0
    shutil.copy(DATA / "params" / "list.params", tmp_path / "list.params")
    assert cli("convert", "list.params", "list.npz").code == 0
    with np.load(tmp_path / "list.npz") as archive:
        assert archive.files[0] == "0"


def test_convert_says_what_is_wrong(net: nn.HybridSequential, cli: Cli, tmp_path: Path) -> None:
    assert "exists; --force writes over it" in cli("convert", "net-0000.params", "plain.params").err
    assert cli("convert", "net-0000.params", "plain.params", "--force").code == 0
    assert "holds no graph" in cli("convert", "plain.params", "x-symbol.json").err
    assert "the graph is left out" in cli("convert", "net-symbol.json", "x.npz").err
    shutil.copy(tmp_path / "net-0000.params", tmp_path / "net-0001.params")
    assert "several parameter files" in cli("convert", "net-symbol.json", "y.npz").err
    assert cli("convert", "net-symbol.json", "y.npz", "--params", "net-0001.params").code == 0
    assert "no parameter file" in cli("convert", "gone-symbol.json", "z.npz").err
    (tmp_path / "bad.safetensors").write_bytes(b"\xff" * 20)
    result = cli("convert", "bad.safetensors", "z.npz")
    assert (result.code, "not a safetensors file" in result.err) == (2, True)
    assert not list(tmp_path.glob("z.*"))
