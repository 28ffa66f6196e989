"""Runs see it when the product is wrong: a bug is planted, and the promise that it breaks is named."""

from typing import Any

import msgspec
import pytest

from api.podgroup import PodGroup
from kube.cache.informer import Informer
from kube.client.resources import PODS
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.record_factory import RecordFactory
from scheduler.cache.records import GroupRecord
from verify.simulator.actions import AddNode, CreateJob, DeleteJob, DeletePod, Scenario
from verify.simulator.main import kinds
from verify.simulator.run import simulate

LEFT_BEHIND = (
    AddNode(cpu=4),
    CreateJob(pods=2, restart_seconds=15),
    DeleteJob(after=20.0, orphan=True),
    DeletePod(after=20.0),
)


def test_a_minimum_that_is_off_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    right: Any = PodGroupState.min_count
    monkeypatch.setattr(PodGroupState, "min_count", property(lambda group: max(right.fget(group) - 1, 1)))

    outcome = simulate(Scenario(1, (AddNode(cpu=4), CreateJob(pods=2, cpu_milli=3000))))

    assert "I1" in kinds(outcome)


def test_a_gang_that_starts_anew_although_its_owner_has_left_it_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    right = RecordFactory.group

    def group(factory: RecordFactory, given: PodGroup) -> GroupRecord:
        return msgspec.structs.replace(right(factory, given), is_left_behind=False)

    assert not kinds(simulate(Scenario(1, LEFT_BEHIND)))

    monkeypatch.setattr(RecordFactory, "group", group)

    assert "I3" in kinds(simulate(Scenario(1, LEFT_BEHIND)))


def test_a_scheduler_that_never_forgets_a_pod(monkeypatch: pytest.MonkeyPatch) -> None:
    right: Any = Informer._remove

    def remove(informer: Any, key: tuple[str, str]) -> None:
        is_scheduler = informer._client._connection._user_agent.startswith("scheduler")
        if not (is_scheduler and informer._resource is PODS):
            right(informer, key)

    monkeypatch.setattr(Informer, "_remove", remove)

    outcome = simulate(Scenario(1, (AddNode(cpu=4), CreateJob(pods=2), DeleteJob(after=20.0))))

    assert "I12" in kinds(outcome)
