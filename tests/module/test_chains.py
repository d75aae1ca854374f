"""SequentialModule, PythonModule and PythonLossModule. The numbers are those of MXNet 1.9.1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import nd

_DATA = np.random.RandomState(0).uniform(-1, 1, (8, 4)).astype("float32")
_LABEL = (_DATA.sum(axis=1) > 0).astype("float32")


def _iterator() -> Any:
    return mx.io.NDArrayIter(_DATA, _LABEL, 4)


def _first() -> Any:
    hidden = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=5, name="fc1")
    return mx.mod.Module(mx.sym.Activation(hidden, act_type="tanh", name="tanh1"), label_names=[])


def _scores() -> Any:
    return mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc2")


def _weights() -> dict[str, Any]:
    drawn = np.random.RandomState(1)
    shapes = {"fc1_weight": (5, 4), "fc1_bias": (5,), "fc2_weight": (2, 5), "fc2_bias": (2,)}
    return {name: nd.array(drawn.uniform(-0.5, 0.5, shape)) for name, shape in shapes.items()}


def _train(module: Any) -> dict[str, np.ndarray]:
    iterator = _iterator()
    module.fit(iterator, num_epoch=3, arg_params=_weights(), aux_params={}, optimizer_params=(("learning_rate", 0.5),))
    return {name: array.asnumpy() for name, array in module.get_params()[0].items()}


def _whole() -> dict[str, np.ndarray]:
    hidden = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=5, name="fc1")
    scores = mx.sym.FullyConnected(mx.sym.Activation(hidden, act_type="tanh"), num_hidden=2, name="fc2")
    return _train(mx.mod.Module(mx.sym.SoftmaxOutput(scores, name="softmax")))


def _assert_same(given: dict[str, np.ndarray], wanted: dict[str, np.ndarray]) -> None:
    assert sorted(given) == sorted(wanted)
    for name in wanted:
        np.testing.assert_allclose(given[name], wanted[name], rtol=1e-4, atol=1e-6, err_msg=name)


def test_a_chain_trains_as_one_module_does() -> None:
    chain = mx.mod.SequentialModule()
    assert chain.data_names == [] and chain.output_names == []
    last = mx.mod.Module(mx.sym.SoftmaxOutput(_scores(), name="softmax"))
    assert chain.add(_first()).add(last, take_labels=True, auto_wiring=True) is chain
    _assert_same(_train(chain), _whole())
    assert (chain.data_names, chain.output_names) == (["data"], ["softmax_output"])
    assert [shape[1] for shape in chain.output_shapes] == [(4, 2)]
    assert chain.score(_iterator(), "acc")[0][0] == "accuracy"
    assert chain.predict(_iterator()).shape == (8, 2)


def test_a_loss_in_python_closes_a_chain() -> None:
    def gradient(scores: Any, labels: Any) -> Any:
        return (nd.softmax(scores) - nd.one_hot(labels, 2)).asnumpy()

    chain = mx.mod.SequentialModule()
    chain.add(_first())
    chain.add(mx.mod.Module(_scores(), label_names=[]), auto_wiring=True)
    chain.add(mx.mod.PythonLossModule(grad_func=gradient), take_labels=True, auto_wiring=True)
    _assert_same(_train(chain), _whole())
    assert chain.output_names == ["pyloss_output"]


def test_gradients_reach_the_data_of_a_chain() -> None:
    chain = mx.mod.SequentialModule()
    chain.add(_first()).add(mx.mod.Module(_scores(), label_names=[]), auto_wiring=True)
    chain.bind([("data", (8, 4))], inputs_need_grad=True)
    chain.init_params(arg_params=_weights())
    chain.forward(mx.io.DataBatch([nd.array(_DATA)]), is_train=True)
    chain.backward([nd.ones((8, 2))])
    weights = {name: array.asnumpy() for name, array in _weights().items()}
    hidden = np.tanh(_DATA @ weights["fc1_weight"].T + weights["fc1_bias"])
    wanted = (weights["fc2_weight"].sum(axis=0) * (1 - hidden**2)) @ weights["fc1_weight"]
    np.testing.assert_allclose(chain.get_input_grads()[0].asnumpy(), wanted, rtol=1e-4, atol=1e-6)


def test_chains_refuse_what_they_cannot_do() -> None:
    with pytest.raises(
        AssertionError, match=r"add\(\) does not know 'take_label'; a module may be given take_labels and auto_wiring"
    ):
        mx.mod.SequentialModule().add(_first(), take_label=True)
    with pytest.raises(AssertionError, match="the SequentialModule is empty"):
        mx.mod.SequentialModule().bind([("data", (4, 4))])
    twice = mx.mod.SequentialModule()
    same = mx.mod.Module(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4, name="fc1"), label_names=[])
    twice.add(_first()).add(same, auto_wiring=True)
    twice.bind([("data", (4, 4))])
    with pytest.raises(AssertionError, match="modules 0 and 1 both have a parameter 'fc1_weight'"):
        twice.init_params()
    with pytest.raises(AssertionError, match="`binded` is False"):
        mx.mod.SequentialModule().forward(None)
    pair = mx.sym.Group([mx.sym.var("data"), mx.sym.var("more")])
    wide = mx.mod.SequentialModule()
    wide.add(_first()).add(mx.mod.Module(pair, data_names=["data", "more"], label_names=[]), auto_wiring=True)
    with pytest.raises(AssertionError, match="takes 2 arrays, but 1 are given"):
        wide.bind([("data", (4, 4))])


@pytest.mark.parametrize("chained", [False, True])
def test_what_is_done_twice_is_warned_about_and_left(chained: bool, caplog: pytest.LogCaptureFixture) -> None:
    module = mx.mod.SequentialModule().add(_first()) if chained else _first()
    for _ in range(2):
        module.bind([("data", (4, 4))])
        module.init_params()
        module.init_optimizer(optimizer="sgd")
    assert [record.getMessage() for record in caplog.records] == [
        "the module is bound already; bind does nothing (force_rebind=True binds it anew)",
        "an optimizer is installed already; init_optimizer does nothing (force_init=True installs another)",
    ]


class _Halves(mx.mod.PythonModule):
    def _compute_output_shapes(self) -> Any:
        return [("half_output", self._data_shapes[0][1])]

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        self._out = data_batch.data[0] / 2

    def get_outputs(self, merge_multi_context: bool = True) -> Any:
        return [self._out]


def test_a_module_in_python_has_shapes_and_no_parameters() -> None:
    module = _Halves(("data",), ("label",), ["half_output"])
    module.bind([("data", (2, 3))], [("label", (2,))])
    module.init_params()
    module.init_optimizer()
    assert module.get_params() == ({}, {})
    assert module.output_shapes == [("half_output", (2, 3))]
    module.forward(mx.io.DataBatch([nd.full((2, 3), 4)]))
    metric = mx.metric.MAE()
    module.update_metric(metric, [nd.full((2, 3), 1)])
    assert metric.get()[1] == 1
    with pytest.raises(NotImplementedError, match="_Halves must define `backward`"):
        module.backward()


def test_modules_in_python_say_what_does_not_fit() -> None:
    with pytest.raises(AssertionError, match=r"names \['x'\], but the module takes \['data'\]"):
        _Halves(("data",), None, []).bind([("x", (2, 3))])
    with pytest.raises(AssertionError, match="can only write gradients"):
        _Halves(("data",), None, []).bind([("data", (2, 3))], grad_req="add")
    with pytest.raises(AssertionError, match="one array of scores"):
        mx.mod.PythonLossModule(data_names=("a", "b"))
    loss = mx.mod.PythonLossModule()
    loss.bind([("data", (2, 3))], [("softmax_label", (2,))])
    with pytest.raises(AssertionError, match="takes no out_grads"):
        loss.backward([nd.ones((2, 3))])
    with pytest.raises(NotImplementedError, match="_backward_impl"):
        loss.backward()


def test_arrays_of_a_larger_model_may_be_given() -> None:
    module = _first()
    module.bind([("data", (8, 4))])
    module.init_params(arg_params=_weights())
    assert sorted(module.get_params()[0]) == ["fc1_bias", "fc1_weight"]
    np.testing.assert_array_equal(module.get_params()[0]["fc1_bias"].asnumpy(), _weights()["fc1_bias"].asnumpy())
    with pytest.raises(RuntimeError, match="fc1_bias"):
        module.init_params(arg_params={"fc1_weight": _weights()["fc1_weight"]}, force_init=True)
    with pytest.raises(ValueError, match="fc2_weight"):
        module.set_params(_weights(), {}, allow_missing=True)
