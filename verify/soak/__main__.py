"""`python -m verify.soak`."""

import sys

from verify.soak.main import main

if __name__ == "__main__":
    sys.exit(main())
