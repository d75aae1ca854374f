"""Sparse arrays: what each expression gives in MXNet 1.9.1 (storage type, dtype, values or error, recorded in
tests/data/operators/sparse_results.json), and storage, writing, gradients and lazy updates."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import nd
from autohybrid.errors import MXNetError, NotSupportedForSparseNDArray

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "operators" / "sparse_results.json").read_text())
DENSE = [[0.0, 1, 0], [2, 0, 3], [0, 0, 0]]


def _arrays() -> dict[str, Any]:
    d = nd.array(DENSE)
    return {"d": d, "c": d.tostype("csr"), "r": d.tostype("row_sparse"), "nd": nd, "np": np, "mx": mx}


@pytest.mark.parametrize("expression", RECORDED)
def test_expressions_give_mxnets_storage_types_values_and_errors(expression: str) -> None:
    expected = RECORDED[expression]
    if "error" in expected:
        with pytest.raises(Exception) as caught:
            eval(expression, _arrays())
        assert expected["error"] in [cls.__name__ for cls in type(caught.value).__mro__]
        return
    result = eval(expression, _arrays())
    assert result.stype == expected["stype"]
    assert np.dtype(result.dtype).name == expected["dtype"]
    assert result.shape == tuple(expected["shape"])
    values = np.nan_to_num(result.asnumpy().astype("float64"), posinf=9e9)
    np.testing.assert_allclose(values, np.array(expected["values"]).reshape(result.shape), rtol=1e-5, atol=1e-6)
    if result.stype != "default":
        result.check_format(full_check=expression != "nd.sparse.row_sparse_array(([[1,2],[3,4]],[3,1]),shape=(4,2))")


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
@pytest.mark.parametrize("shape", [(1, 1), (4, 3), (0, 3), (5, 0)])
def test_conversion_there_and_back_changes_nothing(stype: str, shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(1).integers(0, 3, shape).astype("float32")
    sparse = nd.array(values).tostype(stype)
    sparse.check_format()
    assert sparse.shape == shape
    assert sparse.size == values.size
    np.testing.assert_array_equal(sparse.asnumpy(), values)
    np.testing.assert_array_equal(sparse.tostype("default").asnumpy(), values)


def test_stored_parts() -> None:
    csr, rows = _arrays()["c"], _arrays()["r"]
    assert csr.data.asnumpy().tolist() == [1, 2, 3]
    assert csr.indices.asnumpy().tolist() == [1, 0, 2]
    assert csr.indptr.asnumpy().tolist() == [0, 1, 3, 3]
    assert rows.indices.asnumpy().tolist() == [0, 1]
    assert rows.data.asnumpy().tolist() == DENSE[:2]
    assert repr(csr) == "\n<CSRNDArray 3x3 @cpu(0)>"
    csr.data[:] = 7
    assert csr.asnumpy().sum() == 21


def test_coordinates_for_one_place_are_added_up() -> None:
    made = nd.sparse.csr_matrix(([1, 2, 4], ([0, 1, 0], [2, 0, 2])), shape=(2, 3))
    assert made.asnumpy().tolist() == [[0, 0, 5], [2, 0, 0]]


@pytest.mark.parametrize("kind", ["c", "r"])
def test_assignment_replaces_all_values_or_is_refused(kind: str) -> None:
    array = _arrays()[kind]
    array[:] = nd.array(DENSE) * 2
    np.testing.assert_array_equal(array.asnumpy(), np.array(DENSE) * 2)
    array[:] = np.eye(3)
    np.testing.assert_array_equal(array.asnumpy(), np.eye(3))
    array[:] = _arrays()[kind]
    np.testing.assert_array_equal(array.asnumpy(), DENSE)
    if kind == "r":
        array[:] = 5
        assert (array.asnumpy() == 5).all()
    else:
        with pytest.raises(ValueError, match="cannot be filled with int"):
            array[:] = 5
    with pytest.raises(NotSupportedForSparseNDArray):
        array[0] = 5
    with pytest.raises(MXNetError, match="does not match"):
        array[:] = nd.ones((2, 2))


def test_a_write_to_the_dense_copy_cannot_get_lost() -> None:
    with pytest.raises(ValueError, match="read-only"):
        _arrays()["c"]._data[...] = 1


@pytest.mark.parametrize("kind", ["c", "r"])
def test_copies_are_independent_and_survive_pickling(kind: str) -> None:
    array = _arrays()[kind]
    twin, restored = array.copy(), pickle.loads(pickle.dumps(array))
    array[:] = np.zeros((3, 3))
    for other in (twin, restored):
        assert other.stype == array.stype
        np.testing.assert_array_equal(other.asnumpy(), DENSE)
    target = nd.zeros((3, 3))
    twin.copyto(target)
    np.testing.assert_array_equal(target.asnumpy(), DENSE)
    target[0, 0] = 9
    target.copyto(array)
    assert array.asnumpy()[0, 0] == 9
    with pytest.raises(TypeError, match="storage type"):
        twin.copyto(_arrays()["r" if kind == "c" else "c"])


def test_files_keep_the_storage_type(tmp_path: Path) -> None:
    path = str(tmp_path / "arrays.params")
    arrays = _arrays()
    nd.save(path, {name: arrays[name] for name in "dcr"})
    loaded = nd.load(path)
    assert {name: loaded[name].stype for name in "dcr"} == {"d": "default", "c": "csr", "r": "row_sparse"}
    for name in "dcr":
        np.testing.assert_array_equal(loaded[name].asnumpy(), DENSE)


@pytest.mark.parametrize("stype", ["default", "csr", "row_sparse"])
def test_gradients_are_stored_as_attached(stype: str) -> None:
    weight = nd.array([[1.0, 2], [3, 4], [5, 6]])
    weight.attach_grad(stype=stype)
    with mx.autograd.record():
        loss = (nd.Embedding(nd.array([0, 2, 0]), weight, input_dim=3, output_dim=2, sparse_grad=True) * 2).sum()
    loss.backward()
    assert weight.grad.stype == stype
    np.testing.assert_array_equal(weight.grad.asnumpy(), [[4, 4], [0, 0], [2, 2]])


def test_gradients_pass_through_a_sparse_product() -> None:
    features, weight = _arrays()["c"], nd.array([[1.0, 2], [3, 4], [5, 6]])
    weight.attach_grad()
    with mx.autograd.record():
        loss = (nd.dot(features, weight) ** 2).sum()
    loss.backward()
    dense = np.array(DENSE)
    np.testing.assert_allclose(weight.grad.asnumpy(), 2 * dense.T @ dense @ weight.asnumpy())


def test_sparse_leaves_get_gradients() -> None:
    leaf = _arrays()["r"]
    leaf.attach_grad()
    with mx.autograd.record():
        loss = (nd.square(leaf) + leaf * 3).sum()
    loss.backward()
    assert leaf.grad.stype == "row_sparse"
    expected = 2 * np.array(DENSE) + 3
    np.testing.assert_allclose(leaf.grad.asnumpy(), expected)


@pytest.mark.parametrize("lazy", [True, False])
def test_lazy_updates_touch_only_the_rows_of_the_gradient(lazy: bool) -> None:
    weight, momentum = nd.ones((3, 2)), nd.ones((3, 2))
    gradient = nd.array([[0, 0], [1, 1], [0, 0]]).tostype("row_sparse")
    nd.sgd_mom_update(weight, gradient, momentum, lr=0.1, momentum=0.5, wd=0.1, out=weight, lazy_update=lazy)
    untouched = 1.0 if lazy else 1.0 + 0.5 - 0.1 * 0.1
    np.testing.assert_allclose(weight.asnumpy()[[0, 2]], untouched, rtol=1e-6)
    np.testing.assert_allclose(weight.asnumpy()[1], 1.0 + 0.5 - 0.1 * 1.1, rtol=1e-6)
    np.testing.assert_allclose(momentum.asnumpy()[0], 1.0 if lazy else 0.49, rtol=1e-6)


@pytest.mark.parametrize(
    "call",
    [
        lambda: nd.sparse.csr_matrix(([1.0], [5], [0, 1]), shape=(1, 3)),
        lambda: nd.sparse.csr_matrix(([1.0], [0], [0, 2]), shape=(1, 3)),
        lambda: nd.sparse.row_sparse_array(([[1.0]], [7]), shape=(3, 1)),
    ],
)
def test_index_arrays_that_contradict_the_shape_are_refused_before_use(call: Any) -> None:
    made = call()
    with pytest.raises(MXNetError):
        made.check_format()
    with pytest.raises(MXNetError):
        made.asnumpy()


def test_columns_of_a_row_must_grow_only_for_the_full_check() -> None:
    made = nd.sparse.csr_matrix(([7, 8, 9], [2, 1, 1], [0, 2, 2, 3]), shape=(3, 4))
    assert made.asnumpy()[0].tolist() == [0, 8, 7, 0]
    made.check_format(full_check=False)
    with pytest.raises(MXNetError, match="grow within each row"):
        made.check_format()


def test_rows_that_are_not_stored_stay_zero_in_scatter_operators() -> None:
    rows = nd.array([[0, 0], [2, 4]]).tostype("row_sparse")
    assert nd._internal._scatter_plus_scalar(rows, scalar=1).asnumpy().tolist() == [[0, 0], [3, 5]]
    halved = nd._internal._scatter_elemwise_div(rows, nd.array([[0, 0], [2, 2]]))
    assert halved.stype == "row_sparse"
    assert halved.asnumpy().tolist() == [[0, 0], [1, 2]]


@pytest.mark.parametrize(
    "axis, keepdims, stype", [(0, False, "default"), (1, False, "default"), (1, True, "row_sparse")]
)
def test_square_sums_and_their_gradients(axis: int, keepdims: bool, stype: str) -> None:
    rows = _arrays()["r"]
    rows.attach_grad()
    with mx.autograd.record():
        sums = nd._internal._square_sum(rows, axis=axis, keepdims=keepdims)
    sums.backward()
    assert sums.stype == stype
    np.testing.assert_array_equal(sums.asnumpy(), (np.array(DENSE) ** 2).sum(axis, keepdims=keepdims))
    np.testing.assert_array_equal(rows.grad.asnumpy(), 2 * np.array(DENSE))


def test_executors_give_the_storage_type_of_imperative_calls() -> None:
    x, y = mx.sym.var("x"), mx.sym.var("y")
    arrays = {"x": _arrays()["r"], "y": _arrays()["r"]}
    bound = (mx.sym.elemwise_add(x, y)).bind(mx.cpu(), arrays, args_grad={"x": nd.zeros((3, 3), stype="row_sparse")})
    for _ in range(2):
        out = bound.forward(is_train=True)[0]
        assert out.stype == "row_sparse"
        np.testing.assert_array_equal(out.asnumpy(), np.array(DENSE) * 2)
    bound.backward(nd.ones((3, 3)))
    assert bound.grad_dict["x"].stype == "row_sparse"
    assert (bound.grad_dict["x"].asnumpy() == 1).all()


def test_sparse_adagrad_is_mxnets() -> None:
    weight, history = nd.ones((3, 2)), nd.ones((3, 2)) * 0.25
    gradient = nd.array([[0, 0], [1, 2], [0, 0]]).tostype("row_sparse")
    nd.sparse.adagrad_update(weight, gradient, history, lr=0.1, epsilon=0.5, rescale_grad=0.5, out=weight)
    np.testing.assert_allclose(weight.asnumpy(), [[1, 1], [0.95, 0.9244071], [1, 1]], rtol=1e-6)
    np.testing.assert_allclose(history.asnumpy(), [[0.25, 0.25], [0.5, 1.25], [0.25, 0.25]])
    with pytest.raises(MXNetError, match="row_sparse"):
        nd.sparse.adagrad_update(weight, nd.ones((3, 2)), history, lr=0.1)


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "adagrad", "ftrl"])
def test_sparse_and_dense_gradients_train_the_rows_in_use_alike(optimizer: str) -> None:
    trained = []
    for sparse_grad in (False, True):
        mx.random.seed(1)
        net = mx.gluon.nn.Embedding(6, 3, sparse_grad=sparse_grad)
        net.initialize(mx.init.Normal(0.1))
        trainer = mx.gluon.Trainer(net.collect_params(), optimizer, {"learning_rate": 0.1})
        for _ in range(3):
            with mx.autograd.record():
                loss = (net(nd.array([0, 2, 2])) ** 2).sum()
            loss.backward()
            trainer.step(1)
        assert net.weight.grad().stype == ("row_sparse" if sparse_grad else "default")
        trained.append(net.weight.data().asnumpy()[[0, 2]])
    np.testing.assert_allclose(*trained, rtol=1e-5, atol=1e-6)


def test_edges_are_what_a_csr_matrix_stores() -> None:
    """Zeros that are stored too."""
    graph = nd.sparse.csr_matrix((np.array([0, 3, 4.0]), np.array([2, 0, 1]), np.array([0, 2, 3])), shape=(2, 3))
    numbers = nd.contrib.edge_id(graph, nd.array([0, 0, 0, 1, 1]), nd.array([2, 0, 1, 1, 0]))
    np.testing.assert_array_equal(numbers.asnumpy(), [0, 3, -1, 4, -1])
    np.testing.assert_array_equal(
        nd.contrib.edge_id(graph, nd.array([0, 5, -1]), nd.array([3, 0, 0])).asnumpy(), [-1] * 3
    )
    with pytest.raises(MXNetError, match="edge_id"):
        nd.contrib.edge_id(graph, nd.array([0, 1]), nd.array([0]))


def test_the_adjacency_has_ones_at_the_edges() -> None:
    graph = nd.sparse.csr_matrix(np.array([[0, 5, 0], [7, 0, 0]]), dtype="int64")
    adjacency = nd.contrib.dgl_adjacency(graph)
    assert (adjacency.stype, np.dtype(adjacency.dtype).name) == ("csr", "float32")
    np.testing.assert_array_equal(adjacency.asnumpy(), [[0, 1, 0], [1, 0, 0]])
