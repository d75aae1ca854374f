"""Cases whose outcomes on MXNet 1.9.1 are recorded in tests/data/gluon."""
