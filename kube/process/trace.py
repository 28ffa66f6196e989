"""The way of one gang through our processes, as log lines that one id ties together.

The id is the UID of what owns the gang's PodGroup: the Job, or of a LeaderWorkerSet the leader's pod. Controllers and scheduler
know it without being told, so it costs no metadata on anybody's object. Admission does not: an object has no UID before it is
stored. So the controllers tell that a gang was admitted, with the time of its creation.
"""

import logging
from typing import Final, Literal

LOGGER: Final = "trace"
"""Name of the logger, by which the lines can be switched off: its level `warning` does."""

Stage = Literal["admitted", "grouped", "gate opened", "decided", "bound"]

_log: Final = logging.getLogger(LOGGER)


def trace(stage: Stage, trace_id: str, *, namespace: str, group: str, **details: str | int) -> None:
    """A gang has come so far. Nothing is said of one that nobody owns."""
    if not trace_id or not _log.isEnabledFor(logging.INFO):
        return
    fields = {"trace_id": trace_id, "stage": stage, "namespace": namespace, "pod_group": group, **details}
    more = "".join(f" {name}={value}" for name, value in details.items())
    _log.info("%s/%s %s%s trace_id=%s", namespace, group, stage, more, trace_id, extra={"fields": fields})
