"""A validating webhook of somebody else's that keeps the API server waiting before it allows what it is asked."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.conformance.review_server import review_server
from verify.clusters.client import Object
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.jobs import plain_pod

NAME = "slow"
PATIENCE_SECONDS = 30
"""How long the API server waits for it, the longest time it may be told."""
REGISTERED_SECONDS = 30


class SlowWebhook:
    """Answers at once unless it is `slow`; whoever waits is answered when it no longer is.

    Attributes:
        asked: how many requests there were.
    """

    def __init__(self) -> None:
        self.asked = 0
        self._guard = threading.Lock()
        self._at_once = 0
        self._answers = threading.Event()
        self._answers.set()

    @contextmanager
    def slow(self, *, after: int = 0) -> Iterator[None]:
        """Inside so many requests are answered, and nobody else."""
        self._at_once = self.asked + after
        self._answers.clear()
        try:
            yield
        finally:
            self._answers.set()

    def review(self, _request: Object) -> Object:
        """Yes, in time or later."""
        with self._guard:
            self.asked += 1
            number = self.asked
        if number > self._at_once:
            self._answers.wait(PATIENCE_SECONDS)
        return {"allowed": True}


@contextmanager
def slow_webhook(
    plane: ControlPlane, namespace: str, folder: Path, rule: Object, probe: Object
) -> Iterator[SlowWebhook]:
    """One that the API server asks about this in one namespace.

    Args:
        plane: the cluster.
        namespace: where.
        folder: for certificates.
        rule: what about.
        probe: `path` and `body` of a POST about it, to be sent until the webhook is asked.
    """
    webhook = SlowWebhook()

    def is_asked() -> bool:
        with suppress(AssertionError):  # what the server says to it makes no difference
            plane.admin.request("POST", probe["path"], probe["body"])
        return webhook.asked > 0

    with review_server(folder, webhook.review) as reached:
        entry = {
            "name": "slow.example.com",
            "clientConfig": reached,
            "rules": [rule],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
            "failurePolicy": "Fail",
            "sideEffects": "None",
            "timeoutSeconds": PATIENCE_SECONDS,
            "admissionReviewVersions": ["v1"],
        }
        plane.admin.create("validatingwebhookconfigurations", {"metadata": {"name": NAME}, "webhooks": [entry]})
        try:
            eventually(is_asked, within_seconds=REGISTERED_SECONDS)
            yield webhook
        finally:
            plane.admin.delete("validatingwebhookconfigurations", NAME)


@contextmanager
def slow_binds(plane: ControlPlane, namespace: str, folder: Path) -> Iterator[SlowWebhook]:
    """One that is asked about binds of pods in this namespace, with a pod there that is not to be bound."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/binding"]}
    plane.admin.create("pods", plain_pod("probe", cpu="10m"), namespace)
    probe = {
        "path": plane.admin.path("pods", namespace, "probe") + "/binding?dryRun=All",
        "body": {"metadata": {"name": "probe"}, "target": {"kind": "Node", "name": "none"}},
    }
    with slow_webhook(plane, namespace, folder, rule, probe) as webhook:
        yield webhook
