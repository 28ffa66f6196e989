"""Who is asked to start anew is somebody who runs."""

from typing import Any, cast

import pytest

from scheduler.apicalls.group_conditions import GroupConditions
from scheduler.cache.cluster import ClusterState
from scheduler.preemption.restarts import Restarts
from scheduler.preemption.suspensions import Suspensions
from tests.scheduler.core import build
from tests.scheduler.shell.test_suspensions import Said


class NoEvents:
    """In place of telling people."""

    def group_restarts(self, *_: Any) -> None:
        pass


@pytest.mark.parametrize(("runs", "told"), [(True, [("v", "True")]), (False, [])])
def test_a_job_is_asked_to_start_anew_only_while_somebody_would_leave(
    *, runs: bool, told: list[tuple[str, str]]
) -> None:
    """Nobody would take the request back for whom nobody leaves, and the Job would stay suspended."""
    state, said, asked = ClusterState(frozenset({"tutti"})), Said(), list[str]()
    state.upsert_group(build.group("v", 2, owner="job"))
    state.upsert_pod(build.pod("v-0", group="v", on="n0" if runs else "", owner="job"))
    restarts = Restarts(
        cast("Any", None),
        cast("Any", None),
        retries=cast("Any", None),
        state=state,
        suspensions=Suspensions(state, cast("GroupConditions", said)),
        event_writer=cast("Any", NoEvents()),
        count=lambda: asked.append("v"),
    )
    restarts.restart(build.group_key("v"))
    assert (said.told, len(asked)) == (told, len(told))
