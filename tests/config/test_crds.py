"""The CRDs fit what the code reads and writes; what they refuse is checked on a real server in tests/conformance."""

from typing import Any

import msgspec
import pytest

from api.compositepodgroup import CompositeGangPolicy, CompositePodGroupSpec, CompositeSchedulingPolicy
from api.constants import CONDITION_SCHEDULED, GROUP, HIGHEST_USER_PRIORITY, VERSION
from api.podgroup import (
    DisruptionMode,
    GangPolicy,
    PodGroupSpec,
    PodGroupTemplate,
    SchedulingConstraints,
    SchedulingPolicy,
    TopologyConstraint,
    TypedReference,
    WorkloadReference,
    WorkloadSpec,
)
from hack.crds import FOLDER, rendered
from install.manifests import load

CRDS = {each.name.partition(".")[0]: each.body["spec"] for each in load("crd")}


def schema(plural: str, *path: str) -> dict[str, Any]:
    found: dict[str, Any] = CRDS[plural]["versions"][0]["schema"]["openAPIV3Schema"]
    for step in path:
        found = found["items"] if step == "[]" else found["properties"][step]
    return found


TEMPLATE = ("spec", "podGroupTemplates", "[]")
TYPES = [
    ("podgroups", ("spec",), PodGroupSpec),
    ("podgroups", ("spec", "schedulingPolicy"), SchedulingPolicy),
    ("podgroups", ("spec", "schedulingPolicy", "gang"), GangPolicy),
    ("podgroups", ("spec", "workloadRef"), WorkloadReference),
    ("podgroups", ("spec", "disruptionMode"), DisruptionMode),
    ("podgroups", ("spec", "schedulingConstraints"), SchedulingConstraints),
    ("podgroups", ("spec", "schedulingConstraints", "topology", "[]"), TopologyConstraint),
    ("compositepodgroups", ("spec",), CompositePodGroupSpec),
    ("compositepodgroups", ("spec", "schedulingPolicy"), CompositeSchedulingPolicy),
    ("compositepodgroups", ("spec", "schedulingPolicy", "gang"), CompositeGangPolicy),
    ("workloads", ("spec",), WorkloadSpec),
    ("workloads", ("spec", "controllerRef"), TypedReference),
    ("workloads", TEMPLATE, PodGroupTemplate),
    ("workloads", (*TEMPLATE, "schedulingPolicy"), SchedulingPolicy),
]


@pytest.mark.parametrize(("plural", "path", "struct"), TYPES)
def test_every_field_the_code_knows_is_in_the_schema(plural: str, path: tuple[str, ...], struct: type) -> None:
    fields = {each.encode_name for each in msgspec.structs.fields(struct)}
    assert fields <= set(schema(plural, *path)["properties"])


@pytest.mark.parametrize(
    ("plural", "kind", "short"),
    [
        ("podgroups", "PodGroup", "gang"),
        ("workloads", "Workload", "tw"),
        ("compositepodgroups", "CompositePodGroup", "gangtree"),
    ],
)
def test_people_can_name_them_shortly(plural: str, kind: str, short: str) -> None:
    spec = CRDS[plural]
    assert (spec["group"], spec["scope"], spec["versions"][0]["name"]) == (GROUP, "Namespaced", VERSION)
    assert spec["names"]["kind"] == kind
    assert spec["names"]["shortNames"] == [short]
    assert spec["names"]["categories"] == ["tutti"]


@pytest.mark.parametrize("plural", ["podgroups", "workloads", "compositepodgroups"])
def test_one_version_is_stored_and_none_needs_a_webhook_to_become_another(plural: str) -> None:
    versions = CRDS[plural]["versions"]
    assert [each["name"] for each in versions if each["storage"]] == [VERSION]
    assert all(each["served"] for each in versions)
    assert CRDS[plural].get("conversion", {"strategy": "None"}) == {"strategy": "None"}


def test_a_group_is_preempted_one_by_one_unless_it_says_otherwise() -> None:
    assert schema("podgroups", "spec", "disruptionMode")["default"] == {"single": {}}
    assert "default" not in schema("workloads", *TEMPLATE, "disruptionMode")


@pytest.mark.parametrize(("plural", "path"), [("podgroups", ("spec",)), ("workloads", TEMPLATE)])
def test_the_highest_priority_is_that_of_the_built_in_api(plural: str, path: tuple[str, ...]) -> None:
    assert schema(plural, *path, "priority")["maximum"] == HIGHEST_USER_PRIORITY


def test_the_status_column_shows_the_condition_that_the_scheduler_writes() -> None:
    columns = {each["name"]: each["jsonPath"] for each in CRDS["podgroups"]["versions"][0]["additionalPrinterColumns"]}
    assert columns["Status"] == f'.status.conditions[?(@.type=="{CONDITION_SCHEDULED}")].reason'
    assert CRDS["podgroups"]["versions"][0]["subresources"] == {"status": {}}
    assert "subresources" not in CRDS["workloads"]["versions"][0]


def test_both_kinds_have_the_same_rules_for_the_same_fields() -> None:
    group, template = schema("podgroups", "spec")["properties"], schema("workloads", *TEMPLATE)["properties"]
    shared = set(group) & set(template)
    assert len(shared) == 7
    for name in shared:
        left, right = without_prose(group[name]), without_prose(template[name])
        left.pop("default", None)
        assert left == right, name


def without_prose(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: without_prose(value) for key, value in node.items() if key != "description"}
    return [without_prose(each) for each in node] if isinstance(node, list) else node


def test_every_field_explains_itself() -> None:
    unexplained: list[str] = []

    def walk(node: dict[str, Any], path: str) -> None:
        for name, each in node.get("properties", {}).items():
            if path or name in {"spec", "status"}:
                if "description" not in each:
                    unexplained.append(f"{path}.{name}")
                walk(each.get("items", each), f"{path}.{name}")

    for plural in CRDS:
        walk(schema(plural), "")
    assert unexplained == []


@pytest.mark.parametrize(("file", "text"), rendered().items(), ids=list(rendered()))
def test_the_shipped_files_are_what_api_says(file: str, text: str) -> None:
    assert (FOLDER / file).read_text(encoding="utf-8") == text, "run `make crds`"
