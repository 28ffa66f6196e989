"""UIDs of pods that do not exist yet (`scheduler.algorithm.future_pods`)."""

from typing import Final

TO_COME: Final = "to-come/"
"""How the UID of a pod begins that does not exist; no API server makes such UIDs."""


def uid_of(group_uid: str, number: int) -> str:
    """The UID of a pod to come."""
    return f"{TO_COME}{group_uid}/{number}"


def group_of(pod_uid: str) -> str:
    """The UID of the group that announces a pod to come."""
    return pod_uid.removeprefix(TO_COME).rpartition("/")[0]


def number_of(pod_uid: str) -> int:
    """Which of its group's pods to come this is."""
    number = pod_uid.rpartition("/")[2]
    return int(number) if number.isdecimal() else 0


def is_future_pod(pod_uid: str) -> bool:
    """Whether this is the UID of a pod that does not exist yet."""
    return pod_uid.startswith(TO_COME)
