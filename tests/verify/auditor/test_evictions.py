"""I3 and I4: who left for nobody, in vain, or although there was room; and groups that left in part."""

from dataclasses import replace

import pytest

from tests.verify.auditor.histories import bind, broken, ended, evicted, group, node, nominated, pod, told, write
from verify.auditor.audit_log import Record
from verify.auditor.identities import SCHEDULER_USER
from verify.clusters.cluster_files import ADMIN

GONE = 3.0
LATE = 200.0


def scene(*, victims: int = 2, wants: int = 2, low: int = 1, **victim: object) -> list[Record]:
    """A node of 4 with lone pods that run there, and a gang of priority 10 that wants room."""
    running = [pod(f"low-{n}", member_of=None, priority=low, **victim) for n in range(victims)]  # type: ignore[arg-type]
    bound = [bind(f"low-{n}", 0.5) for n in range(victims)]
    members = [pod(f"high-{n}", priority=10) for n in range(wants)]
    return [node("4"), group(wants, priority=10), *running, *bound, *members]


def preempted(victims: int = 2, wants: int = 2) -> list[Record]:
    """The gang is nominated, then they are asked to leave, and go."""
    names = [f"low-{n}" for n in range(victims)]
    return [
        *(nominated(f"high-{n}", 1.0) for n in range(wants)),
        *(evicted(name, 2.0) for name in names),
        *(ended(name, GONE, "Failed") for name in names),
    ]


def start(wants: int = 2) -> list[Record]:
    return [bind(f"high-{n}", 4.0) for n in range(wants)]


# --- I3 ---------------------------------------------------------------------------------------------------------------


def test_who_leaves_for_a_gang_that_starts_leaves_for_a_reason() -> None:
    assert broken("I3", *scene(cpu="2"), *preempted(), *start()) == []


def test_a_preemptor_that_does_not_start_is_seen() -> None:
    (found,) = broken("I3", *scene(cpu="2"), *preempted(), now=LATE)
    assert "2 pods were evicted for gang ('ns', 'g'), which has not started 197 s after" in found


def test_a_preemptor_has_time_to_start_after_its_victims_have_gone() -> None:
    assert broken("I3", *scene(cpu="2"), *preempted(), now=GONE + 50) == []
    still_leaving = [*scene(cpu="2"), nominated("high-0", 1.0), evicted("low-0", 2.0)]
    assert broken("I3", *still_leaving, now=LATE) == []


def test_a_preemptor_that_went_away_excuses_its_evictions() -> None:
    withdrawn = write(SCHEDULER_USER, "delete", "podgroups", "g", 3.5)
    assert broken("I3", *scene(cpu="2"), *preempted(), withdrawn, now=LATE) == []


def test_an_eviction_for_nobody_is_seen() -> None:
    found = broken("I3", *scene(), evicted("low-0", 2.0))
    assert len(found) == 1
    assert "evicted for nobody" in found[0]


def test_a_delete_is_judged_by_when_it_was_asked_for_and_not_by_when_it_was_answered() -> None:
    wants = [*scene(cpu="2", victims=1, wants=1), nominated("high-0", 1.0)]
    asked_before = replace(evicted("low-0", 4.5), received=2.0)
    asked_after = replace(evicted("low-0", 4.5), received=4.2)
    assert broken("I3", *wants, bind("high-0", 4.0), asked_before) == []
    (found,) = broken("I3", *wants, bind("high-0", 4.0), asked_after)
    assert "evicted for nobody" in found


@pytest.mark.parametrize(("asked", "count"), [(3.0, 0), (4.5, 1)])
def test_a_gang_that_grows_wants_room_until_each_member_that_was_nominated_has_its_place(
    asked: float, count: int
) -> None:
    grows = [
        *scene(cpu="1", victims=2, wants=1),
        bind("high-0", 0.7),
        pod("high-1", priority=10),
        pod("high-2", priority=10),
    ]
    # The nomination of one member counts from its arrival; another one finds room meanwhile.
    records = [*grows, nominated("high-2", 1.0), bind("high-1", 2.0), evicted("low-0", asked), bind("high-2", 4.0)]
    assert len(broken("I3", *records, now=LATE)) == count


@pytest.mark.parametrize(
    ("sent", "marked", "by", "status", "asked", "count"),
    [
        (3.8, 3.9, SCHEDULER_USER, "True", 5.0, 0),
        (3.8, 4.1, SCHEDULER_USER, "True", 5.0, 1),
        (3.8, 3.9, SCHEDULER_USER, "True", 7.0, 1),
        (3.8, 3.9, SCHEDULER_USER, "False", 5.0, 1),
        (3.8, 3.9, ADMIN, "True", 5.0, 1),
    ],
)
def test_a_delete_that_was_on_its_way_when_the_preemptor_started_is_judged_by_when_its_victim_was_marked(
    sent: float, marked: float, by: str, status: str, asked: float, count: int
) -> None:
    wants = [*scene(cpu="2", victims=1, wants=1), nominated("high-0", 1.0), bind("high-0", 4.0)]
    condition = {"type": "DisruptionTarget", "status": status, "reason": "PreemptionByScheduler"}
    request = {"status": {"conditions": [condition]}}
    mark = write(by, "patch", "pods/status", "low-0", marked, received=sent, request=request)
    assert len(broken("I3", *wants, mark, evicted("low-0", asked))) == count


@pytest.mark.parametrize("minimum", [0, 1])
@pytest.mark.parametrize(("asked", "count"), [(3.2, 0), (4.5, 1)])
def test_a_group_that_starts_with_some_wants_room_for_each_member_that_was_nominated(
    minimum: int, asked: float, count: int
) -> None:
    """The rest of its victims are asked to leave when its minimum runs already; 0 stands for a basic group, without a minimum."""
    policy = {"gang": {"minCount": minimum}} if minimum else {"basic": {}}
    starts = group(1, priority=10)
    starts.response["spec"]["schedulingPolicy"] = policy
    members = [pod(f"high-{n}", cpu="2", priority=10) for n in range(2)]
    running = [pod(f"low-{n}", member_of=None, cpu="2", priority=1) for n in range(2)]
    begins = [node("4"), *running, bind("low-0", 0.5), bind("low-1", 0.5), starts, *members]
    wants = [nominated("high-0", 1.0), nominated("high-1", 1.0), evicted("low-0", 2.0), ended("low-0", 2.5)]
    records = [*begins, *wants, bind("high-0", 3.0), evicted("low-1", asked), ended("low-1", asked + 0.1)]
    assert len(broken("I3", *records, bind("high-1", 4.0))) == count
    assert broken("I4", *records, bind("high-1", 4.0)) == []


def test_who_left_for_a_member_that_gets_no_place_left_in_vain_although_its_group_has_started() -> None:
    wants = [*scene(cpu="2"), nominated("high-2", 1.0), *preempted(), *start()]
    records = [pod("high-2", priority=10, when=0.1), *wants]
    (found,) = broken("I3", *records, now=LATE)
    assert "which has not got all its places" in found
    assert broken("I3", *records, nominated("high-2", 4.2, target=None), now=LATE) == []


@pytest.mark.parametrize(("asked", "count"), [(3.3, 0), (4.8, 1)])
def test_a_preemptor_that_its_user_took_back_a_moment_ago_may_still_be_thought_to_wait(
    asked: float, count: int
) -> None:
    wants = [*scene(cpu="2", victims=1, wants=1), nominated("high-0", 1.0)]
    withdrawn = write(ADMIN, "delete", "podgroups", "g", 3.0)
    late = replace(evicted("low-0", asked + 0.2), received=asked)
    assert len(broken("I3", *wants, withdrawn, late)) == count
    lone = [
        pod("lone", member_of=None, priority=20),
        nominated("lone", 1.0),
        write(ADMIN, "delete", "pods", "lone", 3.0),
    ]
    assert len(broken("I3", *scene(cpu="2", victims=1), *lone, late)) == count


def test_a_pod_that_is_gone_when_its_nomination_is_answered_wants_no_room() -> None:
    lone = pod("lone", member_of=None, priority=20)
    gone = replace(write(ADMIN, "delete", "pods", "lone", 1.5), received=1.3)
    late = replace(nominated("lone", 1.6), received=1.4)
    records = [*scene(cpu="2"), lone, gone, late, *preempted(), *start()]
    assert broken("I3", *records, now=LATE) == []


@pytest.mark.parametrize("low", [10, 11])
def test_an_eviction_of_an_equal_or_more_important_pod_is_seen(low: int) -> None:
    found = broken("I3", *scene(low=low, cpu="2"), *preempted(victims=1), *start())
    assert ["for nobody" in each for each in found] == [True]


def test_the_rest_of_a_whole_group_may_leave_when_the_preemptor_has_started() -> None:
    wants = [pod("high-0", cpu="2", priority=10), nominated("high-0", 1.0)]
    first = [evicted("low-0", 2.0), ended("low-0", GONE), bind("high-0", 3.5)]
    assert broken("I3", *whole_gang(), *wants, *first, evicted("low-1", 4.0)) == []


def test_the_rest_of_a_whole_group_may_leave_when_the_group_itself_has_gone_with_its_owner() -> None:
    wants = [pod("high-0", cpu="2", priority=10), nominated("high-0", 1.0)]
    first = [evicted("low-0", 2.0), ended("low-0", GONE), bind("high-0", 3.5)]
    gone = write("system:serviceaccount:kube-system:generic-garbage-collector", "delete", "podgroups", "v", 3.8)
    assert broken("I3", *whole_gang(), *wants, *first, gone, evicted("low-1", 4.0)) == []


def asked_to_leave(status: str, when: float) -> Record:
    return told(
        "v",
        when,
        DisruptionTarget=(status, "PreemptionByScheduler", "for a gang"),
        PreemptedBy=(status, "PodGroup", "ns/g/uid-g" if status == "True" else ""),
    )


def suspended_gang() -> list[Record]:
    """A gang that leaves by suspension of its Job, for one that is nominated to its node."""
    members = [pod(f"v-{n}", member_of="v", cpu="2", priority=1) for n in range(2)]
    wants = [pod(f"high-{n}", cpu="2", priority=10) for n in range(2)]
    running = [group(2, "v", priority=1, whole=True), *members, bind("v-0", 0.5), bind("v-1", 0.5)]
    return [node("4"), group(2, priority=10), *running, *wants, nominated("high-0", 1.0), nominated("high-1", 1.0)]


def test_a_gang_that_is_suspended_in_vain_is_seen() -> None:
    gone = [ended("v-0", GONE, "Failed"), ended("v-1", GONE, "Failed")]
    asked = [*suspended_gang(), asked_to_leave("True", 1.5)]
    assert len(broken("I3", *asked, *gone, now=LATE)) == 1
    assert broken("I3", *asked, *gone, *start(), now=LATE) == []
    assert broken("I3", *asked, asked_to_leave("False", 1.7), now=LATE) == []


# --- I4 ---------------------------------------------------------------------------------------------------------------


def test_a_victim_that_could_have_stayed_is_seen() -> None:
    small = [node("4"), group(2, priority=10), *(pod(f"high-{n}", priority=10) for n in range(2))]
    three = [pod(f"low-{n}", member_of=None, cpu=cpu, priority=1) for n, cpu in enumerate("211")]
    running = [bind(f"low-{n}", 0.5) for n in range(3)]
    found = broken("I4", *small, *three, *running, *preempted(victims=3), *start())
    assert [each for each in found if "['ns/low-1'] need not have left" in each]
    enough = [node("4"), group(2, priority=10), *(pod(f"high-{n}", priority=10) for n in range(2)), *three, *running]
    only_one = [nominated("high-0", 1.0), nominated("high-1", 1.0), evicted("low-0", 2.0), ended("low-0", GONE)]
    assert broken("I4", *enough, *only_one, *start()) == []


@pytest.mark.parametrize("goes", [ended("high-1", 3.5), nominated("high-1", 3.5, target=None)])
def test_who_left_for_a_member_that_wants_its_place_no_more_had_to_leave(goes: Record) -> None:
    members = [pod(f"high-{n}", cpu="2", priority=10) for n in range(2)]
    running = [pod(f"low-{n}", member_of=None, cpu="2", priority=1) for n in range(2)]
    begins = [node("4"), *running, bind("low-0", 0.5), bind("low-1", 0.5), group(1, priority=10), *members]
    assert broken("I4", *begins, *preempted(), bind("high-0", 3.2), goes) == []
    wants_before = [nominated("high-0", 0.7), nominated("high-1", 0.8), nominated("high-1", 0.9, target=None)]
    left = [evicted("low-0", 2.0), evicted("low-1", 2.0), ended("low-0", GONE), ended("low-1", GONE)]
    assert len(broken("I4", *begins, *wants_before, *left, bind("high-0", 4.0))) == 2


def test_room_of_somebody_whose_bind_was_under_way_when_the_plan_began_is_not_room() -> None:
    records = [*scene(victims=1), pod("early", member_of=None, cpu="2", priority=10)]
    under_way = bind("early", 1.2)
    assert broken("I4", *records, under_way, *preempted(victims=1), *start()) == []
    assert len(broken("I4", *records, bind("early", 3.2), *preempted(victims=1), *start())) == 1


def test_a_nomination_counts_although_the_maker_of_the_pod_has_the_answer_later() -> None:
    """A busy server shows a pod to watchers before it has answered who creates it."""
    running = [pod("low-0", member_of=None, cpu="1", priority=1), bind("low-0", 0.5)]
    wants = [node("4"), group(2, priority=10), pod("high-0", cpu="2", priority=10), *running]
    early = nominated("high-1", 1.0)
    early.request["metadata"] = {"uid": "uid-high-1"}
    late = pod("high-1", cpu="2", priority=10, when=1.2)
    left = [evicted("low-0", 2.0), ended("low-0", GONE, "Failed")]
    assert broken("I4", *wants, nominated("high-0", 1.0), early, late, *left, *start()) == []
    assert len(broken("I4", *wants, nominated("high-0", 1.0), late, *left, *start())) == 1


def test_victims_with_rules_of_their_own_are_not_judged_by_amounts() -> None:
    ports = [{"resources": {"requests": {"cpu": "1"}}, "ports": [{"containerPort": 80, "hostPort": 80}]}]
    records = [*scene(victims=1, containers=ports), *preempted(victims=1), *start()]
    assert broken("I4", *records) == []
    plain = [*scene(victims=1), *preempted(victims=1), *start()]
    assert len(broken("I4", *plain)) == 1


def whole_gang() -> list[Record]:
    members = [pod(f"low-{n}", member_of="v", cpu="2", priority=1) for n in range(2)]
    bound = [bind("low-0", 0.5), bind("low-1", 0.5)]
    return [node("4"), group(2, "v", priority=1, whole=True), group(1, priority=10), *members, *bound]


def test_a_group_that_leaves_whole_and_is_evicted_in_part_is_seen() -> None:
    wants = [pod("high-0", cpu="2", priority=10), nominated("high-0", 1.0)]
    one = [*whole_gang(), *wants, evicted("low-0", 2.0), ended("low-0", GONE), bind("high-0", 4.0)]
    (found,) = broken("I4", *one, now=LATE)
    assert "['ns/low-1']" in found
    assert broken("I4", *one, evicted("low-1", 2.1), now=LATE) == []
    assert broken("I4", *one, now=GONE + 10) == []
