"""`mx.nd.sparse`: sparse arrays and the operators that know them; the latter come from the records on first use."""

from autohybrid.tensor.imperative import call_operator as _call_operator
from autohybrid.tensor.modules import lazy_namespace as _lazy_namespace
from autohybrid.tensor.sparse import (
    BaseSparseNDArray,
    CSRNDArray,
    RowSparseNDArray,
    add,
    array,
    csr_matrix,
    divide,
    empty,
    multiply,
    row_sparse_array,
    subtract,
    zeros,
)

__getattr__, __dir__ = _lazy_namespace(globals(), "sparse", "autohybrid.ndarray.sparse", _call_operator)
__all__ = [
    "BaseSparseNDArray", "CSRNDArray", "RowSparseNDArray", "add", "array", "csr_matrix", "divide", "empty", "multiply",
    "row_sparse_array", "subtract", "zeros",
]  # fmt: skip
