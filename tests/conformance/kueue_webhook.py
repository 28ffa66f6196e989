"""Kueue's webhook for new Jobs, as far as it decides who starts them: the queue of whoever names none, and `suspend`.

The API server asks mutating webhooks by the names of their configurations, Kueue's before ours, and its own policies before both.
"""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conformance.kueue import QUEUE
from tests.conformance.review_server import review_server
from verify.clusters.client import Api, Object
from verify.clusters.eventually import eventually
from verify.clusters.jobs import indexed_job

CONFIGURATION = "kueue-mutating-webhook-configuration"
HELD = "tutti.scheduler/held"
REGISTERED_SECONDS = 30


class KueueWebhook:
    """What it does to Jobs of one namespace.

    Args:
        default_queue: of Jobs that name none; empty: they get none.
        manages_all: whether Jobs without a queue are suspended, too.
    """

    def __init__(self, *, default_queue: str = "", manages_all: bool = False) -> None:
        self._default_queue = default_queue
        self._manages_all = manages_all
        self.has_seen_the_policy = False

    def review(self, request: Object) -> Object:
        """Suspends what it manages."""
        job = request["object"]
        labels = dict(job["metadata"].get("labels") or {})
        if HELD in (job["metadata"].get("annotations") or {}):
            self.has_seen_the_policy = True
        if self._default_queue:
            labels.setdefault(QUEUE, self._default_queue)
        changes: list[Object] = [{"op": "add", "path": "/metadata/labels", "value": labels}] if labels else []
        if QUEUE in labels or self._manages_all:
            changes.append({"op": "add", "path": "/spec/suspend", "value": True})
        patch = base64.b64encode(json.dumps(changes).encode()).decode()
        return {"allowed": True, "patchType": "JSONPatch", "patch": patch}


@contextmanager
def kueue_webhook(api: Api, namespace: str, folder: Path, webhook: KueueWebhook) -> Iterator[None]:
    """It is asked inside, and the admission policy that holds gangs is in force."""
    with review_server(folder, webhook.review) as reached:
        entry = {
            "name": "mjob.kb.io",
            "clientConfig": reached,
            "rules": [{"apiGroups": ["batch"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["jobs"]}],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
            "failurePolicy": "Fail",
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }
        api.create("mutatingwebhookconfigurations", {"metadata": {"name": CONFIGURATION}, "webhooks": [entry]})

        def is_asked_behind_the_policy() -> bool:
            api.create("jobs", indexed_job("probe", 2), namespace, dry_run=True)
            return webhook.has_seen_the_policy

        try:
            eventually(is_asked_behind_the_policy, within_seconds=REGISTERED_SECONDS)
            yield
        finally:
            api.delete("mutatingwebhookconfigurations", CONFIGURATION)
