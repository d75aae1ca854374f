"""Operators: what `F.relu(x)`, `mx.nd.relu(x)` and `x.relu()` give, and the events of calling them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from types import MappingProxyType

from autohybrid.analysis.events import EventKind
from autohybrid.analysis.evidence import TENSOR
from autohybrid.analysis.expressions import shapes_differ
from autohybrid.analysis.frame import Arguments, Frame
from autohybrid.analysis.graph_loops import call_loop
from autohybrid.analysis.mxnet_names import (
    OperatorFacts,
    function_signature,
    most_alike,
    namespace_facts,
    operator_facts,
)
from autohybrid.analysis.value_queries import inside, walk
from autohybrid.analysis.values import (
    ANY,
    NEVER,
    TRUE,
    Never,
    Operator,
    Origin,
    Parameter,
    Seq,
    Static,
    Tensor,
    Union,
    Unknown,
    Value,
    is_none,
    make_seq,
    tensors_in,
)
from autohybrid.diagnostics.model import Confidence

_LOOPS = frozenset({"contrib.foreach", "contrib.while_loop", "contrib.cond"})
_ELEMENTWISE = MappingProxyType({"maximum": "maximum", "minimum": "minimum", "power": "power"})
_COMMON_KEYWORDS = frozenset("name out attr dtype ctx lr_mult wd_mult __layout__ num_args".split())
_CREATION = frozenset("zeros ones full arange eye linspace empty array".split())
_NO_OUTPUT = frozenset({"waitall", "save"})
# The places of `axis` and `keepdims` among the arguments of reductions.
_REDUCTIONS = MappingProxyType(
    {
        **dict.fromkeys(("sum", "mean", "max", "min", "prod", "nansum", "nanprod", "argmax", "argmin"), (1, 2)),
        "norm": (2, 4),
    }
)
_MAPS = frozenset(
    "sqrt rsqrt cbrt rcbrt exp expm1 log log2 log10 log1p abs sign square reciprocal negative sigmoid tanh relu"
    " softsign erf erfinv sin cos arctan floor ceil round rint clip identity stop_gradient BlockGrad Activation"
    " LeakyReLU Cast cast softmax log_softmax softmin Dropout zeros_like ones_like".split()
)
MAX_OUTPUTS = 12


def call_operator(frame: Frame, operator: Operator, arguments: Arguments, node: ast.Call) -> Value:
    """The result of calling an operator of a namespace."""
    name = operator.name
    if operator.root == "F" and name in _LOOPS:
        return call_loop(frame, name.partition(".")[2], arguments, node)
    parts = inside(arguments.all, 2)
    if operator.root == "nd":
        return _call_on_arrays(frame, name, arguments, node, parts)
    if operator.root == "sym":
        frame.report(EventKind.FOREIGN, node, name=name, how="symbol", confidence=Confidence.LIKELY)
        return _result(frame, name, arguments, node, True, parts)
    tensor = _graph_tensor(parts)
    if operator.root in ("np", "npx") and tensor is not None:
        confidence = Confidence.LIKELY
        frame.report(
            EventKind.FOREIGN,
            node,
            name=name,
            value=tensor,
            how="nd",
            function=frame.text(node.func),
            confidence=confidence,
        )
    if operator.root in ("np", "npx") or name.startswith(("np.", "npx.")):
        return Tensor(sure=False, origin=frame.origin(node, "`{}` is a tensor"))
    if function_signature("sym", name) is None:
        note_tensors(frame, operator_facts(name), arguments)
    if not frame.is_silent:
        _check_arguments(frame, name, arguments, node)
    if name in _NO_OUTPUT:
        return Unknown("no value")
    return _result(frame, name, arguments, node, True, parts)


def _shared_names() -> frozenset[str]:
    facts = namespace_facts("")
    return facts.shared if facts is not None else frozenset()


def _graph_tensor(parts: Iterable[Value]) -> Tensor | None:
    """The first tensor of the graph among values."""
    return next((part for part in parts if part.__class__ is Tensor and part.graph), None)


def _call_on_arrays(frame: Frame, name: str, arguments: Arguments, node: ast.Call, parts: Sequence[Value]) -> Value:
    if name == "waitall":
        frame.report(EventKind.EFFECT, node, name="waitall", confidence=Confidence.LIKELY)
        return Unknown("no value")
    tensor = _graph_tensor(parts)
    if tensor is not None:
        function = frame.text(node.func)
        shared = name in _shared_names()
        nodes = {"function": node.func if shared and isinstance(node.func, ast.Attribute) else None}
        frame.report(EventKind.FOREIGN, node, name=name, value=tensor, nodes=nodes, how="nd", function=function)
        return _result(frame, name, arguments, node, True, parts)
    if name in ("save", "load"):
        return Unknown("a file")
    return _result(frame, name, arguments, node, False, parts)


def _result(
    frame: Frame, name: str, arguments: Arguments, node: ast.Call, graph: bool, parts: Sequence[Value]
) -> Value:
    depends = any(isinstance(part, Unknown | Never) or (isinstance(part, Tensor) and part.depends) for part in parts)
    depends = depends or any(isinstance(value, Parameter) for value in arguments.all)
    origin = frame.origin(node, "`{}` is a tensor", _graph_tensor(parts))
    reduced = reduced_origin(name, arguments.get(0, "data"), arguments)
    like = same_shape(name, arguments.get(0, "data"))
    one = Tensor(graph=graph, depends=depends, origin=origin, reduced=reduced, like=like)
    return outputs_of(frame, name, arguments, one)


def same_shape(name: str, operand: Value | None) -> Origin | None:
    """What stands for the shape of the result of an operator that keeps the shape of its operand."""
    return operand.shape_origin if name in _MAPS and isinstance(operand, Tensor) else None


def reduced_origin(name: str, operand: Value | None, arguments: Arguments) -> Origin | None:
    """The origin of the operand of a reduction whose result broadcasts against it: over all axes, or keeping those it
    is over. What maps element by element keeps that of its operand."""
    if not isinstance(operand, Tensor):
        return None
    if name in _MAPS:
        return operand.reduced
    if name not in _REDUCTIONS or arguments.double_star is not None:
        return None
    axis_place, keeps_place = _REDUCTIONS[name]
    keeps, axis = arguments.get(keeps_place, "keepdims"), arguments.get(axis_place, "axis")
    if keeps == TRUE or ((axis is None or is_none(axis)) and "exclude" not in arguments.keywords):
        return operand.shape_origin
    return None


def outputs_of(frame: Frame, name: str, arguments: Arguments, one: Tensor) -> Value:
    """One tensor, or as many as the operator gives with these arguments."""
    base = name.rpartition(".")[2]
    if base == "Custom":
        return Unknown("the result of a custom operator")
    if base in ("split", "SliceChannel"):
        return _split(frame, arguments.get(1, "num_outputs"), one)
    if base == "split_v2":
        return _split_at(arguments.get(1, "indices_or_sections"), one)
    if base == "topk":
        return _topk(arguments.get(3, "ret_typ"), one)
    facts = operator_facts(name)
    if facts is None:
        return one
    count = facts.outputs
    for attr, value, outputs in facts.outputs_when:
        given = arguments.keywords.get(attr)
        if given is None:
            continue
        if isinstance(given, Static) and given.const is not ANY:
            count = outputs if str(given.const) == value else count
        else:
            return Unknown("the number of outputs is not known")
    return one if count == 1 else Seq("outputs", (one,) * count, NEVER, one.origin)


def _split(frame: Frame, count: Value | None, one: Tensor) -> Value:
    if isinstance(count, Static) and count.const is not ANY:
        return _known_outputs(count.const, one)
    field = count.field if isinstance(count, Static | Unknown) else None
    if field is not None and 1 in frame.session.constants.given(field):
        single = _known_outputs(1, one)
        return Union((single, Seq("outputs", None, one, one.origin)))
    return Seq("outputs", None, one, one.origin)


def _known_outputs(count: object, one: Tensor) -> Value:
    if count == 1:
        return Tensor(one.graph, one.sure, depends=one.depends, single="split(num_outputs=1)", origin=one.origin)
    if isinstance(count, int) and 1 < count <= MAX_OUTPUTS:
        return Seq("outputs", (one,) * count, NEVER, one.origin)
    return Seq("outputs", None, one, one.origin)


def _split_at(where: Value | None, one: Tensor) -> Value:
    if isinstance(where, Static) and isinstance(where.const, int):
        return _known_outputs(where.const, one)
    if isinstance(where, Seq) and where.items is not None:
        return _known_outputs(len(where.items) + 1, one)
    return Seq("outputs", None, one, one.origin)


def _topk(kind: Value | None, one: Tensor) -> Value:
    if kind is None:
        return Tensor(one.graph, one.sure, depends=one.depends, single="topk", origin=one.origin)
    if isinstance(kind, Static) and kind.const is not ANY:
        if kind.const == "both":
            return make_seq("outputs", (one, one), one.origin)
        return Tensor(one.graph, one.sure, depends=one.depends, single="topk", origin=one.origin)
    return Unknown("the number of outputs is not known")


# -- checks of `F.name(...)` ------------------------------------------------------------------------------------------
def _check_arguments(frame: Frame, name: str, arguments: Arguments, node: ast.Call) -> None:
    facts = operator_facts(name)
    if "out" in arguments.keywords and name not in _NO_OUTPUT:
        frame.report(
            EventKind.AUGMENT,
            node,
            name="out=",
            confidence=Confidence.DEFINITE,
            target=_keyword_text(frame, node, "out"),
            number=False,
            operand="",
        )
    for place, value in enumerate(arguments.positional):
        _check_operand(frame, name, value, node, node.args[place] if place < len(node.args) else node)
    _check_keywords(frame, name, facts, arguments, node)
    _check_special(frame, name, arguments, node)
    if name in _ELEMENTWISE and len(arguments.positional) == 2:
        _check_shapes(frame, name, arguments, node)
    if name == "Custom":
        frame.report(EventKind.EXPORT, node, name="custom", confidence=Confidence.POSSIBLE)
    if name == "contrib.boolean_mask":
        frame.report(EventKind.DYNAMIC, node, name=name, confidence=Confidence.LIKELY)


def _keyword_text(frame: Frame, node: ast.Call, name: str) -> str:
    return next((frame.text(keyword.value) for keyword in node.keywords if keyword.arg == name), name)


def note_tensors(frame: Frame, facts: OperatorFacts | None, arguments: Arguments) -> None:
    """What the arguments of an operator say about inputs of the method: tensors, or its attributes."""
    if facts is None:
        return
    limit = len(arguments.positional) if facts.variadic else len(facts.inputs)
    for value in arguments.positional[:limit]:
        if isinstance(value, Tensor) and value.key is not None:
            frame.session.evidence.note(value.key, TENSOR)
    for value in arguments.positional[limit:]:
        _note_attribute(frame, value, "an attribute of an operator")
    for name, given in arguments.keywords.items():
        if isinstance(given, Tensor) and given.key is not None and name in facts.inputs:
            frame.session.evidence.note(given.key, TENSOR)
        if name in facts.attrs and name not in facts.inputs:
            _note_attribute(frame, given, f"`{name}=` of an operator")


def _note_attribute(frame: Frame, value: Value, use: str) -> None:
    for part in walk(value, 1):
        if isinstance(part, Tensor):
            frame.session.evidence.note_static(part.key, use)


def _check_operand(frame: Frame, name: str, value: Value, node: ast.Call, where: ast.AST) -> None:
    tensor, certain = tensors_in(value)
    if tensor is not None and not tensor.graph and certain:
        frame.report(EventKind.FOREIGN, node, name=f"F.{name}", how="operand", value=tensor, array=frame.text(where))
    elif isinstance(value, Static) and value.type == "numpy" and name not in _CREATION and operator_facts(name):
        frame.report(EventKind.FOREIGN, node, name=f"F.{name}", how="odd", array=frame.text(where))
    elif isinstance(value, Parameter) and name not in _CREATION:
        frame.report(EventKind.FOREIGN, node, name=f"F.{name}", how="parameter", value=value, array=frame.text(where))


def _check_keywords(frame: Frame, name: str, facts: OperatorFacts | None, arguments: Arguments, node: ast.Call) -> None:
    signature = function_signature("sym", name)
    if signature is not None:
        known = {part.split("=")[0].strip(" *()") for part in signature.strip("()").split(",")}
        open_ended = "**" in signature
        if open_ended:
            facts = facts or operator_facts(f"_{name}")
            known |= set(facts.attrs) | set(facts.inputs) if facts is not None else set()
            known |= {"ctx", "out", "name", "dtype", "stype"}
        exact = not open_ended
    elif facts is not None:
        known = set(facts.attrs) | set(facts.inputs) | _COMMON_KEYWORDS
        exact = bool(facts.attrs)
        if not facts.attrs and (facts.variadic or "." in name):
            return
    else:
        return
    for keyword in node.keywords:
        given = keyword.arg
        if given is None or given in known or given.startswith("__") or (given == "ctx" and signature is None):
            continue
        array_signature = function_signature("nd", name) or ""
        only_array = f"{given}=" in array_signature
        frame.report(
            EventKind.KEYWORD,
            keyword,
            name=name,
            confidence=Confidence.DEFINITE if exact else Confidence.LIKELY,
            nodes=_keyword_nodes(node, keyword),
            keyword=given,
            closest=most_alike(given, known, 0.6),
            only_array=only_array,
            ignored=signature is None and not exact,
            call=frame.text(node),
        )


def _keyword_nodes(node: ast.Call, keyword: ast.keyword) -> dict[str, ast.AST | None]:
    written: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
    place = written.index(keyword)
    return {"previous": written[place - 1] if place else None, "keyword": keyword}


def _check_special(frame: Frame, name: str, arguments: Arguments, node: ast.Call) -> None:
    problem = ""
    base = name.rpartition(".")[2]
    if name == "sort" and arguments.get(1, "axis") is None and arguments.double_star is None:
        problem = "sort-axis"
    elif name in ("random.shuffle", "shuffle"):
        problem = "shuffle"
    elif name == "random.multinomial" and "get_prob" not in arguments.keywords:
        problem = "multinomial"
    elif (
        name == "histogram"
        and arguments.get(2, "range") is None
        and isinstance(arguments.get(1, "bins"), Static | None)
    ):
        problem = "histogram"
    elif name in ("zeros", "ones") and _is_context(arguments.get(1)):
        problem = "positional-context"
    elif base in ("reshape", "Reshape") and len(arguments.positional) > 2:
        problem = "reshape"
    if problem:
        pieces: dict[str, ast.AST | None] = {"function": node.func}
        frame.report(EventKind.ARGUMENT, node, name=name, nodes=pieces, problem=problem, confidence=Confidence.DEFINITE)


def _is_context(value: Value | None) -> bool:
    return isinstance(value, Static) and value.type == "context"


def _check_shapes(frame: Frame, name: str, arguments: Arguments, node: ast.Call) -> None:
    left, right = (tensors_in(value)[0] for value in arguments.positional)
    if left is None or right is None or not (left.graph and right.graph) or len(node.args) != 2:
        return
    verdict = shapes_differ(left, right)
    if verdict:
        frame.report(
            EventKind.SHAPES,
            node,
            name=name,
            value=Tensor(sure=verdict == "differ", origin=left.origin),
            nodes={"function": node.func},
            left=frame.text(node.args[0]),
            right=frame.text(node.args[1]),
            left_shape=left.shape,
            right_shape=right.shape,
        )
