"""What the controller did and has not yet seen: until it has, what it sees is not what is, and it decides nothing.

One record per Job. A change that never shows up (a pod that came and went between two looks, say) is given up after
`TIMEOUT_SECONDS`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from localcluster.controllers.jobs.pods import Pod

TIMEOUT_SECONDS: Final = 20.0


@dataclass(slots=True)
class Expectations:
    """Changes of one Job and its pods that must show up first.

    Attributes:
        creations: UIDs of pods made.
        deletions: UIDs of pods deleted.
        released: UIDs of pods that lost the tracking finalizer.
        version: resourceVersion of the Job as last written.
        is_unsure: whether the answer to a creation was lost, so that there may be a pod nobody knows of.
        since: when the last of these was added (monotonic seconds).
    """

    creations: set[str] = field(default_factory=set)
    deletions: set[str] = field(default_factory=set)
    released: set[str] = field(default_factory=set)
    version: int = 0
    is_unsure: bool = False
    since: float = 0.0

    def satisfied(self, job_version: str, pods: Mapping[str, Pod], moment: float) -> bool:
        """Whether all of it shows in this view of the Job (its resourceVersion) and of its pods by UID."""
        self.creations = {uid for uid in self.creations if uid not in pods}
        self.deletions = {uid for uid in self.deletions if uid in pods and not pods[uid].metadata.is_terminating}
        self.released = {uid for uid in self.released if uid in pods and pods[uid].is_tracked}
        is_old = job_version.isdigit() and int(job_version) < self.version
        if moment - self.since >= TIMEOUT_SECONDS:
            self.creations, self.deletions, self.released = set(), set(), set()
        return not (self.creations or self.deletions or self.released or is_old)
