"""What every test shares: the cache of lowered texts goes to a folder of the session, never to the user's home."""

from __future__ import annotations

import os
import tempfile

# Set while collecting, as modules under test read it at first use and worker processes inherit it.
os.environ.setdefault("AUTOHYBRID_CACHE_DIR", tempfile.mkdtemp(prefix="autohybrid-tests-"))
