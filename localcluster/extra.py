"""The extra `tutti[local]`: what only the local cluster and the demo import."""

from importlib.util import find_spec
from typing import Final

from api.errors import ConfigurationError

MODULES: Final = ("cel", "jsonpatch", "rich")
"""The modules of the extra's packages."""


def need_extra() -> None:
    """Whether the extra is installed.

    Raises:
        ConfigurationError: it is not.
    """
    missing = [name for name in MODULES if find_spec(name) is None]
    if missing:
        raise ConfigurationError(
            f"the local cluster needs {', '.join(missing)}, which the extra brings: install tutti[local] "
            "(in a checkout: pip install '.[local]', or any target of make)"
        )
