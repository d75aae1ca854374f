"""Whether a text is the source of a code object, or another one that lies where it was.

`inspect` reads the lines that a code object names from a file. They are of another program when the file was edited
after it was imported, or when code made by `exec` bears the name of a real file. So the text is compiled as it was and
compared with the code object: bytecode, names, constants, functions inside.
"""

from __future__ import annotations
import __future__

import ast
import dis
import types
from collections.abc import Iterator

_FUTURE = 0
for _name in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _name).compiler_flag
_JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))
#: What pytest puts into the test modules whose `assert` statements it rewrites; their bytecode is never their text's.
_REWRITTEN = "@pytest_ar"


def is_source_of(text: str, code: types.CodeType) -> bool:
    """Whether `text`, the definition of one function without its indentation, compiles to `code`."""
    try:
        module = ast.parse(text)
    except SyntaxError:
        return False
    definition = module.body[0] if module.body else None
    if not isinstance(definition, ast.FunctionDef) or definition.name != code.co_name:
        return False
    definition.decorator_list = []
    flags = code.co_flags & _FUTURE
    compiled = compile(_in_place(definition, code), "<source>", "exec", flags, dont_inherit=True)
    return any(_is_same(found, code) for found in _functions_in(compiled, code.co_name))


def _in_place(definition: ast.FunctionDef, code: types.CodeType) -> ast.Module:
    """A module that defines the function where names mean what they meant: in a class of that name (private names
    are spelt with it), in a function that has the free variables."""
    free = [name for name in code.co_freevars if name != "__class__"]
    owner = _class_around(code.co_qualname)
    if owner is None and len(free) < len(code.co_freevars):
        owner = "Owner"  # of the `__class__` that `super()` uses
    inner: ast.stmt = definition
    if owner is not None:
        inner = ast.parse(f"class {owner}:\n    pass").body[0]
        inner.body = [definition]  # type: ignore[attr-defined]
    module = ast.parse(f"def around({', '.join(free)}):\n    pass")
    name = owner or code.co_name
    # What names itself does so by a global name, unless that is one of the free variables.
    own = [] if name in free else [ast.Global([name])]
    module.body[0].body = [*own, inner]  # type: ignore[attr-defined]
    return ast.fix_missing_locations(module)


def _class_around(qualified_name: str) -> str | None:
    """The innermost class that a definition lies in: `Net` of `Net.forward.<locals>.helper`."""
    parts = qualified_name.split(".")[:-1]
    while parts:
        part = parts.pop()
        if part != "<locals>":
            return part
        parts.pop()
    return None


def _functions_in(code: types.CodeType, name: str) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            if constant.co_name == name:
                yield constant
            yield from _functions_in(constant, name)


def _is_same(one: types.CodeType, other: types.CodeType) -> bool:
    if _REWRITTEN in other.co_names:
        return one.co_varnames[: one.co_argcount] == other.co_varnames[: other.co_argcount]
    return (
        (one.co_code == other.co_code or list(_steps(one)) == list(_steps(other)))
        and (one.co_names, one.co_varnames, one.co_cellvars) == (other.co_names, other.co_varnames, other.co_cellvars)
        and len(one.co_consts) == len(other.co_consts)
        and all(map(_is_same_constant, one.co_consts, other.co_consts))
    )


def _steps(code: types.CodeType) -> Iterator[tuple[str, object]]:
    """The instructions, but for what the rest of a module decides: a call of an attribute is compiled otherwise when
    the module imports the name before the dot, and jumps then have other targets."""
    for step in dis.get_instructions(code):
        if step.opname in ("PUSH_NULL", "EXTENDED_ARG", "PRECALL"):
            continue
        yield "LOAD_ATTR" if step.opname == "LOAD_METHOD" else step.opname, _operand(step)


def _operand(step: dis.Instruction) -> str | None:
    """What an instruction works on: a name, a constant, a number. None for the targets of jumps, and for functions and
    texts over several lines, which are compared as constants."""
    if step.opcode in _JUMPS:
        return None
    if step.opcode in dis.hasconst and (
        isinstance(step.argval, types.CodeType) or (isinstance(step.argval, str) and "\n" in step.argval)
    ):
        return None
    return repr(step.argval)


def _is_same_constant(one: object, other: object) -> bool:
    if isinstance(one, types.CodeType) and isinstance(other, types.CodeType):
        return _is_same(one, other)
    if isinstance(one, str) and isinstance(other, str) and "\n" in other:
        return True  # a text over several lines lost its indentation
    return type(one) is type(other) and repr(one) == repr(other)
