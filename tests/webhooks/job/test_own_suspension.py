"""A user who suspends a Job that waits at our gate: understood where the request shows it."""

import json
from typing import Any

import pytest

from api.constants import GATE, GATE_POD_GROUP, MANAGED
from providers.selection import standard_providers
from tests.webhooks.builders import Object, job, patched, request
from webhooks.job.own_suspension import LAST_APPLIED
from webhooks.job.update_defaulter import default_updated_job

PROVIDERS = standard_providers()
GATED = {GATE: GATE_POD_GROUP}


def waiting(annotations: dict[str, str] | None = None, fields: list[Object] | None = None, **spec: Any) -> Object:
    said = {**GATED, **(annotations or {})}
    found = job(
        annotations=said, template_labels={MANAGED: "embedded"}, scheduler_name="tutti", **{"suspend": True, **spec}
    )
    if fields is not None:
        found["metadata"]["managedFields"] = fields
    return found


def owns(manager: str, operation: str, field: str = "f:suspend") -> Object:
    return {"manager": manager, "operation": operation, "fieldsV1": {"f:spec": {field: {}}}}


def applied(**spec: Any) -> dict[str, str]:
    return {LAST_APPLIED: json.dumps({"spec": spec})}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (waiting(applied(parallelism=3)), waiting(applied(parallelism=3, suspend=True))),
        (
            waiting(fields=[owns("tutti", "Update")]),
            waiting(fields=[owns("tutti", "Update"), owns("kubectl", "Apply")]),
        ),
    ],
    ids=["kubectl apply", "kubectl apply --server-side"],
)
def test_who_applies_suspend_takes_the_gate_away_and_resumes_it_himself(old: Object, new: Object) -> None:
    found = patched(new, default_updated_job(request(new, old), providers=PROVIDERS))
    assert GATE not in found["metadata"]["annotations"]
    assert found["spec"]["suspend"] is True


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (waiting(), waiting({"note": "x"})),
        (waiting(applied(suspend=True)), waiting(applied(suspend=True, parallelism=3))),
        (waiting(applied()), waiting({LAST_APPLIED: "no json"})),
        (waiting(fields=[]), waiting(fields=[owns("kubectl", "Apply", "f:parallelism")])),
        (waiting(fields=[]), waiting(fields=[owns("kubectl-patch", "Update")])),
    ],
    ids=["another annotation", "said before", "unreadable", "another field", "no apply"],
)
def test_whatever_else_changes_leaves_the_gate(old: Object, new: Object) -> None:
    found = patched(new, default_updated_job(request(new, old), providers=PROVIDERS))
    assert found["metadata"]["annotations"][GATE] == GATE_POD_GROUP
