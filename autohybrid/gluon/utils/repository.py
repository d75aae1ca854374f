"""Where published data sets and parameters are fetched from: `MXNET_GLUON_REPO`, or MXNet's own site."""

from __future__ import annotations

import os

_SITE = "https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/"


def repository_url() -> str:
    """The address of the site, with a `/` at its end."""
    return os.environ.get("MXNET_GLUON_REPO", _SITE).rstrip("/") + "/"


def file_url(namespace: str, filename: str) -> str:
    """The address of a file of the site."""
    return f"{repository_url()}{namespace}/{filename}"
