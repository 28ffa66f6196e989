"""How the audit log is read, and the two things the auditor computes for itself: amounts and names."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from tests.conformance.names import pod_group_name, workload_name
from verify.auditor.amounts import amount, pod_amounts
from verify.auditor.audit_log import AuditLog, Object, parse


def entry(name: str, received: str = "2026-01-01T00:00:00.100000Z", **details: object) -> Object:
    return {
        "verb": "create",
        "user": {"username": "u"},
        "objectRef": {"resource": "pods", "namespace": "ns", "name": name},
        "responseStatus": {"code": 201},
        "requestReceivedTimestamp": received,
        "stageTimestamp": "2026-01-01T00:00:00.200000Z",
        **details,
    }


def test_a_subresource_is_part_of_the_resource() -> None:
    reference = {"resource": "pods", "subresource": "binding", "namespace": "ns", "name": "p"}
    assert parse(entry("p", objectRef=reference)).resource == "pods/binding"


def test_a_generated_name_is_taken_from_the_answer() -> None:
    assert parse(entry("", responseObject={"metadata": {"name": "made-up"}})).name == "made-up"


def test_a_dry_run_did_not_succeed() -> None:
    assert parse(entry("p")).succeeded
    assert not parse(entry("p", requestURI="/api/v1/namespaces/ns/pods?dryRun=All")).succeeded


def test_a_missing_right_is_told_from_other_refusals() -> None:
    forbidden = {"authorization.k8s.io/decision": "forbid"}
    assert parse(entry("p", responseStatus={"code": 403}, annotations=forbidden)).denied
    assert not parse(entry("p", responseStatus={"code": 403})).denied


def test_the_log_is_read_on_from_where_it_was_left_and_half_lines_wait(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    first, second = (json.dumps(entry(name)) + "\n" for name in ("one", "two"))
    path.write_text(first + second[:20])
    log = AuditLog(path)
    records, position = log.read(0)
    assert [record.name for record in records] == ["one"]
    path.write_text(first + second)
    assert [record.name for record in log.since(position)] == ["two"]


@pytest.mark.parametrize("length", [0, 10, 200_000])
def test_the_present_end_is_never_in_the_middle_of_a_line(tmp_path: Path, length: int) -> None:
    path = tmp_path / "audit.log"
    log = AuditLog(path)
    assert log.position() == 0
    first, second = (json.dumps(entry(name, userAgent="a" * length)) + "\n" for name in ("one", "two"))
    path.write_text(first[:-1])
    assert log.position() == 0
    for half in ("", second[0], second[:-1]):
        path.write_text(first + half)
        position = log.position()
        path.write_text(first + second)
        assert [record.name for record in log.since(position)] == ["two"]
    assert log.since(log.position()) == []


@pytest.mark.parametrize(
    ("quantity", "value"),
    [("2", 2), ("250m", Fraction(1, 4)), ("1Gi", 2**30), ("1.5k", 1500), ("3e3", 3000), ("100n", Fraction(1, 10**7))],
)
def test_quantities_are_exact(quantity: str, value: Fraction) -> None:
    assert amount(quantity) == value


def test_a_pod_takes_the_largest_moment_of_its_life() -> None:
    def container(cpu: str, **more: str) -> Object:
        return {"resources": {"requests": {"cpu": cpu}}, **more}

    spec = {
        "initContainers": [container("1", restartPolicy="Always"), container("5")],
        "containers": [container("2"), container("1")],
        "overhead": {"cpu": "500m"},
    }
    assert pod_amounts(spec) == {"cpu": Fraction(13, 2), "pods": 1}


def test_limits_stand_in_for_requests_that_are_missing() -> None:
    assert pod_amounts({"containers": [{"resources": {"limits": {"g": "8"}}}]}) == {"g": 8, "pods": 1}


def test_the_names_of_a_real_control_plane_are_met() -> None:
    assert pod_group_name("b-5bb96744b5", "b-pgt-0") == "b-5bb96744b5-b-pgt-0-7cfffc5757"
    assert workload_name("b", "eeae5573-e84e-4593-b879-93180f6eb57f") == "b-588f6f846"


def test_names_that_are_too_long_keep_their_hash() -> None:
    name = pod_group_name("w" * 250, "t" * 60)
    assert len(name) == 253
    assert name != pod_group_name("w" * 250, "t" * 61)
