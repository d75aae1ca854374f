"""`mx.contrib.text.vocab`: tokens and their numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Any

__all__ = ["Vocabulary"]


class Vocabulary:
    """Numbers for tokens: 0 for unknown ones, then reserved tokens, then those of `counter`, the most frequent first.

    Of equally frequent tokens the smaller comes first. `most_freq_count` limits the tokens taken from `counter`,
    `min_freq` leaves out rarer ones. Raises AssertionError for arguments that contradict each other.

    >>> Vocabulary(Counter("abb")).to_indices(["b", "a", "z"])
    [1, 2, 0]
    """

    def __init__(
        self,
        counter: Counter[Any] | None = None,
        most_freq_count: int | None = None,
        min_freq: int = 1,
        unknown_token: Hashable = "<unk>",
        reserved_tokens: list[Any] | None = None,
    ) -> None:
        reserved = reserved_tokens or []
        if min_freq <= 0:
            raise AssertionError("`min_freq` must be a positive number")
        if unknown_token in reserved or len(set(reserved)) != len(reserved):
            raise AssertionError("`reserved_tokens` cannot contain `unknown_token`, nor a token twice")
        if counter is not None and not isinstance(counter, Counter):
            raise AssertionError(f"`counter` must be a collections.Counter, not {type(counter).__name__}")
        self.unknown_token = unknown_token
        self.reserved_tokens = None if reserved_tokens is None else list(reserved_tokens)
        self.idx_to_token: list[Any] = [unknown_token, *reserved]
        first = set(self.idx_to_token)
        limit = len(first) + (len(counter or ()) if most_freq_count is None else most_freq_count)
        in_order = sorted((counter or {}).items(), key=lambda item: item[0])
        for token, count in sorted(in_order, key=lambda item: -item[1]):
            if count < min_freq or len(self.idx_to_token) == limit:
                break
            if token not in first:
                self.idx_to_token.append(token)
        self.token_to_idx: dict[Any, int] = {token: idx for idx, token in enumerate(self.idx_to_token)}

    def __len__(self) -> int:
        return len(self.idx_to_token)

    def to_indices(self, tokens: Any) -> Any:
        """The number of a token, or the numbers of a list of tokens."""
        if isinstance(tokens, list):
            return [self.token_to_idx.get(token, 0) for token in tokens]
        return self.token_to_idx.get(tokens, 0)

    def to_tokens(self, indices: Any) -> Any:
        """The token of a number, or the tokens of a list of numbers. Raises ValueError for a number of none."""
        if isinstance(indices, list):
            return [self.to_tokens(idx) for idx in indices]
        if not isinstance(indices, int) or indices >= len(self.idx_to_token):
            raise ValueError(f"token index {indices} in the provided `indices` is invalid")
        return self.idx_to_token[indices]
