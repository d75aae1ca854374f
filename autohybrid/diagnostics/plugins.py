"""Whether any installed package offers entry points of a group, without the cost of importlib.metadata (20 ms)."""

from __future__ import annotations

import os
import sys

_FOLDERS = (".dist-info", ".egg-info")


def has_entry_points(group: str) -> bool:
    """Whether an `entry_points.txt` of an installed distribution has a section `[group]`; never wrongly false for
    distributions in folders on `sys.path`. Zip files on the path count as having one, so that the caller looks."""
    section = f"[{group}]".encode()
    return any(_has_section(folder or ".", section) for folder in sys.path)


def _has_section(folder: str, section: bytes) -> bool:
    try:
        names = os.listdir(folder)
    except NotADirectoryError:
        return os.path.basename(folder) != f"python{sys.version_info[0]}{sys.version_info[1]}.zip"
    except OSError:
        return False
    for name in names:
        if name.endswith(_FOLDERS):
            try:
                with open(os.path.join(folder, name, "entry_points.txt"), "rb") as stream:
                    if section in stream.read():
                        return True
            except OSError:
                continue
    return False
