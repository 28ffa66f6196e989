"""Fixtures of the conformance tests: one control plane, one hollow kubelet and one Tutti for a whole session.

Each test has its own namespace and nodes, and leaves none of them. A test that kills, stops or uninstalls Tutti need not
repair it: the next test that asks for `tutti` gets a running one.
"""

import os
import random
import secrets
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.devices import Devices
from tests.conformance.prometheus import prometheus
from tests.conformance.scenarios.preemption_stage import Stage
from tests.conformance.versions import skip_too_new
from tests.conformance.watched import POLL_SECONDS, SOON_SECONDS, Watched
from verify.auditor.audit_log import AuditLog
from verify.auditor.auditor import Auditor
from verify.clusters.controlplane import ControlPlane
from verify.clusters.embedded import EmbeddedControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes, kubelet_process
from verify.clusters.jobs import Jobs
from verify.clusters.jobsets import SERVED_SECONDS as JOB_SETS_SERVED_SECONDS
from verify.clusters.jobsets import JobSets, are_followed, are_served, jobset_controller
from verify.clusters.lws import SERVED_SECONDS, Sets, controller_process, is_followed, is_served
from verify.clusters.real import RealControlPlane
from verify.clusters.tutti_process import COMMAND, Tutti
from verify.clusters.versions import BUILT_IN_SINCE, minor_of

CLEAN_SECONDS = 60
DEVICES_SECONDS = 5.0
"""So long a claim may have devices before a pod of it is bound, unless a test says otherwise: on two busy processors the writes of
one gang have taken nearly three seconds; a gang that holds devices and waits does so for as long as the test lasts."""
LOGS = {"tutti.log": 60, "hollow-kubelet.log": 10}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cluster",
        choices=["real", "embedded"],
        default="real",
        help="a kube-apiserver with its companions (real), or the server and stand-ins of localcluster/ (embedded)",
    )
    parser.addoption(
        "--group-api",
        choices=["own", "built-in"],
        default="own",
        help="whether the control plane serves scheduling.k8s.io/v1beta1 (built-in) or not (own)",
    )
    parser.addoption("--slow", action="store_true", help="also the tests that take minutes each")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[FAILURE_LOGS] = None
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if "control_plane" in getattr(item, "fixturenames", ()):
            item.add_marker("conformance")
    if config.getoption("--cluster", default="real") == "embedded":
        skip_real_only(items)
    elif folder := os.environ.get("KUBEBUILDER_ASSETS"):
        skip_too_new(items, minor_of(Path(folder)))
    unwanted = set()
    if not config.getoption("--slow", default=False):
        unwanted.add("slow")
    if config.getoption("--group-api", default="own") == "built-in":
        unwanted.add("one_api")
    else:
        unwanted.add("built_in")
    left_out = [item for item in items if any(item.get_closest_marker(mark) for mark in unwanted)]
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=left_out)


def skip_real_only(items: list[pytest.Item]) -> None:
    for item in items:
        mark = item.get_closest_marker("real_only")
        if mark is not None:
            item.add_marker(pytest.mark.skip(reason=f"a real cluster only: {mark.args[0]}"))


FAILURE_LOGS = pytest.StashKey[Path | None]()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    folder = item.config.stash.get(FAILURE_LOGS, None)
    if not report.failed or folder is None:
        return
    for name, count in LOGS.items():
        if (folder / name).exists():
            lines = (folder / name).read_text(errors="replace").splitlines()[-count:]
            report.sections.append((f"end of {name}", "\n".join(lines)))


@pytest.fixture(scope="session")
def group_api(request: pytest.FixtureRequest) -> str:
    return str(request.config.getoption("--group-api", default="own"))


@pytest.fixture(scope="session")
def assets() -> Path:
    folder = os.environ.get("KUBEBUILDER_ASSETS")
    if not folder:
        pytest.skip("KUBEBUILDER_ASSETS names no folder with kube-apiserver, etcd and kubectl; see `make conformance`")
    return Path(folder)


@pytest.fixture(scope="session")
def control_plane(request: pytest.FixtureRequest, group_api: str) -> Iterator[ControlPlane]:
    with chosen_control_plane(request, group_api) as running:
        request.config.stash[FAILURE_LOGS] = running.folder
        yield running


def chosen_control_plane(request: pytest.FixtureRequest, group_api: str) -> ControlPlane:
    if request.config.getoption("--cluster", default="real") == "embedded":
        if group_api != "own":
            pytest.exit("the embedded cluster serves our own group API only: --group-api own", returncode=2)
        return EmbeddedControlPlane()
    assets: Path = request.getfixturevalue("assets")
    if group_api == "built-in" and minor_of(assets) < BUILT_IN_SINCE:
        pytest.exit(f"Kubernetes before 1.{BUILT_IN_SINCE} has no built-in group API: --group-api own", returncode=2)
    return RealControlPlane(group_api="built-in" if group_api == "built-in" else "own", assets=assets)


@pytest.fixture(scope="session")
def kubelet(control_plane: ControlPlane) -> Iterator[None]:
    server = kubelet_process(control_plane)
    yield
    server.kill()


@pytest.fixture(scope="session")
def installation(control_plane: ControlPlane) -> Iterator[Tutti]:
    assert Path(COMMAND).exists(), f"{COMMAND} is not there: install the project first, as `make conformance` does"
    tutti = Tutti(control_plane)
    yield tutti
    tutti.kill_everything()


@pytest.fixture(scope="session")
def session_auditor() -> Auditor:
    return Auditor()


@pytest.fixture(scope="session")
def audit_log(control_plane: ControlPlane) -> AuditLog:
    return AuditLog(control_plane.audit_log)


@pytest.fixture(scope="session")
def audit_position() -> list[int]:
    """How far the session's auditor has read; one number that moves on."""
    return [0]


@pytest.fixture(autouse=True)
def auditor(
    request: pytest.FixtureRequest,
    session_auditor: Auditor,
    audit_position: list[int],
) -> Iterator[Auditor]:
    """The promises hold at the end of every test; a test may widen its `windows` while it kills processes or plays a driver."""
    if "control_plane" not in request.fixturenames:
        yield session_auditor
        return
    log: AuditLog = request.getfixturevalue("audit_log")
    session_auditor.windows.reset()
    session_auditor.windows.devices_seconds = DEVICES_SECONDS
    yield session_auditor
    records, audit_position[0] = log.read(audit_position[0])
    session_auditor.feed(records)
    violations = session_auditor.close(time.time())
    assert not violations, "promises broken:\n" + "\n".join(violations)


@pytest.fixture
def nodes(control_plane: ControlPlane, kubelet: None) -> Iterator[HollowNodes]:
    made = HollowNodes(control_plane.admin, f"node-{secrets.token_hex(3)}")
    yield made
    made.remove_all()


@pytest.fixture
def namespace(control_plane: ControlPlane, nodes: HollowNodes) -> Iterator[str]:
    name = f"test-{secrets.token_hex(3)}"
    control_plane.admin.create("namespaces", {"metadata": {"name": name}})
    yield name
    empty(control_plane, name)
    control_plane.admin.delete("namespaces", name)


@pytest.fixture
def devices(control_plane: ControlPlane, namespace: str, nodes: HollowNodes) -> Iterator[Devices]:
    """Classes, slices and claims of this test."""
    made = Devices(control_plane.admin, namespace, nodes)
    yield made
    made.remove()
    made.free_claims()


@pytest.fixture
def jobs(control_plane: ControlPlane, namespace: str) -> Jobs:
    return Jobs(control_plane.admin, namespace)


@pytest.fixture(scope="session")
def lws_controller(control_plane: ControlPlane) -> Iterator[None]:
    """LeaderWorkerSets run: by the stand-in of their controller, which the embedded cluster brings along."""
    server = controller_process(control_plane)
    if not is_served(control_plane.admin):
        server.start()
    eventually(lambda: is_served(control_plane.admin), within_seconds=SERVED_SECONDS)
    yield
    server.kill()


@pytest.fixture
def sets(control_plane: ControlPlane, namespace: str, tutti: Tutti, lws_controller: None) -> Iterator[Sets]:
    """The LeaderWorkerSets of this test, with Tutti following the kind."""
    eventually(lambda: is_followed(control_plane.admin), within_seconds=SERVED_SECONDS)
    found = Sets(control_plane.admin, namespace)
    yield found
    for lws in control_plane.admin.list("leaderworkersets", namespace):
        found.api.delete("leaderworkersets", lws["metadata"]["name"], namespace)
    eventually(lambda: not found.api.list("statefulsets", namespace), within_seconds=CLEAN_SECONDS)


@pytest.fixture(scope="session")
def jobset_stand_in(control_plane: ControlPlane) -> Iterator[None]:
    """JobSets run: by the stand-in of their controller."""
    server = jobset_controller(control_plane)
    if not are_served(control_plane.admin):
        server.start()
    eventually(lambda: are_served(control_plane.admin), within_seconds=JOB_SETS_SERVED_SECONDS)
    yield
    server.kill()


@pytest.fixture
def jobsets(control_plane: ControlPlane, namespace: str, tutti: Tutti, jobset_stand_in: None) -> Iterator[JobSets]:
    """The JobSets of this test, with Tutti following the kind."""
    eventually(lambda: are_followed(control_plane.admin), within_seconds=JOB_SETS_SERVED_SECONDS)
    found = JobSets(control_plane.admin, namespace)
    yield found
    for jobset in control_plane.admin.list("jobsets", namespace):
        found.api.delete("jobsets", jobset["metadata"]["name"], namespace, propagation="Background")
    eventually(lambda: not found.api.list("jobs", namespace), within_seconds=CLEAN_SECONDS)


@pytest.fixture
def tutti(installation: Tutti, control_plane: ControlPlane) -> Tutti:
    control_plane.require_running()
    installation.ensure_running()
    return installation


def empty(control_plane: ControlPlane, namespace: str) -> None:
    """Deletes Jobs and pods and waits until no pod is left, so that the next test has all nodes to itself."""
    api = control_plane.admin
    for job in api.list("jobs", namespace):
        api.delete("jobs", job["metadata"]["name"], namespace)
    for pod in api.list("pods", namespace):
        api.delete("pods", pod["metadata"]["name"], namespace)
    eventually(lambda: not api.list("pods", namespace), within_seconds=CLEAN_SECONDS)


@pytest.fixture
def stage(jobs: Jobs, nodes: HollowNodes, tutti: Tutti) -> Iterator[Stage]:
    """Where somebody is preempted; cleared at the end."""
    made = Stage(jobs, nodes, tutti)
    yield made
    made.clear()


@pytest.fixture
def watching(tutti: Tutti, tmp_path: Path) -> Iterator[Watched]:
    """A Prometheus that sees nothing wrong yet."""
    with prometheus(tmp_path) as running:
        watched = Watched(running, tutti)
        eventually(watched.is_well, within_seconds=SOON_SECONDS, poll_seconds=POLL_SECONDS)
        yield watched


@pytest.fixture
def chance() -> random.Random:
    """Random moments, from a seed that is printed; TUTTI_SEED repeats a run."""
    seed = int(os.environ.get("TUTTI_SEED", "0")) or random.SystemRandom().randrange(1, 10**9)
    sys.stdout.write(f"repeat with TUTTI_SEED={seed}\n")
    return random.Random(seed)


@pytest.fixture
def nothing_wasted(stage: Stage) -> Iterator[None]:
    """Nobody leaves for a group that does not start then."""
    before = stage.wasted_evictions()
    yield
    assert stage.wasted_evictions() == before
