"""Is this Job a gang, and which one? The one answer that admission, validation and the controllers share.

A Job is a gang without saying so when it is Indexed, runs more than one pod and needs all of them at once
(`parallelism == completions`, KEP-5547 as of 1.36). The annotation `policy` overrides that: `gang` for other Jobs, `basic` for
a group without a minimum, `none` to stay out. Jobs whose pods somebody else groups or starts are left alone.
"""

from math import ceil
from typing import Final, Literal

import msgspec

from api.constants import (
    DELEGATED_TEMPLATE,
    DISRUPTION_MODE,
    ELASTIC,
    MANAGED,
    MIN_COUNT,
    POD_GROUP,
    POLICY,
    STOCK_JOB_CONTROLLER,
)
from api.degraded import check_degraded
from api.errors import InvalidGangSettings
from api.job import INDEXED, Job
from api.meta import Metadata, OwnerReference, controller_of
from api.owner_topology import job_topology
from api.topology import ANYWHERE, TopologyRequest
from api.topology_annotations import annotation_path, topology_request
from api.waiting import check_waiting, waiting_of

MAX_SHOWN: Final = 64


class Plain(msgspec.Struct, frozen=True):
    """The Job stays as it is; `reason` says why, for people."""

    reason: str


class GroupIntent(msgspec.Struct, frozen=True):
    """The group that a Job, or each replica of a LeaderWorkerSet, should have.

    Attributes:
        policy: `gang` starts all or nothing, `basic` one by one.
        min_count: pods that must start together; 1 for the basic policy.
        disruption_mode: whether preemption takes the group as a whole (`all`) or pods of it (`single`).
        elastic: whether a Job's parallelism may change while it is a gang; the minimum follows.
        topology: how close its pods are to be.
        priority_class_name: that of the pods, "" for none.
    """

    policy: Literal["gang", "basic"]
    min_count: int
    disruption_mode: Literal["all", "single"]
    elastic: bool = False
    topology: TopologyRequest = ANYWHERE
    priority_class_name: str = ""

    @property
    def topology_key(self) -> str | None:
        """The node label inside one value of which all pods run, None for anywhere."""
        return self.topology.required_key


class Delegated(msgspec.Struct, frozen=True):
    """The Job's parent described the group: it is to be made from this template of the parent's Workload (KEP-5547)."""

    parent: OwnerReference
    template: str


def job_intent(job: Job) -> GroupIntent | Delegated | Plain:
    """What kind of group the Job wants, or why none.

    Raises:
        InvalidGangSettings: an annotation has a value that cannot be used; the message says which and what would do.
    """
    settings = _settings(job)
    refusal = _left_alone(job, settings)
    if refusal is not None:
        return Plain(refusal)
    delegated = delegation_of(job)
    if delegated is not None:
        return delegated
    if settings.policy is None and not is_gang_shaped(job):
        return Plain("it is not an Indexed Job with parallelism = completions > 1")
    is_gang = settings.policy != "basic"
    minimum = (settings.min_count or max(job.pods_at_once, 1)) if is_gang else 1
    return GroupIntent(
        policy="gang" if is_gang else "basic",
        min_count=minimum,
        disruption_mode=settings.disruption_mode or ("all" if is_gang else "single"),
        elastic=settings.elastic,
        topology=job_topology(job, minimum=minimum, is_gang=is_gang),
        priority_class_name=job.spec.template.spec.priority_class_name,
    )


def is_gang_shaped(job: Job) -> bool:
    """True for a Job that is a gang by its shape alone: Indexed, parallelism = completions > 1."""
    return job.spec.completion_mode == INDEXED and job.parallelism > 1 and job.spec.completions == job.parallelism


def is_managed_template(job: Job) -> bool:
    """True when admission took this Job in: its pods carry our label."""
    return job.spec.template.metadata.label(MANAGED) is not None


def delegation_of(job: Job) -> Delegated | None:
    """What the parent of a Job asks for it, None when it asks for nothing."""
    owner, template = parent_of(job), job.metadata.annotation(DELEGATED_TEMPLATE)
    return Delegated(owner, template) if owner is not None and template else None


def parent_of(job: Job) -> OwnerReference | None:
    """The controller above the Job that decides on its scheduling; a CronJob does not."""
    owner = controller_of(job.metadata)
    return None if owner is None or owner.kind == "CronJob" else owner


def _left_alone(job: Job, settings: "_Settings") -> str | None:
    template = job.spec.template
    owner = parent_of(job)
    if settings.policy == "none":
        return f"its annotation {POLICY} is none"
    if template.spec.scheduling_group is not None:
        return "its pod template names a group of its own (spec.schedulingGroup)"
    if template.metadata.annotation(POD_GROUP) and not is_managed_template(job):
        return f"its pod template names a group of its own (annotation {POD_GROUP})"
    if job.spec.scheduling is not None:
        return "it states spec.scheduling, which the cluster's own Job controller carries out"
    if owner is not None and not job.metadata.annotation(DELEGATED_TEMPLATE):
        return f"it belongs to the {owner.kind} {owner.name}"
    if job.spec.managed_by not in (None, "", STOCK_JOB_CONTROLLER):
        return f"it is run by {job.spec.managed_by}"
    return None


class _Settings(msgspec.Struct, frozen=True):
    policy: Literal["gang", "basic", "none"] | None
    min_count: int | None
    disruption_mode: Literal["all", "single"] | None
    elastic: bool


def _settings(job: Job) -> _Settings:
    settings = settings_of(job.metadata)
    return _Settings(
        policy=settings.policy,
        min_count=_min_count(job, settings.policy),
        disruption_mode=settings.disruption_mode,
        elastic=one_of(job.metadata, ELASTIC, ("true", "false")) == "true",
    )


class GroupSettings(msgspec.Struct, frozen=True):
    """What annotations say that mean the same on every kind of object we make gangs of; None where they say nothing.

    Attributes:
        policy: `gang`, `basic` or `none`.
        disruption_mode: `all` or `single`.
        topology: how close members are to be; `ANYWHERE` where they say nothing.
        timeout_seconds: time after which a group that could not start gives up, in whole seconds, rounded up.
    """

    policy: Literal["gang", "basic", "none"] | None
    disruption_mode: Literal["all", "single"] | None
    topology: TopologyRequest = ANYWHERE
    timeout_seconds: int | None = None


def settings_of(metadata: Metadata) -> GroupSettings:
    """What the annotations of an object say.

    Raises:
        InvalidGangSettings: one has a value that cannot be used; the message says which and what would do.
    """
    policy = one_of(metadata, POLICY, ("gang", "basic", "none"))
    mode = one_of(metadata, DISRUPTION_MODE, ("all", "single"))
    if policy == "basic" and mode == "all":
        raise InvalidGangSettings("all needs a gang, and the policy is basic", field=annotation_path(DISRUPTION_MODE))
    check_waiting(metadata, is_basic=policy == "basic")
    check_degraded(metadata, is_basic=policy == "basic")
    return GroupSettings(policy, mode, topology_request(metadata), _timeout_seconds(metadata))  # type: ignore[arg-type]


def _timeout_seconds(metadata: Metadata) -> int | None:
    # A scheduler that takes whole seconds never gives up earlier than was asked.
    return ceil(waiting_of(metadata).timeout_seconds) or None


def _whole(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else 0


def one_of(metadata: Metadata, key: str, allowed: tuple[str, ...]) -> str | None:
    """The value of an annotation, None where there is none.

    Raises:
        InvalidGangSettings: it is not one of those allowed.
    """
    value = metadata.annotation(key)
    if value is not None and value not in allowed:
        raise InvalidGangSettings(f"{_shown(value)} is not one of {', '.join(allowed)}", field=annotation_path(key))
    return value


def _min_count(job: Job, policy: str | None) -> int | None:
    text = job.metadata.annotation(MIN_COUNT)
    if text is None:
        return None
    most = job.pods_at_once
    number = _whole(text)
    if not 1 <= number <= most:
        raise InvalidGangSettings(
            f"{_shown(text)} is not a whole number from 1 to {most}, the pods this Job runs at once",
            field=annotation_path(MIN_COUNT),
        )
    if policy == "basic":
        raise InvalidGangSettings("a minimum needs a gang, and the policy is basic", field=annotation_path(MIN_COUNT))
    return number


def _shown(value: str) -> str:
    return repr(value if len(value) <= MAX_SHOWN else value[:MAX_SHOWN] + "…")
