"""The audit log, read as the conformance tests read it."""

from dataclasses import replace
from pathlib import Path

import pytest

from localcluster.apiserver.files import ServerFiles
from localcluster.apiserver.server import ServerSettings
from tests.localcluster.apiserver.conftest import NOBODY
from tests.localcluster.apiserver.rest import PODS, Rest, binding, pod
from verify.auditor.audit_log import AuditLog
from verify.clusters.cluster_files import write_audit_policy


@pytest.fixture
def settings(files: ServerFiles, tmp_path: Path, audit_path: Path) -> ServerSettings:
    policy = write_audit_policy(tmp_path / "policy.json")
    return replace(ServerSettings(files=files), audit_log=audit_path, audit_policy=policy)


async def test_writes_are_recorded_with_their_bodies_and_reads_are_not(rest: Rest, audit_path: Path) -> None:
    made = await rest.create(PODS, pod())
    await rest.get(PODS)
    await rest.ask("POST", f"{PODS}/p/binding", binding("p"))
    created, bound = AuditLog(audit_path).since(0)
    assert (created.user, created.verb, created.resource, created.code) == ("admin", "create", "pods", 201)
    assert created.request["metadata"]["name"] == "p"
    assert created.object_uid == made["metadata"]["uid"]
    assert created.received <= created.completed <= bound.received
    assert (bound.resource, bound.name, bound.request["target"]["name"]) == ("pods/binding", "p", "n1")


async def test_refusals_and_trials_are_recorded_as_such(rest: Rest, audit_path: Path) -> None:
    await rest.ask("DELETE", f"{PODS}/p", token=NOBODY)
    await rest.ask("POST", f"{PODS}?dryRun=All", pod())
    refused, trial = AuditLog(audit_path).since(0)
    assert (refused.user, refused.code, refused.denied) == ("nobody", 403, True)
    assert trial.dry_run
    assert not trial.succeeded


async def test_a_body_that_is_no_json_does_not_break_the_log(rest: Rest, audit_path: Path) -> None:
    await rest.ask("POST", PODS, b"{\n")
    (record,) = AuditLog(audit_path).since(0)
    assert (record.code, record.request) == (400, {})
