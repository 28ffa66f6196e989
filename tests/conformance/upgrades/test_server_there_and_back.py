"""Tutti runs on while the API server is replaced by that of the next version, and by the one before again: nothing is lost.

API server, controller manager and stock scheduler go together, etcd with all that they had written stays. Tutti's processes see a
server that is away for some seconds and comes back with another version; once they begin anew on it.
"""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kube.groups.server_version import minor_of
from tests.conformance.upgrades.gangs import DOWN_SECONDS, SETTLE_SECONDS, Gangs
from tests.conformance.upgrades.parents import Parents
from tests.conformance.upgrades.replacing import end, start
from tests.programs import servers
from verify.auditor.auditor import Auditor
from verify.clusters.client import Api, ApiError
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.real import RealControlPlane
from verify.clusters.tutti_process import Tutti
from verify.clusters.versions import NEWEST, NEXT

NOT_FOUND = 404

pytestmark = [pytest.mark.slow, pytest.mark.real_only("the embedded server has one version")]


class Upgrade:
    """The control plane of the tests, which goes to another version and back."""

    def __init__(self, control_plane: RealControlPlane, auditor: Auditor, usual: Path, following: Path) -> None:
        self._control_plane = control_plane
        self._windows = auditor.windows
        self._usual, self._following = usual, following
        self._running = usual

    def go_on(self) -> None:
        """With the next version from now on."""
        self._run(self._following, NEXT)

    def go_back(self) -> None:
        """With the usual version from now on."""
        self._run(self._usual, NEWEST)

    def _run(self, folder: Path, minor: int) -> None:
        if folder == self._running:
            return
        self._running = folder
        begin = time.time()
        self._control_plane.replace_servers(folder)
        self._windows.server_starts += ((begin, time.time()),)
        api = self._control_plane.admin
        assert minor_of(api.request("GET", "/version")) == minor
        for kind in ("podgroups", "compositepodgroups", "leaderworkersets", "jobsets"):
            # Kinds of others are served somewhat later than its own.
            eventually(lambda kind=kind: is_served(api, kind), within_seconds=SETTLE_SECONDS)  # type: ignore[misc]


def is_served(api: Api, kind: str) -> bool:
    """Whether it can be listed, or is not there at all."""
    try:
        api.list(kind)
    except ApiError as error:
        return error.status == NOT_FOUND
    return True


@pytest.fixture
def upgrade(control_plane: ControlPlane, auditor: Auditor, assets: Path) -> Iterator[Upgrade]:
    following = servers(f"1.{NEXT}")
    if following is None:
        pytest.skip(f"`KUBERNETES_VERSION=1.{NEXT} make controlplane` was not run")
    assert isinstance(control_plane, RealControlPlane)
    made = Upgrade(control_plane, auditor, assets, following)
    yield made
    made.go_back()


def test_gangs_of_jobs_are_as_they_were_on_the_next_server_and_back(
    gangs: Gangs, tutti: Tutti, auditor: Auditor, upgrade: Upgrade
) -> None:
    auditor.windows.widen(DOWN_SECONDS)
    everybody_at_a_stage(gangs, "old")
    upgrade.go_on()
    everybody_goes_on(gangs, "old")

    end(tutti)
    start(tutti)
    everybody_at_a_stage(gangs, "new")
    upgrade.go_back()
    everybody_goes_on(gangs, "new")
    for name in ("old-waits", "new-waits"):
        gangs.make_room(name)
        gangs.await_whole(name)
    gangs.nothing_is_lost()


def everybody_at_a_stage(gangs: Gangs, when: str) -> None:
    gangs.start(f"{when}-runs")
    gangs.wait(f"{when}-waits")
    gangs.preempt(f"{when}-preempts")
    gangs.rush(f"{when}-rushes")


def everybody_goes_on(gangs: Gangs, when: str) -> None:
    gangs.await_whole(f"{when}-rushes")
    gangs.let_leave(f"{when}-preempts")
    gangs.await_whole(f"{when}-preempts")
    gangs.nothing_is_lost()


def test_sets_are_as_they_were_on_the_next_server_and_back(
    parents: Parents, tutti: Tutti, auditor: Auditor, upgrade: Upgrade
) -> None:
    auditor.windows.widen(DOWN_SECONDS)
    sets_of_each_kind(parents, "old")
    upgrade.go_on()
    parents.nothing_is_lost()
    who_waited_starts(parents, "old")

    end(tutti)
    start(tutti)
    sets_of_each_kind(parents, "new")
    upgrade.go_back()
    parents.nothing_is_lost()
    who_waited_starts(parents, "new")


def sets_of_each_kind(parents: Parents, when: str) -> None:
    """One of each that runs, and one that waits: replicas by themselves, whole LeaderWorkerSets, whole JobSets."""
    for state in ("runs", "waits"):
        names = [f"{when}-{kind}-{state}" for kind in ("lws", "whole", "set")]
        if state == "runs":
            for name in names:
                parents.make_room(name)
        parents.leader_worker_set(names[0])
        parents.leader_worker_set(names[1], is_whole=True)
        parents.job_set(names[2], scope="set")
        if state == "runs":
            for name in names:
                parents.runs(name)
    parents.waits(f"{when}-lws-waits", groups=2)
    parents.waits(f"{when}-whole-waits", groups=2)
    parents.waits(f"{when}-set-waits", groups=1)


def who_waited_starts(parents: Parents, when: str) -> None:
    for kind in ("lws", "whole", "set"):
        parents.make_room(f"{when}-{kind}-waits")
        parents.runs(f"{when}-{kind}-waits")
    parents.nothing_is_lost()
