"""AH108 tensor-item-assignment: an item of a tensor is assigned.

What it finds: `x[0] = 2`, `x[:] = y`, `x[mask] = 0`, `x[:, 0] += 1`, `del x[0]` on a tensor.

Why a graph cannot express it: a graph has no memory to write to: every node is computed once from its inputs.

Example: `y[0] = 0`

Instead: a new tensor: `F.where` with a mask, `F.concat` of the parts, or plain rebinding for `x[:] = y`.

Fix safety: unsafe: other names of the array are not changed.

When to suppress: when the value is a list that the analysis could not see.

MXNet 1.9.1: TypeError: 'Symbol' object does not support item assignment.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def _joined(tensor: str, index: str) -> str:
    """The concatenation of what stands before the item, the new item, and what stands after it."""
    parts = [f"F.slice_axis({tensor}, axis=0, begin=0, end={index})", "new"]
    if index == "0":
        parts = ["new"]
    if index != "-1":
        end = int(index) + 1 if index.isdigit() else f"{index} + 1"
        parts.append(f"F.slice_axis({tensor}, axis=0, begin={end}, end=None)")
    return f"F.concat({', '.join(parts)}, dim=0)"


def check(event: Event) -> Finding | None:
    """Assignment to or deletion of an item."""
    tensor = event.subject
    if event.kind is EventKind.DELETE:
        return Finding(
            f"`del {event.text}` deletes an item of a tensor", f"build a new tensor from the parts of `{tensor}`"
        )
    message = f"`{event.text} = ...` writes into a tensor, and a graph has nothing to write into"
    kind = event.get("index")
    if kind == "tensor":
        return Finding(message, f"write `{tensor} = F.where({event.get('index_text')}, new, {tensor})`")
    if kind == "slice" and event.get("index_text") == ":":
        return Finding(message, f"rebind the name: `{tensor} = ...`")
    if kind == "int":
        return Finding(
            message, f"put the parts together again: `{tensor} = {_joined(tensor, event.get('index_text'))}`"
        )
    return Finding(message, "use `F.where` with a mask, or `F.concat` of the parts")


RULE = Rule(
    code="AH108",
    name="tensor-item-assignment",
    summary="an item of a tensor is assigned",
    kinds=(
        EventKind.STORE_SUBSCRIPT,
        EventKind.DELETE,
    ),
    check=check,
    valid=(
        Valid(forward("new = [None, None]\nnew[0] = F.relu(x)\nreturn new[0]")),
        Valid(forward("kw = {}\nkw['axis'] = 1\nreturn F.sum(x, **kw)")),
    ),
    invalid=(
        Invalid(
            forward("y = F.relu(x)\ny[0] = 0\nreturn y"),
            ("y[0]",),
            fixed=(
                "y = F.where(F._internal._slice_assign_scalar(F.zeros_like(y), scalar=1, begin=(0,), "
                "end=(1,)), F.ones_like(y) * 0, y)",
            ),
        ),
        Invalid(
            forward("y = x * 2\ny[:, 1] += 5\nreturn y"),
            ("y[:, 1]",),
            fixed=(
                "y = F.where(F._internal._slice_assign_scalar(F.zeros_like(y), scalar=1, begin=(None, 1), "
                "end=(None, 2)), y + 5, y)",
            ),
        ),
    ),
)
