"""`python -m localcluster.demo`."""

import sys

from api.errors import ConfigurationError
from localcluster.extra import need_extra

if __name__ == "__main__":
    try:
        need_extra()
    except ConfigurationError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(error.exit_code)
    from localcluster.demo.main import main

    sys.exit(main())
