"""`python -m verify.planted`."""

import sys

from verify.planted.main import main

sys.exit(main())
