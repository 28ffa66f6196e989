"""What each provider makes of a gang, against the table of what its scheduler has to be told."""

import pkgutil

import pytest

import providers
from providers.base import MinMemberRule, PodMetadata, Provider, StartupPolicy
from providers.gang import LEADER, WORKER, Gang, Role
from providers.selection import standard_providers
from tests.providers.expected import TABLE, Case, Row, Told
from tests.providers.gangs import job_gang, replica

KNOWN = standard_providers()
NO_SCHEDULERS = {"base", "embedded", "gang", "limits", "replicas", "selection"}
"""Modules of the package that are no scheduler beside ours."""

ROWS = pytest.mark.parametrize(("name", "row"), TABLE.items(), ids=list(TABLE))


def provider(name: str) -> Provider:
    found = KNOWN.named(name)
    assert found is not None
    return found


def role(gang: Gang, name: str) -> Role:
    return next(each for each in gang.roles if each.name == name)


def check(name: str, gang: Gang, expected: Case) -> None:
    asked = provider(name)
    for each in gang.roles:
        told: Told = expected.leader if each.name == LEADER else expected.worker
        assert asked.pod_metadata(gang, each) == PodMetadata(told.labels, told.annotations), each.name
    assert asked.group_objects(gang) == expected.objects


def test_every_scheduler_has_a_row_and_every_row_a_scheduler() -> None:
    modules = {module.name.replace("_", "-") for module in pkgutil.iter_modules(providers.__path__)}
    assert modules - NO_SCHEDULERS == set(TABLE)
    assert {each.name for each in KNOWN.all} == {*TABLE, "embedded"}


@ROWS
def test_a_job(name: str, row: Row) -> None:
    check(name, job_gang(), row.job)


@ROWS
def test_a_replica_whose_pods_are_created_together(name: str, row: Row) -> None:
    check(name, replica(StartupPolicy.LEADER_CREATED), row.created)


@ROWS
def test_a_replica_whose_workers_wait_for_their_leader(name: str, row: Row) -> None:
    check(name, replica(StartupPolicy.LEADER_READY), row.ready)


@ROWS
def test_its_scheduler_and_its_rules(name: str, row: Row) -> None:
    asked = provider(name)
    assert asked.scheduler_name == row.scheduler_name
    assert asked.min_member_rule(StartupPolicy.LEADER_CREATED) is MinMemberRule.WHOLE_GROUP
    assert asked.min_member_rule(StartupPolicy.LEADER_READY) is row.ready_rule
    assert (asked.kind is not None) == bool(row.crd_file)


@ROWS
def test_what_it_writes_is_what_it_says_it_writes(name: str, row: Row) -> None:
    """Re-applied manifests lose these keys and get them back, so none may be forgotten."""
    asked = provider(name)
    settings = {
        "labels": {"kai.scheduler/queue": "q", "yunikorn.apache.org/queue": "q"},
        "annotations": {"quota.scheduling.koordinator.sh/name": "q"},
        "timeout_seconds": 30,
    }
    gang = job_gang(**settings)
    written = asked.pod_metadata(gang, role(gang, WORKER))
    assert {*written.labels, *written.annotations} <= set(asked.pod_keys)
    assert set(asked.group_keys) <= set(asked.pod_keys)
    assert bool(row.job.worker.labels or row.job.worker.annotations) == bool(asked.group_keys)


@ROWS
def test_group_objects_are_of_its_own_kind_and_follow_their_owner(name: str, row: Row) -> None:
    asked = provider(name)
    for gang in (job_gang(), replica(StartupPolicy.LEADER_READY)):
        for made in asked.group_objects(gang):
            (owner,) = made["metadata"]["ownerReferences"]
            assert owner["controller"]
            if asked.kind is not None:
                assert (made["apiVersion"], made["kind"]) == (asked.kind.api_version, asked.kind.kind)
