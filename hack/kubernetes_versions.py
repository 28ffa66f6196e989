"""Which versions of Kubernetes the project is tried on, which one given servers are, and what they are judged by.

Minor versions are numbers here: 37 is Kubernetes 1.37.
"""

import re
import subprocess
from pathlib import Path

NEWEST = 37
"""Everything is run on it; the embedded cluster stands in for it."""
BUILT_IN_SINCE = 37
"""The first with scheduling.k8s.io/v1beta1. Before it, groups live in our own CRDs."""
SUITES_OF_OLDER = (
    "scenarios/test_gangs",
    "scenarios/test_validation",
    "test_contention",
    "test_crd_rules",
    "test_crd_versions",
    "test_giving_up",
    "test_group_api_versions",
    "test_group_guards",
    "test_harness",
    "test_job_life",
    "test_lws_life",
    "test_order_and_owners",
    "test_outage",
    "test_parallelism",
    "test_pod_security",
    "test_preemption",
    "test_races",
    "test_rights_of_accounts",
    "test_start_and_stop",
    "test_stolen_tokens",
    "test_switch_off",
    "test_uninstall",
    "test_users_see_gangs",
    "test_waiting_for_room",
)
"""What older servers are judged by: the gang path, the lives of Jobs and sets, who may do what, and that all of it goes again."""


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


def suites(minor: int) -> list[str]:
    """The tests to run when none are named."""
    if minor >= BUILT_IN_SINCE:
        return ["tests/conformance"]
    return [f"tests/conformance/{name}.py" for name in SUITES_OF_OLDER]
