"""`Block.save` and `Block.load`: names and structure as JSON beside the parameters.

The JSON maps class name + running number to the block's name and its children. Loading gives the blocks, their
parameters and children the names they had when they were saved; the network must be built the same way.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from autohybrid.errors import MXNetError
from autohybrid.files import write_atomically

if TYPE_CHECKING:
    from autohybrid.gluon.block import Block


def save_model(block: Block, prefix: str) -> None:
    """Write `<prefix>-model.json` and `<prefix>-model.params`."""
    structure: dict[str, Any] = {}
    _describe(block, [0], structure)
    write_atomically(f"{prefix}-model.json", json.dumps(structure).encode())
    block.save_parameters(f"{prefix}-model.params")


def load_model(block: Block, prefix: str) -> None:
    """Read both files. Raises MXNetError when the network is not built as the saved one."""
    with open(f"{prefix}-model.json", encoding="utf-8") as stream:
        structure = json.load(stream)
    _rename(block, [0], structure)
    block.load_parameters(f"{prefix}-model.params")


def _key(block: Block, number: int) -> str:
    return f"{type(block).__name__.lower()}{number}"


def _describe(block: Block, counter: list[int], structure: dict[str, Any]) -> None:
    children: dict[str, str] = {}
    entry: dict[str, Any] = {"orig_name": block.name, "children": children}
    if hasattr(block, "_active"):
        entry["hybridized"] = False
    structure[_key(block, counter[0])] = entry
    for name, child in block._children.items():
        counter[0] += 1
        children[child.name] = name
        _describe(child, counter, entry)


def _rename(block: Block, counter: list[int], structure: dict[str, Any]) -> None:
    key = _key(block, counter[0])
    entry = structure.get(key)
    if entry is None:
        raise MXNetError(f"the saved model has no `{key}` where this network has {type(block).__name__} `{block.name}`")
    block._name = entry["orig_name"]
    own = block.params
    own._params = {f"{block.name}_{name[len(own.prefix) :]}": parameter for name, parameter in own.items()}
    for child in block._children.values():
        counter[0] += 1
        _rename(child, counter, entry)
    block._children = {entry["children"][child.name]: child for child in block._children.values()}
