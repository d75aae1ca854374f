"""Files of named arrays: what is written is read, in every format; damaged and hostile files are refused."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autohybrid import nd
from autohybrid.errors import MXNetError
from autohybrid.interop import safetensors
from autohybrid.interop.array_files import SUFFIXES, ArrayFile, read_arrays, write_arrays
from autohybrid.tensor.params_file import StoredArray

DTYPES = ("float64", "float32", "float16", "int64", "int32", "int8", "uint8", "bool")


def content_of(arrays: dict[str, np.ndarray[Any, Any]], **metadata: str) -> ArrayFile:
    return ArrayFile({name: StoredArray(a.shape, a) for name, a in arrays.items()}, metadata)


def sample() -> dict[str, np.ndarray[Any, Any]]:
    random = np.random.default_rng(1)
    arrays = {f"layer.{d}": (random.random((2, 3)) * 9).astype(d) for d in DTYPES}
    return arrays | {
        "arg:dense0_weight": random.random((4, 5)).astype("float32").T,
        "empty": np.zeros((0, 3), "float32"),
        "file": np.arange(3),
        "größe/x": np.ones((1,), "float32"),
    }


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_written_is_read(tmp_path: Path, suffix: str) -> None:
    arrays = sample()
    path = str(tmp_path / f"a{suffix}")
    write_arrays(path, content_of(arrays))
    read = read_arrays(path).arrays
    assert list(read) == list(arrays) if suffix != ".safetensors" else set(read) == set(arrays)
    for name, array in arrays.items():
        assert read[name].values.dtype == array.dtype
        np.testing.assert_array_equal(read[name].values, array)


def test_numpy_reads_the_npz_and_nd_load_the_params(tmp_path: Path) -> None:
    arrays = sample()
    write_arrays(str(tmp_path / "a.npz"), content_of(arrays))
    write_arrays(str(tmp_path / "a.params"), content_of(arrays))
    with np.load(tmp_path / "a.npz") as archive:
        assert set(archive.files) == set(arrays)
        np.testing.assert_array_equal(archive["arg:dense0_weight"], arrays["arg:dense0_weight"])
    loaded = nd.load(str(tmp_path / "a.params"))
    np.testing.assert_array_equal(loaded["layer.float16"].asnumpy(), arrays["layer.float16"])
    np.savez_compressed(tmp_path / "b.npz", x=np.asfortranarray(np.arange(6.0).reshape(2, 3)))
    np.testing.assert_array_equal(read_arrays(str(tmp_path / "b.npz")).arrays["x"].values, np.arange(6.0).reshape(2, 3))


def test_the_bytes_of_a_safetensors_file(tmp_path: Path) -> None:
    data = b"".join(safetensors.encode({"a": np.array([1, 2], "int16")}, {"k": "v"}))
    header = b'{"__metadata__":{"k":"v"},"a":{"dtype":"I16","shape":[2],"data_offsets":[0,4]}}'
    padding = -len(header) % 8
    assert data == struct.pack("<Q", len(header) + padding) + header + b" " * padding + b"\1\0\2\0"
    assert safetensors.decode(io.BytesIO(data), len(data), "x")[1] == {"k": "v"}


@given(st.dictionaries(st.text(max_size=8).filter(lambda t: t != "__metadata__"), st.sampled_from(DTYPES), max_size=5))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_names_survive_in_safetensors(named: dict[str, str]) -> None:
    arrays = {name: np.arange(len(name) * 2).astype(dtype).reshape(-1, 2) for name, dtype in named.items()}
    data = b"".join(safetensors.encode(arrays))
    read = safetensors.decode(io.BytesIO(data), len(data), "x")[0]
    assert {n: (a.dtype, a.tolist()) for n, a in read.items()} == {n: (a.dtype, a.tolist()) for n, a in arrays.items()}


def hostile(header: object, body: bytes = b"\0" * 8) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def entry(dtype: object = "F32", shape: object = (2,), offsets: object = (0, 8)) -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "does not fit"),
        (b"\xff" * 8 + b"{}", "does not fit"),
        (struct.pack("<Q", 99) + b"{}", "does not fit"),
        (hostile(b"[1]"), "no JSON object"),
        (hostile(b"{"), "no JSON object"),
        (hostile(b"[" * 100_000), "no JSON object"),
        (hostile(b"\xff{}"), "no JSON object"),
        (hostile(b'{"a":1,"a":2}'), "occurs twice"),
        (hostile({"a": 7}), "lacks a valid"),
        (hostile({"a": entry(shape=(-1, 2))}), "lacks a valid"),
        (hostile({"a": entry(shape=(True, 2))}), "lacks a valid"),
        (hostile({"a": entry(offsets=(0,))}), "lacks a valid"),
        (hostile({"a": entry(dtype=["F32"])}), "lacks a valid"),
        (hostile({"a": entry(dtype="Q4")}), "dtype 'Q4'"),
        (hostile({"a": entry(shape=(2**62, 2**62))}), "takes"),
        (hostile({"a": entry(shape=(3,))}), "takes 12 bytes, not 8"),
        (hostile({"a": entry(), "b": entry()}), "lies at"),
        (hostile({"a": entry(offsets=(8, 16))}, b"\0" * 16), "lies at"),
        (hostile({"a": entry()}, b"\0" * 4), "lies at"),
        (hostile({"a": entry()}, b"\0" * 9), "belong to no array"),
        (hostile({"__metadata__": {"a": 1}}, b""), "not a mapping of strings"),
    ],
)
def test_hostile_safetensors_are_refused(data: bytes, reason: str) -> None:
    with pytest.raises(MXNetError, match=reason):
        safetensors.decode(io.BytesIO(data), len(data), "x")


def npz(path: Path, member: bytes) -> str:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", member)
    return str(path)


def test_hostile_npz_are_refused(tmp_path: Path) -> None:
    objects = io.BytesIO()
    np.save(objects, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(MXNetError, match="Python objects"):
        read_arrays(npz(tmp_path / "objects.npz", objects.getvalue()))
    large = io.BytesIO()
    np.lib.format.write_array_header_1_0(large, {"descr": "<f4", "fortran_order": False, "shape": (2**40,)})
    with pytest.raises(MXNetError, match="do not fill"):
        read_arrays(npz(tmp_path / "large.npz", large.getvalue()))
    with pytest.raises(MXNetError, match="is not an array"):
        read_arrays(npz(tmp_path / "text.npz", b"hello"))
    (tmp_path / "no.npz").write_bytes(b"PK\3\4 nothing")
    with pytest.raises(MXNetError, match=r"is not an \.npz file"):
        read_arrays(str(tmp_path / "no.npz"))


def test_what_a_format_cannot_hold_is_said(tmp_path: Path) -> None:
    nd.save(str(tmp_path / "s.params"), {"w": nd.ones((3, 2)).tostype("row_sparse")})
    sparse = read_arrays(str(tmp_path / "s.params"))
    for suffix in (".npz", ".safetensors"):
        with pytest.raises(MXNetError, match="`w` is a row_sparse array"):
            write_arrays(str(tmp_path / f"x{suffix}"), sparse)
    with pytest.raises(MXNetError, match="complex64"):
        write_arrays(str(tmp_path / "x.params"), content_of({"a": np.ones(2, "complex64")}))
    with pytest.raises(MXNetError, match="no dtype complex64"):
        write_arrays(str(tmp_path / "x.safetensors"), content_of({"a": np.ones(2, "complex64")}))
    with pytest.raises(MXNetError, match="no known format"):
        read_arrays("a.pt")
    assert not list(tmp_path.glob("x.*")), "nothing half-written stays"
