"""Which stand-ins run, and how they wait."""

from dataclasses import dataclass
from typing import Final

from api.errors import ConfigurationError

NAMES: Final = (
    "job",
    "statefulset",
    "leaderworkerset",
    "jobset",
    "disruption",
    "garbage",
    "namespace",
    "podgc",
    "serviceaccount",
    "resourceclaim",
    "volume",
    "scheduler",
)
"""The stand-ins: Jobs and their lifetimes, StatefulSets, LeaderWorkerSets and JobSets with their webhooks, disruption budgets,
garbage collection, namespace deletion, pods whose node is gone or never was, the service account `default` of each namespace,
device claims, volumes and their claims, and the scheduler of ordinary pods."""


@dataclass(frozen=True, slots=True)
class StandInSettings:
    """Settings of the stand-ins.

    Attributes:
        names: which of them run.
        backoff_seconds: a Job's wait after the first failed pod.
        kubelet: whether the pods of hollow nodes are run by this process too.
    """

    names: tuple[str, ...] = NAMES
    backoff_seconds: float = 10.0
    kubelet: bool = False


def parse_names(text: str) -> tuple[str, ...]:
    """`job,garbage` or `*`.

    Raises:
        ConfigurationError: a name nobody has.
    """
    if text == "*":
        return NAMES
    names = tuple(part.strip() for part in text.split(",") if part.strip())
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise ConfigurationError(f"--only: unknown: {', '.join(unknown)}; there are {', '.join(NAMES)}")
    return names
