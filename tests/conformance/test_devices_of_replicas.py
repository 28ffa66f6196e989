"""Replicas whose workers come after their leader and have claims: their devices are kept until they come."""

import pytest

from tests.conformance.devices import Devices, devices_of, own, with_claims
from verify.clusters.eventually import eventually, throughout
from verify.clusters.jobs import CONDITION, Jobs, condition_entry
from verify.clusters.lws import SETTLE_SECONDS, Object, Sets, leader_worker_set

pytestmark = [
    pytest.mark.usefixtures("tutti"),
    pytest.mark.since(37, "resource.k8s.io/v1 with the fields of 1.37"),
]

SOON_SECONDS = 30
HELD_SECONDS = 3.0


def leader_first(*, workers: int) -> Object:
    """A set of one replica whose workers have a claim each, from the template `t`, and come when the leader is ready."""
    made = leader_worker_set("serve", size=1 + workers, cpu="100m", leader_cpu="100m", startupPolicy="LeaderReady")
    with_claims(made["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"], (own("t"),))
    return made


def told(sets: Sets, words: str) -> bool:
    """Whether the group of the replica says this."""
    entry = condition_entry(sets.group("serve"), CONDITION)
    return entry is not None and words in entry["message"]


def test_a_leader_waits_until_its_workers_have_devices_too(devices: Devices, sets: Sets) -> None:
    devices.base()
    sets.create(leader_first(workers=5))
    eventually(lambda: told(sets, "cannot allocate all claims"), within_seconds=SETTLE_SECONDS)
    assert told(sets, "room for the 5 pods that come later")
    throughout(lambda: sets.waits("serve", pods=1), seconds=HELD_SECONDS, poll_seconds=0.5)
    assert devices.given() == []
    devices.offer("n3", "g0")
    eventually(lambda: sets.whole("serve"), within_seconds=SETTLE_SECONDS)
    assert devices.given() == ["n1/g0", "n1/g1", "n2/g0", "n2/g1", "n3/g0"]


def test_devices_of_workers_are_kept_against_a_gang_that_comes_before_them(
    devices: Devices, sets: Sets, jobs: Jobs
) -> None:
    devices.base()
    sets.create(leader_first(workers=3))
    eventually(lambda: sets.bound("serve") >= 1, within_seconds=SETTLE_SECONDS)
    devices.gang("rival", 2, own("t"))

    def refused() -> bool:
        entry = condition_entry(jobs.group("rival"), CONDITION)
        return entry is not None and "cannot allocate all claims" in entry["message"]

    eventually(refused, within_seconds=SOON_SECONDS)
    eventually(lambda: sets.whole("serve"), within_seconds=SETTLE_SECONDS)
    assert devices.places("rival") == {}
    assert sorted(len(devices_of(claim)) for claim in devices.claims() if devices_of(claim)) == [1, 1, 1]


def test_a_leader_whose_workers_name_a_template_that_comes_later_starts_then(devices: Devices, sets: Sets) -> None:
    for short in ("n1", "n2"):
        devices.add_node(short)
    devices.add_class()
    devices.offer("n1", "g0", "g1")
    sets.create(leader_first(workers=2))
    eventually(lambda: told(sets, "could not find ResourceClaimTemplate"), within_seconds=SETTLE_SECONDS)
    devices.template("t", devices.request())
    eventually(lambda: sets.whole("serve"), within_seconds=SETTLE_SECONDS)
    assert devices.given() == ["n1/g0", "n1/g1"]
