"""I11, I12 and I13: webhooks that are asked about others, a cache that is wrong, and refusals without a true reason."""

import json
from dataclasses import replace

import pytest

from tests.verify.auditor.histories import bind, broken, group, lease, node, pod, told, write
from verify.auditor.audit_log import Object, Record
from verify.auditor.auditor import Auditor
from verify.clusters.cluster_files import ADMIN

SCHEDULED = "PodGroupInitiallyScheduled"


# --- I11 --------------------------------------------------------------------------------------------------------------


def asked(resource: str, about: Object, *, namespace: str = "ns", configuration: str = "tutti-mutating") -> Record:
    said = json.dumps({"configuration": configuration, "webhook": "w.tutti.scheduler", "mutated": True})
    notes = {"mutation.webhook.admission.k8s.io/round_0_index_0": said}
    return write(ADMIN, "create", resource, "x", 1.0, namespace=namespace, response=about, annotations=notes)


MEMBER = {"metadata": {"labels": {"tutti.scheduler/managed": "embedded"}}}
GANG = {"spec": {"completionMode": "Indexed", "parallelism": 2, "completions": 2}}
PLAIN = {"metadata": {"labels": {"app": "web"}}, "spec": {"parallelism": 2}}


@pytest.mark.parametrize(("resource", "about"), [("pods", PLAIN), ("jobs", PLAIN), ("deployments", PLAIN)])
def test_a_bystander_whom_our_webhooks_are_asked_about_is_seen(resource: str, about: Object) -> None:
    (found,) = broken("I11", asked(resource, about))
    assert "about a bystander" in found


@pytest.mark.parametrize(("resource", "about"), [("pods", MEMBER), ("jobs", GANG), ("podgroups", GANG)])
def test_gangs_are_what_our_webhooks_are_asked_about(resource: str, about: Object) -> None:
    assert broken("I11", asked(resource, about)) == []


def test_even_a_gang_is_left_alone_in_a_namespace_of_the_system() -> None:
    assert len(broken("I11", asked("jobs", GANG, namespace="kube-system"))) == 1


def test_webhooks_of_others_are_not_our_matter() -> None:
    assert broken("I11", asked("pods", PLAIN, configuration="somebody")) == []


def test_a_bystander_that_is_refused_because_our_webhook_is_down_is_seen() -> None:
    message = 'failed calling webhook "pods.tutti.scheduler": connection refused'
    refused = write(ADMIN, "create", "pods", "x", 1.0, code=500, request=PLAIN, message=message)
    guarded = write(ADMIN, "create", "podgroups", "x", 1.0, code=500, request=GANG, message=message)
    assert len(broken("I11", refused)) == 1
    assert broken("I11", guarded) == []


def test_a_refused_patch_is_of_the_object_that_was_there_before() -> None:
    message = 'failed calling webhook "jobs.tutti.scheduler": connection refused'
    refused = write(ADMIN, "patch", "jobs", "x", 2.0, code=500, request={"spec": {"parallelism": 3}}, message=message)
    for about, count in ((PLAIN, 1), (GANG, 0)):
        assert len(broken("I11", write(ADMIN, "create", "jobs", "x", 1.0, response=about), refused)) == count


def test_a_patch_that_comes_when_its_object_is_deleted_is_of_that_object() -> None:
    gone = write(ADMIN, "delete", "jobs", "x", 1.5, response={"kind": "Status", "metadata": {}, "status": "Success"})
    for about, count in ((PLAIN, 1), (GANG, 0)):
        late = replace(asked("jobs", {}), verb="patch", code=404, completed=2.0)
        assert len(broken("I11", write(ADMIN, "create", "jobs", "x", 1.0, response=about), gone, late)) == count


# --- I12 --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "count"), [(0, 0), (2, 1)])
def test_a_cache_that_differs_from_a_list_is_seen(value: int, count: int) -> None:
    auditor = Auditor()
    auditor.sample(f'# HELP tutti_cache_drift of\ntutti_cache_drift{{kind="nodes"}} {value}.0\nother_total 5\n', 10.0)
    assert len(auditor.close(20.0)) == count


# --- I13 --------------------------------------------------------------------------------------------------------------


def waiting(*more: Record) -> list[Record]:
    """A gang of two that is there, and a scheduler that has been at work since."""
    return [node(), *held(), group(2), pod("a"), pod("b"), *more]


def held() -> list[Record]:
    """The scheduler's lease, renewed all the time."""
    return [lease("a", when + 0.3) for when in range(0, 100, 10)]


def test_a_gang_that_waits_without_a_word_is_seen() -> None:
    (found,) = broken("I13", *waiting(), now=100.0)
    assert "nothing says why" in found
    assert broken("I13", *waiting(), now=50.0) == []


def test_a_gang_that_waits_for_members_or_has_started_needs_no_word() -> None:
    assert broken("I13", *waiting(group(3, when=0.15)), now=100.0) == []
    assert broken("I13", *waiting(bind("a", 1.0), bind("b", 1.0)), now=100.0) == []


def test_while_no_scheduler_holds_the_lease_nobody_could_say_why() -> None:
    assert broken("I13", *waiting(lease("b", 99.5)), now=100.0) == []
    assert broken("I13", *waiting(), now=120.0) == [], "who was killed is still named as its holder"
    resumed = [node(), lease("a", 0.3), lease("a", 98.0), group(2), pod("a"), pod("b")]
    assert broken("I13", *resumed, now=100.0) == []


def refusal(message: str, *, reason: str = "Unschedulable", when: float = 50.0) -> Record:
    return told("g", when, **{SCHEDULED: ("False", reason, message)})


def test_a_refusal_with_a_true_reason_is_right() -> None:
    assert broken("I13", *waiting(refusal("0 of 2 pods can be placed; 0/1 nodes are available: cpu")), now=100.0) == []


@pytest.mark.parametrize(("reason", "message"), [("Unschedulable", ""), ("", "0/1 nodes are available")])
def test_a_refusal_without_reason_or_words_is_seen(reason: str, message: str) -> None:
    assert broken("I13", *waiting(refusal(message, reason=reason)), now=100.0)


def test_a_refusal_that_miscounts_the_nodes_is_seen() -> None:
    (found,) = broken("I13", *waiting(refusal("0/3 nodes are available: 3 Insufficient cpu")), now=100.0)
    assert "told of [3] nodes, and there are 1 (n)" in found


def test_a_count_of_nodes_may_be_a_moment_old() -> None:
    removed = write(ADMIN, "delete", "nodes", "n", 48.0)
    assert broken("I13", *waiting(removed, refusal("0/1 nodes are available: 1 Insufficient cpu")), now=100.0) == []
    long_ago = write(ADMIN, "delete", "nodes", "n", 20.0)
    late = refusal("0/1 nodes are available: 1 Insufficient cpu")
    assert len(broken("I13", *waiting(long_ago, late), now=100.0)) == 1


def test_a_node_is_gone_although_a_write_of_it_is_answered_later() -> None:
    taken = {"metadata": {"uid": "uid-of-m"}, "status": {"allocatable": {"cpu": "1"}}}
    records = [
        write(ADMIN, "create", "nodes", "m", 1.0, response=taken),
        write(ADMIN, "delete", "nodes", "m", 20.0, response={"details": {"uid": "uid-of-m"}}),
        write(ADMIN, "patch", "nodes", "m", 20.5, response=taken),
        refusal("0/1 nodes are available: 1 Insufficient cpu"),
    ]
    assert broken("I13", *waiting(*records), now=100.0) == []
    again = {**taken, "metadata": {"uid": "another-uid"}}
    records[2] = write(ADMIN, "create", "nodes", "m", 20.5, response=again)
    assert len(broken("I13", *waiting(*records), now=100.0)) == 1, "one of the same name is another one"


def test_a_gang_that_is_whole_and_said_to_wait_for_members_is_seen() -> None:
    late = refusal("waiting for minCount (2) pods: 1 of them exist", reason="WaitingForMembers")
    assert len(broken("I13", *waiting(late), now=100.0)) == 1
    early = refusal("waiting for minCount (2) pods: 1 of them exist", reason="WaitingForMembers", when=1.0)
    assert broken("I13", *waiting(early, refusal("0/1 nodes are available", when=2.0)), now=100.0) == []


def test_members_that_belong_to_somebody_else_do_not_make_a_gang_complete() -> None:
    members = [pod("a", owner="uid-of-job"), pod("b", owner="uid-of-another")]
    late = refusal("waiting for minCount (2) pods: 1 of them exist", reason="WaitingForMembers")
    records = [node(), *held(), group(2, owner="uid-of-job"), *members, late]
    assert broken("I13", *records, now=100.0) == []


def test_members_whose_owner_goes_are_nobodys_before_they_go_themselves() -> None:
    late = refusal("waiting for minCount (2) pods: 1 of them exist", reason="WaitingForMembers")
    records = [
        node(),
        *held(),
        group(2, owner="uid-of-job"),
        pod("a", owner="uid-of-job"),
        pod("b", owner="uid-of-job"),
        late,
    ]
    assert len(broken("I13", *records, now=100.0)) == 1
    gone = write(ADMIN, "delete", "jobs", "train", 49.0, response={"details": {"uid": "uid-of-job"}})
    assert broken("I13", *records, gone, now=100.0) == []
