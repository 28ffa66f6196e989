"""Webhooks that are not there, refuse, answer after ten seconds, or are not trusted: unrelated people notice nothing."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from tests.conformance.replicas.bundles import ago, authority, leaf
from tests.conformance.replicas.deployments import Deployments
from tests.conformance.replicas.replica import WebhooksReplica
from tests.conformance.replicas.test_certificates import mount
from verify.clusters.eventually import eventually
from verify.clusters.jobs import Jobs, indexed_job, is_gang, plain_job, plain_pod
from verify.clusters.ports import free_ports
from verify.faults.tcp_proxy import TcpProxy

pytestmark = [pytest.mark.one_api, pytest.mark.real_only("the embedded server reaches webhooks by URL")]

QUICK_SECONDS = 1.0
WEBHOOK_TIMEOUT_SECONDS = 3.0
SLOW_SECONDS = 10.0
SWITCH_SECONDS = 20
CREATIONS = 10


@contextmanager
def nobody(deployments: Deployments, webhooks: WebhooksReplica) -> Iterator[None]:
    """The Service has no endpoint."""
    yield


@contextmanager
def refusing(deployments: Deployments, webhooks: WebhooksReplica) -> Iterator[None]:
    """The endpoint is that of a process that has gone."""
    deployments.service.offer(deployments.host, free_ports(1, deployments.host)[0])
    yield


@contextmanager
def slow(deployments: Deployments, webhooks: WebhooksReplica) -> Iterator[None]:
    """Whatever comes from it comes ten seconds late."""
    with TcpProxy(webhooks.host, webhooks.port, listen=deployments.host, late_seconds=SLOW_SECONDS) as late:
        deployments.service.offer(deployments.host, late.port)
        yield


@contextmanager
def distrusted(deployments: Deployments, webhooks: WebhooksReplica) -> Iterator[None]:
    """The API server trusts another authority than the one that signed its certificate."""
    deployments.trust(authority(ago(days=1), name="another").certificate_pem.decode())
    deployments.service.offer(webhooks.host, webhooks.port)
    yield


Away = Callable[[Deployments, WebhooksReplica], AbstractContextManager[None]]


@pytest.fixture
def webhooks(deployments: Deployments, tmp_path: Path) -> WebhooksReplica:
    """One that answers, with a certificate that it does not look after itself."""
    theirs = authority(ago(days=1), name="somebody-else")
    mount(tmp_path / "mounted", leaf(theirs, ago(hours=1)))
    deployments.trust(theirs.certificate_pem.decode())
    made = deployments.start_webhooks(given_certificates=str(tmp_path / "mounted"))
    deployments.serve(made)
    return made


@pytest.mark.parametrize("away", [nobody, refusing, slow, distrusted])
def test_unrelated_pods_and_jobs_are_created_at_once(
    deployments: Deployments, webhooks: WebhooksReplica, jobs: Jobs, away: Away
) -> None:
    deployments.service.withdraw_all()
    with away(deployments, webhooks):
        # Connections that are open are used for a while, whatever the Service says.
        eventually(lambda: not deployments.admits(), within_seconds=SWITCH_SECONDS)
        took = []
        for number in range(CREATIONS):
            begin = time.monotonic()
            jobs.api.create("pods", plain_pod(f"bystander-{number}"), jobs.namespace)
            jobs.create(plain_job(f"ordinary-{number}", 2))
            took.append(time.monotonic() - begin)
        begin = time.monotonic()
        made = jobs.create(indexed_job("gang", 2))
        gang_seconds = time.monotonic() - begin
    sys.stdout.write(
        f"\n{away.__name__}: pod and plain Job in {max(took):.2f} s at most, gang Job in {gang_seconds:.2f} s, "
        f"{'taken in' if is_gang(made) else 'plain'}\n"
    )
    assert max(took) < QUICK_SECONDS
    assert not is_gang(made)
    assert gang_seconds < WEBHOOK_TIMEOUT_SECONDS + QUICK_SECONDS
