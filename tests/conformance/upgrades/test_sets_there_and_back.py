"""LeaderWorkerSets, JobSets and their gangs while Tutti is replaced by a newer version and by the older one again.

The older version knows no JobSet, only Jobs whose parent describes their group, and no tree. What it made goes on under the newer
one. What the newer one made and the older one does not know waits, or runs on, until the newer one is back.
"""

import signal

import pytest

from tests.conformance.upgrades.gangs import DOWN_SECONDS, SETTLE_SECONDS
from tests.conformance.upgrades.parents import Parents
from tests.conformance.upgrades.replacing import replaced, start
from verify.auditor.auditor import Auditor
from verify.clusters.eventually import eventually, throughout
from verify.clusters.tutti_process import Tutti

pytestmark = [pytest.mark.slow]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL], ids=["stopped", "killed"])
def test_sets_of_each_version_go_on_under_the_other_one(
    parents: Parents, older: Tutti, newer: Tutti, auditor: Auditor, how: signal.Signals
) -> None:
    auditor.windows.widen(DOWN_SECONDS)
    start(older)
    with replaced(older, newer, how):
        for name in ("lws-runs", "delegated-runs", "plain-runs"):
            parents.make_room(name)
        for name in ("lws-runs", "lws-waits"):
            parents.leader_worker_set(name)
        for name in ("delegated-runs", "delegated-waits"):
            parents.delegated(name)
        parents.job_set("plain-runs")
        for name in ("lws-runs", "delegated-runs", "plain-runs"):
            parents.runs(name)
        parents.waits("lws-waits", groups=2)
    parents.nothing_is_lost()
    for name in ("lws-waits", "delegated-waits"):
        parents.make_room(name, cpu=3)
        eventually(lambda each=name: parents.bound(each) == 2, within_seconds=SETTLE_SECONDS)  # type: ignore[misc]
        parents.make_room(name, cpu=1)
        parents.runs(name)
    assert parents.groups("plain-runs") == set()
    (told,) = parents.jobsets.events("plain-runs", "NotAdmittedAsGang")
    assert "delete it and create it again" in told

    with replaced(newer, older, how):
        for name in ("set-runs", "whole-runs"):
            parents.make_room(name)
        for name in ("set-runs", "set-waits"):
            parents.job_set(name, scope="set")
        for name in ("whole-runs", "whole-waits"):
            parents.leader_worker_set(name, is_whole=True)
        for name in ("set-runs", "whole-runs"):
            parents.runs(name)
        parents.waits("set-waits", groups=1)
        parents.waits("whole-waits", groups=2)
    parents.nothing_is_lost()
    # To the older version these pods belong to nobody's group: they wait, and none of them starts alone.
    parents.make_room("set-waits")
    throughout(lambda: parents.bound("set-waits") == 0, seconds=5, poll_seconds=0.2)
    # It knows no trees: each replica is a gang of its own to it.
    parents.make_room("whole-waits", cpu=3)
    eventually(lambda: parents.bound("whole-waits") == 2, within_seconds=SETTLE_SECONDS)
    with replaced(older, newer, how):
        parents.nothing_is_lost()
    parents.runs("set-waits")
    parents.make_room("whole-waits", cpu=1)
    parents.runs("whole-waits")
    parents.nothing_is_lost()
