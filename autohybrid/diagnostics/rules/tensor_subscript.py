"""AH104 tensor-subscript: a tensor is subscripted.

What it finds: `x[1]`, `x[-1]`, `x[1:]`, `x[:, 0]`, `x[None]`, `x[mask]`, `x[idx]` on a tensor.

Why a graph cannot express it: the subscript of a Symbol picks one of its outputs, not a row: everything but the first
output of a single-output tensor raises.

Example: `col = x[:, 0]`

Instead: `F.slice_axis`, `F.slice`, `F.squeeze`, `F.expand_dims`, `F.take`, `F.pick`, `F.gather_nd`.

Fix safety: safe where every axis stays and no end lies beyond the tensor; else unsafe.

When to suppress: when the value is a list of tensors that the analysis could not see.

MXNet 1.9.1: IndexError, MXNetError or TypeError (`Symbol only support integer index to fetch i-th output`), by the
index.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.edits import expression
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def _rewrite(event: Event) -> str:
    tensor, index, const = event.subject, event.get("index_text"), event.data.get("const")
    kind = event.get("index")
    if kind == "int" and isinstance(const, int):
        end = "None" if const == -1 else const + 1
        return f"`F.squeeze(F.slice_axis({tensor}, axis=0, begin={const}, end={end}), axis=0)`"
    if kind == "slice":
        begin, _, end = index.partition(":")
        return (
            f"`F.slice_axis({tensor}, axis=0, begin={begin.strip() or 0}, end={end.partition(':')[0].strip() or None})`"
        )
    if kind == "none":
        return f"`F.expand_dims({tensor}, axis=0)`"
    if kind == "tensor":
        return f"`F.take({tensor}, {index})` for indices, `F.contrib.boolean_mask({tensor}, {index})` for a mask"
    if kind == "list":
        return f"`F.take({tensor}, F.concat(...))` with the indices as a tensor, or `F.stack` of single slices"
    return ""


def _tuple_rewrite(event: Event) -> str:
    tensor, parts = (
        event.subject,
        [part.strip() for part in event.get("index_text").strip("()").split(",") if part.strip()],
    )
    if any(part in ("None", "...") for part in parts):
        return f"`F.expand_dims({tensor}, axis=...)` for `None`, `F.slice_axis({tensor}, axis=-1, ...)` after `...`"
    used = [(axis, part) for axis, part in enumerate(parts) if part != ":"]
    if len(used) == 1:
        axis, part = used[0]
        if ":" in part:
            begin, _, end = part.partition(":")
            end = end.partition(":")[0].strip()
            return f"`F.slice_axis({tensor}, axis={axis}, begin={begin.strip() or 0}, end={end or None})`"
        end = "None" if part == "-1" else str(int(part) + 1) if part.isdigit() else f"{part} + 1"
        return f"`F.squeeze(F.slice_axis({tensor}, axis={axis}, begin={part}, end={end}), axis={axis})`"
    if all(part.isdigit() for part in parts):
        begin, end = ", ".join(parts), ", ".join(str(int(part) + 1) for part in parts)
        return f"`F.squeeze(F.slice({tensor}, begin=({begin}), end=({end})))`"
    return f"`F.slice({tensor}, begin=(...), end=(...))`, then `F.squeeze` for the axes given by a number"


def check(event: Event) -> Finding | None:
    """A subscript that raises on a Symbol."""
    kind = event.get("index")
    if kind == "output" or (event.get("single") and kind == "int"):
        return None
    if event.data.get("silent"):
        return None
    rewrite = _tuple_rewrite(event) if kind in ("tuple", "ellipsis") else _rewrite(event)
    message = f"`{event.text}` subscripts a tensor: while the graph is built, it has no rows to pick"
    help_text = f"write {rewrite}" if rewrite else "use `F.slice_axis`, `F.slice`, `F.take` or `F.pick`"
    return Finding(message, help_text, fixes=expression(event, rewrite))


RULE = Rule(
    code="AH104",
    name="tensor-subscript",
    summary="a tensor is subscripted",
    kinds=(EventKind.SUBSCRIPT,),
    check=check,
    valid=(
        Valid(forward("a = F.split(x, num_outputs=2, axis=1)\nreturn a[1]")),
        Valid(forward("return x * self.sizes[-1]", init="self.sizes = [1, 2]")),
        Valid(forward("return states[1] + x", inputs="x, states")),
    ),
    invalid=(
        Invalid(
            forward("y = F.relu(x)\nreturn y[:, 0]"),
            ("y[:, 0]",),
            fixed=("return F.squeeze(F.slice_axis(y, axis=1, begin=0, end=1), axis=1)",),
        ),
        Invalid(
            forward("y = F.relu(x)\nz = y[-1]\nreturn F.broadcast_add(y[1:], z)"),
            ("y[-1]", "y[1:]"),
            fixed=(
                "z = F.squeeze(F.slice_axis(y, axis=0, begin=-1, end=None), axis=0)",
                "return F.broadcast_add(F.slice_axis(y, axis=0, begin=1, end=None), z)",
            ),
        ),
    ),
)
