"""Token embeddings: files of vectors, vocabularies, lookups, updates. The numbers are those of MXNet 1.9.1."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from autohybrid import nd
from autohybrid.contrib import text

_LINES = "3 2\na 0.1 0.2\nb 0.3 0.4\na 9 9\nc 0.5 0.6\n"


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "vectors.txt"
    file.write_text(_LINES)
    return str(file)


def _load(path: str, **settings: object) -> text.embedding.CustomEmbedding:
    with pytest.warns(UserWarning) as caught:
        made = text.embedding.CustomEmbedding(path, **settings)
    assert ["likely a header" in str(w.message) for w in caught] == [True, False]
    assert "line 4 of" in str(caught[1].message)
    return made


def test_a_file_gives_tokens_and_vectors(path: str) -> None:
    embedding = _load(path, init_unknown_vec=nd.ones)
    assert embedding.idx_to_token == ["<unk>", "a", "b", "c"]
    assert (len(embedding), embedding.vec_len) == (4, 2)
    np.testing.assert_allclose(embedding.idx_to_vec.asnumpy(), [[1, 1], [0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    np.testing.assert_allclose(embedding.get_vecs_by_tokens("b").asnumpy(), [0.3, 0.4])
    np.testing.assert_allclose(embedding.get_vecs_by_tokens(["C", "z"]).asnumpy(), [[1, 1], [1, 1]])
    np.testing.assert_allclose(embedding.get_vecs_by_tokens(["C"], True).asnumpy(), [[0.5, 0.6]])


def test_the_file_may_hold_the_vector_of_unknown_tokens(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("<unk>,7,8\na,1,2\n")
    embedding = text.embedding.CustomEmbedding(str(tmp_path / "v.txt"), elem_delim=",", reserved_tokens=["<pad>"])
    assert embedding.idx_to_token == ["<unk>", "<pad>", "a"]
    np.testing.assert_array_equal(embedding.idx_to_vec.asnumpy(), [[7, 8], [0, 0], [1, 2]])


def test_a_vocabulary_chooses_and_orders_the_tokens(path: str) -> None:
    vocabulary = text.vocab.Vocabulary(Counter("ccbzz"), reserved_tokens=["<pad>"])
    embedding = _load(path, vocabulary=vocabulary)
    assert embedding.idx_to_token == ["<unk>", "<pad>", "c", "z", "b"]
    np.testing.assert_allclose(embedding.idx_to_vec.asnumpy(), [[0, 0], [0, 0], [0.5, 0.6], [0, 0], [0.3, 0.4]])


def test_embeddings_are_put_side_by_side(path: str) -> None:
    first = _load(path)
    second = _load(path, init_unknown_vec=nd.ones)
    both = text.embedding.CompositeEmbedding(text.vocab.Vocabulary(Counter("ab")), [first, second])
    wanted = [[0, 0, 1, 1], [0.1, 0.2, 0.1, 0.2], [0.3, 0.4, 0.3, 0.4]]
    np.testing.assert_allclose(both.idx_to_vec.asnumpy(), wanted)
    assert both.vec_len == 4


def test_vectors_are_replaced_by_name(path: str) -> None:
    embedding = _load(path)
    embedding.update_token_vectors("a", nd.array([5, 6]))
    embedding.update_token_vectors(["<unk>", "b"], nd.array([[1, 2], [3, 4]]))
    np.testing.assert_allclose(embedding.idx_to_vec.asnumpy(), [[1, 2], [5, 6], [3, 4], [0.5, 0.6]])
    with pytest.raises(ValueError, match="Token z is unknown"):
        embedding.update_token_vectors("z", nd.array([5, 6]))
    with pytest.raises(AssertionError, match=r"shape \(2, 2\), not \(1, 2\)"):
        embedding.update_token_vectors(["a", "b"], nd.array([[5, 6]]))


def test_files_of_another_form_are_refused(tmp_path: Path) -> None:
    (tmp_path / "word.txt").write_text("a 1 2\nalone\n")
    with pytest.raises(AssertionError, match=r"line 2 of .*word.txt is not a token and a vector"):
        text.embedding.CustomEmbedding(str(tmp_path / "word.txt"))
    (tmp_path / "long.txt").write_text("a 1 2\nb 1 2 3\n")
    with pytest.raises(AssertionError, match="token b has 3 numbers, those before 2"):
        text.embedding.CustomEmbedding(str(tmp_path / "long.txt"))
    with pytest.raises(ValueError, match="must be a valid path"):
        text.embedding.CustomEmbedding(str(tmp_path / "none.txt"))


def test_published_vectors_are_read_where_they_lie(tmp_path: Path) -> None:
    assert "glove.6B.50d.txt" in text.embedding.get_pretrained_file_names("glove")
    assert set(text.embedding.get_pretrained_file_names()) >= {"glove", "fasttext"}
    with pytest.raises(KeyError, match="Cannot find `embedding_name` glow"):
        text.embedding.get_pretrained_file_names("glow")
    with pytest.raises(KeyError, match="Cannot find pretrained file other"):
        text.embedding.create("glove", pretrained_file_name="other")
    with pytest.raises(ValueError, match=r"get it from https://fasttext.cc/"):
        text.embedding.create("fasttext", embedding_root=str(tmp_path))
    (tmp_path / "glove").mkdir()
    (tmp_path / "glove" / "glove.6B.50d.txt").write_text("a 1 2\n")
    made = text.embedding.create("GloVe", pretrained_file_name="glove.6B.50d.txt", embedding_root=str(tmp_path))
    assert made.idx_to_token == ["<unk>", "a"]
