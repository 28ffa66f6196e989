"""Kueue: admits a whole Job or replica to its quota at once, counting the pods by itself from their owner.

So there is nothing to tell: pods whose owner Kueue manages must not carry its pod-group label, and it makes its own Workload.
It places nothing: the pods keep their `schedulerName`, and that quota is there does not mean that nodes have room. `suspend`
is Kueue's: a Job it resumes is never held again by us. LeaderWorkerSets go through Kueue's own integration, which counts the
workers from the template, whatever the startup policy.
"""

from typing import ClassVar, Final

from providers.base import Capabilities, External


class Kueue(External):
    """Kueue, with whatever scheduler places the pods."""

    name: ClassVar[str] = "kueue"
    usual_scheduler_name: ClassVar[str] = ""
    capabilities: ClassVar[Capabilities] = Capabilities(
        counts_succeeded=True, mutable_minimum=False, topology=False, whole_disruption=False, needs_group=False
    )


GANG_SCHEDULER: Final = Kueue
