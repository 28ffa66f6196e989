"""Trouble of running processes is told by its alert while it lasts, and by a real Prometheus: each is made, seen and mended.

Not among them are alerts for what only a defect of ours could cause (TuttiCacheDrift, TuttiItemErrors, TuttiSchedulerStuck), for a
machine that is too slow (TuttiBindsSlow, TuttiAdmissionSlow, TuttiRetriesDominate), and TuttiWatchSilent, which takes five minutes.
promtool lets those fire, from figures (tests/monitoring).
"""

import datetime as dt
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from api.constants import SYSTEM_NAMESPACE
from install.address import free_ports
from tests.conformance import cluster_files
from tests.conformance.client import ApiError, Object
from tests.conformance.controlplane import ControlPlane
from tests.conformance.eventually import eventually
from tests.conformance.hollow import HollowNodes
from tests.conformance.jobs import Jobs, indexed_job
from tests.conformance.prometheus import Prometheus, prometheus
from tests.conformance.scenarios.preemption_stage import LOW, Stage
from tests.conformance.server import Server
from tests.conformance.tutti_process import CHILDREN, Tutti, environment
from tests.kube.certificates import make_certificates
from verify.auditor.auditor import Auditor

SOON_SECONDS = 90
IN_FORCE_SECONDS = 30
POLL_SECONDS = 0.3
LEASE = "tutti-scheduler"
OTHERS_HOLD_IT: Object = {"holderIdentity": "somebody-else", "leaseDurationSeconds": 3600}

pytestmark = [pytest.mark.one_api, pytest.mark.real_only("trouble is made by admission policies and roles")]


class Watched:
    """A Prometheus that reads the processes of `tutti run`, wherever they are after a restart, and those beside them."""

    def __init__(self, running: Prometheus, tutti: Tutti) -> None:
        self._running = running
        self._tutti = tutti
        self.beside: dict[str, int] = {}

    def is_well(self) -> bool:
        """Whether all three are read, and nothing is wrong."""
        self._look()
        return self._running.up() == set(CHILDREN) and not self._running.firing()

    def tells(self, alert: str) -> None:
        """Returns once the alert fires."""
        eventually(lambda: alert in self._look(), within_seconds=SOON_SECONDS, poll_seconds=POLL_SECONDS)

    def no_longer_tells(self, alert: str) -> None:
        """Returns once it does not."""
        eventually(lambda: alert not in self._look(), within_seconds=SOON_SECONDS, poll_seconds=POLL_SECONDS)

    def _look(self) -> set[str]:
        self._running.read(self._tutti.metrics_ports() | self.beside)
        return self._running.firing()


@pytest.fixture
def watching(tutti: Tutti, tmp_path: Path) -> Iterator[Watched]:
    """One that sees nothing wrong yet."""
    with prometheus(tmp_path) as running:
        watched = Watched(running, tutti)
        eventually(watched.is_well, within_seconds=SOON_SECONDS, poll_seconds=POLL_SECONDS)
        yield watched


@contextmanager
def refused(plane: ControlPlane, rule: Object, allowed: str, probe: Callable[[], object]) -> Iterator[None]:
    """The server does this only where the expression is true; `probe` is refused as soon as it is so."""
    name = "trouble"
    matched = {"resourceRules": [{"apiVersions": ["*"], **rule}]}
    policy = {
        "failurePolicy": "Fail",
        "matchConstraints": matched,
        "validations": [{"expression": allowed, "message": "not now"}],
    }
    binding = {"policyName": name, "validationActions": ["Deny"]}

    def is_in_force() -> bool:
        try:
            probe()
        except ApiError as error:
            return "not now" in error.message
        return False

    plane.admin.create("validatingadmissionpolicies", {"metadata": {"name": name}, "spec": policy})
    plane.admin.create("validatingadmissionpolicybindings", {"metadata": {"name": name}, "spec": binding})
    try:
        eventually(is_in_force, within_seconds=IN_FORCE_SECONDS)
        yield
    finally:
        plane.admin.delete("validatingadmissionpolicybindings", name)
        plane.admin.delete("validatingadmissionpolicies", name)


def own_kubeconfig(plane: ControlPlane, account: str) -> Path:
    """A kubeconfig of one of our accounts, for a process beside those of `tutti run`."""
    path = plane.folder / f"beside-{account}.kubeconfig"
    token = plane.token_of_account(account)
    return cluster_files.write_kubeconfig(path, server=plane.url, ca=plane.ca, user=account, token=token)


@contextmanager
def beside(plane: ControlPlane, name: str, *options: str, settings: str = "") -> Iterator[int]:
    """One more process of ours; the port of its metrics."""
    (port,) = free_ports(1)
    config = plane.folder / f"beside-{name}.yaml"
    config.write_text(settings)
    command = [str(Path(sys.executable).with_name("tutti")), name, f"--metrics=127.0.0.1:{port}", f"--config={config}"]
    command += [f"--kubeconfig={own_kubeconfig(plane, f'tutti-{name}')}", *options]
    server = Server(name, command, log=plane.folder / f"beside-{name}.log", environment=environment(plane.folder))
    server.start()
    try:
        yield port
    finally:
        server.terminate(within_seconds=IN_FORCE_SECONDS)


def test_a_job_that_no_webhook_saw(watching: Watched, tutti: Tutti, jobs: Jobs) -> None:
    tutti.lose_child("webhooks", signal.SIGKILL)
    jobs.create(indexed_job("unseen", 2))
    watching.tells("TuttiPlainJobs")
    watching.no_longer_tells("TuttiPlainJobs")


def test_a_lease_that_nobody_of_ours_holds(watching: Watched, tutti: Tutti, control_plane: ControlPlane) -> None:
    api = control_plane.admin
    now = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    api.patch("leases", LEASE, {"spec": OTHERS_HOLD_IT | {"renewTime": now}}, SYSTEM_NAMESPACE)
    watching.tells("TuttiNoLeader")
    api.delete("leases", LEASE, SYSTEM_NAMESPACE)
    watching.no_longer_tells("TuttiNoLeader")


def test_two_schedulers_that_each_think_they_are_the_one(
    watching: Watched, tutti: Tutti, control_plane: ControlPlane, namespace: str
) -> None:
    """The second one looks for its lease in another namespace, as after an installation into two."""
    rule = {"apiGroups": ["coordination.k8s.io", ""], "resources": ["leases", "configmaps"], "verbs": ["*"]}
    control_plane.admin.create("roles", {"metadata": {"name": "second"}, "rules": [rule]}, namespace)
    bound = {
        "metadata": {"name": "second"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "second"},
        "subjects": [{"kind": "ServiceAccount", "name": "tutti-scheduler", "namespace": SYSTEM_NAMESPACE}],
    }
    control_plane.admin.create("rolebindings", bound, namespace)
    with beside(control_plane, "scheduler", settings=f"system_namespace: {namespace}") as port:
        watching.beside["second"] = port
        watching.tells("TuttiTwoLeaders")
    watching.no_longer_tells("TuttiTwoLeaders")


def test_a_lease_that_cannot_be_renewed(watching: Watched, tutti: Tutti, control_plane: ControlPlane) -> None:
    rule = {"apiGroups": ["coordination.k8s.io"], "operations": ["UPDATE"], "resources": ["leases"]}
    path = control_plane.admin.path("leases", SYSTEM_NAMESPACE, LEASE) + "?dryRun=All"

    def renew() -> None:
        control_plane.admin.request("PATCH", path, {"spec": {"leaseTransitions": 0}}, kind="merge")

    with refused(control_plane, rule, f"object.metadata.name != '{LEASE}'", renew):
        watching.tells("TuttiLeaseOld")
    watching.no_longer_tells("TuttiLeaseOld")


def test_a_gang_that_is_bound_in_part(
    watching: Watched,
    control_plane: ControlPlane,
    jobs: Jobs,
    nodes: HollowNodes,
    auditor: Auditor,
) -> None:
    auditor.windows.widen(2 * SOON_SECONDS)
    nodes.add(cpu="4")
    rule = {"apiGroups": [""], "operations": ["CREATE"], "resources": ["pods/binding"]}
    here = f"request.namespace != '{jobs.namespace}' || !request.name.startsWith('half-1')"

    def bind() -> None:
        body = {"metadata": {"name": "half-1"}, "target": {"kind": "Node", "name": "none"}}
        jobs.api.request("POST", jobs.api.path("pods", jobs.namespace, "half-1") + "/binding?dryRun=All", body)

    with refused(control_plane, rule, here, bind):
        jobs.create(indexed_job("half", 2))
        watching.tells("TuttiPartialGang")
    watching.no_longer_tells("TuttiPartialGang")
    eventually(lambda: jobs.whole("half"), within_seconds=SOON_SECONDS)


def test_pods_that_left_for_nothing(watching: Watched, stage: Stage) -> None:
    node = stage.node(2, tended=False)
    stage.group("v", 2, LOW, whole=True)
    stage.members("v", 2, priority=LOW, on=node)
    stage.gang("g", 2)
    eventually(lambda: len(stage.leaving()) == 2, within_seconds=SOON_SECONDS)
    stage.end("g-0", "g-1")
    watching.tells("TuttiWastedEvictions")
    stage.end("v-0", "v-1")
    watching.no_longer_tells("TuttiWastedEvictions")


def test_passes_that_fail(watching: Watched, control_plane: ControlPlane, jobs: Jobs, nodes: HollowNodes) -> None:
    nodes.add(cpu="4")
    rule = {"apiGroups": ["tutti.scheduler"], "operations": ["CREATE"], "resources": ["workloads"]}
    here = f"request.namespace != '{jobs.namespace}'"

    def make() -> None:
        controlled = {"apiGroup": "batch", "kind": "Job", "name": "probe"}
        template = {"name": "probe", "schedulingPolicy": {"gang": {"minCount": 2}}}
        spec = {"controllerRef": controlled, "podGroupTemplates": [template]}
        body = {
            "apiVersion": "tutti.scheduler/v1beta1",
            "kind": "Workload",
            "metadata": {"name": "probe"},
            "spec": spec,
        }
        jobs.api.create("workloads", body, jobs.namespace, dry_run=True)

    with refused(control_plane, rule, here, make):
        jobs.create(indexed_job("without", 2))
        watching.tells("TuttiReconcileErrors")
    watching.no_longer_tells("TuttiReconcileErrors")
    eventually(lambda: jobs.whole("without"), within_seconds=SOON_SECONDS)


def test_a_certificate_that_nobody_has_renewed(
    watching: Watched, tutti: Tutti, control_plane: ControlPlane, tmp_path: Path
) -> None:
    """One that others keep, as cert-manager would."""

    def give(days: int) -> None:
        made = make_certificates(tmp_path, lifetime=dt.timedelta(days=days))
        shutil.copy(made.certificate, tmp_path / "tls.crt")
        shutil.copy(made.key, tmp_path / "tls.key")

    give(days=6)
    (port,) = free_ports(1)
    options = (f"--given-certificates={tmp_path}", f"--listen=127.0.0.1:{port}")
    with beside(control_plane, "webhooks", *options) as metrics:
        watching.beside["given"] = metrics
        watching.tells("TuttiCertificateExpires")
        give(days=90)
        watching.no_longer_tells("TuttiCertificateExpires")
