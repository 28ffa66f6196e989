"""The chart and the kustomizations give the same objects, whatever parts are chosen."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from hack.chart.sources import PARTS
from install.manifests import CONFIG_FOLDER
from tests.chart.rendering import Objects, by_helm, by_kustomize

KEEP = {"helm.sh/resource-policy": "keep"}
PROFILES = yaml.safe_load((CONFIG_FOLDER / "profiles" / "scheduler.yaml").read_text())["profiles"]
PLACEMENT = {
    "nodeSelector": {"kubernetes.io/arch": "arm64"},
    "tolerations": [{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"}],
}
RESOURCES = {"requests": {"cpu": "2", "memory": "4Gi"}, "limits": {"memory": "8Gi"}}


@dataclass(frozen=True)
class Choice:
    """One installation, said in both languages."""

    name: str
    values: dict[str, Any]
    components: tuple[str, ...] = ()
    base: str = "default"
    more: dict[str, Any] = field(default_factory=dict)


def of_deployments(*patch: dict[str, Any], name: str = ".*") -> dict[str, Any]:
    return {"patch": yaml.safe_dump(list(patch)), "target": {"kind": "Deployment", "name": name}}


def placed() -> dict[str, Any]:
    added = [{"op": "add", "path": f"/spec/template/spec/{name}", "value": value} for name, value in PLACEMENT.items()]
    return {"patches": [of_deployments(*added)]}


def with_resources() -> dict[str, Any]:
    path = "/spec/template/spec/containers/0/resources"
    return {"patches": [of_deployments({"op": "replace", "path": path, "value": RESOURCES}, name="tutti-scheduler")]}


def without_priority() -> dict[str, Any]:
    return {"patches": [of_deployments({"op": "remove", "path": "/spec/template/spec/priorityClassName"})]}


BARE = {"metrics": {"authentication": False}, "logLevels": {"enabled": False}}
"""As config/default: what the chart has by itself, and kustomize as components, is left out."""
BY_ITSELF = ("metrics-authentication", "log-levels")
LEVELS_PATCH = {
    "patch": yaml.safe_dump([{"op": "replace", "path": "/data/levels.yaml", "value": "trace: warning\n"}]),
    "target": {"kind": "ConfigMap", "name": "tutti-log-levels"},
}

ALONE = {process: {"replicas": 1} for process in ("scheduler", "controllers", "webhooks")}
EVERYTHING = {
    "certificates": {"source": "cert-manager"},
    "networkPolicy": {"enabled": True},
    "holdGangs": True,
    "why": {"enabled": True},
    "monitoring": {"prometheus": True, "grafana": True},
    "profiles": PROFILES,
    **ALONE,
}
ALL_COMPONENTS = (
    "cert-manager",
    "network-policy",
    "hold-gangs",
    "prometheus",
    "grafana",
    *BY_ITSELF,
    "why",
    "one-replica",
)

CHOICES = [
    Choice("what the chart does by itself", {}, BY_ITSELF),
    Choice("metrics for everybody", {"metrics": {"authentication": False}}, ("log-levels",)),
    Choice("levels for good", {"logLevels": {"enabled": False}}, ("metrics-authentication",)),
    Choice("the least", BARE),
    Choice(
        "levels of single loggers",
        BARE | {"logLevels": {"enabled": True, "levels": {"trace": "warning"}}},
        ("log-levels",),
        more={"patches": [LEVELS_PATCH]},
    ),
    Choice("one replica", BARE | ALONE, ("one-replica",)),
    Choice("a given certificate", BARE | {"certificates": {"source": "given"}}, ("given-certificates",)),
    Choice("cert-manager", BARE | {"certificates": {"source": "cert-manager"}}, ("cert-manager",)),
    Choice("cert-manager as an overlay", BARE | {"certificates": {"source": "cert-manager"}}, base="cert-manager"),
    Choice("network policies", BARE | {"networkPolicy": {"enabled": True}}, ("network-policy",)),
    Choice("gangs held by the API server", BARE | {"holdGangs": True}, ("hold-gangs",)),
    Choice("answers to people of one namespace", BARE | {"why": {"enabled": True}}, ("why",)),
    Choice("monitoring", BARE | {"monitoring": {"prometheus": True}}, ("prometheus",)),
    Choice("a dashboard", BARE | {"monitoring": {"grafana": True}}, ("grafana",)),
    Choice("profiles", BARE | {"profiles": PROFILES}, base="profiles"),
    Choice("everything", EVERYTHING, ALL_COMPONENTS, base="profiles"),
    Choice(
        "an image of one's own",
        BARE | {"image": {"repository": "registry.example/batch/tutti", "tag": "1.2"}},
        more={"images": [{"name": "tutti", "newName": "registry.example/batch/tutti", "newTag": "1.2"}]},
    ),
    Choice(
        "an image by digest",
        BARE | {"image": {"repository": "registry.example/tutti", "digest": f"sha256:{'a' * 64}"}},
        more={"images": [{"name": "tutti", "newName": "registry.example/tutti", "digest": f"sha256:{'a' * 64}"}]},
    ),
    Choice(
        "three replicas of admission",
        BARE | {"webhooks": {"replicas": 3}},
        more={"replicas": [{"name": "tutti-webhooks", "count": 3}]},
    ),
    Choice("nodes of one's choice", BARE | {"nodePlacement": PLACEMENT}, more=placed()),
    Choice("a larger scheduler", BARE | {"scheduler": {"resources": RESOURCES}}, more=with_resources()),
    Choice("no priority class", BARE | {"priorityClassName": ""}, more=without_priority()),
]


def without_namespace(objects: Objects) -> Objects:
    """Helm makes the namespace by itself."""
    return {key: body for key, body in objects.items() if key[0] != "Namespace"}


def unkept(objects: Objects) -> Objects:
    """Helm would remove the kinds, and all gangs with them, were it not told to keep them; kustomize removes nothing."""
    for (kind, _, _), body in objects.items():
        if kind == "CustomResourceDefinition":
            assert body["metadata"].pop("annotations") == KEEP
    return objects


@pytest.mark.parametrize("choice", CHOICES, ids=lambda each: each.name)
def test_helm_and_kustomize_give_the_same_objects(choice: Choice, tmp_path: Path) -> None:
    expected = by_kustomize(tmp_path, components=choice.components, base=choice.base, **choice.more)
    found = unkept(by_helm(choice.values))
    assert found.keys() == without_namespace(expected).keys()
    for key, body in without_namespace(expected).items():
        assert found[key] == body, key


def test_every_component_is_a_choice_of_the_chart_too() -> None:
    known = {Path(part.folder).name for part in PARTS} | {"one-replica"}
    assert {path.name for path in (CONFIG_FOLDER / "components").iterdir()} <= known


def test_the_kinds_may_be_left_out_or_let_go() -> None:
    assert not [key for key in by_helm({"crds": {"install": False}}) if key[0] == "CustomResourceDefinition"]
    let_go = by_helm({"crds": {"keep": False}})
    assert not [
        body
        for key, body in let_go.items()
        if key[0] == "CustomResourceDefinition" and "annotations" in body["metadata"]
    ]
