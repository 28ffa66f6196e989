"""CompositePodGroups that the server serves in another version: trees stay whole, and processes that run then begin anew.

In Kubernetes 1.38 the built-in kind moves from v1alpha3 to v1beta1; a proxy before the real server does so.
"""

from contextlib import ExitStack

import pytest

from tests.conformance.test_group_api_versions import tutti_admits
from tests.conformance.test_lws_whole_sets import WHOLE, has_started, tree
from tests.conformance.version_proxy import Serves, says, tutti_through, version_proxy
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs
from verify.clusters.lws import SETTLE_SECONDS, Sets, leader_worker_set
from verify.clusters.tutti_process import READY_SECONDS, Tutti

pytestmark = [pytest.mark.built_in, pytest.mark.real_only("the embedded server has no built-in groups")]

NOTICED_SECONDS = 100
"""Composites are asked about once a minute."""


def waits(sets: Sets, name: str) -> bool:
    return sets.waits(name, 0) and sets.waits(name, 1) and len(sets.groups(name)) == 2


def identity(sets: Sets, name: str) -> list[str]:
    """The UIDs of its tree and of all that is below."""
    below = [*sets.groups(name), *sets.pods(name)]
    return sorted(each["metadata"]["uid"] for each in (tree(sets, name), *below))


def start_with_a_new_one(sets: Sets, nodes: HollowNodes) -> None:
    """A set that is made now waits, too; with room both start whole."""
    sets.create(leader_worker_set("new", replicas=2, size=2, annotations=WHOLE))
    eventually(lambda: waits(sets, "new"), within_seconds=SETTLE_SECONDS)
    nodes.add(1, cpu="8")
    for name in ("waits", "new"):
        eventually(lambda: sets.whole(name) and has_started(sets, name), within_seconds=SETTLE_SECONDS)  # noqa: B023


@pytest.mark.parametrize("serves", ["both", "new"])
def test_a_server_that_learns_v1beta1_finds_every_tree_as_it_was(
    sets: Sets, jobs: Jobs, nodes: HollowNodes, tutti: Tutti, control_plane: ControlPlane, serves: Serves
) -> None:
    sets.create(leader_worker_set("waits", replicas=2, size=2, annotations=WHOLE))
    eventually(lambda: waits(sets, "waits"), within_seconds=SETTLE_SECONDS)
    before = identity(sets, "waits")
    assert tutti.stop() == 0
    with ExitStack() as ended:
        tutti_through(control_plane, serves, ended, renames="composites")
        eventually(tutti_admits(jobs), within_seconds=READY_SECONDS)
        start_with_a_new_one(sets, nodes)
        assert identity(sets, "waits") == before


def test_processes_that_run_while_their_version_goes_begin_anew_with_the_next_one(
    sets: Sets, jobs: Jobs, nodes: HollowNodes, tutti: Tutti, control_plane: ControlPlane
) -> None:
    assert tutti.stop() == 0
    with ExitStack() as ended:
        before, server, port = tutti_through(control_plane, "old", ended, renames="composites")
        eventually(tutti_admits(jobs), within_seconds=READY_SECONDS)
        sets.create(leader_worker_set("waits", replicas=2, size=2, annotations=WHOLE))
        eventually(lambda: waits(sets, "waits"), within_seconds=SETTLE_SECONDS)
        known = identity(sets, "waits")

        before.kill()
        after, _ = version_proxy(control_plane, "new", renames="composites", port=port)
        ended.callback(after.kill)
        for name in ("controllers", "scheduler"):
            gone = f"{name}: the server serves compositepodgroups in scheduling.k8s.io/v1beta1"
            eventually(says(server, gone), within_seconds=NOTICED_SECONDS)
        start_with_a_new_one(sets, nodes)
        assert identity(sets, "waits") == known
