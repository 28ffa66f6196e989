"""I11: bystanders never meet our webhooks.

Sees, on a real API server only, which notes in its audit log which mutating webhooks it asked: none of ours for an object that
has nothing to do with gangs, or in a namespace of the system; and requests about such objects that failed because a webhook of
ours did. The embedded server notes neither, so nothing is judged there. Does not see: calls of validating webhooks that allowed
the request, the time that evaluating match conditions takes, and refused patches of objects that the log has not shown before.
"""

import json
from collections.abc import Iterator
from typing import Any

from api.constants import (
    DELEGATED_TEMPLATE,
    GROUP,
    LWS_NAME,
    MANAGED,
    MUTATING_CONFIGURATION,
    SYSTEM_NAMESPACE,
)
from verify.auditor.audit_log import Record
from verify.auditor.changes import Answered, Change
from verify.auditor.history import History
from verify.auditor.model import Object
from verify.auditor.promises.promise import Promise

NOTE = "mutation.webhook.admission.k8s.io/"
FAILED = "failed calling webhook"
ANSWER = "Status"
"""What a delete is answered with when the object is gone at once; it says nothing of the object."""
SYSTEM_NAMESPACES = {"kube-node-lease", "kube-public", "kube-system", SYSTEM_NAMESPACE}
PREFIX = f"{GROUP}/"


class Bystanders(Promise):
    """Our webhooks are asked about gangs."""

    number = "I11"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._concerns_gangs: dict[tuple[str, str, str], bool] = {}
        """Of objects as they were last: of a refused patch the log has the patch alone."""

    def see(self, change: Change, history: History) -> Iterator[str]:
        """Compares who was asked with what it was about."""
        if not isinstance(change, Answered):
            return
        record = change.record
        key = (record.resource, record.namespace, record.name)
        about = record.response if record.code < 300 else record.request
        is_shown = record.code < 300 and "metadata" in about and about.get("kind") != ANSWER
        if record.verb == "patch" and not is_shown:
            is_exempt = self._concerns_gangs.get(key, True)
        else:
            is_exempt = not about or _concerns_gangs(record.resource, about)
        if is_shown:
            self._concerns_gangs[key] = is_exempt
        if is_exempt and record.namespace not in SYSTEM_NAMESPACES:
            return
        for webhook in _asked(record):
            yield f"webhook {webhook} was asked about a bystander: {record}"
        if record.code >= 400 and FAILED in record.message and f".{GROUP}" in record.message:
            yield f"a bystander was refused because a webhook of ours failed: {record}: {record.message}"


def _asked(record: Record) -> Iterator[str]:
    for note, said in record.annotations.items():
        if note.startswith(NOTE):
            found: dict[str, Any] = json.loads(said)
            if found.get("configuration") == MUTATING_CONFIGURATION:
                yield str(found.get("webhook"))


def _concerns_gangs(resource: str, about: Object) -> bool:
    """Whether an object may have to do with gangs, by the words of `config/webhook` in short."""
    metadata, spec = about.get("metadata") or {}, about.get("spec") or {}
    labels = metadata.get("labels") or {}
    match resource:
        case "pods":
            return MANAGED in labels
        case "jobs":
            return _is_gang_job(metadata, spec)
        case "statefulsets":
            return LWS_NAME in labels
        case "jobsets" | "leaderworkersets" | "podgroups" | "compositepodgroups" | "cronjobs":
            return True
    return False


def _is_gang_job(metadata: Object, spec: Object) -> bool:
    template = (spec.get("template") or {}).get("metadata") or {}
    words = [
        *(metadata.get("annotations") or {}),
        *(template.get("labels") or {}),
        *(template.get("annotations") or {}),
    ]
    is_marked = any(word.startswith(PREFIX) or word == DELEGATED_TEMPLATE for word in words)
    count = spec.get("parallelism") or 1
    is_gang = spec.get("completionMode") == "Indexed" and count > 1 and spec.get("completions") == count
    # The Job of somebody else's object is asked about only when that object has marked it as a gang.
    owners = metadata.get("ownerReferences") or []
    is_led = any(owner.get("controller") and owner.get("kind") != "CronJob" for owner in owners)
    return is_marked or (is_gang and not is_led) or "scheduling" in spec
