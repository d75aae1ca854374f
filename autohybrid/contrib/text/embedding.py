"""`mx.contrib.text.embedding`: vectors of tokens, from files of lines `token number number ...`.

`GloVe` and `FastText` read their published files once they are there; `CustomEmbedding` reads any file of the form.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from autohybrid import ndarray as nd
from autohybrid import registry
from autohybrid.base import data_dir
from autohybrid.contrib.text.vocab import Vocabulary
from autohybrid.ndarray import NDArray

__all__ = [
    "CompositeEmbedding", "CustomEmbedding", "FastText", "GloVe", "create", "get_pretrained_file_names", "register",
]  # fmt: skip

_UNKNOWN = 0


class _TokenEmbedding(Vocabulary):
    """Numbers for tokens (as Vocabulary), and a vector for each number: row i of `idx_to_vec`.

    Without a `vocabulary` all tokens of the file are in it; row 0 is the vector of unknown tokens.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._idx_to_vec: NDArray | None = None

    @property
    def idx_to_vec(self) -> NDArray | None:
        """The vectors (tokens, length)."""
        return self._idx_to_vec

    @property
    def vec_len(self) -> int:
        """The length of a vector."""
        return 0 if self._idx_to_vec is None else int(self._idx_to_vec.shape[1])

    def _load(self, path: str, delimiter: str, unknown: Callable[..., NDArray], encoding: str) -> None:
        file = Path(path).expanduser()
        if not file.is_file():
            raise ValueError(f"there is no file {file} of token vectors; `pretrained_file_path` must be a valid path")
        read = _VectorFile(str(file), delimiter, encoding, self.unknown_token)
        for token in read.tokens:
            self.idx_to_token.append(token)
            self.token_to_idx[token] = len(self.idx_to_token) - 1
        length = len(read.vectors[0]) if read.vectors else len(read.unknown or ())
        first = np.zeros((len(self.idx_to_token) - len(read.tokens), length), "float32")
        self._idx_to_vec = nd.array(np.concatenate([first, np.array(read.vectors, "float32").reshape(-1, length)]))
        self._idx_to_vec[_UNKNOWN] = unknown(shape=length) if read.unknown is None else nd.array(read.unknown)

    def _restrict(self, vocabulary: Vocabulary | None) -> None:
        """Keep the tokens of a vocabulary only, in its order."""
        if vocabulary is None:
            return
        if not isinstance(vocabulary, Vocabulary):
            raise AssertionError(f"`vocabulary` must be a text.vocab.Vocabulary, not {type(vocabulary).__name__}")
        self._idx_to_vec = _joined([self], vocabulary)
        self._adopt(vocabulary)

    def _adopt(self, vocabulary: Vocabulary) -> None:
        self.token_to_idx = dict(vocabulary.token_to_idx)
        self.idx_to_token = list(vocabulary.idx_to_token)
        self.unknown_token = vocabulary.unknown_token
        self.reserved_tokens = None if vocabulary.reserved_tokens is None else list(vocabulary.reserved_tokens)

    def get_vecs_by_tokens(self, tokens: Any, lower_case_backup: bool = False) -> NDArray:
        """The vector of a token, or those of a list of tokens (tokens, length); unknown ones have row 0.

        `lower_case_backup` looks a token up in lower case when it is not there as it is.
        """
        asked = tokens if isinstance(tokens, list) else [tokens]
        found = []
        for token in asked:
            backup = self.token_to_idx.get(token.lower(), _UNKNOWN) if lower_case_backup else _UNKNOWN
            found.append(self.token_to_idx.get(token, backup))
        vectors: NDArray = nd.Embedding(nd.array(found), self.idx_to_vec, *self.idx_to_vec.shape)  # type: ignore[union-attr]
        return vectors if isinstance(tokens, list) else vectors[0]

    def update_token_vectors(self, tokens: Any, new_vectors: NDArray) -> None:
        """Replace the vectors of a token or of a list of tokens.

        Raises ValueError for a token that is not there, AssertionError for vectors of another shape.
        """
        if self._idx_to_vec is None:
            raise AssertionError("there are no vectors yet")
        asked = tokens if isinstance(tokens, list) else [tokens]
        ranks = (1, 2) if len(asked) == 1 else (2,)
        if not isinstance(new_vectors, NDArray) or new_vectors.ndim not in ranks:
            raise AssertionError("`new_vectors` must be an NDArray: one vector, or one row for each token of a list")
        rows = new_vectors.reshape((1, -1)) if new_vectors.ndim == 1 else new_vectors
        if rows.shape != (len(asked), self.vec_len):
            raise AssertionError(f"`new_vectors` must have the shape {(len(asked), self.vec_len)}, not {rows.shape}")
        unknown = [token for token in asked if token not in self.token_to_idx]
        if unknown:
            raise ValueError(
                f"Token {unknown[0]} is unknown. To change the vector of unknown tokens, name {self.idx_to_token[0]}"
            )
        self._idx_to_vec[nd.array([self.token_to_idx[token] for token in asked])] = rows


class _VectorFile:
    """What a file of token vectors holds: the tokens, their vectors, and the vector of the unknown token, if any."""

    def __init__(self, path: str, delimiter: str, encoding: str, unknown_token: Any) -> None:
        self.tokens: list[str] = []
        self.vectors: list[list[float]] = []
        self.unknown: list[float] | None = None
        self._seen: set[Any] = set()
        with open(path, encoding=encoding) as lines:
            for number, line in enumerate(lines, 1):
                token, *numbers = line.rstrip().split(delimiter)
                if not numbers:
                    raise AssertionError(f"line {number} of {path} is not a token and a vector")
                self._take(f"line {number} of {path}", token, [float(x) for x in numbers], unknown_token)

    def _take(self, place: str, token: str, vector: list[float], unknown_token: Any) -> None:
        if token == unknown_token and self.unknown is None:
            self.unknown = vector
            self._seen.add(token)
        elif token in self._seen:
            warnings.warn(f"{place}: token {token} has a vector already; this one is skipped", stacklevel=6)
        elif len(vector) == 1:
            warnings.warn(f"{place}: token {token} with the vector {vector} is likely a header; skipped", stacklevel=6)
        else:
            if self.vectors and len(vector) != len(self.vectors[0]):
                raise AssertionError(
                    f"{place}: the vector of token {token} has {len(vector)} numbers, those before "
                    f"{len(self.vectors[0])}"
                )
            self.tokens.append(token)
            self.vectors.append(vector)
            self._seen.add(token)


def _joined(embeddings: list[_TokenEmbedding], vocabulary: Vocabulary) -> NDArray:
    """The vectors that the embeddings give the tokens of a vocabulary, side by side."""
    parts = []
    for embedding in embeddings:
        assert embedding.idx_to_vec is not None
        first = embedding.idx_to_vec[:1]
        known = embedding.get_vecs_by_tokens(vocabulary.idx_to_token[1:]) if len(vocabulary) > 1 else None
        parts.append(first if known is None else nd.concat(first, known, dim=0))
    return nd.concat(*parts, dim=1)  # type: ignore[no-any-return]


class CustomEmbedding(_TokenEmbedding):
    """Vectors from a file of lines `token number number ...`, separated by `elem_delim`.

    `init_unknown_vec` makes the vector of unknown tokens, where the file has none; `vocabulary` chooses the tokens.
    Raises ValueError for a file that is not there, AssertionError for lines of another form.
    """

    def __init__(
        self,
        pretrained_file_path: str,
        elem_delim: str = " ",
        encoding: str = "utf8",
        init_unknown_vec: Callable[..., NDArray] = nd.zeros,
        vocabulary: Vocabulary | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._load(pretrained_file_path, elem_delim, init_unknown_vec, encoding)
        self._restrict(vocabulary)


class CompositeEmbedding(_TokenEmbedding):
    """The vectors of several embeddings, side by side, for the tokens of a vocabulary."""

    def __init__(self, vocabulary: Vocabulary, token_embeddings: Any) -> None:
        if not isinstance(vocabulary, Vocabulary):
            raise AssertionError(f"`vocabulary` must be a text.vocab.Vocabulary, not {type(vocabulary).__name__}")
        embeddings = token_embeddings if isinstance(token_embeddings, list) else [token_embeddings]
        for embedding in embeddings:
            if not isinstance(embedding, _TokenEmbedding):
                raise AssertionError(f"`token_embeddings` must be token embeddings, not {type(embedding).__name__}")
        super().__init__()
        self._adopt(vocabulary)
        self._idx_to_vec = _joined(embeddings, vocabulary)


register = registry.get_register_func(_TokenEmbedding, "token embedding")
create = registry.get_create_func(_TokenEmbedding, "token embedding")


class _Published(_TokenEmbedding):
    """Published vectors, from the file `<embedding_root>/<class in lower case>/<pretrained_file_name>`.

    `embedding_root` is `embeddings` below MXNet's data folder. Raises KeyError for a name of no such file, and
    ValueError that says where to get the file when it is not there: nothing is downloaded.
    """

    pretrained_file_names: tuple[str, ...] = ()
    home_page = ""

    def __init__(
        self,
        pretrained_file_name: str,
        embedding_root: str | None = None,
        init_unknown_vec: Callable[..., NDArray] = nd.zeros,
        vocabulary: Vocabulary | None = None,
        **kwargs: Any,
    ) -> None:
        kind = type(self).__name__
        if not self._is_published(pretrained_file_name):
            known = ", ".join(self.pretrained_file_names)
            raise KeyError(f"Cannot find pretrained file {pretrained_file_name} of {kind}; there are {known}")
        super().__init__(**kwargs)
        root = Path(embedding_root or Path(data_dir()) / "embeddings").expanduser()
        file = root / kind.lower() / pretrained_file_name
        if not file.is_file():
            raise ValueError(f"there is no file {file}; get it from {self.home_page}, or read it with CustomEmbedding")
        self._load(str(file), " ", init_unknown_vec, "utf8")
        self._restrict(vocabulary)

    @classmethod
    def _is_published(cls, name: str) -> bool:
        return name in cls.pretrained_file_names


@register
class GloVe(_Published):
    """The GloVe vectors."""

    pretrained_file_names = (
        "glove.42B.300d.txt", "glove.6B.50d.txt", "glove.6B.100d.txt", "glove.6B.200d.txt", "glove.6B.300d.txt",
        "glove.840B.300d.txt", "glove.twitter.27B.25d.txt", "glove.twitter.27B.50d.txt", "glove.twitter.27B.100d.txt",
        "glove.twitter.27B.200d.txt",
    )  # fmt: skip
    home_page = "https://nlp.stanford.edu/projects/glove/"

    def __init__(self, pretrained_file_name: str = "glove.840B.300d.txt", **kwargs: Any) -> None:
        super().__init__(pretrained_file_name, **kwargs)


@register
class FastText(_Published):
    """The fastText vectors: `wiki.<language>.vec` and others."""

    pretrained_file_names = ("crawl-300d-2M.vec", "wiki.en.vec", "wiki.simple.vec")
    home_page = "https://fasttext.cc/"

    def __init__(self, pretrained_file_name: str = "wiki.en.vec", **kwargs: Any) -> None:
        super().__init__(pretrained_file_name, **kwargs)

    @classmethod
    def _is_published(cls, name: str) -> bool:
        return name in cls.pretrained_file_names or (name.startswith("wiki.") and name.endswith(".vec"))


def get_pretrained_file_names(embedding_name: str | None = None) -> Any:
    """The files that an embedding can be made from, or those of each embedding: name -> files.

    FastText has a `wiki.<language>.vec` for each language; the list names three. Raises KeyError for an unknown name.
    """
    kinds = registry.get_registry(_TokenEmbedding)
    if embedding_name is None:
        return {name: list(getattr(kind, "pretrained_file_names", ())) for name, kind in kinds.items()}
    if embedding_name not in kinds:
        raise KeyError(f"Cannot find `embedding_name` {embedding_name}; there are {', '.join(kinds)}")
    return list(getattr(kinds[embedding_name], "pretrained_file_names", ()))
