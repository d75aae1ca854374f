"""`mx.np`: arrays with numpy's shapes, for files and conversions. Computing is left to `mx.nd`."""

from autohybrid.tensor.numpy_array import array, ndarray

__all__ = ["array", "ndarray"]
