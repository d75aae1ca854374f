"""`mx.contrib.text`: counting words, numbering them, and vectors for them."""

from __future__ import annotations

from autohybrid.contrib.text import counting as utils
from autohybrid.contrib.text import embedding, vocab

__all__ = ["embedding", "utils", "vocab"]
