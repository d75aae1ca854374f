"""`mx.mod` (`mx.module`): training loops around symbols, as before Gluon."""

from __future__ import annotations

from autohybrid.module.base_module import BaseModule
from autohybrid.module.bucketing_module import BucketingModule
from autohybrid.module.executor_group import DataParallelExecutorGroup
from autohybrid.module.module import Module
from autohybrid.module.python_module import PythonLossModule, PythonModule
from autohybrid.module.sequential_module import SequentialModule

__all__ = [
    "BaseModule", "BucketingModule", "DataParallelExecutorGroup", "Module", "PythonLossModule", "PythonModule",
    "SequentialModule",
]  # fmt: skip
