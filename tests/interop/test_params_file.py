"""The `.params` format: recorded files, round trips, damage."""

from __future__ import annotations

import io
import random
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import DTYPE_FLAGS
from autohybrid.tensor.params_file import StoredArray, decode_file, encode_file

RECORDED = Path(__file__).parent.parent / "data" / "params"
FILES = sorted(RECORDED.glob("*.params"))


def decode(data: bytes, numpy_shapes: bool = False) -> tuple[list[StoredArray], list[str]]:
    return decode_file(io.BytesIO(data), len(data), "'weights.params'", "both" if numpy_shapes else "classic")


def encode(arrays: list[StoredArray], names: list[str], numpy_shapes: bool = False) -> bytes:
    return b"".join(encode_file(arrays, names, numpy_shapes))


def file_of(*records: bytes, names: tuple[bytes, ...] = ()) -> bytes:
    listed = b"".join(struct.pack("<Q", len(n)) + n for n in names)
    return struct.pack("<QQQ", 0x112, 0, len(records)) + b"".join(records) + struct.pack("<Q", len(names)) + listed


V2 = struct.pack("<Ii", 0xF993FAC9, 0)
ONE = V2 + struct.pack("<iqiii", 1, 2, 1, 0, 0) + np.float32([1, 2]).tobytes()


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_recorded_file_is_rewritten_byte_for_byte(path: Path) -> None:
    data = path.read_bytes()
    numpy_shapes = path.stem == "np"
    assert encode(*decode(data, numpy_shapes), numpy_shapes) == data


def test_recorded_files_are_there() -> None:
    assert {"dict", "list", "dtypes", "sparse", "np", "bool", "rank"} <= {p.stem for p in FILES}


@pytest.mark.parametrize("dtype", [d for d in DTYPE_FLAGS if d != "bfloat16"])
def test_every_dtype_survives(dtype: str) -> None:
    values = np.arange(6).reshape(2, 3).astype(dtype)
    (found,), _ = decode(encode([StoredArray((2, 3), values)], []))
    assert found.values.dtype == dtype
    assert np.array_equal(found.values, values)


def test_bfloat16_keeps_its_bits() -> None:
    record = V2 + struct.pack("<iqiii", 1, 2, 1, 0, 12) + struct.pack("<HH", 0x3F80, 0x4000)
    (found,), _ = decode(file_of(record))
    assert found.values["bfloat16"].tolist() == [0x3F80, 0x4000]
    assert encode([found], []) == file_of(record)


def test_legacy_records_without_version_and_v1_are_read() -> None:
    values = np.float32([[1, 2]]).tobytes()
    oldest = struct.pack("<III", 2, 1, 2) + struct.pack("<iii", 1, 0, 0) + values
    v1 = struct.pack("<I", 0xF993FAC8) + struct.pack("<iqq", 2, 1, 2) + struct.pack("<iii", 1, 0, 0) + values
    for record in (oldest, v1):
        (found,), _ = decode(file_of(record))
        assert found.values.tolist() == [[1, 2]]


@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 3), min_size=1, max_size=4), st.sampled_from(["float32", "int8", "float64"])),
        max_size=5,
    ),
    st.booleans(),
)
def test_round_trip(kinds: list[tuple[list[int], str]], named: bool) -> None:
    arrays = [StoredArray(tuple(s), np.full(s, 3, d)) for s, d in kinds]
    names = [f"n\u00e4me {i}" for i in range(len(arrays))] if named else []
    data = encode(arrays, names)
    found, found_names = decode(data)
    assert found_names == names
    assert [(a.shape, a.values.dtype, a.values.tolist()) for a in found] == [
        (a.shape, a.values.dtype, a.values.tolist()) for a in arrays
    ]


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "the list magic needs 8 bytes, 0 are left"),
        (b"not a params file at all", "not a .params file"),
        (file_of(ONE)[:-10], "array 0 of 1, byte 56: the values"),
        (file_of(ONE)[:-4], "byte 64: the number of names needs 8 bytes"),
        (struct.pack("<QQQ", 0x112, 0, 2**60), "the number of arrays"),
        (file_of(struct.pack("<Ii", 0xF993FAC9, 7)), "unknown storage type 7"),
        (file_of(V2 + struct.pack("<i", -3)), "-3 is not a number of axes"),
        (file_of(V2 + struct.pack("<i", 1000)), "1000 is not a number of axes"),
        (file_of(V2 + struct.pack("<i", 0)), "no axes and no values"),
        (file_of(V2 + struct.pack("<iqq", 2, 2, -5)), r"\(2, -5\) is not a shape"),
        (file_of(V2 + struct.pack("<iqqiii", 2, 2**31, 2**31, 1, 0, 0)), "needs 18446744073709551616 bytes"),
        (file_of(V2 + struct.pack("<iqqiii", 2, 0, 2**62, 1, 0, 0)), "too large"),
        (file_of(V2 + struct.pack("<iqiii", 1, 2, 9, 0, 0)), "unknown device type 9"),
        (file_of(V2 + struct.pack("<iqiii", 1, 2, 1, 0, 77)), "unknown type flag 77"),
        (file_of(struct.pack("<Ii", 0xF993FACA, 0) + ONE[8:]), "numpy semantics"),
        (file_of(ONE, ONE, names=(b"a",)), "1 names for 2 arrays"),
        (file_of(ONE, names=(b"\xff",)), "not UTF-8"),
    ],
)
def test_damage_is_named_with_file_and_place(data: bytes, complaint: str) -> None:
    with pytest.raises(MXNetError, match=complaint) as caught:
        decode(data)
    assert "'weights.params'" in str(caught.value)
    assert "byte " in str(caught.value)


def csr(shape: tuple[int, int], indptr: list[int], columns: list[int]) -> bytes:
    values = np.ones(len(columns), "float32")
    return encode([StoredArray(shape, values, "csr", (np.int64(indptr), np.int64(columns)))], [])


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (csr((2, 3), [0, 1, 2], [0, 3]), "column index lies outside 0 to 2"),
        (csr((2, 3), [0, 5, 2], [0, 1]), "do not rise"),
        (csr((2, 3), [0, 2], [0, 1]), "do not make a csr array"),
        (encode([StoredArray((2, 1), np.ones((1, 1)), "row_sparse", (np.int64([2]),))], []), "row indices"),
        (
            encode([StoredArray((2, 1), np.ones((2, 1)), "row_sparse", (np.int64([0]),))], []),
            "do not make a row_sparse",
        ),
    ],
)
def test_sparse_indices_outside_the_array_are_refused(data: bytes, complaint: str) -> None:
    with pytest.raises(MXNetError, match=complaint):
        decode(data)


def mutated(rng: random.Random, data: bytes) -> bytes:
    """One of the recorded files after a few bits, words, cuts, insertions or repetitions."""
    draft = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(draft) + 1)
        match rng.randrange(5):
            case 0 if place < len(draft):
                draft[place] ^= 1 << rng.randrange(8)
            case 1:
                word = rng.choice([0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**64 - 1, rng.getrandbits(64)])
                draft[place : place + 8] = struct.pack("<Q", word)
            case 2:
                del draft[place:]
            case 3:
                draft[place:place] = rng.randbytes(rng.randint(1, 16))
            case 4:
                draft[place:place] = draft[: rng.randint(0, 64)]
    return bytes(draft)


def test_ten_thousand_mutated_files_raise_clearly_and_take_little_memory() -> None:
    rng = random.Random(7)
    originals = [p.read_bytes() for p in FILES]
    tracemalloc.start()
    refused = 0
    try:
        for _ in range(10_000):
            data = mutated(rng, rng.choice(originals))
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            try:
                decode(data, rng.random() < 0.5)
            except MXNetError as error:
                refused += 1
                assert "byte " in str(error)
            assert tracemalloc.get_traced_memory()[1] - before < 50_000 + 8 * len(data)
    finally:
        tracemalloc.stop()
    assert refused > 5_000
