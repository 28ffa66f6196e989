"""I5 and I10: objects without an owner, two where one belongs, and pods that belong to somebody else's gang."""

from dataclasses import replace

from tests.verify.auditor.histories import bind, broken, ended, group, made_by_us, node, pod, write
from verify.auditor.audit_log import Record
from verify.auditor.decisions import decisions
from verify.auditor.identities import CONTROLLERS_USER
from verify.clusters.cluster_files import ADMIN

JOB = "uid-of-job"


def job(when: float = 0.05) -> Record:
    return write(ADMIN, "create", "jobs", "train", when, response={"metadata": {"uid": JOB}})


def job_deleted(when: float, **details: object) -> Record:
    status = {"kind": "Status", "details": {"uid": JOB}}
    return write(ADMIN, "delete", "jobs", "train", when, **{"response": status, **details})


def workload(name: str = "w", owner: str = JOB) -> Record:
    metadata = made_by_us(f"uid-{name}", owner)
    return write(CONTROLLERS_USER, "create", "workloads", name, 0.1, response={"metadata": metadata})


def collected(resource: str, name: str, when: float) -> Record:
    return write("system:kube-controller-manager", "delete", resource, name, when)


def test_what_outlives_its_owner_is_seen() -> None:
    made = [job(), workload(), group(2, owner=JOB), job_deleted(10.0)]
    found = broken("I5", *made, now=100.0)
    assert len(found) == 2
    assert "90 s after its owner" in found[0]
    assert broken("I5", *made, now=20.0) == []
    assert broken("I5", *made, collected("workloads", "w", 11.0), collected("podgroups", "g", 11.0), now=100.0) == []


def test_an_owner_is_known_whatever_the_answer_to_its_deletion_holds() -> None:
    made = [job(), group(2, owner=JOB)]
    for response in ({}, {"metadata": {"uid": JOB}}):
        assert len(broken("I5", *made, job_deleted(10.0, response=response), now=100.0)) == 1


def test_an_owner_that_is_there_keeps_its_objects() -> None:
    assert broken("I5", job(), workload(), group(2, owner=JOB), now=1e6) == []


def test_the_group_of_a_leader_that_is_gone_is_seen() -> None:
    leader = [node(), pod("leader"), bind("leader", 1.0)]
    removed = write("hollow-kubelet", "delete", "pods", "leader", 5.0, request={"gracePeriodSeconds": 0})
    assert len(broken("I5", *leader, group(1, owner="uid-leader"), removed, now=100.0)) == 1
    assert broken("I5", *leader, group(1, owner="uid-leader"), ended("leader", 5.0), now=100.0) == []


def test_two_groups_of_one_owner_are_seen() -> None:
    two = [job(), group(2, "one", owner=JOB), group(2, "two", owner=JOB, when=0.2)]
    (found,) = broken("I5", *two)
    assert "belong to one owner" in found
    again = [
        job(),
        group(2, "one", owner=JOB),
        collected("podgroups", "one", 0.15),
        group(2, "two", owner=JOB, when=0.2),
    ]
    assert broken("I5", *again) == []


def test_an_object_that_is_deleted_before_its_maker_has_the_answer_is_not_there() -> None:
    first = group(2, "one", owner=JOB, when=0.15)
    deletion = replace(collected("podgroups", "one", 0.14), response={"details": {"uid": first.object_uid}})
    assert broken("I5", job(), deletion, first, group(2, "two", owner=JOB, when=0.2)) == []
    trees = [replace(each, resource="compositepodgroups") for each in (deletion, first, group(2, "two", owner=JOB))]
    assert broken("I5", job(), *trees) == []
    other = replace(deletion, response={"details": {"uid": "another"}})
    assert len(broken("I5", job(), other, first, group(2, "two", owner=JOB, when=0.2))) == 1


def test_somebody_elses_pod_in_a_gang_is_seen() -> None:
    gang = [node(), group(2, owner=JOB), pod("a", owner=JOB)]
    forged = [*gang, pod("b", owner="uid-of-another"), bind("a", 1.0), bind("b", 1.1)]
    (found,) = broken("I10", *forged)
    assert "of owner uid-of-another" in found
    assert broken("I10", *gang, pod("b", owner=JOB), bind("a", 1.0), bind("b", 1.1)) == []


def test_a_group_that_a_user_made_takes_whom_its_user_names() -> None:
    theirs = write(
        ADMIN, "create", "podgroups", "g", 0.1, response={"spec": {"schedulingPolicy": {"gang": {"minCount": 1}}}}
    )
    assert broken("I10", node(), theirs, pod("a", owner="somebody"), bind("a", 1.0)) == []


def test_decisions_for_a_namespace_can_be_compared_with_those_without_a_neighbour() -> None:
    alone = [
        job(),
        node(),
        group(2, owner=JOB),
        pod("a", owner=JOB),
        pod("b", owner=JOB),
        bind("b", 1.0),
        bind("a", 1.1),
    ]
    other = [
        write(ADMIN, "create", "pods", "x", 0.3, namespace="other", response={"metadata": {"namespace": "other"}}),
        write(ADMIN, "create", "pods/binding", "x", 0.4, namespace="other", request={"target": {"name": "n"}}),
    ]
    assert decisions(alone, "ns") == decisions([*alone, *other], "ns") == ["jobs/train starts"]
    assert decisions(alone[:-1], "ns") == []
