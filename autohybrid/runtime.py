"""`mx.runtime`: which of MXNet's build features this library has. What no build flag decides here is disabled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

__all__ = ["Feature", "Features", "feature_list"]

_NAMES = (
    "CUDA", "CUDNN", "NCCL", "CUDA_RTC", "TENSORRT", "CPU_SSE", "CPU_SSE2", "CPU_SSE3", "CPU_SSE4_1", "CPU_SSE4_2",
    "CPU_SSE4A", "CPU_AVX", "CPU_AVX2", "OPENMP", "SSE", "F16C", "JEMALLOC", "BLAS_OPEN", "BLAS_ATLAS", "BLAS_MKL",
    "BLAS_APPLE", "LAPACK", "MKLDNN", "OPENCV", "CAFFE", "PROFILER", "DIST_KVSTORE", "CXX14", "INT64_TENSOR_SIZE",
    "SIGNAL_HANDLER", "DEBUG", "TVM_OP",
)  # fmt: skip
#: Linear algebra and arrays beyond 2**31 elements need no build flag here.
_ENABLED = frozenset({"LAPACK", "INT64_TENSOR_SIZE"})


class Feature(NamedTuple):
    """One feature: its name, and whether it is enabled."""

    name: str
    enabled: bool

    def __repr__(self) -> str:
        return f"{'✔' if self.enabled else '✖'} {self.name}"


class Features(Mapping[str, Feature]):
    """The features by name; there is one instance."""

    _features: dict[str, Feature]
    _instance: Features | None = None

    def __new__(cls) -> Features:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
            cls._instance._features = {feature.name: feature for feature in feature_list()}
        return cls._instance

    def __getitem__(self, name: str) -> Feature:
        return self._features[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._features)

    def __len__(self) -> int:
        return len(self._features)

    def __repr__(self) -> str:
        return str(list(self.values()))

    def is_enabled(self, feature_name: str) -> bool:
        """Whether a feature is enabled. Raises RuntimeError for a name that MXNet does not know."""
        found = self._features.get(feature_name.upper())
        if found is None:
            raise RuntimeError(f"feature '{feature_name}' is unknown; known are {', '.join(self._features)}")
        return found.enabled


def feature_list() -> list[Feature]:
    """Every feature."""
    return [Feature(name, name in _ENABLED) for name in _NAMES]
