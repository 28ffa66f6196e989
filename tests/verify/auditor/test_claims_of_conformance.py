"""What the conformance tests judge claims by reads writes that overlap in the order in which the server stored them."""

import pytest

from tests.conformance.device_auditor import DeviceAuditor
from tests.verify.auditor.histories import write
from verify.auditor.audit_log import Object, Record
from verify.auditor.identities import SCHEDULER_USER

MANAGER = "system:kube-controller-manager"
LATER = 100.0


def stored(version: int, user: str, received: float, answered: float, *, holds: bool, is_gone: bool = False) -> Record:
    """A write of the claim `c`, which is the server's version of that number."""
    results = [{"driver": "d", "pool": "p", "device": "g0"}]
    status: Object = {"allocation": {"devices": {"results": results}}} if holds else {}
    metadata: Object = {"uid": "uid-c", "resourceVersion": str(version)}
    if is_gone:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    response = {"metadata": metadata, "status": status}
    return write(user, "patch", "resourceclaims/status", "c", answered, received=received, response=response)


@pytest.mark.parametrize("is_gone", [False, True], ids=["given back", "gone"])
def test_an_allocation_whose_answer_came_after_its_release_holds_nothing(is_gone: bool) -> None:
    auditor = DeviceAuditor()
    allocation = stored(2, SCHEDULER_USER, 1.0, 3.0, holds=True)
    release = stored(3, MANAGER, 2.0, 2.5, holds=False, is_gone=is_gone)
    auditor.feed([stored(1, MANAGER, 0.5, 0.6, holds=False), allocation, release])
    assert auditor.close(LATER) == []


def test_an_allocation_that_stays_for_nobody_is_told() -> None:
    auditor = DeviceAuditor()
    auditor.feed([stored(1, MANAGER, 0.5, 0.6, holds=False), stored(2, SCHEDULER_USER, 1.0, 1.1, holds=True)])
    (told,) = auditor.close(LATER)
    assert "had devices for 98.9 s while no pod of it was bound" in told
