"""`mx.nd.ndarray`: the class, its functions and the tables of codes, where code written for MXNet looks for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from autohybrid.tensor.array import NDArray
from autohybrid.tensor.attrs import DTYPE_FLAGS
from autohybrid.tensor.composites import concatenate, histogram, moveaxis, onehot_encode, split_v2
from autohybrid.tensor.creation import arange, array, empty, eye, full, linspace, ones, waitall, zeros
from autohybrid.tensor.exchange import from_dlpack, from_numpy, to_dlpack_for_read, to_dlpack_for_write
from autohybrid.tensor.saving import load, load_frombuffer, save

py_slice = slice  # the name under which code imports it from here
_STORAGE_TYPE_ID_TO_STR = {-1: "undefined", 0: "default", 1: "row_sparse", 2: "csr"}
_STORAGE_TYPE_STR_TO_ID = {name: number for number, name in _STORAGE_TYPE_ID_TO_STR.items()}
_STORAGE_TYPE_UNDEFINED, _STORAGE_TYPE_DEFAULT, _STORAGE_TYPE_ROW_SPARSE, _STORAGE_TYPE_CSR = -1, 0, 1, 2
_GRAD_REQ_MAP = {"null": 0, "write": 1, "add": 3}
_DTYPE_MX_TO_NP: dict[int, Any] = {
    -1: None,
    **{flag: np.dtype(name).type for flag, name in enumerate(DTYPE_FLAGS) if name != "bfloat16"},
}
_DTYPE_NP_TO_MX = {dtype: flag for flag, dtype in _DTYPE_MX_TO_NP.items()}

__all__ = [
    "NDArray",
    "arange",
    "array",
    "concatenate",
    "empty",
    "eye",
    "from_dlpack",
    "from_numpy",
    "full",
    "histogram",
    "linspace",
    "load",
    "load_frombuffer",
    "moveaxis",
    "onehot_encode",
    "ones",
    "save",
    "split_v2",
    "to_dlpack_for_read",
    "to_dlpack_for_write",
    "waitall",
    "zeros",
]  # fmt: skip
