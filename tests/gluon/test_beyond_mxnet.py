"""Where MXNet is silent, unhelpful or wrong, and what blocks and parameters do here instead."""

from __future__ import annotations

import copy
import json
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid.gluon import nn, rnn


def two_layers(**kwargs: Any) -> Any:
    net = nn.HybridSequential(**kwargs)
    with net.name_scope():
        net.add(nn.Dense(3, activation="relu"), nn.Dense(2))
    return net


def test_calling_before_initialize_lists_every_parameter() -> None:
    net = two_layers(prefix="net_")
    with pytest.raises(RuntimeError) as caught:
        net(mx.nd.ones((1, 4)))
    text = str(caught.value)
    assert all(f"`{name}`" in text for name in net.collect_params())
    assert "Dense `net_dense1`" in text
    assert "initialize()" in text


def test_reading_a_deferred_parameter_names_the_missing_argument() -> None:
    net = nn.Dense(3, prefix="fc_")
    net.initialize()
    with pytest.raises(mx.gluon.DeferredInitializationError, match=r"`fc_weight` .*Dense `fc`.*`in_units`"):
        net.weight.data()


@pytest.mark.parametrize(
    ("layer", "argument"),
    [(nn.Conv2D(1, 1), "in_channels"), (nn.BatchNorm(), "in_channels"), (rnn.GRU(2), "input_size")],
)
def test_every_layer_with_deferred_shapes_names_its_argument(layer: Any, argument: str) -> None:
    layer.initialize()
    with pytest.raises(mx.gluon.DeferredInitializationError, match=f"`{argument}`"):
        next(iter(layer.collect_params().values())).data()


def test_code_that_reads_shapes_initialises_its_own_deferred_parameter() -> None:
    class Affine(mx.gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.weight = self.params.get("weight", shape=(2, 0), init="ones", allow_deferred_init=True)

        def hybrid_forward(self, F: Any, x: Any, weight: Any) -> Any:
            if x.shape[0] > 1:
                x = x * 2
            return F.FullyConnected(x, weight, num_hidden=2, no_bias=True)

    net = Affine()
    net.initialize()
    assert net(mx.nd.ones((3, 4))).asnumpy().tolist() == [[8.0, 8.0]] * 3
    assert net.weight.shape == (2, 4)


def test_parameter_that_no_operator_can_infer_says_so() -> None:
    class Shift(mx.gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.shift = self.params.get("shift", shape=(0,), allow_deferred_init=True)

        def hybrid_forward(self, F: Any, x: Any, shift: Any) -> Any:
            return F.broadcast_add(x, shift)

    net = Shift()
    net.initialize()
    with pytest.raises(ValueError, match=r"shift.*broadcast_add.*whole shape"):
        net(mx.nd.ones((2, 3)))


def test_returned_deferred_parameter_is_its_array() -> None:
    class Own(mx.gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.w = self.params.get("w", shape=(1, 0), init="ones", allow_deferred_init=True)

        def hybrid_forward(self, F: Any, x: Any, w: Any) -> Any:
            return F.FullyConnected(x, w, num_hidden=1, no_bias=True), [w]

    net = Own()
    net.initialize()
    _, (weight,) = net(mx.nd.ones((1, 2)))
    assert isinstance(weight, mx.nd.NDArray)
    assert weight.shape == (1, 2)


def test_unknown_option_of_hybridize_names_the_nearest() -> None:
    with pytest.raises(TypeError, match=r"`static_aloc`.*`static_alloc`"):
        two_layers().hybridize(static_aloc=True)


def test_parameter_missing_from_the_signature_is_named() -> None:
    class Gain(mx.gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.gain = self.params.get("gain", shape=(1,), init="ones")

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return x

    net = Gain()
    net.initialize()
    with pytest.raises(TypeError, match=r"Gain\.hybrid_forward.*`gain`"):
        net(mx.nd.ones((1,)))


def test_missing_super_init_is_named() -> None:
    class Bad(mx.gluon.HybridBlock):
        def __init__(self) -> None:
            self.fc = nn.Dense(1)

    with pytest.raises(AttributeError, match=r"super\(\)\.__init__"):
        Bad()


def test_load_that_matches_nothing_warns(tmp_path: Path) -> None:
    path = str(tmp_path / "x.params")
    mx.nd.save(path, {"other.weight": mx.nd.ones((1,))})
    with pytest.warns(UserWarning, match="nothing was loaded"):
        two_layers().load_parameters(path, allow_missing=True, ignore_extra=True)


def exported(net: Any, folder: Path, x: Any) -> str:
    net.hybridize()
    net(x)
    net.export(str(folder / "net"))
    return str(folder / "net")


@pytest.mark.parametrize("prefix", ["net_", "other_"])
def test_exported_parameters_load_into_a_block(tmp_path: Path, prefix: str) -> None:
    x = mx.nd.array([[1, 2, 3, 4]])
    net = two_layers(prefix="net_")
    net.initialize(mx.init.Constant(0.25))
    path = exported(net, tmp_path, x)
    again = two_layers(prefix=prefix)
    again.load_parameters(f"{path}-0000.params")
    assert again(x).asnumpy().tolist() == net(x).asnumpy().tolist()


def test_two_exports_of_one_model_are_equal_bytes(tmp_path: Path) -> None:
    class Shifted(mx.gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__(prefix="s_")
            self.k = self.params.get_constant("k", [1, 2])

        def hybrid_forward(self, F: Any, x: Any, k: Any) -> Any:
            return F.broadcast_add(x, k)

    texts = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        net = Shifted()
        net.initialize()
        texts.append(Path(exported(net, tmp_path / name, mx.nd.ones((1, 2))) + "-symbol.json").read_bytes())
    assert texts[0] == texts[1]
    assert "k_" in json.dumps(json.loads(texts[0]))


def test_import_with_a_forgotten_input_says_so(tmp_path: Path) -> None:
    class Add(mx.gluon.HybridBlock):
        def hybrid_forward(self, F: Any, a: Any, b: Any) -> Any:
            return a + b

    net = Add()
    net.hybridize()
    net(mx.nd.ones((1,)), mx.nd.ones((1,)))
    net.export(str(tmp_path / "add"))
    with pytest.raises(AssertionError, match=r"`data1`.*input_names"):
        mx.gluon.SymbolBlock.imports(str(tmp_path / "add-symbol.json"), ["data0"], str(tmp_path / "add-0000.params"))


def test_states_of_modified_cells_begin_as_arrays() -> None:
    cell = rnn.ZoneoutCell(rnn.LSTMCell(2), 0.5, 0.5)
    assert [type(state) for state in cell.begin_state(batch_size=3)] == [mx.nd.NDArray] * 2


@pytest.mark.parametrize("make", [rnn.RNN, rnn.LSTM, rnn.GRU])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_sequence_length_is_honoured(make: Any, bidirectional: bool) -> None:
    layer = make(2, input_size=1, bidirectional=bidirectional, use_sequence_length=True)
    layer.initialize(mx.init.Constant(0.3))
    lengths = mx.nd.array([2])
    short = mx.nd.array([[[1.0]], [[2.0]]])
    padded = mx.nd.array([[[1.0]], [[2.0]], [[9.0]]])
    wanted, found = layer(short, sequence_length=lengths).asnumpy(), layer(padded, sequence_length=lengths).asnumpy()
    np.testing.assert_allclose(found[:2], wanted, rtol=1e-6)
    assert not found[2].any()


def test_layer_returns_states_only_when_given_some_also_hybridized() -> None:
    layer = rnn.GRU(2, input_size=1)
    layer.initialize()
    layer.hybridize()
    x = mx.nd.ones((3, 1, 1))
    alone = layer(x)
    outputs, states = layer(x, layer.begin_state(1))
    assert isinstance(alone, mx.nd.NDArray)
    assert outputs.shape == alone.shape
    assert [state.shape for state in states] == [(1, 1, 2)]
    assert isinstance(layer(x), mx.nd.NDArray)


def test_name_scopes_of_threads_are_apart() -> None:
    names: dict[str, list[str]] = {}

    def build(prefix: str) -> None:
        net = nn.HybridSequential(prefix=prefix)
        for _ in range(50):
            with net.name_scope():
                net.add(nn.Dense(1))
        names[prefix] = [child.name for child in net]

    threads = [threading.Thread(target=build, args=(f"t{i}_",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert names == {f"t{i}_": [f"t{i}_dense{k}" for k in range(50)] for i in range(4)}


def test_nested_input_of_an_imported_block_is_refused_plainly() -> None:
    a, b = mx.sym.var("a"), mx.sym.var("b")
    block = mx.gluon.SymbolBlock(a + b, [a, b])
    with pytest.raises(ValueError, match="`a`, `b`"):
        block(mx.nd.ones((1,)), [mx.nd.ones((1,))])


def test_model_file_brings_names_back(tmp_path: Path) -> None:
    saved, loaded = two_layers(prefix="first_"), two_layers(prefix="second_")
    saved.initialize(mx.init.One())
    saved(mx.nd.ones((1, 2)))
    saved.save(str(tmp_path / "m"))
    loaded.load(str(tmp_path / "m"))
    assert [name for child in loaded for name in child.params] == [name for child in saved for name in child.params]
    assert loaded[0].weight.data().asnumpy().tolist() == [[1.0, 1.0]] * 3


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda block: pickle.loads(pickle.dumps(block))])
@pytest.mark.parametrize("hybridized", [False, True])
def test_copies_compute_and_train_on_their_own(duplicate: Any, hybridized: bool) -> None:
    x = mx.nd.array([[1, 2]])
    net = two_layers()
    net.initialize(mx.init.One())
    net.hybridize(hybridized)
    before = net(x).asnumpy()
    twin = duplicate(net)
    assert (twin(x).asnumpy() == before).all()
    with mx.autograd.record():
        loss = twin(x).sum()
    loss.backward()
    assert twin[0].weight.grad().asnumpy().any()
    assert not net[0].weight.grad().asnumpy().any()
    twin[0].weight.set_data(mx.nd.zeros((3, 2)))
    assert (net(x).asnumpy() == before).all()


def test_copy_of_a_symbol_block_computes_the_same() -> None:
    a = mx.sym.var("a")
    block = mx.gluon.SymbolBlock(mx.sym.FullyConnected(a, num_hidden=2, name="fc"), a)
    block.initialize(mx.init.One())
    x = mx.nd.array([[1, 2]])
    assert (copy.deepcopy(block)(x).asnumpy() == block(x).asnumpy()).all()


class ReadsShape(mx.gluon.HybridBlock):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.fc = nn.Dense(3)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return self.fc(x).reshape((x.shape[0], 3, 1))[:, 1:]


class BranchesOnTensor(mx.gluon.HybridBlock):
    def hybrid_forward(self, F: Any, x: Any) -> Any:
        while x.sum() > 1:
            x = x / 2
        return x


@pytest.mark.filterwarnings("ignore::autohybrid.HybridizeWarning")
def test_code_that_symbols_cannot_run_is_exported_as_it_was_compiled(tmp_path: Path) -> None:
    x = mx.nd.ones((2, 4))
    net = ReadsShape(prefix="net_")
    net.initialize()
    path = exported(net, tmp_path, x)
    block = mx.gluon.SymbolBlock.imports(f"{path}-symbol.json", ["data"], f"{path}-0000.params")
    assert sorted(block.collect_params()) == ["net_dense0_bias", "net_dense0_weight"]
    np.testing.assert_allclose(block(x).asnumpy(), net(x).asnumpy(), rtol=1e-6)


def test_export_of_code_that_reads_shapes_warns_that_they_are_fixed(tmp_path: Path) -> None:
    net = ReadsShape()
    net.initialize()
    with pytest.warns(mx.HybridizeWarning, match=r"reads the shape \(.*: here \(2, 4\)"):
        exported(net, tmp_path, mx.nd.ones((2, 4)))


@pytest.mark.filterwarnings("ignore::autohybrid.HybridizeWarning")
def test_export_of_a_loop_on_tensors_is_refused_at_its_line(tmp_path: Path) -> None:
    with pytest.raises(mx.MXNetError, match=r"cannot be exported.*loop or branch on tensors.*test_beyond_mxnet"):
        exported(BranchesOnTensor(), tmp_path, mx.nd.ones((2,)))
    assert not list(tmp_path.iterdir())


def test_state_clipping_is_honoured() -> None:
    layer = rnn.LSTM(2, input_size=1, state_clip_min=-0.1, state_clip_max=0.1)
    layer.initialize(mx.init.One())
    _, (_, memory) = layer(mx.nd.ones((4, 1, 1)), layer.begin_state(1))
    assert np.abs(memory.asnumpy()).max() == pytest.approx(0.1)


def test_grouped_transposed_convolution_infers_its_input_channels() -> None:
    layer = nn.Conv2DTranspose(4, 2, groups=2)
    layer.initialize()
    assert layer(mx.nd.ones((1, 6, 3, 3))).shape == (1, 4, 4, 4)
    assert layer.weight.shape == (6, 2, 2, 2)


class Flexible(mx.gluon.HybridBlock):
    def hybrid_forward(self, F: Any, x: Any, scale: Any = None) -> Any:
        return x if scale is None else x * scale


def test_hybridized_block_takes_numbers_and_every_structure_of_arguments() -> None:
    net = Flexible()
    net.hybridize()
    x = mx.nd.array([1, 2])
    results = [net(x), net(x, None), net(x, 3), net(x, mx.nd.array([0, 1])), net(x)]
    assert [r.asnumpy().tolist() for r in results] == [[1, 2], [1, 2], [3, 6], [0, 2], [1, 2]]


def test_hooks_of_children_fire_at_every_hybridized_call() -> None:
    net = two_layers()
    net.initialize()
    seen: list[tuple[int, ...]] = []
    net[0].register_forward_hook(lambda block, inputs, output: seen.append(output.shape))
    net.hybridize()
    for batch in (1, 2, 2):
        net(mx.nd.ones((batch, 4)))
    assert seen == [(1, 3), (2, 3), (2, 3)]
