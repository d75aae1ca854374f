"""Evidence: what all uses of an argument say about it, and what that does to the events that assumed a tensor.

An argument of `hybrid_forward` is a tensor by contract, yet gluon also passes nested lists, and a block inside a graph
may be called with any Python value. So events about an unchanged argument wait until every use and every call is seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from autohybrid.analysis.events import Event, EventKind
from autohybrid.analysis.values import InputKey
from autohybrid.diagnostics.model import Confidence

TENSOR, LIST, STATIC = "tensor", "list", "static"

_FITS_A_LIST = frozenset(
    {
        EventKind.SUBSCRIPT,
        EventKind.ITERATE,
        EventKind.LENGTH,
        EventKind.UNPACK,
        EventKind.CONDITION,
        EventKind.CONVERT,
        EventKind.AUGMENT,
        EventKind.STORE_SUBSCRIPT,
        EventKind.DELETE,
        EventKind.COMPARE,
        EventKind.HASH,
        EventKind.RESULT,
    }
)
_FITS_A_NUMBER = frozenset(
    {EventKind.CONDITION, EventKind.CONVERT, EventKind.OPERATOR, EventKind.AUGMENT, EventKind.COMPARE, EventKind.HASH}
)


class Evidence:
    """What is known of arguments: kinds seen at calls and tests, and the list-like uses counted by kind."""

    def __init__(self) -> None:
        self._kinds: dict[InputKey, set[str]] = {}
        self._uses: dict[InputKey, set[str]] = {}
        self._static_uses: dict[InputKey, str] = {}

    def note(self, key: InputKey | None, kind: str) -> None:
        """A use or a call proves that the argument is of `kind` (TENSOR, LIST or STATIC)."""
        if key is not None:
            self._kinds.setdefault(key, set()).add(kind)

    def note_use(self, key: InputKey | None, use: str) -> None:
        """The argument is used in a way that fits a list: `len`, `iterate`, ``[0]``, ..."""
        if key is not None:
            self._uses.setdefault(key, set()).add(use)

    def note_static(self, key: InputKey | None, use: str) -> None:
        """The argument is used where only a number, text or flag fits; `use` says where."""
        if key is not None:
            self._static_uses.setdefault(key, use)

    def static_inputs(self) -> Iterator[tuple[InputKey, str]]:
        """Arguments that are used as numbers, texts or flags, and that no call in the project passes as such."""
        for key, use in self._static_uses.items():
            if not self._kinds.get(key):
                yield key, use

    def settle(self, event: Event, key: InputKey | None, inner: bool = False) -> Confidence | None:
        """The final confidence of an event, or None to drop it. An `inner` block is called by another one, which may
        well pass a list."""
        if key is None:
            return event.confidence
        kinds: Set[str] = self._kinds.get(key, set())
        if key in self._static_uses and TENSOR not in kinds:
            return None
        if STATIC in kinds:
            return Confidence.POSSIBLE if TENSOR in kinds else None
        if LIST in kinds and event.kind in (EventKind.ATTRIBUTE, EventKind.METHOD) and TENSOR not in kinds:
            return None
        if event.kind in _FITS_A_LIST and not self._only_a_tensor_fits(event):
            if LIST in kinds:
                return None
            if TENSOR not in kinds and len(self._uses.get(key, ())) > 1:
                return None
        if TENSOR in kinds or event.kind not in (_FITS_A_LIST | _FITS_A_NUMBER) or self._only_a_tensor_fits(event):
            return event.confidence
        if inner:
            return Confidence.POSSIBLE
        return Confidence.LIKELY if event.confidence is Confidence.DEFINITE else event.confidence

    @staticmethod
    def _only_a_tensor_fits(event: Event) -> bool:
        """Whether a list would fail there too: `x[:, 0]`, `x[None]`, `x[mask]`."""
        return event.kind is EventKind.SUBSCRIPT and event.get("index") in ("tuple", "none", "ellipsis", "tensor")
