"""The in-cluster deployment: hardened, spread, and started with arguments that `tutti` understands."""

from typing import Any

import pytest
import yaml

import tutti
from install.manifests import CONFIG_FOLDER, Manifest, load
from kube.client.resources import DEPLOYMENTS, POD_DISRUPTION_BUDGETS, SERVICES
from webhooks.settings import WebhooksSettings

DEPLOYED = [each for each in load("manager") if each.resource == DEPLOYMENTS]


def pod_of(manifest: Manifest) -> dict[str, Any]:
    return dict(manifest.body["spec"]["template"]["spec"])


def container_of(manifest: Manifest) -> dict[str, Any]:
    (container,) = pod_of(manifest)["containers"]
    return dict(container)


def test_all_three_processes_are_deployed() -> None:
    assert sorted(each.name for each in DEPLOYED) == ["tutti-controllers", "tutti-scheduler", "tutti-webhooks"]


@pytest.mark.parametrize("manifest", DEPLOYED, ids=lambda each: each.name)
def test_its_arguments_are_understood(manifest: Manifest) -> None:
    given = tutti.parser().parse_args(container_of(manifest)["args"])
    assert given.metrics == ":8080"
    assert given.log_format == "json"


@pytest.mark.parametrize("manifest", DEPLOYED, ids=lambda each: each.name)
def test_it_meets_the_restricted_pod_security_standard(manifest: Manifest) -> None:
    pod, container = pod_of(manifest), container_of(manifest)
    assert pod["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod)
    assert container["resources"]["limits"]["memory"]
    assert {next(iter(set(volume) - {"name"})) for volume in pod["volumes"]} == {"emptyDir"}


@pytest.mark.parametrize("manifest", DEPLOYED, ids=lambda each: each.name)
def test_it_is_probed_where_it_answers(manifest: Manifest) -> None:
    container = container_of(manifest)
    assert {"name": "health", "containerPort": 8080} in container["ports"]
    for probe, path in (("startupProbe", "/livez"), ("livenessProbe", "/livez"), ("readinessProbe", "/readyz")):
        assert container[probe]["httpGet"] == {"path": path, "port": "health"}


@pytest.mark.parametrize("manifest", DEPLOYED, ids=lambda each: each.name)
def test_a_new_pod_is_noticed_soon_and_may_take_long_to_start(manifest: Manifest) -> None:
    container = container_of(manifest)
    startup, readiness = container["startupProbe"], container["readinessProbe"]
    assert startup["periodSeconds"] == 1
    assert startup["failureThreshold"] * startup["periodSeconds"] >= 60
    assert readiness["periodSeconds"] <= 2


def test_a_rollout_of_the_webhooks_takes_no_replica_away_before_the_next_one_is_ready() -> None:
    (webhooks,) = [each for each in DEPLOYED if each.name == "tutti-webhooks"]
    assert webhooks.body["spec"]["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
    settings = WebhooksSettings()
    assert settings.leave_seconds + settings.drain_seconds < pod_of(webhooks)["terminationGracePeriodSeconds"]


@pytest.mark.parametrize("manifest", DEPLOYED, ids=lambda each: each.name)
def test_it_runs_as_its_own_account_and_our_own_preemption_cannot_evict_it(manifest: Manifest) -> None:
    pod = pod_of(manifest)
    assert pod["serviceAccountName"] == manifest.name
    assert pod["priorityClassName"] == "system-cluster-critical"
    assert pod.get("schedulerName", "default-scheduler") == "default-scheduler"


@pytest.mark.parametrize("manifest", DEPLOYED, ids=lambda each: each.name)
def test_two_replicas_never_leave_together(manifest: Manifest) -> None:
    spec = manifest.body["spec"]
    assert spec["replicas"] == 2
    budgets = {each.name: each.body["spec"] for each in load("manager") if each.resource == POD_DISRUPTION_BUDGETS}
    assert budgets[manifest.name] == {"maxUnavailable": 1, "selector": spec["selector"]}
    (spread,) = pod_of(manifest)["topologySpreadConstraints"]
    assert spread["labelSelector"] == spec["selector"]
    assert spec["selector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items()


def test_the_service_leads_to_the_admission_port() -> None:
    (service,) = [each for each in load("manager") if each.resource == SERVICES]
    (webhooks,) = [each for each in DEPLOYED if each.name == "tutti-webhooks"]
    assert service.body["spec"]["selector"] == webhooks.body["spec"]["selector"]["matchLabels"]
    assert service.body["spec"]["ports"] == [{"name": "webhook", "port": 443, "targetPort": "webhook"}]
    assert {"name": "webhook", "containerPort": 9443} in container_of(webhooks)["ports"]
    assert "--listen=:9443" in container_of(webhooks)["args"]


def test_prometheus_finds_the_metrics_of_all_of_them() -> None:
    monitor = yaml.safe_load((CONFIG_FOLDER / "components" / "prometheus" / "podmonitor.yaml").read_text())
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    for manifest in DEPLOYED:
        template = manifest.body["spec"]["template"]["metadata"]
        assert monitor["metadata"]["namespace"] == manifest.namespace
        assert monitor["spec"]["selector"]["matchLabels"].items() <= template["labels"].items()
        assert endpoint["port"] in {port["name"] for port in container_of(manifest)["ports"]}
        assert template["annotations"] == {
            "prometheus.io/scrape": "true",
            "prometheus.io/port": "8080",
            "prometheus.io/path": endpoint["path"],
        }
