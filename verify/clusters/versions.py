"""Which versions of Kubernetes the project is tried on, and which one given servers are.

Minor versions are numbers here: 37 is Kubernetes 1.37.
"""

import re
import subprocess
from pathlib import Path

NEWEST = 37
"""Everything is run on it; the embedded cluster stands in for it."""
NEXT = 38
"""To this one a server with gangs on it is upgraded."""
BUILT_IN_SINCE = 37
"""The first with scheduling.k8s.io/v1beta1. Before it, groups live in our own CRDs."""


def minor_of(assets: Path) -> int:
    """The 30 of v1.30.14, as the API server in this folder says it.

    Raises:
        LookupError: it says nothing of the kind.
    """
    said = subprocess.run([assets / "kube-apiserver", "--version"], capture_output=True, text=True, check=False).stdout
    found = re.match(r"Kubernetes v1\.(\d+)", said)
    if found is None:
        raise LookupError(f"{assets / 'kube-apiserver'} --version says {said!r}")
    return int(found.group(1))
