"""What servers of each version of Kubernetes are judged by."""

from verify.clusters.versions import BUILT_IN_SINCE

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


def suites(minor: int) -> list[str]:
    """The tests to run when none are named."""
    if minor >= BUILT_IN_SINCE:
        return ["tests/conformance"]
    return [f"tests/conformance/{name}.py" for name in SUITES_OF_OLDER]
