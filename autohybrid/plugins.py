"""Whether any installed package offers entry points of a group, without the cost of importlib.metadata (20 ms)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

RULES_GROUP = "autohybrid.rules"
OPERATORS_GROUP = "autohybrid.ops"
_FOLDERS = (".dist-info", ".egg-info")


def has_entry_points(group: str) -> bool:
    """Whether an installed distribution has a section `[group]` in its `entry_points.txt`.

    Never wrongly false. A zip file on the path counts as having one, so that the caller looks.
    """
    return bool(entry_point_state(group))


def entry_point_state(group: str) -> str:
    """The files with such a section and when they were installed: another text when a plugin comes, goes or changes."""
    section = f"[{group}]".encode()
    return "\n".join(line for folder in sys.path for line in _sections(folder or ".", section))


def _sections(folder: str, section: bytes) -> Iterator[str]:
    try:
        names = os.listdir(folder)
    except NotADirectoryError:
        if os.path.basename(folder) != f"python{sys.version_info[0]}{sys.version_info[1]}.zip":
            yield folder
        return
    except OSError:
        return
    for name in names:
        if name.endswith(_FOLDERS):
            path = os.path.join(folder, name, "entry_points.txt")
            try:
                with open(path, "rb") as stream:
                    if section in stream.read():
                        yield f"{path}:{os.fstat(stream.fileno()).st_mtime_ns}"
            except OSError:
                continue
