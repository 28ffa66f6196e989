"""Gang Jobs switched off and on again by configuration (KEP-5547, upgrade and downgrade): nothing is stuck at any point."""

import json
from collections.abc import Iterator

import pytest

from verify.auditor.identities import INSTALLER
from verify.clusters.client import ApiError
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import POD_GROUP, Jobs, indexed_job, is_gang
from verify.clusters.server import Server
from verify.clusters.tutti_process import COMMAND, READY_SECONDS, Tutti, environment

WORKERS = 3
SETTLE_SECONDS = 40
OFF = {"feature_gates": {"gangJobs": False}}


@pytest.fixture
def switched_off(tutti: Tutti, control_plane: ControlPlane) -> Iterator[Server]:
    """Not started yet: `tutti run` with gang Jobs switched off in the processes that know of them."""
    config = control_plane.folder / "switched-off.yaml"
    config.write_text(json.dumps({"webhooks": OFF, "controllers": OFF}))
    kubeconfig = str(control_plane.kubeconfig_of(INSTALLER))
    server = Server(
        "tutti run, gang Jobs switched off",
        [COMMAND, "run", "--kubeconfig", kubeconfig, "--config", str(config)],
        log=control_plane.folder / "tutti-off.log",
        environment={**environment(control_plane.folder), "KUBECONFIG": ""},
    )
    yield server
    if server.running:
        server.terminate(within_seconds=READY_SECONDS)


def says_switched_off(jobs: Jobs) -> bool:
    """Whether admission answers that gang Jobs are switched off: a Job that asks for a gang is left as it is."""
    asked = indexed_job("probe", 2, annotations={"tutti.scheduler/policy": "none-such"})
    plain = indexed_job("probe", 2)
    try:
        jobs.api.create("jobs", asked, jobs.namespace, dry_run=True)
    except ApiError:
        return False
    return not is_gang(jobs.api.create("jobs", plain, jobs.namespace, dry_run=True))


def test_gangs_live_on_new_jobs_are_plain_and_afterwards_gangs_again(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, switched_off: Server
) -> None:
    nodes.add(1, cpu="32")
    jobs.create(indexed_job("before", WORKERS))
    jobs.create(indexed_job("paused", WORKERS, suspend=True))
    eventually(lambda: jobs.whole("before"), within_seconds=SETTLE_SECONDS)
    eventually(lambda: jobs.groups("paused"), within_seconds=SETTLE_SECONDS)
    uids = {pod["metadata"]["uid"] for pod in jobs.pods("before")}

    assert tutti.stop() == 0
    switched_off.start()
    eventually(lambda: says_it_runs(switched_off), within_seconds=READY_SECONDS)
    eventually(lambda: says_switched_off(jobs), within_seconds=READY_SECONDS)
    jobs.create(indexed_job("meanwhile", WORKERS))
    eventually(lambda: jobs.whole("meanwhile"), within_seconds=SETTLE_SECONDS)
    assert not any(POD_GROUP in pod["metadata"]["annotations"] for pod in jobs.pods("meanwhile"))
    assert jobs.groups("meanwhile") == []
    jobs.api.patch("jobs", "paused", {"spec": {"suspend": False}}, jobs.namespace)
    eventually(lambda: jobs.whole("paused"), within_seconds=SETTLE_SECONDS)
    assert {pod["metadata"]["uid"] for pod in jobs.pods("before")} == uids
    switched_off.terminate(within_seconds=READY_SECONDS)

    tutti.ensure_running()
    jobs.create(indexed_job("after", WORKERS))
    assert is_gang(jobs.get("after"))
    eventually(lambda: jobs.whole("after"), within_seconds=SETTLE_SECONDS)
    suspended = [j["metadata"]["name"] for j in jobs.api.list("jobs", jobs.namespace) if j["spec"].get("suspend")]
    assert not suspended
    assert {pod["metadata"]["uid"] for pod in jobs.pods("before")} == uids


def says_it_runs(server: Server) -> bool:
    """Whether `tutti run` has all three processes ready."""
    server.require_running()
    return "Tutti is running" in server.last_log_lines(100)
