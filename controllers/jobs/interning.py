"""A Job as it is kept: the same values in less memory. Pure.

A decoded object has strings of its own for every key and every name in it, though most of them stand in the next Job as well, or in
this one for the fourth time. What is equal becomes the same object here, which is sound because records are never changed.
"""

import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

from api.job import Job, TemplateSpec

_MOST_SHARED: Final = 1024
"""Different failure policies and template specs that are shared; the rest is kept as it came."""


def interned(job: Job) -> Job:
    """An equal Job whose strings and policies are shared with other Jobs (as `sys.intern` does for strings)."""
    metadata, spec = job.metadata, job.spec
    names = {metadata.uid: metadata.uid, metadata.name: metadata.name}
    labels = _shared(metadata.labels, names)
    template_labels = _shared(spec.template.metadata.labels, names)
    replaced = msgspec.structs.replace
    template = replaced(
        spec.template,
        metadata=replaced(
            spec.template.metadata,
            labels=labels if template_labels == labels else template_labels,
            annotations=_shared(spec.template.metadata.annotations, names),
        ),
        spec=_template_spec(spec.template.spec),
    )
    return replaced(
        job,
        metadata=replaced(
            metadata,
            namespace=sys.intern(metadata.namespace),
            labels=labels,
            annotations=_shared(metadata.annotations, names),
        ),
        spec=replaced(
            spec,
            completion_mode=sys.intern(spec.completion_mode),
            pod_replacement_policy=spec.pod_replacement_policy and sys.intern(spec.pod_replacement_policy),
            pod_failure_policy=spec.pod_failure_policy and _policy(msgspec.json.encode(spec.pod_failure_policy)),
            template=template,
        ),
    )


def _shared(found: Mapping[str, str] | None, names: Mapping[str, str]) -> dict[str, str] | None:
    if found is None:
        return None
    return {sys.intern(key): names.get(value, value) for key, value in found.items()}


@lru_cache(maxsize=_MOST_SHARED)
def _policy(encoded: bytes) -> dict[str, Any]:
    policy: dict[str, Any] = msgspec.json.decode(encoded)
    return policy


@lru_cache(maxsize=_MOST_SHARED)
def _template_spec(spec: TemplateSpec) -> TemplateSpec:
    return spec
