"""What a JobSet means as gangs: which of its children start together, and how many pods that is.

Without a word of its user each Job of it is what it would be alone: a gang if it has the shape of one. `scope` asks for more. All
pods of a unit must be there before one of them may start, so a unit never reaches over Jobs that exist only once others run.
"""

from collections.abc import Iterator
from typing import Final, Literal

import msgspec

from api.constants import (
    DELEGATED_TEMPLATE,
    JOBSET_EXCLUSIVE_TOPOLOGY,
    JOBSET_NODE_SELECTOR,
    MANAGED,
    POD_GROUP,
    POLICY,
    SCOPE,
    SLICE_SIZE,
    STOCK_SCHEDULER_NAME,
)
from api.errors import InvalidGangSettings
from api.gang import GroupIntent, GroupSettings, Plain, one_of, settings_of
from api.jobset import JobSet, ReplicatedJob
from api.parents.children import CHILD, PART, SCOPES, SET, unit_name
from api.topology_annotations import annotation_path

MOST_TEMPLATES: Final = 8
"""Pod group templates of a Workload (KEP-4671), of which each replicated Job needs one unless the set is one group."""

_FIELD: Final = f"metadata.annotations[{SCOPE}]"


class Unit(msgspec.Struct, frozen=True):
    """Children that start together.

    Attributes:
        name: which they are, as a part of names.
        template: name of the Workload's template that their group is made from.
        intent: the group.
        part: which equal children they are; empty for all of them.
        index: which child of that part; None for all of it.
    """

    name: str
    template: str
    intent: GroupIntent
    part: str = ""
    index: int | None = None


class JobSetIntent(msgspec.Struct, frozen=True):
    """The groups that a JobSet should have.

    Attributes:
        scope: `set`, `replicated-job` or `job`.
        parts: names of the replicated Jobs whose pods wait for a group.
        units: one for each group.
    """

    scope: str
    parts: frozenset[str]
    units: tuple[Unit, ...]

    @property
    def templates(self) -> dict[str, GroupIntent]:
        """Name to group of the templates that the groups are made from."""
        return {unit.template: unit.intent for unit in self.units}


def job_set_intent(jobset: JobSet) -> JobSetIntent | Plain:
    """Which groups the JobSet wants, or why none.

    Raises:
        InvalidGangSettings: an annotation has a value that cannot be used; the message says which and what would do.
    """
    settings = settings_of(jobset.metadata)
    stated = one_of(jobset.metadata, SCOPE, SCOPES)
    refusal = _left_alone(jobset, settings)
    if refusal is not None:
        return Plain(refusal)
    scope = stated or CHILD
    _check_order(jobset, scope)
    parts = _parts(jobset, scope, is_stated=stated is not None)
    if not parts:
        return Plain("it has no pods that would start together")
    problem = _own_groups(parts) or (_apart(parts) if scope == SET else None)
    if problem is None and scope != SET and len(parts) > MOST_TEMPLATES:
        problem = f"it has {len(parts)} replicated Jobs with groups, and a Workload has templates for {MOST_TEMPLATES}"
    if problem is None:
        _check_slices(parts, settings)
        return JobSetIntent(scope, frozenset(part.name for part in parts), tuple(_units(parts, scope, settings)))
    if stated is not None:
        raise InvalidGangSettings(problem, field=_FIELD)
    return Plain(problem)


def taken_in(jobset: JobSet) -> JobSetIntent | None:
    """The groups of a JobSet that admission took in, by the marks on its templates; None for any other.

    Marks cannot change while the JobSet lives, its annotations can. Settings that were spoilt since count as unsaid.
    """
    parts = tuple(part for part in jobset.parts if is_marked(part))
    scope = parts[0].template.metadata.annotation(SCOPE) if parts else None
    if scope is None:
        return None
    try:
        settings = settings_of(jobset.metadata)
    except InvalidGangSettings:
        settings = GroupSettings(None, None)
    names = frozenset(part.name for part in parts)
    counted = tuple(part for part in parts if part.pods > 0)
    return JobSetIntent(scope, names, tuple(_units(counted, scope, settings)) if counted else ())


def leaders_wait_for(jobset: JobSet) -> str | None:
    """Why groups that its user makes may wait for ever for pods that exist only once their first pod runs; None if they cannot."""
    problem = _own_groups(jobset.parts) if jobset.has_leaders_first else None
    if problem is None:
        return None
    return (
        f"{problem}, and with {JOBSET_EXCLUSIVE_TOPOLOGY} only the first pod of each Job exists until it has a node: "
        "a group with a minimum of more pods than these waits for ever; "
        f"use {JOBSET_NODE_SELECTOR} beside it, which has all pods come at once"
    )


def is_marked(part: ReplicatedJob) -> bool:
    """Whether admission has written on a replicated Job that its pods wait for a group."""
    marked = part.template.spec.template.metadata.label(MANAGED) is not None
    return marked and part.template.metadata.annotation(SCOPE) in SCOPES


def _left_alone(jobset: JobSet, settings: GroupSettings) -> str | None:
    if settings.policy == "none":
        return f"its annotation {POLICY} is none"
    if settings.policy == "basic":
        raise InvalidGangSettings(
            "a JobSet has gangs or none: use gang or none", field=f"metadata.annotations[{POLICY}]"
        )
    if jobset.spec.managed_by:
        return f"it is run by {jobset.spec.managed_by}"
    return None


def _check_order(jobset: JobSet, scope: str) -> None:
    if scope == SET and jobset.starts_in_order:
        raise InvalidGangSettings(
            "with startupPolicy InOrder or dependsOn the later Jobs are made only once the former run, so the set would wait "
            f"for ever for its own pods: use {PART}, which has each replicated Job start together",
            field=_FIELD,
        )


def _parts(jobset: JobSet, scope: str, *, is_stated: bool) -> tuple[ReplicatedJob, ...]:
    """The replicated Jobs that have groups."""
    if jobset.has_leaders_first:
        if is_stated:
            raise InvalidGangSettings(
                f"with {JOBSET_EXCLUSIVE_TOPOLOGY} only the first pod of each Job exists until it has a node, so the others "
                f"could not start with it: use {JOBSET_NODE_SELECTOR} beside it, which has all pods come at once",
                field=_FIELD,
            )
        return ()
    parts = tuple(part for part in jobset.parts if part.pods > 0)
    if scope == SET:
        return parts if sum(part.pods for part in parts) > 1 else ()
    parts = tuple(part for part in parts if part.template.metadata.annotation(POLICY) != "none")
    if scope == PART:
        return tuple(part for part in parts if part.pods > 1)
    if is_stated:
        return tuple(part for part in parts if part.template.spec.pods_at_once > 1)
    return tuple(part for part in parts if part.template.spec.is_gang_shaped)


def _own_groups(parts: tuple[ReplicatedJob, ...]) -> str | None:
    """Why the pods of the parts have groups already."""
    for part in parts:
        template = part.template.spec.template
        if template.spec.scheduling_group is not None:
            return f"the pods of {part.name} name a group of their own (spec.schedulingGroup)"
        if template.metadata.annotation(POD_GROUP) and template.metadata.label(MANAGED) is None:
            return f"the pods of {part.name} name a group of their own (annotation {POD_GROUP})"
        if part.template.metadata.annotation(DELEGATED_TEMPLATE):
            return f"the Jobs of {part.name} have groups from a Workload (annotation {DELEGATED_TEMPLATE})"
    return None


def _check_slices(parts: tuple[ReplicatedJob, ...], settings: GroupSettings) -> None:
    """Each Job's pods have ranks of their own, so no slice reaches over two Jobs."""
    size = settings.topology.slice_size
    if not size:
        return
    for part in parts:
        spec = part.template.spec
        if not spec.is_indexed:
            raise InvalidGangSettings(
                f"a slice is of consecutive ranks, and the pods of {part.name} have none; set its completionMode to Indexed",
                field=annotation_path(SLICE_SIZE),
            )
        if spec.pods_at_once % size:
            raise InvalidGangSettings(
                f"a Job of {part.name} runs {spec.pods_at_once} pods, which is no whole number of slices of {size}",
                field=annotation_path(SLICE_SIZE),
            )


def _apart(parts: tuple[ReplicatedJob, ...]) -> str | None:
    """Why the pods of the parts cannot be in one group."""
    classes = sorted({part.template.spec.template.spec.priority_class_name or "none" for part in parts})
    if len(classes) > 1:
        return f"its pods differ in priorityClassName ({', '.join(classes)}), and a gang has one priority"
    names = sorted({name for part in parts if (name := scheduler_of(part))})
    if len(names) > 1:
        return f"its pods name different schedulers ({', '.join(names)}), and a gang has one"
    return None


def scheduler_of(part: ReplicatedJob) -> str:
    """The scheduler that the pods of a part name, "" when they name none or the stock one."""
    name = part.template.spec.template.spec.scheduler_name
    return "" if name == STOCK_SCHEDULER_NAME else name


def _units(parts: tuple[ReplicatedJob, ...], scope: str, settings: GroupSettings) -> Iterator[Unit]:
    if scope == SET:
        pods = sum(part.pods for part in parts)
        yield Unit(unit_name(SET, "", 0), SET, _intent(parts[0], pods, settings))
        return
    for part in parts:
        if scope == PART:
            yield Unit(unit_name(PART, part.name, 0), part.name, _intent(part, part.pods, settings), part.name)
            continue
        intent = _intent(part, part.template.spec.pods_at_once, settings)
        for index in range(part.jobs):
            yield Unit(unit_name(CHILD, part.name, index), part.name, intent, part.name, index)


def _intent(part: ReplicatedJob, pods: int, settings: GroupSettings) -> GroupIntent:
    mode: Literal["all", "single"] = settings.disruption_mode or "all"
    return GroupIntent(
        policy="gang",
        min_count=pods,
        disruption_mode=mode,
        topology=settings.topology,
        priority_class_name=part.template.spec.template.spec.priority_class_name,
    )
