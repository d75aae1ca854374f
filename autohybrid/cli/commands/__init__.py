"""The commands, one file each: the file's name is the command's. Adding a file is all there is to adding a command.

A command module has a docstring whose first line is its summary, `add_arguments(parser)`, `run(arguments) -> int`, and,
if it has other names, `ALIASES`.
"""
