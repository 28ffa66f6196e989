"""I3: a gang leaves for nobody only where it asks for that, in time, whole, once, and not when it is finishing."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.verify.auditor.histories import bind, broken, ended, evicted, group, node, pod, told, write
from verify.auditor.audit_log import Record
from verify.clusters.cluster_files import ADMIN

LOST = 1.0
TOO_EARLY = 50.0
DUE = 61.5
RESTART = {"tutti.scheduler/degraded": "restart", "tutti.scheduler/repair-timeout": "1m"}


def started(name: str = "g") -> Record:
    return told(name, 0.6, PodGroupInitiallyScheduled=("True", "Scheduled", ""))


def asking(annotations: dict[str, str], *, owner: str = "") -> Record:
    """A group of three that says this of lost members."""
    made = group(3, owner=owner)
    metadata = made.response["metadata"]
    all_of_them = {**metadata["annotations"], **annotations}
    return replace(made, response={**made.response, "metadata": {**metadata, "annotations": all_of_them}})


def runs(annotations: dict[str, str] | None = None, *, owner: str = "") -> list[Record]:
    """A gang of three runs, and its first member is lost."""
    return [
        node("9"),
        asking(RESTART if annotations is None else annotations, owner=owner),
        *(pod(f"g-{n}", owner=owner) for n in range(3)),
        *(bind(f"g-{n}", 0.5) for n in range(3)),
        started(),
        ended("g-0", LOST, "Failed"),
    ]


def leaves(when: float, names: Sequence[str] = ("g-1", "g-2")) -> list[Record]:
    """These members are deleted, and go; the second delete of each is one whose answer was lost."""
    asked = [evicted(name, when) for name in names for _ in range(2)]
    return [*asked, *(ended(name, when + 1, "Failed") for name in names)]


def asked_to_start_anew(when: float) -> Record:
    return told("g", when, DisruptionTarget=("True", "GangRestart", "members were missing for too long"))


def test_a_gang_made_by_hand_leaves_when_its_time_is_over() -> None:
    assert broken("I3", *runs(), *leaves(DUE)) == []


@pytest.mark.parametrize(
    ("annotations", "when", "why"),
    [
        (RESTART, TOO_EARLY, "members are missing for 49 s, and 60 s are allowed"),
        ({"tutti.scheduler/degraded": "restart"}, DUE, "and 900 s are allowed"),
        ({**RESTART, "tutti.scheduler/degraded": "repair"}, DUE, "it does not ask for that"),
        ({}, DUE, "it does not ask for that"),
    ],
)
def test_before_that_or_where_it_does_not_ask_for_it_nobody_may_be_deleted(
    annotations: dict[str, str], when: float, why: str
) -> None:
    found = broken("I3", *runs(annotations), evicted("g-1", when))
    assert len(found) == 1
    assert why in found[0]


def test_a_gang_that_is_whole_again_may_not_leave() -> None:
    found = broken("I3", *runs(), pod("g-3", when=30.0), bind("g-3", 31.0), evicted("g-1", DUE))
    assert len(found) == 1
    assert "none of its members is missing" in found[0]


def test_a_gang_that_has_never_been_short_may_not_leave() -> None:
    found = broken("I3", *runs()[:-1], evicted("g-1", DUE))
    assert len(found) == 1
    assert "none of its members is missing" in found[0]


def test_a_gang_that_is_finishing_may_not_leave() -> None:
    found = broken("I3", *runs(), ended("g-2", 2.0), evicted("g-1", DUE))
    assert len(found) == 1
    assert "members of it have succeeded" in found[0]


def test_the_next_pods_of_a_gang_that_has_left_are_not_excused_by_its_former_loss() -> None:
    anew = [
        *(pod(f"g-{n}", when=70.0) for n in range(10, 13)),
        *(bind(f"g-{n}", 71.0) for n in range(10, 13)),
        evicted("g-10", 72.0),
    ]
    assert len(broken("I3", *runs(), *leaves(DUE), *anew)) == 1


def test_of_a_replica_only_the_leader_is_deleted() -> None:
    replica = runs(owner="uid-g-1")
    assert broken("I3", *replica, evicted("g-1", DUE)) == []
    found = broken("I3", *replica, evicted("g-2", DUE))
    assert len(found) == 1
    assert "its leader is to be deleted for that" in found[0]


def test_the_pods_of_a_job_are_not_deleted_but_the_job_is_asked_to_leave_once_and_in_time() -> None:
    job = write(ADMIN, "create", "jobs", "train", 0.05, group="batch", response={"metadata": {"uid": "of-train"}})
    lost = [job, *runs(owner="of-train")]
    over = told("g", 65.0, DisruptionTarget=("False", "Left", ""))
    assert broken("I3", *lost, asked_to_start_anew(DUE)) == []
    for wrong, why in (
        ([evicted("g-1", DUE)], "its Jobs are to be suspended for that"),
        ([asked_to_start_anew(TOO_EARLY)], "members are missing for"),
        ([asked_to_start_anew(DUE), over, asked_to_start_anew(70.0)], "it was asked before"),
    ):
        found = broken("I3", *lost, *wrong)
        assert len(found) == 1
        assert why in found[0]


def begun(annotations: dict[str, str] | None = None) -> list[Record]:
    """Two of a Job's gang of three are bound, the third never is."""
    job = write(ADMIN, "create", "jobs", "train", 0.05, group="batch", response={"metadata": {"uid": "of-train"}})
    members = [pod(f"g-{n}", owner="of-train") for n in range(3)]
    return [job, node("9"), asking(annotations or {}, owner="of-train"), *members, bind("g-0", 0.5), bind("g-1", 0.5)]


def test_a_gang_that_was_begun_and_not_completed_in_a_minute_may_leave() -> None:
    assert broken("I3", *begun(), asked_to_start_anew(DUE)) == []


@pytest.mark.parametrize(
    ("records", "why"),
    [
        ([*begun(), asked_to_start_anew(TOO_EARLY)], "members are missing for 49 s, and 60 s are allowed"),
        ([*begun({"tutti.scheduler/degraded": "report"}), asked_to_start_anew(DUE)], "it does not ask for that"),
        ([*begun(), bind("g-2", 1.0), asked_to_start_anew(DUE)], "none of its members is missing"),
        (
            [*begun(), bind("g-2", 0.5), started(), ended("g-2", 2.0, "Failed"), asked_to_start_anew(DUE)],
            "does not ask",
        ),
    ],
    ids=["too early", "only to be reported", "completed", "started before"],
)
def test_others_may_not(records: list[Record], why: str) -> None:
    found = broken("I3", *records)
    assert len(found) == 1
    assert why in found[0]


def of_tree(*, whole: bool, said: dict[str, dict[str, str]] | None = None) -> list[Record]:
    """A tree of two groups of two, g and h; g has lost a member."""
    mode = "all" if whole else "single"
    spec = {"schedulingPolicy": {"gang": {"minGroupCount": 2}}, "disruptionMode": {mode: dict[str, str]()}}
    root = {"metadata": {"uid": "uid-tree"}, "spec": spec}
    found = [node("9"), write(ADMIN, "create", "compositepodgroups", "tree", 0.05, response=root)]
    for name in ("g", "h"):
        made = group(2, name)
        metadata = made.response["metadata"]
        annotations = {**metadata["annotations"], **(said or {}).get(name, RESTART)}
        below = {**made.response["spec"], "parentCompositePodGroupName": "tree"}
        found.append(replace(made, response={"metadata": {**metadata, "annotations": annotations}, "spec": below}))
        found += [pod(f"{name}-{n}", member_of=name) for n in range(2)]
        found += [*(bind(f"{name}-{n}", 0.5) for n in range(2)), started(name)]
    return [*found, ended("g-0", LOST, "Failed")]


@pytest.mark.parametrize("said", [{}, {"h": {"tutti.scheduler/degraded": "repair"}}])
def test_all_below_a_level_that_leaves_whole_may_leave_for_one_of_its_groups(said: dict[str, dict[str, str]]) -> None:
    all_of_it = [evicted(name, DUE) for name in ("h-0", "h-1", "g-1")]
    assert broken("I3", *of_tree(whole=True, said=said), *all_of_it) == []


def test_where_groups_leave_one_by_one_none_may_leave_for_another() -> None:
    assert broken("I3", *of_tree(whole=False), evicted("g-1", DUE)) == []
    (found,) = broken("I3", *of_tree(whole=False), evicted("h-0", DUE))
    assert "none of its members is missing" in found


@pytest.mark.parametrize(
    ("said", "when", "why"),
    [
        ({}, TOO_EARLY, "none of its members is missing"),
        ({"g": {"tutti.scheduler/degraded": "repair"}}, DUE, "none of its members is missing"),
    ],
)
def test_of_a_tree_nobody_leaves_too_early_or_where_none_of_its_groups_that_are_short_asks_for_it(
    said: dict[str, dict[str, str]], when: float, why: str
) -> None:
    (found,) = broken("I3", *of_tree(whole=True, said=said), evicted("h-0", when))
    assert why in found


def test_a_tree_of_which_a_member_has_succeeded_may_not_leave() -> None:
    (found,) = broken("I3", *of_tree(whole=True), ended("h-1", 2.0), evicted("h-0", DUE))
    assert "members of it have succeeded" in found


def begun_tree(said: dict[str, dict[str, str]] | None = None, *, minimum: int = 3) -> list[Record]:
    """Of a tree of three Jobs' gangs, f, g and h, the first is bound, the second in part, and the third never is."""
    spec = {"schedulingPolicy": {"gang": {"minGroupCount": minimum}}}
    found = [
        node("9"),
        write(ADMIN, "create", "compositepodgroups", "tree", 0.05, response={"metadata": {"uid": "t"}, "spec": spec}),
    ]
    for name in ("f", "g", "h"):
        owner = f"of-{name}"
        found.append(write(ADMIN, "create", "jobs", name, 0.05, group="batch", response={"metadata": {"uid": owner}}))
        made = group(2, name, owner=owner)
        metadata = made.response["metadata"]
        annotations = {**metadata["annotations"], **(said or {}).get(name, {})}
        below = {**made.response["spec"], "parentCompositePodGroupName": "tree"}
        found.append(replace(made, response={"metadata": {**metadata, "annotations": annotations}, "spec": below}))
        found += [pod(f"{name}-{n}", member_of=name, owner=owner) for n in range(2)]
    return [*found, bind("f-0", 0.5), bind("f-1", 0.5), bind("g-0", 0.5), started("f")]


def anew(name: str, when: float) -> Record:
    return told(name, when, DisruptionTarget=("True", "GangRestart", "too few groups are bound"))


def test_a_tree_that_was_begun_and_not_completed_in_a_minute_may_leave() -> None:
    assert broken("I3", *begun_tree(), anew("f", DUE), anew("g", DUE)) == []


@pytest.mark.parametrize(
    ("records", "why"),
    [
        ([*begun_tree(), anew("f", TOO_EARLY)], "it does not ask for that"),
        ([*begun_tree(minimum=1), anew("f", DUE)], "it does not ask for that"),
        (
            [*begun_tree({"g": {"tutti.scheduler/degraded": "report"}}), anew("f", DUE)],
            "a group beside it does not ask for that",
        ),
        ([*begun_tree(), ended("f-0", 2.0), anew("g", DUE)], "members of it have succeeded"),
        (
            [
                *begun_tree(),
                *(ended(name, 20.0, "Failed") for name in ("f-0", "f-1", "g-0")),
                *(pod(f"f-{n}", member_of="f", owner="of-f", when=21.0) for n in (2, 3)),
                *(bind(f"f-{n}", 22.0) for n in (2, 3)),
                anew("f", DUE),
            ],
            "it does not ask for that",
        ),
    ],
    ids=["too early", "one group is enough", "a group is only to be reported", "finishing", "begun again"],
)
def test_other_trees_may_not(records: list[Record], why: str) -> None:
    found = broken("I3", *records)
    assert len(found) == 1
    assert why in found[0]
