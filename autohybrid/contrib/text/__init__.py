"""`mx.contrib.text`: counting words and numbering them. Token embeddings are not part of it."""

from __future__ import annotations

from autohybrid.contrib.text import counting as utils
from autohybrid.contrib.text import vocab

__all__ = ["utils", "vocab"]
