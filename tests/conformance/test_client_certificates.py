"""Admission that answers nobody but the API server: docs/security.md, on a server that is set up as it says."""

import base64
import json
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
import urllib3

from verify.clusters import cluster_files as files
from verify.clusters.controlplane import ControlPlane
from verify.clusters.jobs import indexed_job
from verify.clusters.real import RealControlPlane
from verify.clusters.tutti_process import Tutti

pytestmark = [pytest.mark.one_api, pytest.mark.real_only("the embedded server shows no certificate to webhooks")]
NAME = "kube-apiserver"


class ShowingControlPlane(RealControlPlane):
    """An API server that shows a client certificate to the webhooks it calls."""

    def _apiserver_flags(self, port: int, etcd: int) -> list[str]:
        self.client_authority, certificate, key = files.write_client_certificate(self.folder, NAME)
        configuration = files.write_admission_configuration(self.folder, certificate, key)
        return [*super()._apiserver_flags(port, etcd), f"--admission-control-config-file={configuration}"]


@pytest.fixture(scope="module")
def showing(assets: Path) -> Iterator[ShowingControlPlane]:
    made = ShowingControlPlane(group_api="own", assets=assets, stock_scheduler=False, audited=False)
    with made:
        yield made


def installed(showing: ShowingControlPlane, *names: str) -> Tutti:
    tutti = Tutti(showing)
    webhooks = {"client_authority": str(showing.client_authority), "client_names": names}
    (showing.folder / "tutti.yaml").write_text(json.dumps({"webhooks": webhooks}))
    return tutti


def asked_by_a_stranger(control_plane: ControlPlane) -> int:
    """The status of the answer to somebody who knows where the webhooks are and who signed their certificate."""
    found = control_plane.admin.get("mutatingwebhookconfigurations", "tutti-mutating")["webhooks"][0]["clientConfig"]
    trust = ssl.create_default_context(cadata=base64.b64decode(found["caBundle"]).decode())
    with urllib3.PoolManager(ssl_context=trust, retries=False) as stranger:
        return stranger.request("POST", found["url"], json={"kind": "AdmissionReview"}).status


def test_the_api_server_is_answered_and_a_stranger_is_not(showing: ShowingControlPlane) -> None:
    tutti = installed(showing, NAME)
    try:
        tutti.ensure_running()
        with pytest.raises((urllib3.exceptions.SSLError, urllib3.exceptions.ProtocolError)):
            asked_by_a_stranger(showing)
        made = showing.admin.create("jobs", indexed_job("after", 2), "default", dry_run=True)
        assert "tutti.scheduler/managed" in made["spec"]["template"]["metadata"]["labels"]
        assert tutti.stop() == 0
    finally:
        tutti.kill_everything()
