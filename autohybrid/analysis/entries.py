"""Entries: which functions of a project run with symbols, and running each from the contract of its inputs.

A hybrid block is analysed once, whoever calls it; its result is kept as the summary of its calls. Functions given to
`HybridLambda` and functions or classes marked with `@autohybrid` are entries too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autohybrid.analysis.calls import run_function_body
from autohybrid.analysis.events import Event, EventKind
from autohybrid.analysis.frame import Env, Frame, Session
from autohybrid.analysis.index import ClassInfo, FunctionNode, ModuleInfo, decorator_names
from autohybrid.analysis.inputs import hybrid_inputs
from autohybrid.analysis.results import check_results
from autohybrid.analysis.structure import check_structure, definition_line
from autohybrid.analysis.values import (
    External,
    Func,
    InputKey,
    Instance,
    Namespace,
    RecordType,
    Tensor,
    Unknown,
    Value,
)
from autohybrid.diagnostics.model import Confidence

_OWN_METHODS = frozenset({"__init__", "__repr__", "__str__", "hybrid_forward"})


def run_module(session: Session, module: ModuleInfo) -> None:
    """Analyse every entry of a module."""
    if "namedtuple" in module.file.text:
        _note_records(session, module)
    for info in module.classes:
        if session.classes.block_kind(info) == "hybrid" or _is_marked(session, module, info.node):
            run_class(session, info)
    if "HybridLambda" in module.file.text:
        _run_lambdas(session, module)
    if "@autohybrid" in module.file.text:
        for node in module.functions:
            if _is_marked(session, module, node):
                run_plain_function(session, module, node)


def _note_records(session: Session, module: ModuleInfo) -> None:
    """Remember the fields of the named tuples of a module: an input may be one."""
    for name, bindings in module.bindings.items():
        if any(isinstance(binding.node, ast.Call) for binding in bindings):
            value = session.classes.lookup_global(module, name)
            if isinstance(value, RecordType):
                session.record_fields.update(dict.fromkeys(value.fields, value.name))


def _is_marked(session: Session, module: ModuleInfo, node: FunctionNode | ast.ClassDef) -> bool:
    if "autohybrid" not in decorator_names(node):
        return False
    value = session.classes.lookup_global(module, "autohybrid")
    return isinstance(value, External | Unknown)


def run_class(session: Session, info: ClassInfo) -> None:
    """Analyse the hybrid method of a class. One that only inherits it is analysed again when it overrides something
    that the method may call."""
    own = "hybrid_forward" in info.methods or any(name not in _OWN_METHODS for name in info.methods)
    if own and session.classes.find_method(info, "hybrid_forward") is not None:
        session.result_of(info)
    else:
        session.field_source.all_fields(info)
        if "forward" in info.methods and session.classes.find_method(info, "hybrid_forward") is None:
            _report_override(session, info)


def _report_override(session: Session, info: ClassInfo) -> None:
    """A hybrid class that overrides `forward` has no graph of its own."""
    frame = Frame(session, info.module, function=info.methods["forward"], owner=info)
    frame.block, frame.method = info.qualname, "forward"
    line = definition_line(info.methods["forward"])
    frame.report(EventKind.EXPORT, line, name="forward", confidence=Confidence.POSSIBLE)


def run_block(session: Session, info: ClassInfo) -> Value:
    """Interpret `hybrid_forward` of a class from the contract of its inputs; gives what it returns."""
    found = session.classes.find_method(info, "hybrid_forward")
    if found is None:
        return Unknown("no hybrid_forward")
    owner, definition = found
    receiver = Instance(info, 0)
    fields = session.field_source.all_fields(info)
    frame = Frame(session, owner.module, function=definition, owner=owner, receiver=receiver)
    frame.block, frame.method = info.qualname, definition.name
    frame.env = hybrid_inputs(frame, owner, definition, receiver, fields)
    inputs: Env = dict(frame.env)
    result = run_function_body(frame)
    check_results(frame, definition, inputs)
    if owner is info:
        check_structure(frame, info, definition, fields)
    return result


def run_plain_function(session: Session, module: ModuleInfo, node: FunctionNode | ast.Lambda) -> Value:
    """Interpret a plain function `f(F, x, ...)` with tensors."""
    frame = Frame(session, module, function=node)
    frame.method = getattr(node, "name", "lambda")
    arguments = [*node.args.posonlyargs, *node.args.args]
    for place, argument in enumerate(arguments):
        key = InputKey(module.file.path, argument.lineno, argument.arg)
        origin = frame.origin(argument, f"`{{}}` is an input of `{frame.method}`")
        frame.env[argument.arg] = Namespace("F") if place == 0 else Tensor(key=key, origin=origin)
    if node.args.vararg is not None:
        frame.env[node.args.vararg.arg] = Unknown("further inputs")
    return run_function_body(frame)


def _run_lambdas(session: Session, module: ModuleInfo) -> None:
    for node in module.calls_of("HybridLambda"):
        function = node.args[0] if node.args else None
        if isinstance(function, ast.Lambda):
            run_plain_function(session, module, function)
        elif isinstance(function, ast.Name):
            value = session.classes.lookup_global(module, function.id)
            if isinstance(value, Func) and not isinstance(value.node, ast.Lambda):
                run_plain_function(session, value.module, value.node)


def static_input_events(session: Session) -> Iterator[Event]:
    """Inputs of outermost blocks that the code uses as numbers, texts or flags: a hybridized call refuses those."""
    for key, use in session.evidence.static_inputs():
        found = session.input_nodes.get(key)
        if found is None:
            continue
        module, node, block, method = found
        yield Event(
            EventKind.SIGNATURE,
            module.text.span(node),
            name="static",
            subject=key.name,
            text=module.text.excerpt(node),
            confidence=Confidence.POSSIBLE if (key.path, block) in session.inner_blocks else Confidence.LIKELY,
            data={"use": use},
            block=block,
            method=method,
            cell=module.file.cell,
        )
