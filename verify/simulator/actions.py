"""What happens to a simulated cluster: plain values, so that a run can be told, repeated and made shorter.

An action that makes no sense any more (its node or Job is not there) does nothing. So any part of a run is a run.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Final

import msgspec

MOST_HASH_SEED: Final = 2**32 - 1
"""The largest that an interpreter takes (`PYTHONHASHSEED`)."""


class Action(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="do"):
    """Something that happens `after` so many seconds since what happened before it."""

    after: float = 0.0


class AddNode(Action, frozen=True, omit_defaults=True, tag="add-node"):
    """A node comes."""

    node: int = 0
    cpu: int = 8
    gpus: int = 0


class RemoveNode(Action, frozen=True, omit_defaults=True, tag="remove-node"):
    """A node goes; its pods are ended after a while."""

    node: int = 0


class Cordon(Action, frozen=True, omit_defaults=True, tag="cordon"):
    """A node takes no new pods, or takes them again."""

    node: int = 0
    on: bool = True


class CreateJob(Action, frozen=True, omit_defaults=True, tag="create-job"):
    """An Indexed Job; a gang when it has more than one pod.

    Attributes:
        cpu_milli: of each pod.
        minimum: of its gang; 0: all.
        priority: 0 to 2, the number of its class.
        zone: whether all of it has to be in one zone.
        seconds: how long its pods run; 0: until they are deleted.
        exit_code: with which they end.
        single: whether its pods may be preempted one by one.
        claims: whether each pod has a volume of its own, made when it is placed.
        restart_seconds: how long the gang may miss members before it starts anew; 0: it stays and is repaired.
    """

    job: int = 0
    pods: int = 1
    cpu_milli: int = 1000
    gpus: int = 0
    minimum: int = 0
    priority: int = 0
    zone: bool = False
    elastic: bool = False
    seconds: int = 0
    exit_code: int = 0
    single: bool = False
    claims: bool = False
    restart_seconds: int = 0


class DeleteJob(Action, frozen=True, omit_defaults=True, tag="delete-job"):
    """A Job is deleted, and what it owns with it, unless that is to be left behind."""

    job: int = 0
    orphan: bool = False


class Suspend(Action, frozen=True, omit_defaults=True, tag="suspend"):
    """The user suspends a Job, or resumes it."""

    job: int = 0
    on: bool = True


class Resize(Action, frozen=True, omit_defaults=True, tag="resize"):
    """The number of an elastic Job's pods changes."""

    job: int = 0
    pods: int = 1


class DeletePod(Action, frozen=True, omit_defaults=True, tag="delete-pod"):
    """Somebody deletes a pod of a Job."""

    job: int = 0
    index: int = 0


class FailPod(Action, frozen=True, omit_defaults=True, tag="fail-pod"):
    """A running pod of a Job fails."""

    job: int = 0
    index: int = 0


class ForeignPod(Action, frozen=True, omit_defaults=True, tag="foreign-pod"):
    """A pod that another scheduler has put on a node, or its end."""

    pod: int = 0
    node: int = 0
    cpu_milli: int = 1000
    gone: bool = False


class CreateSet(Action, frozen=True, omit_defaults=True, tag="create-set"):
    """A LeaderWorkerSet of so many replicas with so many pods each."""

    name: int = 0
    replicas: int = 1
    size: int = 2
    cpu_milli: int = 1000
    priority: int = 0
    leader_ready: bool = False


class ScaleSet(Action, frozen=True, omit_defaults=True, tag="scale-set"):
    """A LeaderWorkerSet gets another number of replicas."""

    name: int = 0
    replicas: int = 1


class DeleteSet(Action, frozen=True, omit_defaults=True, tag="delete-set"):
    """A LeaderWorkerSet is deleted."""

    name: int = 0


class Kill(Action, frozen=True, omit_defaults=True, tag="kill"):
    """A process is killed, and another one is started `seconds` later."""

    process: str = "scheduler"
    seconds: float = 1.0


class Pause(Action, frozen=True, omit_defaults=True, tag="pause"):
    """A process does nothing for so many seconds."""

    process: str = "scheduler"
    seconds: float = 1.0


AnyAction = (
    AddNode
    | RemoveNode
    | Cordon
    | CreateJob
    | DeleteJob
    | Suspend
    | Resize
    | DeletePod
    | FailPod
    | ForeignPod
    | CreateSet
    | ScaleSet
    | DeleteSet
    | Kill
    | Pause
)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A run, whole.

    Attributes:
        seed: what is drawn beside the actions: latencies, faults, names, jitter.
        actions: what happens, in this order.
        is_stormy: whether the network has faults while it happens.
        hash_seed: of the process in which it is run. The order of sets of texts, and of some requests, follows from it.
    """

    seed: int
    actions: tuple[AnyAction, ...]
    is_stormy: bool = False
    hash_seed: Annotated[int, msgspec.Meta(ge=0, le=MOST_HASH_SEED)] = 0


def written(scenario: Scenario) -> bytes:
    """The scenario as JSON."""
    return msgspec.json.encode(scenario)


def read(text: bytes | str) -> Scenario:
    """The scenario that was written so.

    Raises:
        msgspec.MsgspecError: it is none.
    """
    return msgspec.json.decode(text, type=Scenario)


def as_fields(action: Action) -> dict[str, Any]:
    """The fields of an action by name."""
    return {name: getattr(action, name) for name in action.__struct_fields__}
