"""`gluon.utils`: splitting batches over devices, clipping gradients, fetching files."""

from __future__ import annotations

from autohybrid.gluon.hooks import HookHandle
from autohybrid.gluon.utils.clipping import clip_global_norm
from autohybrid.gluon.utils.downloads import check_sha1, download, replace_file
from autohybrid.gluon.utils.splitting import split_and_load, split_data

__all__ = [
    "HookHandle", "check_sha1", "clip_global_norm", "download", "replace_file", "split_and_load", "split_data",
]  # fmt: skip
