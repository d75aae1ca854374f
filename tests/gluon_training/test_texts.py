"""Word counts, vocabularies and WikiText from local files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import autohybrid as mx
from autohybrid import compat
from autohybrid.contrib import text
from autohybrid.gluon.contrib.data.text import WikiText2, WikiText103

COUNTS = Counter({"a": 2, "c": 5, "b": 2, "rare": 1, "<eos>": 3})


def test_tokens_are_counted() -> None:
    assert text.utils.count_tokens_from_str(" Life is great ! \n life is good . \n") == Counter(
        {"Life": 1, "is": 2, "great": 1, "!": 1, "life": 1, "good": 1, ".": 1}
    )
    earlier = Counter(life=1)
    counted = text.utils.count_tokens_from_str("*Life*is*", "\\*", to_lower=True, counter_to_update=earlier)
    assert counted is earlier
    assert counted == Counter(life=2, **{"is": 1})


def test_a_vocabulary_numbers_the_frequent_first() -> None:
    vocab = text.vocab.Vocabulary(COUNTS, reserved_tokens=["<eos>"])
    assert vocab.idx_to_token == ["<unk>", "<eos>", "c", "a", "b", "rare"]
    assert vocab.to_indices(["b", "absent", "<eos>"]) == [4, 0, 1]
    assert (vocab.to_indices("c"), vocab.to_tokens(3), vocab.to_tokens([1, 2])) == (2, "a", ["<eos>", "c"])
    assert text.vocab.Vocabulary(COUNTS, most_freq_count=2, min_freq=2).idx_to_token == ["<unk>", "c", "<eos>"]
    assert len(text.vocab.Vocabulary(COUNTS, min_freq=3)) == 3
    with pytest.raises(ValueError, match="token index 9"):
        vocab.to_tokens([9])
    with pytest.raises(AssertionError, match="reserved_tokens"):
        text.vocab.Vocabulary(COUNTS, reserved_tokens=["x", "x"])


def test_wikitext_is_cut_into_sequences(tmp_path: Path) -> None:
    (tmp_path / "wiki.train.tokens").write_text(" a b c \n\n a a \n b c \n", encoding="utf8")
    train = WikiText2(str(tmp_path), "train", seq_len=4)
    # a b c <eos> a a <eos> b c <eos>: nine tokens have a next one, which makes two sequences of four
    numbers = train.vocabulary.to_indices("a b c <eos> a a <eos> b c <eos>".split())
    assert len(train) == 2
    assert [sample.asnumpy().tolist() for sample in train[1]] == [numbers[4:8], numbers[5:9]]
    assert train[0][0].dtype == mx.nd.zeros(1, dtype="int32").dtype
    assert train.frequencies["a"] == 3
    (tmp_path / "wiki.valid.tokens").write_text("a new b c\n", encoding="utf8")
    validation = WikiText103(str(tmp_path), "validation", vocab=train.vocabulary, seq_len=2)
    assert validation[0][0].asnumpy().tolist() == train.vocabulary.to_indices(["a", "<unk>"])
    with pytest.raises(ValueError, match="segment is one of"):
        WikiText2(str(tmp_path), "valid")


def test_the_modules_have_mxnets_paths() -> None:
    compat.install()
    try:
        from mxnet.contrib.text.utils import count_tokens_from_str
        from mxnet.contrib.text.vocab import Vocabulary
        from mxnet.gluon.contrib.data.text import WikiText2 as Same

        assert (count_tokens_from_str, Vocabulary, Same) == (
            text.utils.count_tokens_from_str,
            text.vocab.Vocabulary,
            WikiText2,
        )
    finally:
        compat.uninstall()
