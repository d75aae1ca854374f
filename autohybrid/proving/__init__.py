"""Running the user's examples before and after a change of their files, in a process of its own, to prove it equal.

The one part of `check` that executes user code, and only when asked for. `worker` is the process; `examples` says what
is called, `overlay` puts texts in place of files, `runs` records results, `comparison` tells two records apart.
"""
