"""CompositePodGroups above PodGroups: each level with its state, its minimum, since when and why it waits."""

from datetime import UTC, datetime

import pytest

from api.compositepodgroup import CompositePodGroup
from api.meta import Metadata
from api.podgroup import PodGroup
from tests.views.builders import (
    cluster,
    composite,
    condition,
    group,
    job,
    pod,
    refused,
    scheduled,
    tree_refused,
    tree_scheduled,
    workload,
)
from views.kubectl.table import tree
from views.model.gang import State
from views.model.levels import MOST_LEVELS_SHOWN, level_of
from views.model.objects import Objects
from views.model.records import Member, Owner
from views.model.tree import kind_and_name, tree_of

NOW = datetime(2020, 1, 1, 0, 3, 12, tzinfo=UTC)
SERVE = ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "serve")
WHY = "minGroupCount (2) cannot be satisfied: 1 of 2 groups can start: no room"


def shown(what: str, objects: Objects) -> str:
    kind, name = kind_and_name(what) or ("", "")
    found = tree_of(kind, "ns", name, objects)
    assert found is not None
    return tree(found, NOW)


def replicas(*conditions: dict[str, str], parent: str = "serve-all", count: int = 2) -> list[PodGroup]:
    return [
        group(f"r{number}", *conditions, lws="serve", replica=str(number), workload="w", need=1, parent=parent)
        for number in range(count)
    ]


def serve(uid: str = "uid-serve") -> Owner:
    return Owner(Metadata(name="serve", namespace="ns", uid=uid))


def leaders(count: int = 2, *, node: str = "") -> list[Member]:
    phase = "Running" if node else "Pending"
    return [pod(f"serve-{number}", phase, group=f"r{number}", lws="serve", node=node) for number in range(count)]


SET_THAT_WAITS = f"""\
lws/serve
└─ workload/w
   └─ compositepodgroup/serve-all  waiting for 3m12s, 0 of 2 groups started; Unschedulable: {WHY}
      ├─ podgroup/r0  waiting for 3m12s, 0 of 1 started; Unschedulable, as above
      │  └─ pod/serve-0  Pending, no node
      └─ podgroup/r1  waiting for 3m12s, 0 of 1 started; Unschedulable, as above
         └─ pod/serve-1  Pending, no node"""


@pytest.mark.parametrize("start", ["lws/serve", "compositepodgroup/serve-all", "podgroup/r1", "pod/serve-0"])
def test_a_set_that_waits_as_a_whole_says_why_once_wherever_one_starts(start: str) -> None:
    groups = replicas(refused(message=f"composite pod group serve-all: {WHY}"))
    root = composite("serve-all", tree_refused(message=WHY), owner=SERVE)
    objects = cluster(groups, leaders(), workloads=[workload("w")], sets=[serve()], composites=[root])
    assert shown(start, objects) == SET_THAT_WAITS


def test_a_set_that_runs() -> None:
    root = composite("serve-all", tree_scheduled(), owner=SERVE)
    objects = cluster(replicas(scheduled()), leaders(node="n"), sets=[serve()], composites=[root])
    lines = shown("lws/serve", objects).splitlines()
    assert lines[2] == "   └─ compositepodgroup/serve-all  running, 2 of 2 groups started"
    assert lines[3] == "      ├─ podgroup/r0  running, 1 of 1 started"


def test_a_composite_pod_group_shows_before_its_groups_exist() -> None:
    root = composite("serve-all", tree_refused("WaitingForMembers", "waiting"), owner=SERVE)
    objects = cluster([], sets=[serve()], workloads=[workload("w")], composites=[root])
    assert shown("lws/serve", objects) == (
        "lws/serve\n└─ workload/w\n"
        "   └─ compositepodgroup/serve-all  held for 3m12s, 0 of 2 groups started, 0 exist; WaitingForMembers: waiting"
    )


def test_the_composite_pod_group_of_a_former_set_is_not_taken_for_one_of_this() -> None:
    root = composite("serve-all", tree_scheduled(), owner=SERVE)
    objects = cluster(replicas(scheduled()), leaders(node="n"), sets=[serve("another-uid")], composites=[root])
    assert "groups started; belongs to a former lws/serve" in shown("lws/serve", objects)


JOBS_OF_A_TREE = """\
compositepodgroup/training  waiting for 3m12s, 0 of 2 groups started, 3 in all; Unschedulable: no room
├─ compositepodgroup/cells  waiting for 3m12s, each group by itself, 0 of 1 started; Unschedulable, as above
│  └─ podgroup/cell  waiting for 3m12s, 0 of 1 started; Unschedulable, as above; of job/cell
│     └─ pod/cell-0  Pending, no node
├─ podgroup/driver  waiting for 3m12s, 0 of 1 started; Unschedulable, as above; of job/driver
│  └─ pod/driver-0  Pending, no node
└─ podgroup/workers  waiting for 3m12s, 0 of 2 started; Unschedulable, as above; of job/workers
   ├─ pod/workers-0  Pending, no node
   └─ pod/workers-1  Pending, no node"""


def made_by_hand() -> Objects:
    said = refused(message="composite pod group training: no room")
    groups = [
        group("driver", said, need=1, parent="training"),
        group("workers", said, parent="training"),
        group("cell", said, need=1, parent="cells"),
    ]
    pods = [
        pod("driver-0", group="driver", job="driver"),
        *(pod(f"workers-{number}", group="workers", job="workers") for number in range(2)),
        pod("cell-0", group="cell", job="cell"),
    ]
    composites = [
        composite("training", tree_refused()),
        composite("cells", tree_refused(), need=None, parent="training"),
    ]
    return cluster(groups, pods, [job("driver"), job("workers"), job("cell")], composites=composites)


@pytest.mark.parametrize(
    "start", ["gangtree/training", "gangtree/cells", "podgroup/workers", "pod/cell-0", "job/driver"]
)
def test_a_tree_made_by_hand_begins_at_its_root_and_says_whose_pods_its_groups_have(start: str) -> None:
    assert shown(start, made_by_hand()) == JOBS_OF_A_TREE


def test_a_parent_that_does_not_exist_is_named_and_said_to_be_missing() -> None:
    objects = cluster(
        replicas(refused("WaitingForPodGroup", 'waiting for CompositePodGroup "serve-all"')), sets=[serve()]
    )
    lines = shown("podgroup/r0", objects).splitlines()
    assert lines[0] == "lws/serve"
    assert lines[2].endswith("compositepodgroup/serve-all  does not exist: what names it as its parent waits for it")
    assert lines[3].endswith('WaitingForPodGroup: waiting for CompositePodGroup "serve-all"')
    assert shown("compositepodgroup/serve-all", objects).splitlines() == lines


def test_where_composite_pod_groups_cannot_be_seen_none_is_said_to_be_missing() -> None:
    objects = cluster(replicas(scheduled()), leaders(node="n"), sets=[serve()])
    objects.unknown_composites = "you may not list CompositePodGroups"
    told = shown("lws/serve", objects)
    assert "compositepodgroup/serve-all  not known: you may not list CompositePodGroups\n" in told
    assert "compositepodgroup/serve-all  does not exist" not in told


def test_groups_without_a_parent_are_shown_as_ever_by_a_server_without_the_kind() -> None:
    objects = cluster(replicas(scheduled(), parent=""), leaders(node="n"), sets=[serve()])
    objects.unknown_composites = "this server has no CompositePodGroups"
    assert "ompositePodGroup" not in shown("lws/serve", objects)


@pytest.mark.parametrize("start", ["gangtree/a", "gangtree/b", "podgroup/g"])
def test_parents_in_a_circle_are_shown_once(start: str) -> None:
    invalid = tree_refused("Invalid", "in a circle: a, b")
    composites = [composite("a", invalid, parent="b", need=1), composite("b", invalid, parent="a", need=2)]
    objects = cluster(
        [group("g", refused("Invalid", "composite pod group a: in a circle: a, b"), parent="b")], composites=composites
    )
    assert shown(start, objects) == (
        "compositepodgroup/a  held for 3m12s, 0 of 1 groups started; Invalid: in a circle: a, b\n"
        "└─ compositepodgroup/b  held for 3m12s, 0 of 2 groups started; Invalid, as above\n"
        "   ├─ compositepodgroup/a  stands above itself: they name each other as parents in a circle\n"
        "   └─ podgroup/g  held for 3m12s, 0 of 2 started; Invalid, as above"
    )


def test_a_composite_pod_group_that_is_its_own_parent() -> None:
    objects = cluster([], composites=[composite("a", parent="a")])
    assert "stands above itself" in shown("gangtree/a", objects)


def test_a_tree_that_is_far_too_deep_is_cut_and_says_so() -> None:
    composites = [composite(f"c{number:04}", parent=f"c{number - 1:04}" if number else "") for number in range(3000)]
    told = shown("gangtree/c2999", cluster([group("g", parent="c2999")], composites=composites))
    assert told.splitlines()[0].startswith("compositepodgroup/c0000  ")
    assert len(told.splitlines()) == MOST_LEVELS_SHOWN + 1
    assert told.endswith("has more below it, which is not shown: a tree of more than 4 levels is not scheduled")


def test_a_parent_of_another_namespace_is_none() -> None:
    objects = cluster([group("g", parent="training", namespace="other")], composites=[composite("training")])
    assert "podgroup/g" not in shown("gangtree/training", objects)


def test_a_job_whose_pods_name_a_group_that_does_not_exist_is_not_said_to_have_none() -> None:
    objects = cluster([], [pod("j-0", group="gone", job="j")], [job()])
    assert shown("job/j", objects).startswith("job/j  its pods name podgroup/gone, which does not exist\n")


def test_the_tree_for_programs_has_what_each_level_says() -> None:
    found = tree_of("compositepodgroup", "ns", "training", made_by_hand())
    assert found is not None
    document = found.as_json()
    assert document | {"children": []} == {
        "name": "compositepodgroup/training",
        "remark": "waiting, 0 of 2 groups started, 3 in all; Unschedulable: no room",
        "state": "waiting",
        "minGroupCount": 2,
        "started": 0,
        "groups": 3,
        "waitingSince": "2020-01-01T00:00:00Z",
        "reason": "Unschedulable",
        "message": "no room",
        "children": [],
    }
    cells, driver, _ = document["children"]
    assert "minGroupCount" not in cells
    assert driver["message"] == "composite pod group training: no room"


# --- states ----------------------------------------------------------------------------------------------------------


def leaf(state: State, name: str) -> tuple[PodGroup, list[Member]]:
    """A group of one pod in this state."""
    match state:
        case State.RUNNING:
            return group(name, scheduled(), need=1, parent="c"), [pod(name, "Running", node="n", group=name)]
        case State.STARTING:
            return group(name, scheduled(), need=1, parent="c"), [pod(name, node="n", group=name)]
        case State.PREEMPTED:
            leaving = condition("DisruptionTarget", "True", "PreemptionByScheduler")
            return group(name, scheduled(), leaving, need=1, parent="c"), [pod(name, "Running", node="n", group=name)]
        case State.DONE:
            return group(name, scheduled(), need=1, parent="c"), [pod(name, "Succeeded", node="n", group=name)]
        case State.WAITING:
            return group(name, refused(), need=1, parent="c"), [pod(name, group=name)]
        case _:
            return group(name, refused("WaitingForMembers"), need=1, parent="c"), []


R, W, H, S, P, D = State.RUNNING, State.WAITING, State.HELD, State.STARTING, State.PREEMPTED, State.DONE


@pytest.mark.parametrize(
    ("children", "said", "state", "started"),
    [
        ([R, R], tree_scheduled(), R, 2),
        ([R, R, W], tree_scheduled(), R, 2),
        ([R, S], tree_scheduled(), S, 2),
        ([R, P], tree_scheduled(), P, 2),
        ([D, D], tree_scheduled(), D, 2),
        ([D, R], tree_scheduled(), R, 2),
        ([R, W], tree_scheduled(), W, 1),
        ([W, W], tree_refused(), W, 0),
        ([W, H], tree_refused("WaitingForMembers"), H, 0),
        ([H, H], None, H, 0),
        ([W, W], None, W, 0),
        ([], None, H, 0),
    ],
)
def test_a_state_follows_from_what_the_groups_do(
    children: list[State], said: dict[str, str] | None, state: State, started: int
) -> None:
    leaves = [leaf(child, f"g{number}") for number, child in enumerate(children)]
    root: CompositePodGroup = composite("c", *([said] if said else []))
    objects = cluster([made for made, _ in leaves], [one for _, pods in leaves for one in pods], composites=[root])
    found = level_of("ns", "c", objects)
    assert (found.state, found.started) == (state, started)
    assert bool(found.since) == (state in {W, H})


def test_a_tree_that_had_to_leave_waits_since_its_pods_were_made_again() -> None:
    again = "2020-01-01T00:02:12Z"
    objects = cluster(
        [group("g", scheduled(), need=1, parent="c")],
        [pod("p", created=again)],
        composites=[composite("c", tree_scheduled(), need=1)],
    )
    assert level_of("ns", "c", objects).since == again


@pytest.mark.parametrize("said", [tree_refused("SchedulingTimeout", "gave up after 10 min"), tree_scheduled()])
def test_a_tree_that_has_given_up_says_so_whether_it_had_started_once_or_not(said: dict[str, str]) -> None:
    gave_up = condition("SchedulingTimedOut", "True", "SchedulingTimeout", "gave up after 10 min")
    root = composite("serve-all", said, gave_up, owner=SERVE)
    groups = replicas(refused("SchedulingTimeout", "gave up after 10 min"), gave_up)
    level = level_of("ns", "serve-all", cluster(groups, leaders(), sets=[serve()], composites=[root]))
    assert (level.state, level.reason, level.message) == (State.GAVE_UP, "SchedulingTimeout", "gave up after 10 min")
    assert {gang.state for gang, _ in level.leaves()} == {State.GAVE_UP}
