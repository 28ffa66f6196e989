"""Trouble of running processes is told by its alert while it lasts, and by a real Prometheus: each is made, seen and mended.

That nobody runs is in test_alerts; what only a defect of ours, or something too slow, could cause in test_alerts_of_defects.
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
from tests.conformance import planted
from tests.conformance.holding_proxy import HoldingProxy
from tests.conformance.prometheus import prometheus
from tests.conformance.replicas.replica import Replica
from tests.conformance.scenarios.preemption_stage import LOW, Stage
from tests.conformance.watched import POLL_SECONDS, SOON_SECONDS, Watched
from tests.kube.certificates import make_certificates
from verify.auditor.auditor import Auditor
from verify.clusters import cluster_files
from verify.clusters.client import ApiError, Object
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually, throughout
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs, indexed_job
from verify.clusters.ports import free_ports
from verify.clusters.server import Server
from verify.clusters.tutti_process import Tutti, environment

IN_FORCE_SECONDS = 30
HURRY = 75 / planted.HURRIED_SILENCE_SECONDS
SILENT_KINDS_SECONDS = 12
"""As long as a watch that nothing happens to is silent at the most, and a little longer."""
LEASE = "tutti-scheduler"
OTHERS_HOLD_IT: Object = {"holderIdentity": "somebody-else", "leaseDurationSeconds": 3600}

pytestmark = [pytest.mark.one_api, pytest.mark.real_only("trouble is made by admission policies and roles")]


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
    try:
        watching.tells("TuttiNoLeader")
    finally:  # for an hour nobody else could have it
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


def test_watches_on_which_nothing_comes(
    tutti: Tutti, control_plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Something before the API server lets all pass but watches; process and alert are in fifteen times the usual hurry."""
    alert = "TuttiWatchSilent"
    made = make_certificates(tmp_path)
    shutil.copy(made.certificate, tmp_path / "tls.crt")
    shutil.copy(made.key, tmp_path / "tls.key")
    (tmp_path / planted.IS_HURRIED).touch()
    monkeypatch.setenv(planted.FOLDER, str(tmp_path))
    (port,) = free_ports(1)
    settings: dict[str, object] = {"given_certificates": str(tmp_path), "listen": f"127.0.0.1:{port}"}
    with HoldingProxy(control_plane) as proxy, prometheus(tmp_path, silence_divisor=HURRY) as running:
        held = Replica(
            control_plane,
            "webhooks",
            "behind-a-proxy",
            settings=settings,
            through=proxy.port,
            command=[sys.executable, planted.__file__, "webhooks"],
        ).start()
        try:
            held.wait_until_ready()
            running.read({"held": held.metrics_port})
            eventually(lambda: running.up() == {"held"}, within_seconds=SOON_SECONDS)
            throughout(lambda: alert not in running.firing(), seconds=SILENT_KINDS_SECONDS, poll_seconds=POLL_SECONDS)
            proxy.holds = True
            eventually(lambda: alert in running.firing(), within_seconds=SOON_SECONDS, poll_seconds=POLL_SECONDS)
            proxy.holds = False
            eventually(lambda: alert not in running.firing(), within_seconds=SOON_SECONDS, poll_seconds=POLL_SECONDS)
        finally:
            held.end()
