"""The auditor sees each kind of broken promise, and nothing where none is broken: binds, rooms, rights, others' objects."""

from dataclasses import replace

import pytest

from tests.verify.auditor.histories import (
    bind,
    broken,
    ended,
    group,
    managed,
    node,
    pod,
    told,
    verdict,
    write,
)
from verify.auditor.audit_log import Object, Record
from verify.auditor.auditor import Auditor
from verify.auditor.identities import CONTROLLERS_USER, INSTALLER, SCHEDULER_USER, WEBHOOKS_USER
from verify.clusters.cluster_files import ADMIN, KUBELET, STOCK_SCHEDULER


def test_a_gang_bound_at_once_breaks_no_promise() -> None:
    assert verdict(node(), group(2), pod("a"), pod("b"), bind("a", 1.0), bind("b", 1.5)) == []


def test_the_leader_of_a_replica_comes_before_its_group_which_belongs_to_it() -> None:
    leader = managed(pod("a"))
    leader.response["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/name"] = "serve"
    assert verdict(leader, group(1, when=0.195)) == []


def test_a_member_created_before_its_group_is_seen() -> None:
    assert verdict(group(1, when=0.1), managed(pod("a"))) == []
    (late,) = verdict(managed(pod("a")), group(1, when=0.195))
    assert "before its group" in late
    (never,) = verdict(managed(pod("a", member_of=None)))
    assert "before its group" in never


def test_a_member_that_comes_while_its_group_is_made_again_comes_after_it() -> None:
    made, deleted = group(2, owner="job"), write(ADMIN, "delete", "podgroups", "g", 0.3, response={"status": "Success"})
    again = replace(group(2, owner="job", when=0.43), received=0.4)
    member = replace(managed(pod("a", owner="job")), received=0.41, completed=0.45)
    assert broken("I1", made, deleted, again, member) == []


def test_a_member_that_comes_before_its_group_though_a_namesake_of_another_owner_was_there_is_seen() -> None:
    made, deleted = (
        group(2, owner="early"),
        write(ADMIN, "delete", "podgroups", "g", 0.3, response={"status": "Success"}),
    )
    again = replace(group(2, owner="job", when=0.43), received=0.4)
    member = replace(managed(pod("a", owner="job")), received=0.41, completed=0.45)
    (found,) = broken("I1", made, deleted, again, member)
    assert "before its group" in found


def test_a_group_whose_maker_went_away_before_the_answer_was_made_if_anybody_writes_to_it() -> None:
    made = group(1, when=0.1)
    unknown = replace(made, code=504, response={})
    shown = replace(told("g", 0.3, PodGroupInitiallyScheduled=("False", "", "")), response=made.response)
    assert broken("I1", unknown, managed(pod("a")), shown, managed(pod("b", when=0.4))) == []


def test_a_member_that_was_created_after_a_create_that_was_not_carried_out_is_seen() -> None:
    unknown = replace(group(1, when=0.1), code=504, response={})
    (found,) = verdict(node(), unknown, managed(pod("a")), group(1, when=0.3))
    assert "before its group" in found


def test_a_member_that_is_bound_without_anybody_ever_writing_to_its_group_is_seen() -> None:
    unknown = replace(group(1, when=0.1), code=504, response={})
    (found,) = broken("I1", node(), unknown, managed(pod("a")), bind("a", 1.0))
    assert "before its group" in found
    assert broken("I1", node(), unknown, managed(pod("a")), bind("a", 1.0), now=2.0) == []


def test_a_bind_whose_author_went_away_before_the_answer_was_carried_out_if_the_pod_runs() -> None:
    gang = [node(), group(2), pod("a"), pod("b"), bind("a", 1.0), bind("b", 1.1, code=504)]
    assert (
        verdict(*gang, write(KUBELET, "patch", "pods/status", "b", 1.2, request={"status": {"phase": "Running"}})) == []
    )
    (found,) = verdict(*gang)
    assert "1 of at least 2" in found


@pytest.mark.parametrize(("received", "count"), [(1.15, 0), (1.35, 1)])
def test_a_bind_that_is_answered_after_the_pod_runs_is_not_its_second_one_if_it_was_asked_for_before(
    received: float, count: int
) -> None:
    cut_off = bind("a", 1.1, code=504)
    runs = write(KUBELET, "patch", "pods/status", "a", 1.2, request={"status": {"phase": "Running"}})
    answered = replace(bind("a", 1.4, target="m"), received=received)
    found = broken("I7", node(), node(name="m"), group(1), pod("a"), cut_off, runs, answered)
    assert len(found) == count
    (third,) = broken("I7", node(), node(name="m"), group(1), pod("a"), cut_off, runs, answered, bind("a", 1.5))[count:]
    assert "bound twice, to m and to n" in third


@pytest.mark.parametrize(("webhook", "count"), [("update.jobs.tutti.scheduler", 0), ("jobs.example.com", 1)])
def test_a_job_that_is_resumed_while_our_webhooks_are_away_has_its_pods_before_its_group(
    webhook: str, count: int
) -> None:
    notes = {"failed-open.mutation.webhook.admission.k8s.io/round_0_index_3": webhook}
    job = {"metadata": {"uid": "uid-of-job"}}
    resumed = write(ADMIN, "patch", "jobs", "train", 0.1, response=job, annotations=notes)
    members = [managed(pod("a", member_of=None, owner="uid-of-job"))]
    assert len(verdict(resumed, *members)) == count


def test_a_gang_that_stays_partial_is_seen() -> None:
    (found,) = verdict(node(), group(2), pod("a"), pod("b"), bind("a", 1.0))
    assert "1 of at least 2" in found


def test_a_gang_whose_binds_lie_far_apart_is_seen() -> None:
    (found,) = verdict(node(), group(2), pod("a"), pod("b"), bind("a", 1.0), bind("b", 3.5))
    assert "partial for 2.5 s" in found


def test_strangers_on_nodes_make_no_quorum_of_a_gang_that_is_partial() -> None:
    stranger = pod("stranger", nodeName="n")
    (found,) = verdict(node(), group(2, owner="job"), stranger, pod("a", owner="job"), bind("a", 1.0))
    assert "1 of at least 2" in found


def test_members_that_a_user_puts_on_nodes_are_no_partial_start_until_we_bind_another_one() -> None:
    put = pod("put", nodeName="n")
    assert verdict(node(), group(3), put, pod("a"), pod("b")) == []
    (found,) = verdict(node(), group(3), put, pod("a"), pod("b"), bind("a", 1.0))
    assert "2 of at least 3" in found


def test_a_group_that_is_made_after_its_pods_knows_which_are_bound() -> None:
    late = group(2, when=2.0)
    (found,) = verdict(node(), pod("a"), pod("b"), bind("a", 1.0), late)
    assert "1 of at least 2" in found


def test_a_partial_gang_within_the_window_is_no_error_yet() -> None:
    assert verdict(node(), group(2), pod("a"), pod("b"), bind("a", 1.0), now=2.0) == []


def test_a_partial_gang_is_told_once() -> None:
    auditor = Auditor()
    auditor.feed([node(), group(2), pod("a"), pod("b"), bind("a", 1.0)])
    assert len(auditor.close(10.0)) == 1
    assert auditor.close(20.0) == []


def test_a_satisfied_gang_may_lose_members() -> None:
    records = [node(), group(2), pod("a"), pod("b"), bind("a", 1.0), bind("b", 1.1), ended("a", 2.0, "Failed")]
    assert verdict(*records) == []


def test_pods_bound_before_their_group_is_known_count() -> None:
    (found,) = verdict(node(), pod("a"), bind("a", 1.0), group(2, when=1.5), pod("b"))
    assert "1 of at least 2" in found


def test_a_second_bind_is_seen() -> None:
    found = verdict(node(), pod("a", member_of=None), bind("a", 1.0), bind("a", 1.1, target="other"))
    assert any("bound twice" in each for each in found)


def made_again(name: str, when: float) -> Record:
    record = pod(name, member_of=None)
    metadata = {**record.response["metadata"], "uid": f"second-uid-{name}"}
    return replace(record, response={**record.response, "metadata": metadata}, received=when - 0.1, completed=when)


def bind_by_uid(name: str, when: float, uid: str) -> Record:
    record = bind(name, when)
    return replace(record, request={**record.request, "metadata": {"uid": uid}})


def test_a_pod_made_again_under_its_name_may_be_bound_before_its_maker_has_the_answer() -> None:
    first = [node(), pod("a", member_of=None), bind_by_uid("a", 1.0, "uid-a"), ended("a", 2.0)]
    again = [bind_by_uid("a", 3.0, "second-uid-a"), made_again("a", 3.1)]
    assert verdict(*first, *again) == []
    assert any("bound twice" in each for each in verdict(*first, *again, bind_by_uid("a", 3.2, "second-uid-a")))


def test_a_member_counts_as_bound_although_its_maker_has_the_answer_later() -> None:
    """A busy server shows a pod to watchers before it has answered who creates it."""
    first = [node(), group(2), pod("a"), bind_by_uid("a", 1.0, "uid-a"), bind_by_uid("b", 1.1, "uid-b")]
    assert verdict(*first, pod("b", when=1.2)) == []
    assert any("1 of at least 2" in each for each in verdict(*first[:-1], pod("b", when=1.2)))


def test_a_group_that_is_gone_does_not_come_back_when_its_finalizer_is_taken_off() -> None:
    """What is left of its pods then makes no gang partial."""
    started = [node(), group(2), pod("a"), pod("b"), bind("a", 1.0), bind("b", 1.1)]
    deleted = write("gc", "delete", "podgroups", "g", 2.1)
    response = {**group(2).response}
    response["metadata"] = {**response["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}
    finalized = write("gc", "update", "podgroups", "g", 2.2, response=response)
    assert verdict(*started, ended("a", 2.0), deleted, finalized) == []
    finalized.response["metadata"].pop("deletionTimestamp")
    assert any("1 of at least 2" in each for each in verdict(*started, ended("a", 2.0), deleted, finalized))


def test_a_refused_attempt_to_bind_again_is_seen() -> None:
    (found,) = verdict(node(), pod("a", member_of=None), bind("a", 1.0), bind("a", 1.1, code=409))
    assert "tried to bind a pod again" in found


def test_an_over_committed_node_is_seen() -> None:
    names = ["a", "b"]
    pods = [pod(name, member_of=None, cpu="1500m") for name in names]
    (found,) = verdict(node(cpu="2"), *pods, bind("a", 1.0), bind("b", 1.1))
    assert "over-committed" in found
    assert "cpu" in found


@pytest.mark.parametrize(
    ("is_told", "offered", "is_kept"), [(True, "0", True), (False, "0", False), (True, "1", False)]
)
def test_what_a_pod_has_by_a_claim_is_not_taken_of_a_node_that_does_not_offer_it(
    is_told: bool, offered: str, is_kept: bool
) -> None:
    resource = "example.com/gpu"
    asking = pod("a", member_of=None)
    asking.response["spec"]["containers"][0]["resources"]["requests"][resource] = "2"
    there = node()
    there.response["status"]["allocatable"][resource] = offered
    mapping = {"containerName": "c", "resourceName": resource, "requestName": "container-0-request-1"}
    status = {"extendedResourceClaimStatus": {"resourceClaimName": "x", "requestMappings": [mapping]}}
    told = write(SCHEDULER_USER, "patch", "pods/status", "a", 0.9, request={"status": status})
    found = verdict(there, asking, *([told] if is_told else []), bind("a", 1.0))
    assert (found == []) is is_kept


def test_room_is_free_again_once_a_pod_has_ended() -> None:
    pods = [pod(name, member_of=None, cpu="2") for name in "ab"]
    assert verdict(node(cpu="2"), *pods, bind("a", 1.0), ended("a", 2.0), bind("b", 2.1)) == []


def test_a_deleted_pod_takes_room_until_its_grace_is_over() -> None:
    pods = [pod(name, member_of=None, cpu="2") for name in "ab"]
    asked = write(ADMIN, "delete", "pods", "a", 2.0, response={"metadata": {"deletionGracePeriodSeconds": 30}})
    gone = write(KUBELET, "delete", "pods", "a", 3.0, request={"gracePeriodSeconds": 0})
    early = [node(cpu="2"), *pods, bind("a", 1.0), asked, bind("b", 2.5), gone]
    late = [node(cpu="2"), *pods, bind("a", 1.0), asked, gone, bind("b", 3.5)]
    assert len(verdict(*early)) == 1
    assert verdict(*late) == []


def test_a_node_filled_a_moment_ago_by_another_scheduler_is_not_our_fault() -> None:
    pods = [pod("a", scheduler="default-scheduler", member_of=None, cpu="2"), pod("b", member_of=None, cpu="2")]
    assert verdict(node(cpu="2"), *pods, bind("a", 1.0, user=STOCK_SCHEDULER), bind("b", 1.5)) == []
    assert len(verdict(node(cpu="2"), *pods, bind("a", 1.0, user=STOCK_SCHEDULER), bind("b", 5.0))) == 1


def test_a_pod_bound_by_the_wrong_scheduler_is_seen() -> None:
    found = verdict(node(), pod("a", scheduler="default-scheduler", member_of=None), bind("a", 1.0))
    assert len(found) == 1


def test_a_change_of_somebody_elses_group_is_seen() -> None:
    theirs = group(2, user=ADMIN)
    (found,) = verdict(theirs, write(CONTROLLERS_USER, "patch", "podgroups", "g", 1.0, response=theirs.response))
    assert "made by admin" in found


@pytest.mark.parametrize(
    ("spec", "marks", "broken"),
    [
        ({"active": False}, {"tutti.scheduler/stopped": "preempted"}, False),
        ({"active": False}, {}, True),
        ({"active": False, "queueName": "another"}, {"tutti.scheduler/stopped": "preempted"}, True),
    ],
)
def test_of_kueues_workloads_only_their_activity_may_be_changed(spec: Object, marks: Object, broken: bool) -> None:
    theirs = write(ADMIN, "create", "workloads", "w", 1.0, group="kueue.x-k8s.io")
    request = {"metadata": {"uid": "1", "resourceVersion": "2", "annotations": marks}, "spec": spec}
    ours = write(CONTROLLERS_USER, "patch", "workloads", "w", 2.0, group="kueue.x-k8s.io", request=request)
    assert [bool(text) for text in verdict(theirs, ours)] == ([True] if broken else [])


def test_a_write_that_is_not_the_processs_task_is_seen() -> None:
    (found,) = verdict(write(WEBHOOKS_USER, "patch", "jobs", "j", 1.0))
    assert "not its task" in found


def test_a_missing_right_is_seen() -> None:
    (found,) = verdict(write(SCHEDULER_USER, "list", "nodes", "", 1.0, code=403, denied=True))
    assert "lacks a right" in found


def test_what_a_server_denies_before_it_is_ready_is_no_missing_right() -> None:
    auditor = Auditor()
    auditor.windows.server_starts = ((2.0, 4.0), (6.0, 8.0))
    for when in (1.0, 3.0, 5.0, 7.0, 9.0):
        auditor.feed([write(SCHEDULER_USER, "update", "leases", f"at-{when}", when, code=403, denied=True)])
    assert [each.split("/")[-1] for each in auditor.close(9.0)] == [f"at-{when} -> 403" for when in (1.0, 5.0, 9.0)]


def test_a_write_under_the_users_own_rights_is_seen() -> None:
    assert len(verdict(write(INSTALLER, "create", "pods/binding", "a", 1.0))) == 1
    assert len(verdict(write(ADMIN, "patch", "jobs", "j", 1.0, agent="tutti-controllers/0.1"))) == 1
    assert verdict(write(INSTALLER, "create", "clusterroles", "tutti-scheduler", 1.0)) == []
