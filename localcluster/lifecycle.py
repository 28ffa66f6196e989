"""What a hollow kubelet does next with one pod.

Pure. The order of a pod's end is the one a real kubelet keeps, because the Job controller counts on it: a running pod
that is deleted first turns Failed, and only then is the object removed.
"""

import math
from dataclasses import dataclass
from enum import Enum
from typing import Final

import msgspec

from api.meta import Condition, Metadata
from localcluster.podclaims import TERMINAL_PHASES, ClaimedPodSpec, ClaimedPodStatus

RUN_SECONDS: Final = "localcluster.tutti.scheduler/run-seconds"
"""Annotation on a pod: it ends after so many seconds; without it the pod runs until it is deleted."""

EXIT_CODE: Final = "localcluster.tutti.scheduler/exit-code"
"""Annotation on a pod: its exit code; any other than 0 makes it Failed."""

KILLED_EXIT_CODE: Final = 137
REMOVE_AGAIN_SECONDS: Final = 5.0
"""Whoever asked for a deletion without grace, and still sees the object so much later, asks again."""


class PodMetadata(Metadata, frozen=True, rename="camel", omit_defaults=True):
    """`ObjectMeta` of a pod, with the grace period of its deletion."""

    deletion_grace_period_seconds: int | None = None


class HollowContainer(msgspec.Struct, frozen=True, rename="camel"):
    """As much of a container as its status repeats; `restart_policy` Always makes an init container a sidecar."""

    name: str
    image: str = ""
    restart_policy: str = ""


class HollowPodSpec(ClaimedPodSpec, frozen=True, rename="camel"):
    """`spec` of a pod."""

    containers: tuple[HollowContainer, ...] = ()
    init_containers: tuple[HollowContainer, ...] = ()


class HollowPodStatus(ClaimedPodStatus, frozen=True, rename="camel"):
    """`status` of a pod; `start_time` is RFC 3339."""

    start_time: str | None = None
    pod_ip: str = msgspec.field(name="podIP", default="")
    conditions: tuple[Condition, ...] = ()


class HollowPod(msgspec.Struct, frozen=True):
    """A pod as its kubelet reads it."""

    metadata: PodMetadata = PodMetadata()
    spec: HollowPodSpec = HollowPodSpec()
    status: HollowPodStatus = HollowPodStatus()


class Action(Enum):
    """The next thing to do with a pod."""

    NOTHING = "nothing"
    WAIT = "wait"
    """There is something to do `seconds` from now: it ends, or it should be gone."""
    RUN = "run"
    """Its containers start."""
    END = "end"
    """Its containers end by themselves with the exit code."""
    KILL = "kill"
    """Its containers are killed, because the pod was deleted."""
    REMOVE = "remove"
    """Nothing of it runs any more: the object may go."""


@dataclass(frozen=True, slots=True)
class Step:
    """An action, with what it needs."""

    action: Action
    seconds: float = 0.0
    exit_code: int = 0


def next_step(pod: HollowPod, *, ran_seconds: float, terminating_seconds: float = 0.0) -> Step:
    """What to do now with a pod bound to a hollow node.

    Args:
        pod: as it was seen last.
        ran_seconds: how long it has been running.
        terminating_seconds: how long ago its time was up, 0 when nobody deletes it.
    """
    terminal = pod.status.phase in TERMINAL_PHASES
    if pod.metadata.is_terminating:
        if not terminal:
            return Step(Action.KILL, exit_code=KILLED_EXIT_CODE)
        return _leaving(pod, terminating_seconds)
    if terminal:
        return Step(Action.NOTHING)
    if pod.status.phase != "Running":
        return Step(Action.RUN)
    return _running(pod, ran_seconds)


def _leaving(pod: HollowPod, terminating_seconds: float) -> Step:
    """Nothing runs any more, and the object should go.

    A server first notes that there is no grace left and then removes the object: if the second fails (its answer is 504 then), the
    object stays until somebody asks for it again. Finalizers of others are not waited for: who takes off the last one removes it.
    """
    if pod.metadata.deletion_grace_period_seconds != 0:
        return Step(Action.REMOVE)
    if pod.metadata.finalizers:
        return Step(Action.NOTHING)
    left_seconds = REMOVE_AGAIN_SECONDS - terminating_seconds
    return Step(Action.WAIT, seconds=left_seconds) if left_seconds > 0 else Step(Action.REMOVE)


def _running(pod: HollowPod, ran_seconds: float) -> Step:
    seconds = _number(pod.metadata.annotation(RUN_SECONDS))
    if seconds is None:
        return Step(Action.NOTHING)
    if ran_seconds < seconds:
        return Step(Action.WAIT, seconds=seconds - ran_seconds)
    return Step(Action.END, exit_code=int(_number(pod.metadata.annotation(EXIT_CODE)) or 0))


def _number(text: str | None) -> float | None:
    """The annotation as a number; one that is none counts as absent, since a kubelet has nobody to complain to."""
    try:
        value = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None
