"""Shapes and dtypes of a whole graph: every record's inference, forwards and backwards, until nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from autohybrid.errors import MXNetError
from autohybrid.graph.node import Head, Node, depth_first
from autohybrid.numpy_semantics import is_np_shape
from autohybrid.tensor.attrs import DTYPE_FLAGS
from autohybrid.tensor.opdef import Shape
from autohybrid.tensor.shapes import same_dtype, same_shape, unify, unify_dtypes

Fact = TypeVar("Fact")


def infer_shapes(heads: Iterable[Head], known: Mapping[str, Shape]) -> dict[Head, Shape]:
    """The shape of every output of every node, from those of some variables (by name).

    Raises MXNetError, naming the node and its operator, where facts contradict each other.
    """
    return _infer(
        heads,
        lambda node: _initial_shape(node, known),
        lambda op: op.infer_shape or same_shape,
        unify,
    )


def infer_shapes_partially(heads: Iterable[Head], known: Mapping[str, Shape]) -> dict[Head, Shape]:
    """As `infer_shapes`, with what MXNet's partial inference guesses in places that stay open.

    The guess: inputs of a concatenation of which nothing is known yet add nothing to the joined extent.
    """
    heads = list(heads)
    facts = infer_shapes(heads, known)
    if not any(_is_join(node) and fact is not None and -1 in fact for (node, _), fact in facts.items()):
        return facts
    guesses: dict[Head, Any] = {}
    for head in facts:
        guesses[head] = _initial_shape(head[0], known) if head[0].op is None else None
    try:
        for node in (n for n in depth_first(heads) if n.op is not None):
            joined = _guessed_join(node, [guesses[h] for h in node.inputs]) if _is_join(node) else None
            _apply(node, guesses, node.op.infer_shape or same_shape, unify)  # type: ignore[union-attr]
            if joined is not None:
                guesses[node, 0] = joined
        return {head: unify(fact, guesses[head]) if guesses[head] is not None else fact for head, fact in facts.items()}
    except MXNetError:  # what is known contradicts a guess
        return facts


def _is_join(node: Node) -> bool:
    return node.op is not None and node.op.name == "Concat"


def _guessed_join(node: Node, inputs: list[Shape]) -> Shape:
    """The output of a concatenation, without the inputs of which nothing is known; None if the rest does not tell."""
    shapes = [shape for shape in inputs if shape is not None]
    axis = getattr(node.attrs, "dim", 1)
    if not shapes or len(shapes) == len(inputs) or not -len(shapes[0]) <= axis < len(shapes[0]):
        return None
    extents = [shape[axis] for shape in shapes]
    if -1 in extents:
        return None
    result: Shape = None
    for shape in shapes:
        open_shape = list(shape)
        open_shape[axis] = sum(extents)
        result = unify(result, tuple(open_shape))
    return result


def infer_dtypes(heads: Iterable[Head], known: Mapping[str, str | None]) -> dict[Head, str | None]:
    """The dtype of every output of every node, from those of some variables (by name)."""
    return _infer(
        heads,
        lambda node: known.get(node.name) or _declared_dtype(node),
        lambda op: op.infer_dtype or same_dtype,
        lambda a, b: unify_dtypes([a, b]),
    )


def _infer(
    heads: Iterable[Head],
    initial: Callable[[Node], Any],
    rule_of: Callable[[Any], Callable[..., Any]],
    join: Callable[[Any, Any], Any],
) -> dict[Head, Any]:
    nodes = depth_first(heads)
    facts: dict[Head, Any] = {(n, 0): initial(n) for n in nodes if n.op is None}
    for node in nodes:
        if node.op is not None:
            facts.update({(node, i): None for i in range(node.output_count)})
    calls = [n for n in nodes if n.op is not None]
    for sweep in range(2 * len(calls) + 2):
        changed = False
        for node in calls if sweep % 2 == 0 else reversed(calls):
            changed |= _apply(node, facts, rule_of(node.op), join)
        if not changed:
            break
    return facts


def _apply(node: Node, facts: dict[Head, Any], rule: Callable[..., Any], join: Callable[[Any, Any], Any]) -> bool:
    outputs: list[Head] = [(node, i) for i in range(node.output_count)]
    before_in, before_out = [facts[h] for h in node.inputs], [facts[h] for h in outputs]
    try:
        after_in, after_out = rule(node.attrs, list(before_in), list(before_out))
        changed = False
        for head, old, new in zip((*node.inputs, *outputs), (*before_in, *before_out), (*after_in, *after_out)):
            if new is not None and new != old:
                facts[head] = join(facts[head], new)
                changed = changed or facts[head] != old
        return changed
    except MXNetError as error:
        raise MXNetError(_message(node, before_in, error)) from error


def _message(node: Node, inputs: list[Any], error: Exception) -> str:
    assert node.op is not None
    listed = ", ".join(f"{n}: {'unknown' if f is None else f}" for n, f in zip(node.input_names(), inputs))
    place = f" ({node.span})" if node.span is not None else ""
    return f"operator {node.op.name} `{node.name}`{place}: {error} [inputs {listed}]"


def _declared_shape(node: Node) -> Shape:
    text = node.notes.get("__shape__")
    if text is None or text == "None":
        return None
    extents = tuple(int(part) for part in text.strip("()[] ").replace("L", "").split(",") if part.strip())
    return tuple(-1 if extent <= 0 else extent for extent in extents) if extents else None


def shape_of_extents(extents: Sequence[int]) -> Shape:
    """The shape that a user wrote, unknown extents as -1; None for an unknown one.

    0 and `()` mean unknown, except where `np_shape` is on.
    """
    if is_np_shape():
        return tuple(max(int(extent), -1) for extent in extents)
    return tuple(-1 if int(extent) <= 0 else int(extent) for extent in extents) or None


def _initial_shape(node: Node, known: Mapping[str, Shape]) -> Shape:
    """A shape that is given overrides the declared one."""
    given = known.get(node.name)
    return given if given or (given == () and is_np_shape()) else _declared_shape(node)


def _declared_dtype(node: Node) -> str | None:
    text = node.notes.get("__dtype__")
    if text is None or text in ("-1", "None"):
        return None
    return DTYPE_FLAGS[int(text)]


def extend_shapes(heads: Iterable[Head], facts: dict[Head, Shape]) -> None:
    """Infer forwards, into `facts`, the shapes of the nodes that it lacks: for a graph that grows call by call.

    Variables have their declared shape. Raises MXNetError, naming node and operator, for operands that do not fit.
    """
    _extend(heads, facts, lambda node: _initial_shape(node, {}), lambda op: op.infer_shape or same_shape, unify)


def extend_dtypes(heads: Iterable[Head], facts: dict[Head, str | None]) -> None:
    """As `extend_shapes`, for dtypes."""
    rule, join = lambda op: op.infer_dtype or same_dtype, lambda a, b: unify_dtypes([a, b])
    _extend(heads, facts, _declared_dtype, rule, join)


def _extend(
    heads: Iterable[Head],
    facts: dict[Head, Any],
    initial: Callable[[Node], Any],
    rule_of: Callable[[Any], Callable[..., Any]],
    join: Callable[[Any, Any], Any],
) -> None:
    waiting = [node for node, _ in heads]
    while waiting:
        node = waiting[-1]
        ahead = [source for source, _ in node.inputs if (source, 0) not in facts]
        if ahead and (node, 0) not in facts:
            waiting.extend(ahead)
            continue
        waiting.pop()
        if (node, 0) in facts:
            continue
        if node.op is None:
            facts[node, 0] = initial(node)
            continue
        facts.update({(node, i): None for i in range(node.output_count)})
        _apply(node, facts, rule_of(node.op), join)
