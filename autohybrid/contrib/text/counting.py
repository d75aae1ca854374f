"""`mx.contrib.text.utils`: how often each token occurs in a text."""

from __future__ import annotations

import re
from collections import Counter

__all__ = ["count_tokens_from_str"]


def count_tokens_from_str(
    source_str: str,
    token_delim: str = " ",
    seq_delim: str = "\n",
    to_lower: bool = False,
    counter_to_update: Counter[str] | None = None,
) -> Counter[str]:
    """Count the tokens between `token_delim` and `seq_delim`, which are regular expressions; empty ones are left out.

    Adds to `counter_to_update` and returns it, if it is given.
    """
    tokens = [token for token in re.split(f"{token_delim}|{seq_delim}", source_str) if token]
    if to_lower:
        tokens = [token.lower() for token in tokens]
    counter: Counter[str] = Counter() if counter_to_update is None else counter_to_update
    counter.update(tokens)
    return counter
