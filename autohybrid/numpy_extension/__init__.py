"""`mx.npx`: the switches of numpy mode, and files of `mx.np` arrays."""

from autohybrid.numpy_extension.files import load, save
from autohybrid.numpy_semantics import is_np_array, is_np_shape, reset_np, set_np, use_np
from autohybrid.tensor.creation import waitall

__all__ = ["is_np_array", "is_np_shape", "load", "reset_np", "save", "set_np", "use_np", "waitall"]
