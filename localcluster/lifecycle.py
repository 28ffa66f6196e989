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
    """It runs, and ends `seconds` from now."""
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


def next_step(pod: HollowPod, *, ran_seconds: float) -> Step:
    """What to do now with a pod bound to a hollow node, which has been running for so long."""
    terminal = pod.status.phase in TERMINAL_PHASES
    if pod.metadata.is_terminating:
        if not terminal:
            return Step(Action.KILL, exit_code=KILLED_EXIT_CODE)
        # Grace 0 was already asked for: only finalizers of others hold the object now.
        return Step(Action.NOTHING if pod.metadata.deletion_grace_period_seconds == 0 else Action.REMOVE)
    if terminal:
        return Step(Action.NOTHING)
    if pod.status.phase != "Running":
        return Step(Action.RUN)
    return _running(pod, ran_seconds)


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
