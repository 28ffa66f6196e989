"""A tenant who writes priorities wherever he can neither evicts another one's gang nor comes before it."""

from collections.abc import Iterator

import pytest

from tests.conformance.tenants.attacks import create_all, member
from tests.conformance.tenants.tenant import Tenant
from verify.clusters.client import ApiError
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually, throughout
from verify.clusters.groups import pod_group
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import CONDITION, condition_entry, indexed_job

SETTLE_SECONDS = 60
STAYS_SECONDS = 3
HIGH = "tenants-high"
CLAIMED = {
    "scheduler.alpha.kubernetes.io/critical-pod": "",
    "scheduling.k8s.io/priority": "2000000000",
    "tutti.scheduler/priority": "2000000000",
}
"""Keys that never meant a priority to Tutti, or do no more."""


@pytest.fixture(autouse=True)
def high(control_plane: ControlPlane) -> Iterator[None]:
    """A class that pods may name, but no group for its preemption: no administrator has said so."""
    if control_plane.admin.find("priorityclasses", HIGH) is None:
        control_plane.admin.create("priorityclasses", {"metadata": {"name": HIGH}, "value": 1000})
    yield
    control_plane.admin.delete("priorityclasses", HIGH)


def running_gang(victim: Tenant, nodes: HollowNodes) -> list[str]:
    """The UIDs of the pods of a gang that has all the room there is."""
    nodes.add(1, cpu="4")
    victim.jobs.create(indexed_job("train", 4))
    eventually(lambda: victim.jobs.whole("train"), within_seconds=SETTLE_SECONDS)
    return sorted(pod["metadata"]["uid"] for pod in victim.jobs.pods("train"))


def still_run(victim: Tenant, pods: list[str]) -> bool:
    there = [pod for pod in victim.jobs.pods("train") if "deletionTimestamp" not in pod["metadata"]]
    return sorted(pod["metadata"]["uid"] for pod in there) == pods


def test_priorities_in_annotations_evict_nobody(victim: Tenant, attacker: Tenant, nodes: HollowNodes) -> None:
    pods = running_gang(victim, nodes)
    job = indexed_job("urgent", 4, annotations=CLAIMED, template_labels={})
    job["spec"]["template"]["metadata"]["annotations"] |= CLAIMED
    attacker.jobs.create(job)
    eventually(lambda: attacker.jobs.waits("urgent"), within_seconds=SETTLE_SECONDS)
    throughout(lambda: still_run(victim, pods), seconds=STAYS_SECONDS)


def test_a_group_with_a_class_that_its_pods_do_not_have_is_refused_and_evicts_nobody(
    victim: Tenant, attacker: Tenant, nodes: HollowNodes
) -> None:
    """Quotas by class count pods: a priority of the group alone would go past them."""
    pods = running_gang(victim, nodes)
    group = pod_group(attacker.api, "urgent", 2, priorityClassName=HIGH)
    eventually(lambda: attacker.create("podgroups", group), within_seconds=SETTLE_SECONDS)
    create_all(attacker, [("pods", member(f"urgent-{number}", "urgent", cpu="1")) for number in range(2)])

    def is_refused() -> bool:
        said = condition_entry(attacker.api.get("podgroups", "urgent", attacker.namespace), CONDITION)
        return said is not None and said["status"] == "False" and "same priority" in said["message"]

    eventually(is_refused, within_seconds=SETTLE_SECONDS)
    throughout(lambda: still_run(victim, pods), seconds=STAYS_SECONDS)


def test_a_class_that_no_administrator_has_allowed_makes_nobody_hard_to_evict(
    victim: Tenant, attacker: Tenant, nodes: HollowNodes
) -> None:
    annotations = {"tutti.scheduler/preemption-priority-class": HIGH}
    with pytest.raises(ApiError, match="preemption-priority-class"):
        attacker.jobs.create(indexed_job("immune", 2, annotations=annotations))


def test_who_waits_is_not_overtaken_by_claims_of_priority(victim: Tenant, attacker: Tenant, nodes: HollowNodes) -> None:
    """Both want the same room: the victim's gang was there first, and starts first."""
    victim.jobs.create(indexed_job("first", 2))
    eventually(lambda: victim.jobs.waits("first"), within_seconds=SETTLE_SECONDS)
    attacker.jobs.create(indexed_job("second", 2, annotations=CLAIMED))
    eventually(lambda: attacker.jobs.waits("second"), within_seconds=SETTLE_SECONDS)
    nodes.add(1, cpu="2")
    eventually(lambda: victim.jobs.whole("first"), within_seconds=SETTLE_SECONDS)
    assert attacker.jobs.bound("second") == 0
