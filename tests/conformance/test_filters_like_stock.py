"""Both schedulers on one real control plane: each case is put to the stock one and to ours, and both give the same answer.

Differences that are meant: a refusal of the stock scheduler goes on with what it thought of preemption (" not found" when it
did not come to that), and it does not name the taint that keeps a pod away.
"""

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.conformance.stage import DECIDED_SECONDS, Stage
from tests.placement.case import Case
from tests.placement.table import CASES, IDS
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.tutti_process import Tutti

pytestmark = [pytest.mark.one_api, pytest.mark.real_only("there is no stock scheduler on the embedded one")]


def schedulers(case: Case) -> tuple[str, str]:
    return (f"stock-{case.profile}", f"tutti-{case.profile}") if case.profile else ("default-scheduler", "tutti")


@pytest.fixture(scope="module")
def home(control_plane: ControlPlane, kubelet: None) -> Iterator[str]:
    """One namespace for all cases: each takes away what it brought."""
    name = f"cases-{secrets.token_hex(3)}"
    control_plane.admin.create("namespaces", {"metadata": {"name": name}})
    yield name
    control_plane.admin.delete("namespaces", name)


@contextmanager
def staged(control_plane: ControlPlane, namespace: str, case: Case) -> Iterator[Stage]:
    stage = Stage(control_plane.admin, namespace, case)
    try:
        stage.set_up()
        yield stage
    finally:
        stage.tear_down()


@pytest.mark.parametrize(("group", "case"), CASES, ids=IDS)
def test_a_pod_gets_the_same_node_or_the_same_reasons(
    group: str, case: Case, control_plane: ControlPlane, home: str, tutti: Tutti
) -> None:
    if not takes_volumes(case):
        with staged(control_plane, home, case) as stage:
            for scheduler in schedulers(case):
                _compare(stage, case, scheduler)
        return
    for scheduler in schedulers(case):
        with staged(control_plane, home, case) as stage:
            _compare(stage, case, scheduler)


def takes_volumes(case: Case) -> bool:
    """Whether the first scheduler leaves another cluster to the second one: a claim gets its volume once."""
    return case.node is not None and any(one.get("status") == {"phase": "Pending"} for one in case.objects)


def _compare(stage: Stage, case: Case, scheduler: str) -> None:
    expected = stage.own(case.message()) if case.node is None else stage.node(case.node)

    def answers_as_expected() -> bool:
        answer = _plain(stage.answer(scheduler))
        assert answer == expected, f"{scheduler} says {answer!r}, expected is {expected!r}"
        return True

    eventually(answers_as_expected, within_seconds=3 * DECIDED_SECONDS)


def _plain(answer: str) -> str:
    without_preemption = answer.split(" preemption: ", maxsplit=1)[0].removesuffix(" not found")
    return re.sub(r"taint \{.*?\}", "taint(s)", without_preemption)
