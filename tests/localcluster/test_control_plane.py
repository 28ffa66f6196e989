"""The embedded cluster as the conformance tests drive it: users and rights, the audit log, servers that end and come back."""

import pytest
from urllib3.exceptions import HTTPError

from verify.auditor.audit_log import AuditLog
from verify.clusters import cluster_files as files
from verify.clusters.client import ApiError
from verify.clusters.controlplane import ControlPlane
from verify.clusters.embedded import EmbeddedControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.server import ServerDiedError

PATIENCE_SECONDS = 60


def finds(plane: ControlPlane, name: str) -> bool:
    try:
        return plane.admin.find("configmaps", name, "default") is not None
    except HTTPError:
        return False


def test_it_can_be_hurt_as_a_real_one_and_tells_who_did_what() -> None:
    with EmbeddedControlPlane() as plane:
        log = AuditLog(plane.audit_log)
        begin = log.position()
        plane.admin.create("configmaps", {"metadata": {"name": "kept"}}, "default")
        with pytest.raises(ApiError) as refused:
            plane.api(files.NOBODY).create("configmaps", {"metadata": {"name": "other"}}, "default")
        assert refused.value.status == 403

        plane.apiserver.kill()
        with pytest.raises(ServerDiedError, match="apiserver ended"):
            plane.require_running()
        plane.apiserver.start()
        eventually(lambda: finds(plane, "kept"), within_seconds=PATIENCE_SECONDS)
        plane.restart_controller_manager()
        plane.require_running()
        plane.admin.create("namespaces", {"metadata": {"name": "later"}})
        eventually(lambda: plane.admin.find("serviceaccounts", "default", "later"), within_seconds=PATIENCE_SECONDS)

        told = [r for r in log.since(begin) if r.resource in {"configmaps", "namespaces"} and r.verb == "create"]
        assert [(r.user, r.name, r.code, r.denied) for r in told] == [
            (files.ADMIN, "kept", 201, False),
            (files.NOBODY, "", 403, True),
            (files.ADMIN, "later", 201, False),
        ]
