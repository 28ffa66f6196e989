"""DynamicResources: a node must have devices for the claims of a pod; claims that have theirs must be usable there.

`algorithm.devices` finds the devices. Nodes where a pod gets an earlier one of its alternatives (`firstAvailable`) score more.
"""

from typing import Final

import numpy as np

from scheduler.plugins.interface import MAX_SCORE, IntArray
from scheduler.plugins.status import Code, Status

NAME: Final = "DynamicResources"
WEIGHT: Final = 2
MOST_ALTERNATIVES: Final = 8
MOST_DEVICES: Final = 32
"""Of one claim."""
MOST_CONSUMERS: Final = 256
"""Pods that one claim can be reserved for."""

REASON: Final = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "cannot allocate all claims", plugin=NAME)
REASON_ELSEWHERE: Final = Status(
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "resourceclaim not available on the node", plugin=NAME
)
REASON_INVALID: Final = Status(
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "invalid resource pools were encountered", plugin=NAME
)
REASON_LEFT_OVER: Final = Status(
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "cannot schedule extended resource claim", plugin=NAME
)
"""There is a claim for the extended resources of the pod already, from an attempt that has come to nothing."""
REASON_TO_COME: Final = Status(
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "devices are not kept for pods that do not exist yet", plugin=NAME
)
REASON_UNSURE: Final = Status(
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "the search for devices was given up, an allocation may exist", plugin=NAME
)


def refusal(why: str) -> Status:
    """That a pod can run nowhere as things are, whatever the nodes."""
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, why, plugin=NAME)


def waiting(what_for: str) -> Status:
    """That a claim of a pod is not there yet; whoever makes it has to be waited for."""
    return Status(Code.WAITING_FOR_CLAIMS, what_for, plugin=NAME)


def reason_alpha(field: str) -> Status:
    """That a node's devices use a field of a feature that is off by default in Kubernetes and not known here."""
    text = f"its resource slices use {field}, which this scheduler does not support"
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, text, plugin=NAME)


def normalize_scores(raw: IntArray) -> IntArray:
    """0 to 100: the best node has the most."""
    most = int(raw.max(initial=0))
    return np.zeros_like(raw) if most <= 0 else raw * MAX_SCORE // most
