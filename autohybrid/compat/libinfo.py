"""`mx.libinfo`: where MXNet's compiled library lies. There is none here, and asking says so."""

from __future__ import annotations

from typing import NoReturn

__version__ = "1.9.1"


def _refuse(what: str) -> NoReturn:
    raise RuntimeError(f"there is no {what}: autohybrid is written in Python and stands in for MXNet {__version__}")


def find_lib_path(prefix: str = "libmxnet") -> list[str]:
    """Raises RuntimeError: there is no library."""
    _refuse(f"library {prefix}")


def find_include_path() -> str:
    """Raises RuntimeError: there are no headers."""
    _refuse("folder of MXNet's headers")


def find_conf_path(prefix: str = "tvmop") -> str:
    """Raises RuntimeError: there is no configuration of compiled operators."""
    _refuse(f"configuration file {prefix}.conf")
