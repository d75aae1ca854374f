"""The laws of join and widen: commutative, idempotent, an upper bound, of finite height."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from autohybrid.analysis.value_queries import truth_of
from autohybrid.analysis.values import (
    ANY,
    MAX_UNION,
    NEVER,
    NONE,
    Map,
    Namespace,
    Operator,
    Seq,
    Static,
    Tensor,
    Union,
    Unknown,
    Value,
    join,
    members_of,
    tensors_in,
    union,
    widen,
    without_none,
)

LEAVES = st.sampled_from(
    [
        NONE,
        NEVER,
        Unknown("?"),
        Static("int", 1),
        Static("int", ANY),
        Static("bool", True),
        Static("str", "a"),
        Static("float", ANY, "shape"),
        Tensor(),
        Tensor(sure=False),
        Tensor(graph=False),
        Tensor(shape=(1, 2)),
        Namespace("nd"),
        Namespace("sym"),
        Operator("nd", "relu"),
    ]
)
VALUES: st.SearchStrategy[Value] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: Seq("list", tuple(items), NEVER)),
        inner.map(lambda item: Seq("tuple", None, item)),
        st.lists(st.tuples(st.sampled_from(["a", "b"]), inner), max_size=2, unique_by=lambda pair: pair[0]).map(
            lambda items: Map(tuple(items))
        ),
    ),
    max_leaves=6,
)


def alike(left: Value, right: Value) -> bool:
    """Equal up to the order of the members of unions."""
    if isinstance(left, Unknown) and isinstance(right, Unknown):
        return True
    if isinstance(left, Union) and isinstance(right, Union):
        return len(left.members) == len(right.members) and all(
            any(alike(a, b) for b in right.members) for a in left.members
        )
    if isinstance(left, Seq) and isinstance(right, Seq):
        if left.kind != right.kind or (left.items is None) != (right.items is None):
            return False
        if left.items is not None and right.items is not None:
            return len(left.items) == len(right.items) and all(map(alike, left.items, right.items))
        return alike(left.element, right.element)
    if isinstance(left, Map) and isinstance(right, Map):
        first, second = dict(left.items), dict(right.items)
        return set(first) == set(second) and all(alike(first[key], second[key]) for key in first)
    return left == right


@given(VALUES, VALUES)
def test_join_is_commutative(left: Value, right: Value) -> None:
    assert alike(join(left, right), join(right, left))


@given(VALUES)
def test_join_is_idempotent(value: Value) -> None:
    assert join(value, value) is value
    assert join(NEVER, value) == value == join(value, NEVER)


@given(VALUES, VALUES)
def test_join_is_an_upper_bound(left: Value, right: Value) -> None:
    joined = join(left, right)
    assert alike(join(joined, left), joined) and alike(join(joined, right), joined)
    assert len(members_of(joined)) <= MAX_UNION


@given(VALUES, st.lists(VALUES, min_size=1, max_size=12))
def test_widening_comes_to_rest(start: Value, steps: list[Value]) -> None:
    value, changes = start, 0
    for step in steps * 3:
        new = widen(value, step)
        changes += not alike(new, value)
        value = new
    assert changes <= 24


@given(st.lists(VALUES, max_size=6))
def test_union_holds_every_member(values: list[Value]) -> None:
    whole = union(values)
    for value in values:
        assert alike(join(whole, value), whole)


def test_arrays_or_symbols_are_the_namespace_of_both() -> None:
    assert join(Namespace("nd"), Namespace("sym")) == Namespace("F")
    assert join(Operator("nd", "relu"), Operator("sym", "relu")) == Operator("F", "relu")


def test_an_optional_tensor_is_a_tensor_where_its_methods_are_called() -> None:
    optional = join(Tensor(), NONE)
    assert tensors_in(optional) == (Tensor(), True)
    assert tensors_in(join(optional, Static("int"))) == (Tensor(), False)
    assert without_none(optional) == Tensor() and truth_of(optional) is None


def test_constants_survive_only_where_they_agree() -> None:
    assert join(Static("int", 1), Static("int", 1)) == Static("int", 1)
    assert join(Static("int", 1), Static("int", 2)) == Static("int", ANY)
    assert isinstance(join(Static("int", 1), Static("bool", True)), Union)
