"""Run a script or a module that says `import mxnet`, without MXNet.

autohybrid run train.py --epochs 3        as `python train.py --epochs 3`
autohybrid run -m package.train --lr 0.1  as `python -m package.train --lr 0.1`

`import mxnet` and all its modules are autohybrid then. Flags of autohybrid come before the script; all that follows it
belongs to the script. Exit codes and tracebacks are Python's.
"""

from __future__ import annotations

import argparse
import builtins
import io
import os
import re
import runpy
import sys
import traceback
import zipfile
from collections.abc import Sequence
from types import ModuleType, TracebackType

from autohybrid.cli.guard import INTERRUPTED
from autohybrid.cli.parser import Parser
from autohybrid.cli.terminal import say
from autohybrid.config import SettingsError

_FAILED = 1
_NUMPY_NAME = re.compile(r"module 'numpy' has no attribute '(\w+)'|`np\.(\w+)` was removed")


def add_arguments(parser: Parser) -> None:
    """The flags of `autohybrid run`."""
    parser.add_argument("script", nargs="?", metavar="SCRIPT", help="a Python file")
    parser.add_argument("arguments", nargs="*", metavar="ARGUMENT", help="arguments of the script")
    parser.add_argument("-m", dest="module", metavar="MODULE", help="run a module of this name in place of a script")
    parser.add_argument(
        "--legacy-numpy",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="give NumPy the names back that it has dropped (np.float, np.int, np.Inf): done unless refused",
    )


def parse(parser: Parser, words: Sequence[str]) -> argparse.Namespace:
    """The flags before the script; everything after the script, or after `-m MODULE`, is the script's, unread."""
    end = 0
    while end < len(words) and words[end].startswith("-"):
        end += 1
        if words[end - 1].startswith("-m"):
            end += words[end - 1] == "-m"
            break
    else:
        end += end < len(words)
    parsed = parser.parse(words[:end])
    parsed.arguments = list(words[end:])
    return parsed


def run(arguments: argparse.Namespace) -> int:
    """Run it as `__main__`. Raises SettingsError when there is nothing to run."""
    if arguments.module is None and arguments.script is None:
        raise SettingsError("give a script, or a module with -m (see `autohybrid run --help`)")
    if arguments.script is not None and not os.path.exists(arguments.script):
        raise SettingsError(f"can't open file `{arguments.script}`: no such file")
    from autohybrid import compat

    compat.install(numpy_names=arguments.legacy_numpy)
    sys.argv = [arguments.script or "-m", *arguments.arguments]
    outcome = _AsPython()
    with outcome:
        if arguments.module is not None:
            sys.path.insert(0, os.getcwd())
            runpy.run_module(arguments.module, run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, os.path.dirname(os.path.realpath(arguments.script)))
            _run_script(arguments.script)
    return outcome.code


def _run_script(path: str) -> None:
    """Run a file as the interpreter does: its `__file__` is absolute, while `sys.argv[0]` stays as it was given."""
    if os.path.isdir(path) or zipfile.is_zipfile(path):
        runpy.run_path(path, run_name="__main__")
        return
    main = ModuleType("__main__")
    main.__file__ = os.path.abspath(path)
    vars(main)["__builtins__"] = builtins
    with io.open_code(main.__file__) as stream:
        code = compile(stream.read(), main.__file__, "exec", dont_inherit=True)
    sys.modules["__main__"] = main
    exec(code, vars(main))


class _AsPython:
    """A context manager that ends the body as the interpreter would: `code` is the exit code."""

    def __init__(self) -> None:
        self.code = 0

    def __enter__(self) -> _AsPython:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if isinstance(error, SystemExit):
            self.code = _exit_code(error)
        elif error is not None:
            self.code = INTERRUPTED if isinstance(error, KeyboardInterrupt) else _FAILED
            _report(error.with_traceback(_of_the_script(trace)))
        return True


def _exit_code(error: SystemExit) -> int:
    if error.code is None or isinstance(error.code, int):
        return error.code or 0
    sys.stderr.write(f"{error.code}\n")
    return _FAILED


def _of_the_script(trace: TracebackType | None) -> TracebackType | None:
    """The traceback without the frames that lead to the script."""
    own = (__file__, "<frozen runpy>")
    while trace is not None and trace.tb_frame.f_code.co_filename in own:
        trace = trace.tb_next
    return trace


def _report(error: BaseException) -> None:
    """What the interpreter writes; a module that does not exist has no traceback to show."""
    sys.stdout.flush()
    if error.__traceback__ is None and isinstance(error, ImportError):
        sys.stderr.write(f"{sys.executable}: {error}\n")
        return
    if sys.excepthook is sys.__excepthook__:
        traceback.print_exception(error)
    else:
        sys.excepthook(type(error), error, error.__traceback__)
    _advise(error)


def _advise(error: BaseException) -> None:
    # NumPy raises these without the name that was asked for, so it is read from the message.
    missing = _NUMPY_NAME.search(str(error)) if isinstance(error, AttributeError) else None
    if missing is not None:
        from autohybrid.compat.legacy_numpy import NAMES

        name = missing[1] or missing[2]
        if name in NAMES:
            say(f"NumPy no longer has `np.{name}`; `autohybrid run` without --no-legacy-numpy puts it back")
