"""What a graph was built from besides its arguments: the attributes of the blocks whose code ran.

A snapshot is compared before a graph is used again, so that changing an attribute (`net.use_bias = False`), or code
that changes one at each call, gives what the imperative block would give.
"""

from __future__ import annotations

from typing import Any

from autohybrid.graph.builder import Builder
from autohybrid.graph.graph_tensor import GraphTensor
from autohybrid.graph.node import Head
from autohybrid.graph.structure import Structure, flatten
from autohybrid.transform.python_state import token

#: Attributes of blocks that hold what autohybrid keeps there, not what the user's code reads.
_OWN = frozenset(
    (
        "_active _options _cached_graph _in_format _out_format _compiled _callback _monitor_all "
        "_forward_hooks _forward_pre_hooks _prefix _params _name _child_counts _empty_prefix _scope "
    ).split()
)

_STRUCTURE = frozenset(("_children", "_reg_params"))
_LIBRARY = "autohybrid."


def is_own_attribute(name: str) -> bool:
    """Whether autohybrid itself keeps something in the attribute of this name."""
    return name in _OWN or name in _STRUCTURE


Snapshot = tuple[tuple[Any, ...], ...]


def snapshot(block: Any, free: frozenset[str] = _OWN) -> Snapshot:
    """The attributes of one block but those in `free`: constants by value, containers item by item, everything else by
    identity."""
    return tuple([(name, token(value)) for name, value in block.__dict__.items() if name not in free])


def _free_attributes(block: Any, restarted: bool) -> frozenset[str]:
    """The attributes that say nothing of what the code computes: our own, the bookkeeping of recurrent cells, and,
    where the code itself has begun anew (`reset()`), what the block carries from step to step."""
    free = _OWN | getattr(type(block), "_bookkeeping", frozenset())
    return free | getattr(type(block), "_carried_attributes", frozenset()) if restarted else free


class BlocksUsed:
    """The blocks whose code ran while a graph was built, with their attributes as they were before it did."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[Any, frozenset[str], Snapshot]] = {}
        #: Lists, dicts and sets of the user's blocks: changing one in place sets no attribute.
        self._containers: list[tuple[Any, Any]] = []

    def enter(self, block: Any, restarted: bool = False) -> None:
        """`block` is about to run; `restarted`: its `reset()` was called before, by the code that the graph is of."""
        if id(block) not in self._seen:
            free = _free_attributes(block, restarted)
            self._seen[id(block)] = (block, free, snapshot(block, free))
            if not type(block).__module__.startswith(_LIBRARY):
                held = [v for name, v in block.__dict__.items() if name not in _STRUCTURE and name not in _OWN]
                self._containers += [(v, token(v)) for v in held if isinstance(v, (list, dict, set)) and v]

    @property
    def has_containers(self) -> bool:
        """Whether there is anything that can change without an attribute being set."""
        return bool(self._containers)

    def containers_unchanged(self) -> bool:
        """Whether lists, dicts and sets hold what they held then."""
        return all(token(value) == before for value, before in self._containers)

    def unchanged(self) -> bool:
        """Whether every block has the attributes it had then."""
        return all(snapshot(block, free) == before for block, free, before in self._seen.values())

    @property
    def blocks(self) -> list[Any]:
        """The blocks, in the order in which they ran."""
        return [block for block, _, _ in self._seen.values()]

    def tensor_attributes(self, builder: Builder) -> list[tuple[Any, str, Structure, list[Head]]]:
        """Attributes that the code set to tensors: they get the values of these heads at every call."""
        found = []
        for block in self.blocks:
            for name, value in block.__dict__.items():
                leaves = _graph_tensors(value)
                if leaves and name not in _OWN:
                    arrays: list[Any] = []
                    structure = flatten(value, arrays)
                    found.append((block, name, structure, [builder.lift(a).head for a in arrays]))
        return found


def _graph_tensors(value: Any) -> bool:
    if isinstance(value, GraphTensor):
        return True
    if isinstance(value, (list, tuple)):
        return any(_graph_tensors(v) for v in value)
    return isinstance(value, dict) and any(_graph_tensors(v) for v in value.values())
