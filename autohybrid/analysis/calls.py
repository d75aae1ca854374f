"""Calls: arguments, and following functions and classes of the project into their bodies.

A function is followed with the values it is called with. Its summary is kept by those values, so that a helper called
a hundred times alike is followed once; depth and number are bounded, and hitting a bound gives `Unknown`.
"""

from __future__ import annotations

import ast

from autohybrid.analysis.events import EventKind
from autohybrid.analysis.frame import EAGER, MAX_CALLS, MAX_DEPTH, Arguments, Env, Frame, join_envs
from autohybrid.analysis.index import ClassInfo, decorator_names
from autohybrid.analysis.subscripts import iterate
from autohybrid.analysis.values import (
    ANY,
    NEVER,
    NONE,
    ClassRef,
    External,
    Func,
    Instance,
    Layer,
    Map,
    Namespace,
    Never,
    Operator,
    RecordType,
    Seq,
    Static,
    Super,
    Union,
    Unknown,
    Value,
    join,
    tensors_in,
    union,
)
from autohybrid.diagnostics.model import Confidence


def evaluate_call(frame: Frame, node: ast.Call) -> Value:
    """The value of a call expression."""
    function = node.func
    if isinstance(function, ast.Name) and function.id == "super":
        return _super_value(frame, node)
    callee = frame.eval(function)
    return frame.call(callee, evaluate_arguments(frame, node), node)


def _super_value(frame: Frame, node: ast.Call) -> Value:
    owner, receiver = frame.owner, frame.receiver
    outer: Frame | None = frame
    while owner is not None and receiver is None and outer is not None:
        receiver = outer.receiver
        outer = outer.closure
    if owner is None or receiver is None:
        return Unknown("super() outside a method")
    if len(node.args) == 2:
        named = frame.eval(node.args[0])
        if isinstance(named, ClassRef):
            return Super(named.info, receiver)
    return Super(owner, receiver)


def evaluate_arguments(frame: Frame, node: ast.Call) -> Arguments:
    """The values of the arguments of a call."""
    positional: list[Value] = []
    star: Value | None = None
    for argument in node.args:
        if not isinstance(argument, ast.Starred):
            positional.append(frame.eval(argument))
            continue
        inner = frame.eval(argument.value)
        if isinstance(inner, Seq) and inner.items is not None and star is None:
            positional.extend(inner.items)
        else:
            element = iterate(frame, inner, argument.value, "*")
            star = element if star is None else join(star, element)
    if not node.keywords:
        return Arguments(tuple(positional), {}, star)
    keywords: dict[str, Value] = {}
    double_star: Value | None = None
    for keyword in node.keywords:
        value = frame.eval(keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif isinstance(value, Map) and value.element is NEVER:
            keywords.update({key: item for key, item in value.items if isinstance(key, str)})
        else:
            double_star = value if double_star is None else join(double_star, value)
    return Arguments(tuple(positional), keywords, star, double_star)


# -- functions --------------------------------------------------------------------------------------------------------
def call_function(frame: Frame, function: Func, arguments: Arguments, node: ast.AST) -> Value:
    """The result of calling a function, method or lambda of the project."""
    session = frame.session
    _check_namespace_argument(frame, function, arguments, node)
    if frame.depth >= MAX_DEPTH or session.calls >= MAX_CALLS or _is_recursive(frame, function):
        return Unknown("the call was not followed")
    fields: Env = {key: value for key, value in frame.env.items() if key.__class__ is tuple}
    key = _summary_key(frame, function, arguments, fields)
    if key is not None:
        known = session.summaries.get(key)
        if known is not None:
            return known
    session.calls += 1
    callee = Frame(
        session,
        function.module,
        dict(fields),
        function=function.node,
        owner=function.owner,
        receiver=function.receiver,
        closure=function.closure,
        caller=frame,
        call_node=node,
    )
    callee.constructing = frame.constructing
    callee.in_loop_body = frame.in_loop_body and function.closure is not None
    callee.env.update(bind_arguments(callee, function, arguments))
    result = run_function_body(callee)
    for field, value in callee.env.items():
        if field.__class__ is tuple:
            frame.env[field] = value
    if key is not None and not any(k.__class__ is tuple and k not in fields for k in callee.env):
        session.summaries[key] = result
    return result


def run_function_body(callee: Frame) -> Value:
    """Run the body of the function of a frame; the environment ends as at the joined exits."""
    definition = callee.function
    if isinstance(definition, ast.Lambda):
        return callee.eval(definition.body)
    assert definition is not None
    if not definition.body:
        callee.module.restore(definition)
    live = callee.run(definition.body)
    if live:
        callee.returned = join(callee.returned, NONE)
        callee.exit_envs.append(callee.env)
    if callee.exit_envs:
        env = callee.exit_envs[0]
        for other in callee.exit_envs[1:]:
            env = join_envs(env, other)
        callee.env = env
    if callee.is_generator:
        return Seq("iterator", None, callee.yielded)
    return callee.returned


def _is_recursive(frame: Frame, function: Func) -> bool:
    outer: Frame | None = frame
    count = 0
    while outer is not None:
        if outer.function is function.node:
            count += 1
        outer = outer.caller
    return count >= 2


def _summary_key(frame: Frame, function: Func, arguments: Arguments, fields: Env) -> tuple[object, ...] | None:
    if function.closure is not None or frame.handlers or frame.raising:
        return None
    place: tuple[object, ...]
    if frame.constructing:
        sources: list[object] = []
        if function.receiver is not None or not all(_stands_alone(value, sources) for value in arguments.all):
            return None
        place = ("constructing", frame.depth, frame.loops, frame.doubt > 0, *sources)
    else:
        place = (function.receiver, frozenset(fields.items()))
    return (
        function.node,
        arguments.positional,
        tuple(arguments.keywords.items()),
        arguments.star,
        arguments.double_star,
        frame.quiet,
        EAGER in frame.env,
        place,
    )


def _stands_alone(value: Value, sources: list[object]) -> bool:
    """Whether a value says all about itself, so that what a constructor has done so far cannot change what a call
    makes of it. Adds the constructor arguments that it came from, which equality leaves out, to `sources`."""
    kind = value.__class__
    if kind is Static or kind is Unknown:
        sources.append(value.field)  # type: ignore[attr-defined]
        return True
    if isinstance(value, Seq):
        inner = value.items if value.items is not None else (value.element,)
        return all(_stands_alone(item, sources) for item in inner)
    if isinstance(value, Map):
        return all(_stands_alone(item, sources) for item in (*(item for _, item in value.items), value.element))
    if isinstance(value, Union):
        return all(_stands_alone(member, sources) for member in value.members)
    if isinstance(value, Instance):
        return value.ident < 0
    if isinstance(value, Func):
        return value.receiver is None and value.closure is None
    return kind in (ClassRef, External, Layer, Namespace, Never, Operator)


def _check_namespace_argument(frame: Frame, function: Func, arguments: Arguments, node: ast.AST) -> None:
    """`super().hybrid_forward(x)`: the namespace is missing."""
    definition = function.node
    if isinstance(definition, ast.Lambda) or definition.name != "hybrid_forward" or not arguments.positional:
        return
    first = arguments.positional[0]
    tensor, certain = tensors_in(first)
    if function.receiver is not None and tensor is not None and certain and not isinstance(first, Namespace):
        written = node.args[0] if isinstance(node, ast.Call) and node.args else None
        frame.report(
            EventKind.SUPER, node, name=definition.name, nodes={"first": written}, confidence=Confidence.DEFINITE
        )


def bind_arguments(callee: Frame, function: Func, arguments: Arguments) -> Env:
    """The names that a call binds in the function."""
    signature = function.node.args
    positional = list(arguments.positional)
    if function.receiver is not None:
        positional.insert(0, function.receiver)
    keywords = dict(arguments.keywords)
    names = [parameter.arg for parameter in (*signature.posonlyargs, *signature.args)]
    defaults: list[ast.expr | None] = [None] * (len(names) - len(signature.defaults))
    defaults.extend(signature.defaults)
    env: Env = {}
    for place, name in enumerate(names):
        if place < len(positional):
            env[name] = positional[place]
        elif name in keywords:
            env[name] = keywords.pop(name)
        else:
            env[name] = _missing(callee, function, defaults[place], arguments)
    if signature.vararg is not None:
        rest = tuple(positional[len(names) :])
        if arguments.star is not None:
            env[signature.vararg.arg] = Seq("tuple", None, union((*rest, arguments.star)))
        else:
            env[signature.vararg.arg] = Seq("tuple", rest, NEVER)
    for parameter, default in zip(signature.kwonlyargs, signature.kw_defaults):
        if parameter.arg in keywords:
            env[parameter.arg] = keywords.pop(parameter.arg)
        else:
            env[parameter.arg] = _missing(callee, function, default, Arguments((), {}, None, arguments.double_star))
    if signature.kwarg is not None:
        element: Value = NEVER if arguments.double_star is None else Unknown("unpacked dictionary")
        env[signature.kwarg.arg] = Map(tuple(keywords.items()), element)
    return env


def _missing(callee: Frame, function: Func, default: ast.expr | None, arguments: Arguments) -> Value:
    parts: list[Value] = []
    if arguments.star is not None:
        parts.append(arguments.star)
    if isinstance(arguments.double_star, Map):
        return Unknown("unpacked dictionary")
    if default is not None:
        parts.append(default_value(callee, function, default))
    return union(parts) if parts else Unknown("argument is missing")


def default_value(callee: Frame, function: Func, default: ast.expr) -> Value:
    """The value of the default of an argument; a container is marked, as it outlives the call."""
    scope = function.closure
    if scope is not None:
        quiet, scope.quiet = scope.quiet, True
        value = scope.eval(default)
        scope.quiet = quiet
    else:
        value = callee.session.classes.evaluate_global(function.module, default)
    if isinstance(value, Map):
        return Map(value.items, value.element, True)
    if isinstance(value, Seq) and value.kind in ("list", "set"):
        return Seq(value.kind, value.items, value.element, value.origin, value.names, True)
    return value


# -- classes of the project -------------------------------------------------------------------------------------------
def instantiate(frame: Frame, info: ClassInfo, arguments: Arguments, node: ast.Call) -> Value:
    """A new object of a class of the project."""
    classes = frame.session.classes
    if classes.block_kind(info) or frame.constructing:
        if frame.constructing and classes.block_kind(info):
            frame.session.inner_blocks.add((info.module.file.path, info.qualname))
        return Instance(info)
    if any(
        base in ("typing.NamedTuple", "collections.namedtuple") for base in classes.mro(info) if isinstance(base, str)
    ):
        return make_record(RecordType(info.name, tuple(info.annotations)), arguments)
    ident = id(node)
    instance = Instance(info, ident)
    found = classes.find_method(info, "__init__")
    if found is not None:
        owner, definition = found
        call_function(frame, Func(definition, owner.module, _closure_of(frame, info), owner, instance), arguments, node)
    elif decorator_names(info.node) & {"dataclass", "attrs", "define", "frozen", "s"} or info.annotations:
        _fill_dataclass(frame, info, ident, arguments)
    return instance


def _closure_of(frame: Frame, info: ClassInfo) -> Frame | None:
    return frame if info.in_function else None


def _fill_dataclass(frame: Frame, info: ClassInfo, ident: int, arguments: Arguments) -> None:
    names: list[str] = []
    for ancestor in reversed(frame.session.classes.mro(info)):
        if isinstance(ancestor, ClassInfo):
            names.extend(name for name in ancestor.annotations if name not in names)
    for place, name in enumerate(names):
        value = arguments.get(place, name)
        if value is None and arguments.star is None and arguments.double_star is None:
            value = frame.session.classes.class_attribute(info, name)
        frame.env[(ident, name)] = Unknown("field") if value is None else value


def make_record(record: RecordType, arguments: Arguments) -> Value:
    """A named tuple."""
    if arguments.star is not None or arguments.double_star is not None:
        return Seq("tuple", None, union(arguments.all), None)
    values = [arguments.get(place, name) or Unknown("field") for place, name in enumerate(record.fields)]
    return Seq("namedtuple", tuple(values), NEVER, None, record.fields)


def record_type(arguments: Arguments) -> Value:
    """The class that `namedtuple("Name", ["a", "b"])` makes."""
    name, fields = arguments.get(0, "typename"), arguments.get(1, "field_names")
    names: tuple[str, ...] = ()
    if isinstance(fields, Static) and isinstance(fields.const, str):
        names = tuple(fields.const.replace(",", " ").split())
    elif isinstance(fields, Seq) and fields.items is not None:
        parts = [item.items[0] if isinstance(item, Seq) and item.items else item for item in fields.items]
        names = tuple(str(part.const) for part in parts if isinstance(part, Static) and part.const is not ANY)
    title = str(name.const) if isinstance(name, Static) and name.const is not ANY else "record"
    return RecordType(title, names) if names else Unknown("named tuple")
