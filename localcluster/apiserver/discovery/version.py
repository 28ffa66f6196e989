"""Which Kubernetes the server says it is: the version whose answers it gives."""

import platform
from typing import Any

MAJOR = "1"
MINOR = "37"


def version_info() -> dict[str, Any]:
    """The answer to `/version`; the Git version says that this is no build of Kubernetes."""
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return {
        "major": MAJOR,
        "minor": MINOR,
        "emulationMajor": MAJOR,
        "emulationMinor": MINOR,
        "minCompatibilityMajor": MAJOR,
        "minCompatibilityMinor": str(int(MINOR) - 1),
        "gitVersion": f"v{MAJOR}.{MINOR}.0+tutti",
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "cpython",
        "platform": f"{platform.system().lower()}/{machine}",
    }
