"""`python -m localcluster.apiserver`."""

import sys

from localcluster.apiserver.main import main

sys.exit(main())
