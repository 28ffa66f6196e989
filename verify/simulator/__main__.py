"""`python -m verify.simulator`."""

import sys

from verify.simulator.main import main

if __name__ == "__main__":
    sys.exit(main())
