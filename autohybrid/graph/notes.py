"""The text attributes of a node that are no operator attributes, as they are stored and as `attr_dict` shows them.

Some have two spellings in MXNet: set as `lr_mult`, stored and written as `__lr_mult__`, shown as both.
"""

from __future__ import annotations

from collections.abc import Mapping

from autohybrid.tensor.frontend import NOTES as _HIDDEN


def stored_notes(notes: Mapping[str, str]) -> dict[str, str]:
    """The notes with every plain spelling replaced by the stored one; `weight_lr_mult` counts as one too."""
    return {_stored(key): value for key, value in notes.items()}


def _stored(key: str) -> str:
    plain = not key.startswith("__") and any(key == hidden or key.endswith(f"_{hidden}") for hidden in _HIDDEN)
    return f"__{key}__" if plain else key


def shown_notes(notes: Mapping[str, str]) -> dict[str, str]:
    """The notes with the plain spelling beside every stored one that has it."""
    shown = dict(notes)
    for key, value in notes.items():
        inner = key[2:-2]
        if key.startswith("__") and key.endswith("__") and inner.endswith(_HIDDEN):
            shown[inner] = value
    return shown
