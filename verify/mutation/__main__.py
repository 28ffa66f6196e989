"""`python -m verify.mutation`."""

import sys

from verify.mutation.main import main

sys.exit(main())
