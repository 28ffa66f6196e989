"""What a Job's namespace and the cluster say where the Job itself says nothing.

The Job's own annotation comes first, then the one of its Namespace, then the configuration. What was decided is written on the
Job: its group stays what it was made as when somebody changes a default, and the controllers need no second look. A default
never makes a gang of a Job that is none by its shape; it says what such a Job is instead.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Final, Generic, Literal, TypeVar

import msgspec
from pydantic import AfterValidator

from api.constants import DISRUPTION_MODE, ELASTIC, POLICY, SCOPE, TOPOLOGY
from api.errors import InvalidGangSettings
from api.gang import GroupIntent
from api.job import Job
from api.jobset import JobSet
from api.lws import LeaderWorkerSet
from api.meta import NO_METADATA, Metadata
from api.topology_annotations import topology_levels
from kube.process.settings import StrictSettings

Annotations = Mapping[str, str]
NO_ANNOTATIONS: Final[Annotations] = {}
Target = TypeVar("Target", Job, LeaderWorkerSet, JobSet)

_DEFAULTED: Final = (POLICY, DISRUPTION_MODE, TOPOLOGY, ELASTIC)


def _levels(value: str) -> str:
    try:
        topology_levels(value, field="topology")
    except InvalidGangSettings as error:
        raise ValueError(str(error)) from error
    return value


class Namespace(msgspec.Struct, frozen=True):
    """A Namespace, as far as it says something about gangs."""

    metadata: Metadata = NO_METADATA


class GangDefaults(StrictSettings):
    """The cluster's defaults; each stands for the annotation of that name on every Job that lacks it."""

    policy: Literal["gang", "basic", "none"] | None = None
    """What Jobs are that have the shape of a gang; None and `gang`: gangs."""

    disruption_mode: Literal["all", "single"] | None = None
    """How gangs are preempted; None: as a whole."""

    topology: Annotated[str, AfterValidator(_levels)] | None = None
    """The node label inside one value of which gangs are placed, or several levels, as the annotation has them; None: anywhere."""

    elastic: bool | None = None
    """Whether the size of a gang may change; None: it may not."""

    scope: Literal["set", "replicated-job", "job"] | None = None
    """How much of a JobSet starts together, where it can; None: each Job of it by itself."""

    @property
    def annotations(self) -> dict[str, str]:
        """The defaults as a Namespace would carry them."""
        elastic = None if self.elastic is None else str(self.elastic).lower()
        values = (self.policy, self.disruption_mode, self.topology, elastic)
        said = (*zip(_DEFAULTED, values, strict=True), (SCOPE, self.scope))
        return {key: value for key, value in said if value is not None}


class Defaulted(msgspec.Struct, frozen=True):
    """Annotations to be added to a Job, and what to tell its user."""

    annotations: dict[str, str]
    warnings: tuple[str, ...] = ()


class DefaultedKind(Generic[Target]):
    """A kind that defaults apply to: how to tell what an object asks for, and whether it has the shape of a gang."""

    def __init__(
        self,
        intent_of: Callable[[Target], object],
        has_shape: Callable[[Target], bool],
        defaulted: tuple[str, ...] = _DEFAULTED,
    ) -> None:
        self.intent_of: Final[Callable[[Target], object]] = intent_of
        self.has_shape: Final[Callable[[Target], bool]] = has_shape
        self.defaulted: Final = defaulted
        """The annotations that mean something on such an object."""


def apply_defaults(
    target: Target, namespace: Annotations, cluster: Annotations, kind: DefaultedKind[Target]
) -> Defaulted:
    """What the defaults add to an object that has the shape of a gang or asks to be one.

    A default of the namespace that makes the object unusable is left out, with a warning: it is not its user who can mend it.

    Raises:
        InvalidGangSettings: its own annotations cannot be used.
    """
    own = kind.intent_of(target)
    if not isinstance(own, GroupIntent):
        return Defaulted({})
    added: dict[str, str] = {}
    warnings: list[str] = []
    for key in kind.defaulted:
        if target.metadata.annotation(key) is not None or (key == POLICY and not kind.has_shape(target)):
            continue
        if key == TOPOLOGY and own.topology.levels:
            # Its pod template says it, as Kueue has it.
            continue
        for source, values in (("the namespace", namespace), ("the configuration", cluster)):
            value = values.get(key)
            if value is None:
                continue
            problem = _problem(target, {**added, key: value}, kind)
            if problem is None:
                added[key] = value
                break
            warnings.append(f"a default of {source} was left out: {problem}")
        if added.get(POLICY) == "none":
            return Defaulted({POLICY: "none"}, tuple(warnings))
    return Defaulted(added, tuple(warnings))


def with_annotations(target: Target, annotations: Annotations) -> Target:
    """The object as it is with these annotations."""
    merged = {**(target.metadata.annotations or {}), **annotations}
    return msgspec.structs.replace(target, metadata=msgspec.structs.replace(target.metadata, annotations=merged))


def _problem(target: Target, annotations: Annotations, kind: DefaultedKind[Target]) -> str | None:
    try:
        intent = kind.intent_of(with_annotations(target, annotations))
    except InvalidGangSettings as error:
        return str(error)
    needless = (
        isinstance(intent, GroupIntent) and intent.policy == "basic" and annotations.get(DISRUPTION_MODE) == "all"
    )
    return "it needs a gang" if needless else None
