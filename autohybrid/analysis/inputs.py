"""What the inputs of a hybrid method are before anything is known of a call.

They are tensors by contract. A name such as `states` or `features`, a default or an annotation can say otherwise.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from autohybrid.analysis.blocks import input_key
from autohybrid.analysis.fields import annotated_type
from autohybrid.analysis.frame import Env, Frame
from autohybrid.analysis.index import ClassInfo, FunctionNode
from autohybrid.analysis.settings import AnalysisSettings
from autohybrid.analysis.values import (
    ANY,
    NONE,
    Map,
    Namespace,
    Parameter,
    Seq,
    Static,
    Tensor,
    Union,
    Unknown,
    Value,
    is_none,
)

_LIST_NAMES = re.compile(
    r"(^|_)(states?|hiddens?|hidden_states?|feats|features?|feature_maps?|inputs|outputs|outs|xs|ys|zs|tensors|layers|"
    r"levels|pyramids?|mems?|memories|caches|sequence_list|list|lists|tuples?|pairs|items|"
    r"branches|parts|chunks|values|begin_state|init_state)$"
)
_TENSOR_PLURALS = frozenset(
    "stats scores logits labels weights boxes bboxes targets tokens ids masks probs preds lengths indices positions "
    "embeddings frames images pixels points rows cols columns words samples queries keys anchors classes bias axis pos "
    "loss mass class series basis radius status atoms coords rois proposals units gates logprobs residuals deltas "
    "offsets sizes lens idxs inds obs pixels chars means vars sigmas thetas axes".split()
)
_STATIC_ANNOTATIONS = frozenset({"int", "float", "bool", "str", "bytes", "Callable", "dict", "Dict", "Type", "type"})
_LIST_ANNOTATIONS = frozenset({"list", "List", "tuple", "Tuple", "Sequence", "Iterable"})
_TENSOR_ANNOTATIONS = frozenset({"Tensor", "NDArray", "Symbol"})


def hybrid_inputs(
    frame: Frame, owner: ClassInfo, definition: FunctionNode, receiver: Value, fields: Mapping[str, Value]
) -> Env:
    """The names that `hybrid_forward(self, F, x, ...)` starts with."""
    arguments = [*definition.args.posonlyargs, *definition.args.args]
    env: Env = {}
    if arguments:
        env[arguments[0].arg] = receiver
    takes_namespace = definition.name == "hybrid_forward"
    if takes_namespace and len(arguments) > 1:
        env[arguments[1].arg] = Namespace("F")
    rest = arguments[2:] if takes_namespace else arguments[1:]
    defaults = _defaults(definition)
    for argument in (*rest, *definition.args.kwonlyargs):
        env[argument.arg] = input_value(frame, owner, definition, argument, defaults.get(argument.arg), fields)
    if definition.args.vararg is not None:
        element = Tensor(sure=False, listlike=True, origin=frame.origin(definition.args.vararg, "`{}` holds inputs"))
        env[definition.args.vararg.arg] = Seq("tuple", None, element)
    if definition.args.kwarg is not None:
        env[definition.args.kwarg.arg] = Map((), Tensor(sure=False, listlike=True))
    return env


def _defaults(definition: FunctionNode) -> dict[str, ast.expr]:
    names = [argument.arg for argument in (*definition.args.posonlyargs, *definition.args.args)]
    found = dict(zip(reversed(names), reversed(definition.args.defaults)))
    for argument, default in zip(definition.args.kwonlyargs, definition.args.kw_defaults):
        if default is not None:
            found[argument.arg] = default
    return found


def input_value(
    frame: Frame,
    owner: ClassInfo,
    definition: FunctionNode,
    argument: ast.arg,
    default: ast.expr | None,
    fields: Mapping[str, Value],
) -> Value:
    """What one input is."""
    name = argument.arg
    method = f"`{definition.name}`"
    parameter = fields.get(name)
    if isinstance(parameter, Parameter):
        origin = frame.origin(argument, f"`{{}}` is a parameter of the block, passed to {method}")
        return Tensor(shape=parameter.shape, origin=origin)
    annotated = annotated_type(argument.annotation)
    if name in frame.session.settings.assume_static or annotated in _STATIC_ANNOTATIONS:
        return Static("any")
    origin = frame.origin(argument, f"`{{}}` is an input of {method}")
    listlike = is_list_name(name, frame.session.settings)
    key = input_key(owner, definition, name)
    frame.session.input_nodes[key] = (owner.module, argument, owner.qualname, definition.name)
    if annotated in _LIST_ANNOTATIONS:
        return Seq("list", None, Tensor(sure=False, listlike=True, origin=origin))
    if annotated in _TENSOR_ANNOTATIONS:
        listlike = False
    if name in frame.session.settings.tensor_names:
        return Tensor(origin=origin)
    tensor = Tensor(sure=not listlike, listlike=listlike, key=key, origin=origin)
    if default is None:
        return tensor
    value = frame.session.classes.evaluate_global(owner.module, default)
    if is_none(value):
        return Union((tensor, NONE))
    if isinstance(value, Seq) and value.kind in ("list", "set"):
        return Seq(value.kind, None, Unknown("element"), default=True)
    if isinstance(value, Map):
        return Map((), Unknown("element"), default=True)
    return Static(value.type, ANY) if isinstance(value, Static) else Unknown("argument with a default")


def is_list_name(name: str, settings: AnalysisSettings) -> bool:
    """Whether an input of this name is usually a list of tensors."""
    if name in settings.tensor_names:
        return False
    last = name.rstrip("0123456789_").rpartition("_")[2]
    plural = len(last) > 3 and last.endswith("s") and not last.endswith("ss") and last not in _TENSOR_PLURALS
    return plural or _LIST_NAMES.search(name) is not None
