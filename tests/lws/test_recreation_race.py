"""The race of github.com/kubernetes-sigs/lws issue 1054, a thousand times: a leader that is deleted and created anew.

The group of the old leader is still there, or is being deleted, while the new one already needs its own. Whatever order the
deletion, the garbage collector, the watches and the controllers' passes come in, no replica is left without a group.
"""

import copy
import random

from kube.client.errors import KubeError
from kube.client.resources import CONTROLLER_REVISIONS, LEADER_WORKER_SETS, PODS, STATEFUL_SETS
from kube.groups.group_api import OWN
from tests.lws.builders import leader, lws, revision, stateful_set
from tests.lws.test_admission import name_group
from tests.lws.world import SelectingCluster, World, groups_of

ROUNDS = 1000


def new_leader(number: int, *, admission_is_down: bool) -> dict[str, object]:
    pod = leader(0, group=None, uid=f"leader-{number}")
    return pod if admission_is_down else name_group(pod, token=f"token-{number}")


def terminate_orphans(cluster: SelectingCluster) -> None:
    """What the garbage collector does first: groups without their leader are being deleted."""
    alive = {pod["metadata"]["uid"] for pod in cluster.all(PODS)}
    for group in cluster.all(OWN.pod_groups):
        if group["metadata"]["ownerReferences"][0]["uid"] not in alive:
            leaving = copy.deepcopy(group)
            leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
            cluster.put(OWN.pod_groups, leaving)


async def test_a_thousand_recreations_leave_no_replica_stuck() -> None:
    chance = random.Random(1054)
    cluster = SelectingCluster()
    cluster.put(LEADER_WORKER_SETS, lws(replicas=1))
    cluster.put(STATEFUL_SETS, stateful_set())
    cluster.put(CONTROLLER_REVISIONS, revision())
    cluster.put(PODS, new_leader(0, admission_is_down=False))
    world = World(cluster)
    await world.settle()
    for number in range(1, ROUNDS + 1):
        cluster.remove(PODS, "serve-0")
        cluster.put(PODS, new_leader(number, admission_is_down=chance.random() < 0.1))
        happenings = [
            world.look_at_leaders,
            world.look_at_groups,
            world.look,
            lambda: terminate_orphans(cluster),
            cluster.collect_garbage,
        ]
        for _ in range(chance.randrange(12)):
            chance.choice(happenings)()
            if chance.random() < 0.5:
                try:
                    await world.once()
                except KubeError as error:
                    raise AssertionError(f"round {number}: {error}") from error
        terminate_orphans(cluster)
        cluster.collect_garbage()
        await world.settle()
        assert set(groups_of(cluster)) == {f"leader-{number}"}, f"round {number}"
        group = groups_of(cluster)[f"leader-{number}"]
        assert "deletionTimestamp" not in group["metadata"]
        named = cluster.one(PODS, "serve-0")["metadata"]["annotations"]["tutti.scheduler/pod-group"]
        assert named == group["metadata"]["name"], f"round {number}"
