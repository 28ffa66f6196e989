"""The body of our patch of a Job. Pure.

It names the UID and the values it was decided on, so that the server refuses it when something that matters has changed since.
"""

from typing import Any, Final

from api.constants import GATE, GATE_POD_GROUP, MANAGED, POD_GROUP, SUSPENDED
from api.job import Job
from controllers.gangs.patches import Body
from controllers.jobs.observed import is_gated, is_suspended
from controllers.jobs.steps import PatchJob
from providers.base import PodMetadata

TEST_FAILED: Final = "the server rejected our request due to an error in our request"
"""What the API server says when a test of a JSON patch fails, or a path in it is not there; no other refusal has these words."""

TEMPLATE: Final = "spec/template/metadata"


def job_patch(job: Job, step: PatchJob, association: PodMetadata | None) -> list[Body]:
    """The one JSON patch of a Job; `association` is what the provider wants in the template.

    It names what it was decided on instead of the version: the Job controller writes the status of a new Job at the same
    moment, which changes the version and nothing that matters here.
    """
    operations = _unchanged(job)
    if step.unmanage:
        operations.append({"op": "remove", "path": _pointer(TEMPLATE, "labels", MANAGED)})
    if association is not None:
        operations += _added("labels", job.spec.template.metadata.labels, association.labels)
        operations += _added("annotations", job.spec.template.metadata.annotations, association.annotations)
    if step.open_gate and is_gated(job):
        operations.append({"op": "remove", "path": _pointer("metadata", "annotations", GATE)})
        if is_suspended(job):
            operations.append({"op": "replace", "path": "/spec/suspend", "value": False})
    if step.close_gate or step.suspend:
        if job.metadata.annotations is None:
            operations.append({"op": "add", "path": "/metadata/annotations", "value": {}})
        operations += _marked_suspension(job) if step.suspend else [_annotated(GATE, GATE_POD_GROUP)]
        operations.append({"op": "replace", "path": "/spec/suspend", "value": True})
    return operations


def _marked_suspension(job: Job) -> list[Body]:
    """The mark counts for the generation that this very patch makes, and for no later one."""
    now = job.metadata.generation
    return [
        {"op": "test", "path": "/metadata/generation", "value": now},
        _annotated(SUSPENDED, f"{job.metadata.uid}/{now + 1}"),
    ]


def _annotated(key: str, value: str) -> Body:
    return {"op": "add", "path": _pointer("metadata", "annotations", key), "value": value}


def _unchanged(job: Job) -> list[Body]:
    """Tests that the server makes first: this very Job, its size, whether it is held, and what its template says of groups."""
    template = job.spec.template.metadata
    expected: list[tuple[str, Any]] = [
        ("/metadata/uid", job.metadata.uid),
        ("/spec/parallelism", job.spec.parallelism),
        ("/spec/completions", job.spec.completions),
        ("/spec/suspend", job.spec.suspend),
    ]
    if job.metadata.annotations is not None:
        expected.append((_pointer("metadata", "annotations", GATE), job.metadata.annotation(GATE)))
    for kind, present, key in (
        ("labels", template.labels, MANAGED),
        ("annotations", template.annotations, POD_GROUP),
    ):
        path = _pointer(TEMPLATE, kind) if not present else _pointer(TEMPLATE, kind, key)
        expected.append((path, present.get(key) if present else None))
    return [{"op": "test", "path": path, "value": value} for path, value in expected]


def _added(kind: str, present: dict[str, str] | None, wanted: dict[str, str]) -> list[Body]:
    if not present:
        return [{"op": "add", "path": _pointer(TEMPLATE, kind), "value": dict(wanted)}] if wanted else []
    return [
        {"op": "add", "path": _pointer(TEMPLATE, kind, key), "value": value}
        for key, value in wanted.items()
        if present.get(key) != value
    ]


def _pointer(*parts: str) -> str:
    first, *rest = parts
    return "/".join([f"/{first}", *(part.replace("~", "~0").replace("/", "~1") for part in rest)])
