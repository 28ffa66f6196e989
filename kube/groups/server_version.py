"""What follows from the version of the API server alone."""

import re
from collections.abc import Mapping
from typing import Any, Final

from api.constants import REASON_POD_GROUP_ERROR, REASON_SCHEDULER_ERROR
from api.errors import ConfigurationError

OLDEST_MINOR: Final = 30
"""The oldest Kubernetes that is supported: 1.30."""

_POD_GROUP_ERROR_SINCE: Final = 38


def minor_of(version: Mapping[str, Any]) -> int:
    """The 37 of `v1.37.2`, from the answer to `/version`; 0 when it does not say."""
    found = re.match(r"\d+", str(version.get("minor") or "")) or re.search(
        r"(?<=^v1\.)\d+", str(version.get("gitVersion") or "")
    )
    return int(found.group()) if found else 0


def require_supported(version: Mapping[str, Any]) -> None:
    """Pass unless the server says that it is too old.

    Raises:
        ConfigurationError: it is; what it is and what it takes.
    """
    minor = minor_of(version)
    if 0 < minor < OLDEST_MINOR:
        raise ConfigurationError(
            f"this is Kubernetes 1.{minor}; Tutti needs 1.{OLDEST_MINOR} or later, where admission policies and match "
            "conditions are stable"
        )


def group_error_reason(version: Mapping[str, Any]) -> str:
    """What a PodGroup says whose pods contradict each other or their group.

    1.38 tells that apart from what goes wrong in the scheduler; users and tools of older servers know one reason for both.
    """
    return REASON_POD_GROUP_ERROR if minor_of(version) >= _POD_GROUP_ERROR_SINCE else REASON_SCHEDULER_ERROR
