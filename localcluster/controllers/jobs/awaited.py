"""What the controller did and has not yet seen: until it has, what it sees is not what is, and it decides nothing.

One record per Job. A change that never shows up (a pod that came and went between two looks, say) is given up after
`PATIENCE_SECONDS`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from localcluster.controllers.jobs.pods import Pod

PATIENCE_SECONDS: Final = 20.0


@dataclass(slots=True)
class Awaited:
    """Changes of one Job and its pods that must show up first.

    Attributes:
        born: UIDs of pods made.
        dying: UIDs of pods deleted.
        released: UIDs of pods that lost the tracking finalizer.
        version: resourceVersion of the Job as last written.
        is_unsure: whether the answer to a creation was lost, so that there may be a pod nobody knows of.
        since: when the last of these was added (monotonic seconds).
    """

    born: set[str] = field(default_factory=set)
    dying: set[str] = field(default_factory=set)
    released: set[str] = field(default_factory=set)
    version: int = 0
    is_unsure: bool = False
    since: float = 0.0

    def is_met(self, job_version: str, pods: Mapping[str, Pod], moment: float) -> bool:
        """Whether all of it shows in this view of the Job (its resourceVersion) and of its pods by UID."""
        self.born = {uid for uid in self.born if uid not in pods}
        self.dying = {uid for uid in self.dying if uid in pods and not pods[uid].metadata.is_terminating}
        self.released = {uid for uid in self.released if uid in pods and pods[uid].is_tracked}
        is_old = job_version.isdigit() and int(job_version) < self.version
        if moment - self.since >= PATIENCE_SECONDS:
            self.born, self.dying, self.released = set(), set(), set()
        return not (self.born or self.dying or self.released or is_old)
