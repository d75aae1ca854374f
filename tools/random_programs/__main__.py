"""`python -m tools.random_programs`: see driver.py, which the processes it starts import too."""

from __future__ import annotations

import sys

from tools.random_programs.driver import main

sys.exit(main())
