"""The analysis' table of MXNet's names and the operator records agree, but for the differences listed here.

The table says what MXNet 1.9.1 has, for `check` speaks of code that was written for it; the records say what runs here.
"""

from __future__ import annotations

import pytest

import autohybrid as mx
from autohybrid.analysis.mxnet_names import namespace_facts, operator_facts, operator_names
from autohybrid.tensor.namespaces import find_public
from autohybrid.tensor.opdef import OpDef

QUANTIZED = frozenset("quantize_asym quantized_elemwise_mul quantized_rnn".split())
GRAPHS = frozenset(
    "dgl_csr_neighbor_non_uniform_sample dgl_csr_neighbor_uniform_sample dgl_graph_compact dgl_subgraph".split()
)
GRADIENTS = frozenset("backward_gradientmultiplier backward_hawkesll backward_index_copy backward_quadratic".split())
IMPORTED = frozenset(
    """AttrScope Context NDArray NDArrayHandle NotSupportedForSparseNDArray Symbol SymbolHandle c_array_buf check_call
    current_context gs_retain integer_types mx_real_t native_array ndarray numeric_types op
    py_slice py_sum register spsp symbol utils""".split()
)
GENERATED = frozenset("gen__internal gen_contrib gen_image gen_linalg gen_op gen_sparse".split())
INDEXING = frozenset("get_indexing_dispatch_code get_oshape_of_gather_nd_op indexing_key_expand_implicit_axes".split())

# Names of `mx.nd` and `mx.sym` that are not here, by reason.
ABSENT: dict[str, frozenset[str]] = {
    "MXNet's CPU build does not run them": QUANTIZED,
    "sampling from graphs in the sense of DGL is not run": GRAPHS,
    "gradients are written with operators and have no names of their own": GRADIENTS,
    "helpers that MXNet's modules import are no part of its interface": IMPORTED | INDEXING,
    "there is one module of operators, not one for each list of generated functions": GENERATED,
    "pictures are decoded by `mx.image`": frozenset({"imdecode"}),
    "an optimizer updates arrays; there is nothing to update in a graph": frozenset(
        {"adamw_update", "mp_adamw_update"}
    ),
}
# Operators of the table without a record, by reason.
WITHOUT_RECORD: dict[str, frozenset[str]] = {
    "MXNet's CPU build does not run them": frozenset(f"contrib.{name}" for name in QUANTIZED),
    "pictures are decoded by `mx.image`": frozenset(
        f"_internal.{n}" for n in ("_cvimdecode", "_cvimread", "_imdecode")
    ),
    "steps of MXNet's engine": frozenset({"_internal._CrossDeviceCopy", "_internal._set_value"}),
}
# Keywords that a record takes and the signature that MXNet documents does not show, by reason.
EXTRA_KEYWORDS: dict[str, dict[str, frozenset[str]]] = {
    "the number of inputs, which MXNet fills in itself": dict.fromkeys(
        ("ElementWiseSum", "add_n", "khatri_rao", "sparse.ElementWiseSum", "sparse.add_n"), frozenset({"num_args"})
    ),
    "MXNet honours it, though its documentation of the operator leaves it out": dict.fromkeys(
        ("linalg.potrf", "linalg.potri", "linalg_potrf", "linalg_potri"), frozenset({"lower"})
    ),
    "taken by the alias that shares the record": {
        "contrib.SparseEmbedding": frozenset({"deterministic"}),
        **dict.fromkeys(("ones_like", "zeros_like", "sparse.zeros_like"), frozenset({"dtype"})),
    },
}
# Operators whose record names more inputs than MXNet's documentation, by reason.
MORE_INPUTS: dict[str, frozenset[str]] = {
    "auxiliary states, which MXNet adds when a graph is made": frozenset({"BatchNorm_v1", "IdentityAttachKLSparseReg"}),
    "one record serves `softmax` and `softmin`": frozenset({"softmin"}),
}
PUBLIC = ("", "contrib", "image", "linalg", "random", "sparse")


def find_record(name: str) -> OpDef | None:
    namespace, _, spelling = name.rpartition(".")
    if namespace == "op":
        namespace = ""
    found = find_public(namespace, spelling)
    return None if found is None else found[0]


def listed(reasons: dict[str, frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*reasons.values())


def test_every_operator_of_the_table_has_a_record_or_a_reason() -> None:
    without = {name for name in operator_names() if find_record(name) is None}
    assert without == listed(WITHOUT_RECORD)


def test_keywords_agree() -> None:
    lacking: dict[str, set[str]] = {}
    extra: dict[str, frozenset[str]] = {}
    for name in operator_names():
        facts, record = operator_facts(name), find_record(name)
        if facts is None or record is None:
            continue
        ours, theirs = {attr.name for attr in record.attrs}, set(facts.attrs)
        if theirs - ours:
            lacking[name] = theirs - ours
        if ours - theirs:
            extra[name] = frozenset(ours - theirs)
    assert lacking == {}
    assert extra == {name: words for names in EXTRA_KEYWORDS.values() for name, words in names.items()}


def test_inputs_agree() -> None:
    different = set()
    for name in operator_names():
        facts, record = operator_facts(name), find_record(name)
        if facts is not None and record is not None:
            assert facts.variadic == bool(record.variadic) or record.active_inputs is not None, name
            if not record.variadic and facts.inputs != record.inputs:
                assert record.inputs[: len(facts.inputs)] == facts.inputs, name
                different.add(name)
    assert different == listed(MORE_INPUTS)


@pytest.mark.parametrize("path", PUBLIC)
def test_names_of_the_namespaces_are_here_or_have_a_reason(path: str) -> None:
    facts = namespace_facts(path)
    assert facts is not None
    for root, own in ((mx.nd, facts.array_only), (mx.sym, facts.graph_only)):
        place = getattr(root, path) if path else root
        missing = {name for name in facts.shared | own if not hasattr(place, name)}
        assert missing <= listed(ABSENT)


def test_every_listed_name_is_really_absent() -> None:
    missing = set()
    for path in PUBLIC:
        facts = namespace_facts(path)
        assert facts is not None
        for root, own in ((mx.nd, facts.array_only), (mx.sym, facts.graph_only)):
            place = getattr(root, path) if path else root
            missing |= {name for name in facts.shared | own if not hasattr(place, name)}
    assert listed(ABSENT) - missing == set()
