"""`gluon.utils`: splitting batches over devices, clipping gradients, fetching files."""

from __future__ import annotations

from autohybrid.gluon.hooks import HookHandle
from autohybrid.gluon.utils.clipping import clip_global_norm
from autohybrid.gluon.utils.downloads import check_sha1, download, replace_file

# MXNet's names of two helpers, which other packages import.
from autohybrid.gluon.utils.repository import file_url as _get_repo_file_url  # noqa: F401
from autohybrid.gluon.utils.repository import repository_url as _get_repo_url  # noqa: F401
from autohybrid.gluon.utils.splitting import split_and_load, split_data

__all__ = [
    "HookHandle", "check_sha1", "clip_global_norm", "download", "replace_file", "split_and_load", "split_data",
]  # fmt: skip
