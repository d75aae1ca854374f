"""`python -m autohybrid` is the command `autohybrid`."""

import sys

from autohybrid.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
