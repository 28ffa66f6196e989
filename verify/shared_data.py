"""Where public data are that tests and checks read: manifests, recordings, traces. They are no part of this repository.

Whoever needs them says so where they are missing, and is not passed.
"""

import os
from pathlib import Path
from typing import Final

SHARED_DATA: Final = Path(os.environ.get("TUTTI_SHARED_DATA") or Path(__file__).parents[2] / "shared" / "data")
"""The folder that `TUTTI_SHARED_DATA` names, or the one beside this repository; there may be none."""
