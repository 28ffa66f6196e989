"""Tutti is replaced by a newer version and by the older one again, while gangs wait, are bound and preempt: nothing is lost.

Both versions are processes as a user starts them, one after the other on one cluster, with the CRDs, rights and policies that each
of them brings along. What the newer one has written is read by the older one.
"""

import signal

import pytest

from tests.conformance.upgrades.gangs import DOWN_SECONDS, Gangs
from tests.conformance.upgrades.replacing import replaced, start
from verify.auditor.auditor import Auditor
from verify.clusters.tutti_process import Tutti

pytestmark = [pytest.mark.slow]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL], ids=["stopped", "killed"])
def test_nothing_is_lost_on_the_way_to_a_newer_version_and_back(
    gangs: Gangs, older: Tutti, newer: Tutti, auditor: Auditor, how: signal.Signals
) -> None:
    auditor.windows.widen(DOWN_SECONDS)
    start(older)
    gangs.start("old-runs")
    with replaced(older, newer, how):
        gangs.wait("old-waits")
        gangs.preempt("old-preempts")
        gangs.rush("old-rushes")
    gangs.await_whole("old-rushes")
    gangs.let_leave("old-preempts")
    gangs.await_whole("old-preempts")
    gangs.nothing_is_lost()

    gangs.start("new-runs")
    with replaced(newer, older, how):
        gangs.wait("new-waits")
        gangs.preempt("new-preempts")
        gangs.rush("new-rushes")
    gangs.await_whole("new-rushes")
    gangs.let_leave("new-preempts")
    gangs.await_whole("new-preempts")
    gangs.nothing_is_lost()
    for name in ("old-waits", "new-waits"):
        gangs.make_room(name)
        gangs.await_whole(name)
    gangs.nothing_is_lost()
