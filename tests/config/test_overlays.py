"""What the optional parts of `config/` add and take away, as the stock kustomize builds them."""

import os
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

import tutti
from install.manifests import CONFIG_FOLDER, Area, load
from tests.programs import kustomized

Objects = dict[tuple[str, str], dict[str, Any]]
COMPONENTS = CONFIG_FOLDER / "components"
ADMISSION = "admissionregistration.k8s.io"


def built(folder: Path) -> Objects:
    """The objects by kind and name."""
    return {(body["kind"], body["metadata"]["name"]): body for body in kustomized(folder)}


def with_component(name: str, folder: Path) -> Objects:
    base = os.path.relpath(CONFIG_FOLDER / "default", folder)
    component = os.path.relpath(COMPONENTS / name, folder)
    (folder / "kustomization.yaml").write_text(yaml.safe_dump({"resources": [base], "components": [component]}))
    return built(folder)


def default_objects() -> Objects:
    return {(each.resource.kind, each.name): each.body for each in load("default")}


def test_with_given_certificates_the_webhooks_may_write_no_configuration_and_no_secret(tmp_path: Path) -> None:
    found = with_component("given-certificates", tmp_path)
    before = default_objects()
    changed = {key for key, body in found.items() if body != before[key]}
    assert changed == {
        ("ClusterRole", "tutti-webhooks"),
        ("Role", "tutti-webhooks"),
        ("Deployment", "tutti-webhooks"),
    }
    rules = [*found["ClusterRole", "tutti-webhooks"]["rules"], *found["Role", "tutti-webhooks"]["rules"]]
    assert not any(ADMISSION in rule["apiGroups"] or "secrets" in rule["resources"] for rule in rules)
    assert len(rules) == len(load_rules()) - 4


def load_rules() -> list[Any]:
    before = default_objects()
    return [*before["ClusterRole", "tutti-webhooks"]["rules"], *before["Role", "tutti-webhooks"]["rules"]]


def test_the_webhooks_then_serve_with_the_certificate_of_the_secret(tmp_path: Path) -> None:
    found = with_component("given-certificates", tmp_path)
    pod = found["Deployment", "tutti-webhooks"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    given = tutti.parser().parse_args(container["args"])
    mounts = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
    assert given.given_certificates == mounts["certificates"]
    secrets = {each["name"]: each["secret"]["secretName"] for each in pod["volumes"] if "secret" in each}
    assert secrets == {"certificates": "tutti-webhooks-tls"}


def test_cert_manager_makes_that_certificate_and_tells_who_signed_it() -> None:
    found = built(CONFIG_FOLDER / "cert-manager")
    certificate = found["Certificate", "tutti-webhooks"]
    assert certificate["spec"]["secretName"] == "tutti-webhooks-tls"
    service = found["Service", "tutti-webhooks"]["metadata"]
    assert f"{service['name']}.{service['namespace']}.svc" in certificate["spec"]["dnsNames"]
    for kind, name in (("MutatingWebhookConfiguration", "mutating"), ("ValidatingWebhookConfiguration", "validating")):
        annotations = found[kind, f"tutti-{name}"]["metadata"]["annotations"]
        assert annotations == {"cert-manager.io/inject-ca-from": "tutti-system/tutti-webhooks"}
    rules = found["ClusterRole", "tutti-webhooks"]["rules"]
    assert not any(ADMISSION in rule["apiGroups"] for rule in rules)


def test_one_replica_is_replaced_before_it_goes(tmp_path: Path) -> None:
    found = with_component("one-replica", tmp_path)
    before = default_objects()
    changed = {key for key, body in found.items() if body != before[key]}
    assert changed == {("Deployment", f"tutti-{name}") for name in ("controllers", "scheduler", "webhooks")}
    for key in changed:
        spec = found[key]["spec"]
        assert (spec["replicas"], spec["strategy"]["rollingUpdate"]) == (1, {"maxSurge": 1, "maxUnavailable": 0})


def test_network_policies_close_all_ports_but_those_that_somebody_calls(tmp_path: Path) -> None:
    found = with_component("network-policy", tmp_path)
    policies = {name: body["spec"] for (kind, name), body in found.items() if kind == "NetworkPolicy"}
    ports = {
        name: [port["port"] for rule in spec["ingress"] for port in rule["ports"]] for name, spec in policies.items()
    }
    assert ports == {"tutti-webhooks": ["webhook", "health"], "tutti": ["health", "why"]}
    named = {
        port["name"]
        for (kind, _), body in found.items()
        if kind == "Deployment"
        for port in body["spec"]["template"]["spec"]["containers"][0]["ports"]
    }
    assert {"webhook", "health"} <= named


@pytest.mark.parametrize("folder", ["cert-manager", "profiles"])
def test_whatever_an_overlay_puts_into_our_namespace_is_known_at_the_uninstall(folder: str) -> None:
    for body in built(CONFIG_FOLDER / folder).values():
        assert body["metadata"]["labels"]["app.kubernetes.io/part-of"] == "tutti", body["metadata"]["name"]


def test_a_kustomization_of_ones_own_says_where_the_image_is(tmp_path: Path) -> None:
    """As README tells it."""
    for base in ("default", "uninstall"):
        image = {"name": "tutti", "newName": "registry.example/team/tutti", "newTag": "0.1.0"}
        resources = [os.path.relpath(CONFIG_FOLDER / base, tmp_path)]
        (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump({"resources": resources, "images": [image]}))
        pods = [
            body["spec"]["template"]["spec"]
            for (kind, _), body in built(tmp_path).items()
            if kind in {"Deployment", "Job"}
        ]
        used = [container["image"] for pod in pods for container in pod["containers"]]
        assert used == ["registry.example/team/tutti:0.1.0"] * (3 if base == "default" else 1)


@pytest.mark.parametrize("name", sorted(each.name for each in COMPONENTS.iterdir()))
def test_so_is_what_a_component_adds(name: str, tmp_path: Path) -> None:
    for body in with_component(name, tmp_path).values():
        assert body["metadata"]["labels"]["app.kubernetes.io/part-of"] == "tutti", body["metadata"]["name"]


@pytest.mark.parametrize("name", sorted(each.name for each in COMPONENTS.iterdir()))
def test_what_a_component_puts_outside_our_namespace_is_known_at_the_uninstall(name: str, tmp_path: Path) -> None:
    lists = [load(area) for area in get_args(Area)]
    known = {(each.resource.kind, each.name) for listed in lists for each in listed}
    added = with_component(name, tmp_path)
    assert {key for key, body in added.items() if "namespace" not in body["metadata"]} <= known
