"""`python -m localcluster.demo`."""

import sys

from localcluster.demo.main import main

if __name__ == "__main__":
    sys.exit(main())
