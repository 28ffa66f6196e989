"""What the values of the chart do that kustomize has no word for, and which are refused."""

import base64
import subprocess
from typing import Any

import pytest
import yaml

import tutti
from controllers.settings import ControllersSettings
from hack.chart.render import FOLDER
from kube.process.settings import StrictSettings
from scheduler.settings import SchedulerSettings
from tests.chart.rendering import Objects, by_helm, refusal
from tests.programs import tool
from webhooks.settings import WebhooksSettings

PROFILE = {"scheduler_name": "tutti-packed", "resources_fit": {"strategy": "MostAllocated"}}


def settings_of(objects: Objects) -> dict[str, Any]:
    (body,) = [body for (kind, _, name), body in objects.items() if kind == "ConfigMap" and "settings" in name]
    data: dict[str, Any] = body["data"]
    return data


def arguments_of(objects: Objects, process: str) -> list[str]:
    (body,) = [body for (kind, _, name), body in objects.items() if kind == "Deployment" and name == f"tutti-{process}"]
    (container,) = body["spec"]["template"]["spec"]["containers"]
    arguments: list[str] = container["args"]
    return arguments


def test_helm_has_nothing_against_the_chart() -> None:
    done = subprocess.run(
        [tool("helm", "helm"), "lint", "--strict", FOLDER], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_without_any_setting_there_is_no_file_of_settings() -> None:
    assert not [name for kind, _, name in by_helm({}) if kind == "ConfigMap" and "settings" in name]


def test_another_gang_scheduler_is_the_default_of_admission_and_controllers() -> None:
    objects = by_helm({"defaultProvider": "volcano"})
    for process in ("webhooks", "controllers"):
        assert settings_of(objects)[f"{process}.yaml"] == {"default_provider": "volcano"}
    for process in ("webhooks", "controllers", "scheduler"):
        given = tutti.parser().parse_args(arguments_of(objects, process))
        assert given.config == f"/etc/tutti/{process}.yaml"


def test_admission_and_controllers_have_settings_of_their_own_beside_those_they_share() -> None:
    gates: dict[str, Any] = {"feature_gates": {"gangLeaderWorkerSets": False}}
    own: dict[str, dict[str, Any]] = {"webhooks": {"defaults": {"policy": "none"}}, "controllers": {"workers": 4}}
    found = settings_of(by_helm({"settings": {"shared": gates, **own}}))
    assert found["webhooks.yaml"] == gates | own["webhooks"]
    assert found["controllers.yaml"] == gates | own["controllers"]
    assert found["scheduler.yaml"] == {}


@pytest.mark.parametrize(
    "settings", [{"webhooks": {"workers": 4}}, {"webhooks": {"listen": ":1"}}, {"controllers": {"defaults": {}}}]
)
def test_settings_of_another_process_and_those_a_file_cannot_give_are_refused(settings: dict[str, Any]) -> None:
    assert "dditional propert" in refusal({"settings": settings})


def test_a_profile_is_known_to_all_three_processes() -> None:
    settings = settings_of(by_helm({"profiles": [PROFILE], "settings": {"scheduler": {"reserve_after_seconds": 30}}}))
    for process in ("webhooks", "controllers"):
        assert settings[f"{process}.yaml"] == {"profile_names": ["tutti-packed"]}
    assert settings["scheduler.yaml"] == {"profiles": [PROFILE], "reserve_after_seconds": 30}


@pytest.mark.parametrize(
    ("file", "read_by"),
    [
        ("webhooks.yaml", WebhooksSettings),
        ("controllers.yaml", ControllersSettings),
        ("scheduler.yaml", SchedulerSettings),
    ],
)
def test_the_processes_understand_what_the_chart_writes(file: str, read_by: type[StrictSettings]) -> None:
    values = {
        "profiles": [PROFILE],
        "defaultProvider": "kueue",
        "settings": {
            "shared": {"log_level": "debug", "group_api": "own"},
            "scheduler": {"preemption": False},
            "webhooks": {"defaults": {"elastic": True}},
            "controllers": {"resync_seconds": 60},
        },
    }
    read_by.model_validate(settings_of(by_helm(values, namespace="batch"))[file])


def test_another_namespace_is_meant_everywhere() -> None:
    objects = by_helm(
        {"certificates": {"source": "cert-manager"}, "networkPolicy": {"enabled": True}}, namespace="batch"
    )
    assert "tutti-system" not in yaml.safe_dump(list(objects.values()))
    assert settings_of(objects) == {
        "controllers.yaml": {"system_namespace": "batch"},
        "webhooks.yaml": {"system_namespace": "batch"},
        "scheduler.yaml": {"system_namespace": "batch"},
    }


def test_who_signs_a_given_certificate_is_told_to_the_api_server() -> None:
    authority = base64.b64encode(b"an authority").decode()
    objects = by_helm({"certificates": {"source": "given", "caBundle": authority}})
    configurations = [body for (kind, _, _), body in objects.items() if kind.endswith("WebhookConfiguration")]
    assert len(configurations) == 2
    for webhook in [each for body in configurations for each in body["webhooks"]]:
        assert webhook["clientConfig"]["caBundle"] == authority


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"replicas": 2}, "replicas"),
        ({"scheduler": {"replicas": 0}}, "replicas"),
        ({"certificates": {"source": "vault"}}, "source"),
        ({"defaultProvider": "borg"}, "defaultProvider"),
        ({"profiles": [{"name": "packed"}]}, "scheduler_name"),
        ({"profiles": [{"scheduler_name": "a", "limits": {"members": 0}}]}, "members"),
        ({"settings": {"scheduler": {"lease_second": 15}}}, "lease_second"),
        ({"settings": {"shared": {"listen": ":1"}}}, "listen"),
        ({"image": {"digest": "sha256:1"}}, "digest"),
        ({"logLevels": {"levels": {"trace": "loud"}}}, "trace"),
    ],
)
def test_a_value_that_cannot_work_is_refused_and_named(values: dict[str, Any], named: str) -> None:
    assert named in refusal(values)
