"""I7 and I9: writes by who does not hold the lease, and writes although nothing has happened."""

import pytest

from tests.verify.auditor.histories import broken, lease, node, write
from verify.auditor.audit_log import Record
from verify.auditor.identities import CONTROLLERS_USER, SCHEDULER_USER, WEBHOOKS_USER
from verify.clusters.cluster_files import ADMIN, KUBELET


def patch(identity: str, when: float, *, resource: str = "podgroups/status", client: str = "tutti-scheduler") -> Record:
    user = CONTROLLERS_USER if client == "tutti-controllers" else SCHEDULER_USER
    return write(user, "patch", resource, "g", when, agent=f"{client}/{identity}")


def test_a_write_by_the_holder_of_the_lease_is_right() -> None:
    assert broken("I7", lease("a", 1.0), patch("a", 2.0), lease("a", 3.0), patch("a", 4.0)) == []


def test_a_write_after_another_took_the_lease_is_seen() -> None:
    (found,) = broken("I7", lease("a", 1.0), lease("b", 2.0), patch("a", 3.0))
    assert "a wrote while b held the lease tutti-scheduler" in found


def test_a_write_after_the_lease_was_given_back_is_seen() -> None:
    (found,) = broken("I7", lease("a", 1.0), lease("", 2.0), patch("a", 3.0))
    assert "while nobody held" in found


def test_a_write_that_arrived_before_the_lease_was_taken_is_right() -> None:
    overtaken = write(SCHEDULER_USER, "patch", "pods/status", "p", 2.5, received=1.9, agent="tutti-scheduler/a")
    assert broken("I7", lease("a", 1.0), lease("b", 2.0), overtaken) == []


def test_each_process_has_a_lease_of_its_own() -> None:
    both = [lease("a", 1.0), lease("c", 1.0, of="tutti-controllers")]
    assert broken("I7", *both, patch("a", 2.0), patch("c", 2.0, client="tutti-controllers", resource="jobs")) == []
    assert len(broken("I7", *both, patch("a", 2.0, client="tutti-controllers", resource="jobs"))) == 1


@pytest.mark.parametrize("resource", ["leases", "configmaps", "selfsubjectaccessreviews"])
def test_what_comes_before_the_lease_needs_none(resource: str) -> None:
    assert broken("I7", lease("b", 1.0), patch("a", 2.0, resource=resource)) == []


def test_without_a_write_of_the_lease_nobody_is_judged() -> None:
    assert broken("I7", patch("a", 2.0)) == []


def test_a_write_at_rest_is_seen() -> None:
    (found,) = broken("I9", node(when=1.0), write(SCHEDULER_USER, "patch", "podgroups/status", "g", 400.0))
    assert "without a change by anybody else" in found


@pytest.mark.parametrize("user", [SCHEDULER_USER, CONTROLLERS_USER, WEBHOOKS_USER])
def test_an_event_at_rest_is_a_write_and_a_lease_is_none(user: str) -> None:
    assert len(broken("I9", node(when=1.0), write(user, "create", "events", "e", 400.0))) == 1
    assert broken("I9", node(when=1.0), write(user, "update", "leases", "l", 400.0)) == []


def test_work_soon_after_a_change_is_no_unrest() -> None:
    soon = write(SCHEDULER_USER, "patch", "podgroups/status", "g", 200.0)
    assert broken("I9", node(when=1.0), soon) == []
    again = [node(when=1.0), write(ADMIN, "create", "jobs", "j", 390.0)]
    assert broken("I9", *again, write(SCHEDULER_USER, "patch", "podgroups/status", "g", 400.0)) == []


def test_heartbeats_and_refused_requests_of_others_are_no_change() -> None:
    heartbeat = write(KUBELET, "patch", "nodes/status", "n", 390.0)
    refused = write(ADMIN, "create", "jobs", "j", 390.0, code=409)
    ours = write(SCHEDULER_USER, "patch", "podgroups/status", "g", 400.0)
    assert len(broken("I9", node(when=1.0), heartbeat, refused, ours)) == 1
