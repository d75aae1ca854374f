"""Texts for language models: WikiText, cut into sequences of a fixed length."""

from __future__ import annotations

import os
import shutil
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from autohybrid import ndarray as nd
from autohybrid.base import data_dir
from autohybrid.contrib.text.counting import count_tokens_from_str
from autohybrid.contrib.text.vocab import Vocabulary
from autohybrid.errors import MXNetError
from autohybrid.gluon.data.dataset import Dataset
from autohybrid.gluon.utils.downloads import download
from autohybrid.gluon.utils.repository import file_url

__all__ = ["WikiText2", "WikiText103"]

_END = "<eos>"
_FILES = {"train": "wiki.train.tokens", "validation": "wiki.valid.tokens", "test": "wiki.test.tokens"}


class WikiText2(Dataset):
    """WikiText-2: samples are int32 vectors (seq_len,) of tokens, and the same one token later.

    `segment` is train, validation or test; without `vocab` one is made of this text. A line ends with the token
    `<eos>`. The text is the file `wiki.<segment>.tokens` in `root`, whatever it holds; if it is not there, the archive
    is fetched. Raises MXNetError when neither is to be had.
    """

    _collection: ClassVar[str] = "wikitext-2"
    _sha1: ClassVar[str] = "3c914d17d80b1459be871a5039ac23e752a53cbe"

    def __init__(
        self, root: str | None = None, segment: str = "train", vocab: Vocabulary | None = None, seq_len: int = 35
    ) -> None:
        if segment not in _FILES:
            raise ValueError(f"segment is one of {', '.join(_FILES)}, not {segment!r}")
        self._root = Path(root or os.path.join(data_dir(), "datasets", self._collection)).expanduser()
        self._root.mkdir(parents=True, exist_ok=True)
        content = self._file(_FILES[segment]).read_text(encoding="utf8")
        self._frequencies: Counter[str] = count_tokens_from_str(content)
        self._vocab = vocab or Vocabulary(counter=self._frequencies, reserved_tokens=[_END])
        lines = [words for words in map(str.split, content.splitlines()) if words]
        numbers = self._vocab.to_indices([word for words in lines for word in (*words, _END)])
        whole = max(len(numbers) - 1, 0) // seq_len * seq_len
        self._data = self._cut(numbers[:whole], seq_len)
        self._label = self._cut(numbers[1 : whole + 1], seq_len)

    @staticmethod
    def _cut(numbers: list[int], seq_len: int) -> Any:
        return nd.array(np.array(numbers, np.int32).reshape(-1, seq_len), dtype=np.int32)

    @property
    def vocabulary(self) -> Vocabulary:
        """The numbers of the tokens."""
        return self._vocab

    @property
    def frequencies(self) -> Counter[str]:
        """How often each token occurs in this segment."""
        return self._frequencies

    def __getitem__(self, idx: int) -> tuple[Any, Any]:
        return self._data[idx], self._label[idx]

    def __len__(self) -> int:
        return int(self._label.shape[0])

    def _file(self, name: str) -> Path:
        path = self._root / name
        if path.exists():
            return path
        archive = f"{self._collection}-v1.zip"
        try:
            address = file_url(f"gluon/dataset/{self._collection}", archive)
            fetched = download(address, path=str(self._root), sha1_hash=self._sha1)
        except OSError as error:
            raise MXNetError(
                f"{type(self).__name__}: {name} is not in {self._root}, and fetching it failed ({error}); put it there"
            ) from error
        with zipfile.ZipFile(fetched) as opened:
            for member in opened.namelist():
                if os.path.basename(member) in _FILES.values():
                    with opened.open(member) as source, open(self._root / os.path.basename(member), "wb") as target:
                        shutil.copyfileobj(source, target)
        if not path.exists():
            raise MXNetError(f"{fetched} does not hold {name}")
        return path


class WikiText103(WikiText2):
    """WikiText-103, in the format of WikiText2."""

    _collection = "wikitext-103"
    _sha1 = "0aec09a7537b58d4bb65362fee27650eeaba625a"
