"""Which version of the group API the processes speak, and that a gang stays whole when it becomes another one.

A made-up v1 stands in for a server that does not exist yet: a proxy before the real one renames its v1beta1.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.conformance.test_uninstall import objects_of_ours
from tests.conformance.version_proxy import Serves, kubeconfig_through, says, tutti_through, version_proxy
from verify.auditor.identities import INSTALLER, UNINSTALLER
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs, indexed_job, is_gang
from verify.clusters.server import Server
from verify.clusters.tutti_process import (
    COMMAND,
    READY_SECONDS,
    STOP_SECONDS,
    SYSTEM_NAMESPACE,
    Tutti,
    environment,
    run_tutti,
)

RECORD = "tutti-group-api"
SETTLE_SECONDS = 40
LEASE_SECONDS = 60
SPOKEN = {"own": "tutti.scheduler/v1beta1", "built-in": "scheduling.k8s.io/v1beta1"}

Command = Callable[..., Server]


@pytest.fixture
def through_v1(control_plane: ControlPlane) -> Iterator[Command]:
    """Starts a `tutti` command against the server as if it served v1, beside v1beta1 or instead of it."""
    with ExitStack() as ended:

        def start(command: str, serves: Serves) -> Server:
            proxy, url = version_proxy(control_plane, serves)
            ended.callback(proxy.kill)
            token = "" if command == "run" else control_plane.token_of_account(f"tutti-{command}")
            kubeconfig = str(kubeconfig_through(control_plane, url, INSTALLER, token=token))
            server = Server(
                f"tutti {command} through v1",
                [COMMAND, command, "--kubeconfig", kubeconfig],
                log=control_plane.folder / f"tutti-{command}-v1-{url.rpartition(':')[2]}.log",
                environment={**environment(control_plane.folder), "KUBECONFIG": ""},
            )
            ended.callback(lambda: server.running and server.terminate(within_seconds=STOP_SECONDS))
            server.start()
            return server

        yield start


def record(control_plane: ControlPlane) -> str:
    found = control_plane.admin.get("configmaps", RECORD, SYSTEM_NAMESPACE)
    return str(found["data"]["group-api"])


def identities(jobs: Jobs, *names: str) -> dict[str, list[str]]:
    """By Job the UIDs of everything that makes it a gang; each has one Workload and one PodGroup."""
    found = {}
    for name in names:
        groups, workloads = jobs.groups(name), jobs.workloads(name)
        assert (len(groups), len(workloads)) == (1, 1), f"Job {name}: {len(workloads)} Workloads, {len(groups)} groups"
        found[name] = sorted(one["metadata"]["uid"] for one in [*groups, *workloads, *jobs.pods(name)])
    return found


def test_the_processes_speak_what_the_server_has(tutti: Tutti, control_plane: ControlPlane, group_api: str) -> None:
    assert says(tutti.server, f"group API {SPOKEN[group_api]}")()
    assert record(control_plane) == group_api


@pytest.mark.built_in
@pytest.mark.parametrize("serves", ["both", "new"])
def test_a_server_that_learns_v1_finds_every_gang_as_it_was(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, control_plane: ControlPlane, through_v1: Command, serves: Serves
) -> None:
    nodes.add(1, cpu="4")
    jobs.create(indexed_job("paused", 3, suspend=True))
    jobs.create(indexed_job("runs", 2))
    eventually(lambda: jobs.groups("paused") and jobs.whole("runs"), within_seconds=SETTLE_SECONDS)
    jobs.create(indexed_job("waits", 4))
    eventually(lambda: jobs.waits("waits"), within_seconds=SETTLE_SECONDS)
    before = identities(jobs, "paused", "runs", "waits")
    assert tutti.stop() == 0

    upgraded = through_v1("run", serves)
    eventually(says(upgraded, "Tutti is running"), within_seconds=READY_SECONDS)
    assert says(upgraded, "group API scheduling.k8s.io/v1")()
    eventually(tutti_admits(jobs), within_seconds=READY_SECONDS)
    assert record(control_plane) == "built-in"
    jobs.create(indexed_job("new", 2))
    eventually(lambda: jobs.whole("new"), within_seconds=SETTLE_SECONDS)
    assert jobs.waits("waits")
    assert identities(jobs, "paused", "runs", "waits") == before
    for name in ("runs", "new"):
        jobs.api.delete("jobs", name, jobs.namespace)
    eventually(lambda: jobs.whole("waits"), within_seconds=SETTLE_SECONDS)
    assert identities(jobs, "paused", "waits") == {name: before[name] for name in ("paused", "waits")}
    jobs.api.delete("jobs", "waits", jobs.namespace)
    jobs.api.patch("jobs", "paused", {"spec": {"suspend": False}}, jobs.namespace)
    eventually(lambda: jobs.whole("paused"), within_seconds=SETTLE_SECONDS)
    assert set(before["paused"]) <= set(identities(jobs, "paused")["paused"])
    after = identities(jobs, "paused")

    upgraded.terminate(within_seconds=STOP_SECONDS)
    tutti.ensure_running()
    assert identities(jobs, "paused") == after


@pytest.mark.built_in
def test_a_scheduler_that_speaks_v1_starts_gangs_of_controllers_that_speak_v1beta1(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, through_v1: Command
) -> None:
    jobs.create(indexed_job("waits", 3))
    eventually(lambda: jobs.waits("waits"), within_seconds=SETTLE_SECONDS)
    before = identities(jobs, "waits")
    tutti.lose_child("scheduler", signal.SIGKILL)
    newer = through_v1("scheduler", "new")
    nodes.add(1, cpu="8")
    eventually(lambda: jobs.whole("waits"), within_seconds=LEASE_SECONDS)
    jobs.create(indexed_job("new", 3))
    eventually(lambda: jobs.whole("new"), within_seconds=SETTLE_SECONDS)
    newer.require_running()
    assert identities(jobs, "waits") == before


@pytest.mark.built_in
def test_processes_that_run_while_their_version_goes_begin_anew_with_the_next_one(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, control_plane: ControlPlane
) -> None:
    assert tutti.stop() == 0
    with ExitStack() as ended:
        before, server, port = tutti_through(control_plane, "old", ended)
        assert says(server, "group API scheduling.k8s.io/v1beta1")()
        eventually(tutti_admits(jobs), within_seconds=READY_SECONDS)
        jobs.create(indexed_job("waits", 3))
        eventually(lambda: jobs.waits("waits"), within_seconds=SETTLE_SECONDS)
        known = identities(jobs, "waits")

        before.kill()
        after, _ = version_proxy(control_plane, "new", port=port)
        ended.callback(after.kill)
        for name in ("controllers", "scheduler"):
            eventually(
                says(server, f"{name}: the server serves scheduling.k8s.io/v1 and"), within_seconds=LEASE_SECONDS
            )
        eventually(says(server, "group API scheduling.k8s.io/v1\n"), within_seconds=LEASE_SECONDS)
        nodes.add(1, cpu="8")
        jobs.create(indexed_job("new", 3))
        for name in ("waits", "new"):
            eventually(lambda: jobs.whole(name), within_seconds=LEASE_SECONDS)  # noqa: B023
        assert identities(jobs, "waits") == known


@pytest.mark.built_in
@pytest.mark.parametrize("serves", ["both", "new"])
def test_uninstalling_finds_groups_in_v1(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, control_plane: ControlPlane, serves: Serves
) -> None:
    nodes.add(1, cpu="4")
    jobs.create(indexed_job("runs", 2))
    eventually(lambda: jobs.whole("runs"), within_seconds=SETTLE_SECONDS)
    assert tutti.stop() == 0
    proxy, url = version_proxy(control_plane, serves)
    try:
        kubeconfig = str(kubeconfig_through(control_plane, url, UNINSTALLER))
        done = run_tutti("uninstall", "--kubeconfig", kubeconfig, folder=control_plane.folder)
    finally:
        proxy.kill()
    assert done.code == 0, f"{done.out}{done.err}"
    assert "2 Workloads and PodGroups that we made deleted" in done.out
    eventually(lambda: not objects_of_ours(control_plane), within_seconds=30)


def tutti_admits(jobs: Jobs) -> Callable[[], bool]:
    """Whether admission takes in a Job as a gang."""
    return lambda: is_gang(jobs.api.create("jobs", indexed_job("probe", 2), jobs.namespace, dry_run=True))
