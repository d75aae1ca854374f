"""`mx.mod` (`mx.module`): training loops around symbols, as before Gluon."""

from __future__ import annotations

from autohybrid.training.module.base_module import BaseModule
from autohybrid.training.module.bucketing_module import BucketingModule
from autohybrid.training.module.executor_group import DataParallelExecutorGroup
from autohybrid.training.module.module import Module

__all__ = ["BaseModule", "BucketingModule", "DataParallelExecutorGroup", "Module"]
