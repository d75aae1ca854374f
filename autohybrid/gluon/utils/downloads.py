"""Fetching files and checking them."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import ssl
import urllib.request
import warnings
from pathlib import Path

_log = logging.getLogger("autohybrid")


def check_sha1(filename: str | os.PathLike[str], sha1_hash: str) -> bool:
    """Whether the SHA-1 of the file's contents is `sha1_hash` (hexadecimal)."""
    with open(filename, "rb") as stream:
        return hashlib.file_digest(stream, "sha1").hexdigest() == sha1_hash


def replace_file(src: str, dst: str) -> None:
    """Rename `src` over `dst` in one step. Raises OSError, and removes `src`, when that is not possible."""
    try:
        os.replace(src, dst)
    except OSError as error:
        Path(src).unlink(missing_ok=True)
        raise OSError(f"moving {src} to {dst} failed: {error}") from error


def download(
    url: str,
    path: str | None = None,
    overwrite: bool = False,
    sha1_hash: str | None = None,
    retries: int = 5,
    verify_ssl: bool = True,
) -> str:
    """Fetch `url` to `path` (a file or a folder; the current one by default) and give the file's name.

    A file that is there already, with the right `sha1_hash` if one is given, is kept. Raises OSError when all tries
    fail and UserWarning when the contents have another hash.
    """
    if retries < 0:
        raise AssertionError(f"retries must not be negative, but is {retries}")
    target = _target(url, path)
    if target.exists() and not overwrite and (not sha1_hash or check_sha1(target, sha1_hash)):
        return str(target)
    if not verify_ssl:
        warnings.warn(
            "Unverified HTTPS request: the certificate of the server is not checked", UserWarning, stacklevel=2
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f"{target.name}.{os.getpid()}.part")
    for attempt in range(retries + 1):
        try:
            _log.info("downloading %s from %s", target, url)
            _fetch(url, draft, verify_ssl)
            break
        except OSError as error:
            draft.unlink(missing_ok=True)
            if attempt == retries:
                raise
            _log.warning("download of %s failed (%s); %d tries are left", url, error, retries - attempt)
    if sha1_hash and not check_sha1(draft, sha1_hash):
        draft.unlink()
        raise UserWarning(f"the contents of {url} do not have the SHA-1 {sha1_hash}; the file was not kept")
    replace_file(str(draft), str(target))
    return str(target)


def _target(url: str, path: str | None) -> Path:
    name = url.split("/")[-1]
    if path is None:
        if not name:
            raise AssertionError(f"no file name can be made from {url}; give `path`")
        return Path(name)
    target = Path(path).expanduser()
    return target / name if target.is_dir() else target


def _fetch(url: str, draft: Path, verify_ssl: bool) -> None:
    try:
        import requests
    except ImportError:
        _fetch_plainly(url, draft, verify_ssl)
        return
    response = requests.get(url, stream=True, verify=verify_ssl)
    if response.status_code != 200:
        raise OSError(f"the server answered {response.status_code} for {url}")
    with open(draft, "wb") as stream:
        for chunk in response.iter_content(chunk_size=1 << 20):
            stream.write(chunk)


def _fetch_plainly(url: str, draft: Path, verify_ssl: bool) -> None:
    context = None if verify_ssl else ssl._create_unverified_context()
    with urllib.request.urlopen(url, context=context) as source, open(draft, "wb") as stream:
        shutil.copyfileobj(source, stream)
