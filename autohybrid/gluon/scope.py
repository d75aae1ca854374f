"""Name scopes: how a new block gets its prefix and the dictionary of its parameters.

Outside any scope a block is numbered by the current NameManager (one counter for the process); inside
`with parent.name_scope():` by its parent, and its prefix begins with the parent's. MXNet 1.9.1's rules.
"""

from __future__ import annotations

from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any

from autohybrid.gluon.parameter_dict import ParameterDict
from autohybrid.naming import NameManager, Prefix

if TYPE_CHECKING:
    from autohybrid.gluon.block import Block

_current: ContextVar[Block | None] = ContextVar("block_scope", default=None)


class NameScope:
    """`with block.name_scope():` - blocks and symbols made inside carry the block's prefix.

    A block with the prefix '' leaves the scope around it in force.
    """

    __slots__ = ("_block", "_manager", "_token")

    def __init__(self, block: Block) -> None:
        self._block = block
        self._token: Token[Block | None] | None = None
        self._manager: NameManager | None = None

    @staticmethod
    def create(prefix: str | None, params: ParameterDict | None, hint: str) -> tuple[str, ParameterDict]:
        """The full prefix and the parameter dictionary of a new block in the scope around; MXNet's way to ask."""
        return name_block(prefix, params, hint)

    def __enter__(self) -> NameScope:
        if not self._block._empty_prefix:
            self._token = _current.set(self._block)
            self._manager = Prefix(self._block.prefix)
            self._manager.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        if self._token is not None and self._manager is not None:
            self._manager.__exit__(*exc)
            _current.reset(self._token)
            self._token = self._manager = None


def name_block(prefix: str | None, params: ParameterDict | None, hint: str) -> tuple[str, ParameterDict]:
    """The full prefix and the parameter dictionary of a new block; `hint` is its class name in lower case."""
    parent = _current.get()
    shared = None if params is None else ParameterDict(params.prefix, params)
    if parent is None:
        if prefix is None:
            prefix = NameManager.current.get(None, hint) + "_"
        return prefix, ParameterDict(prefix) if shared is None else shared
    if prefix is None:
        count = parent._child_counts.get(hint, 0)
        parent._child_counts[hint] = count + 1
        prefix = f"{hint}{count}_"
    if shared is None:
        shared = ParameterDict(parent.params.prefix + prefix, parent.params._shared)
    return parent.prefix + prefix, shared
