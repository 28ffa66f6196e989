"""`python -m localcluster.controllers`."""

import sys

from localcluster.controllers.main import main

if __name__ == "__main__":
    sys.exit(main())
