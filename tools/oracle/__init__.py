"""Compares autohybrid's operators with MXNet 1.9.1 on random calls; `python -m tools.oracle --help`."""
