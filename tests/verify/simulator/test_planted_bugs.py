"""Runs see it when the product is wrong: a bug is planted, and the promise that it breaks is named."""

from typing import Any

import pytest

from kube.cache.informer import Informer
from scheduler.cache.pod_group_state import PodGroupState
from verify.simulator.actions import AddNode, CreateJob, DeleteJob, Scenario
from verify.simulator.main import kinds
from verify.simulator.run import simulate


def test_a_minimum_that_is_off_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    right: Any = PodGroupState.min_count
    monkeypatch.setattr(PodGroupState, "min_count", property(lambda group: max(right.fget(group) - 1, 1)))

    outcome = simulate(Scenario(1, (AddNode(cpu=4), CreateJob(pods=2, cpu_milli=3000))))

    assert "I1" in kinds(outcome)


def test_a_cache_that_forgets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Informer, "_remove", lambda *_: None)

    outcome = simulate(Scenario(1, (AddNode(cpu=4), CreateJob(pods=2), DeleteJob(after=20.0))))

    assert "I12" in kinds(outcome)
