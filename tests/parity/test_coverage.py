"""Every kind of request that our processes may send, or that our code sends, is recorded and compared."""

from collections.abc import Iterable

import pytest

from install.manifests import load
from kube.client.resources import CUSTOM_RESOURCE_DEFINITIONS
from tests.parity.coverage import RESOURCES, Kind, allowed, kind_of, sent_by_code, sent_by_scripts
from tests.parity.record import recorded
from tests.parity.scripts import SCRIPTS
from tests.parity.steps import Step, delete, get, patch, post, put, watch

ELSEWHERE = {
    # The group API of newer clusters: the embedded server serves our own definitions instead.
    "scheduling.k8s.io": ("compositepodgroups", "podgroups", "workloads"),
    # The embedded server has no stand-in for them; what uninstalls meets a 404 there, as on servers before 1.36.
    "admissionregistration.k8s.io": ("mutatingadmissionpolicies", "mutatingadmissionpolicybindings"),
}
"""By API group, the kinds that only some real clusters serve."""


def is_no_request(kind: Kind) -> bool:
    """Rights that no request is sent for."""
    asked_by_owner_references = kind.resource.endswith("/finalizers")
    asked_by_a_policy = kind.verb == "manage"
    asked_beside_a_status = kind.resource == "resourceclaims/binding"
    return asked_by_owner_references or asked_by_a_policy or asked_beside_a_status


def is_served_elsewhere(kind: Kind) -> bool:
    """Kinds that only a real cluster of a certain configuration has."""
    return kind.resource.partition("/")[0] in ELSEWHERE.get(kind.group, ())


def missing(wanted: Iterable[Kind]) -> list[str]:
    """The kinds of requests that no script sends."""
    sent = sent_by_scripts()
    return sorted(
        str(each)
        for each in set(wanted)
        if each not in sent and not is_no_request(each) and not is_served_elsewhere(each)
    )


def test_every_request_that_our_processes_have_the_right_to_is_in_a_script() -> None:
    assert missing(allowed()) == []


def test_every_request_that_our_code_sends_is_in_a_script() -> None:
    places = sent_by_code()
    assert {each: places[each] for each in places if str(each) in missing(places)} == {}


def test_every_kind_of_object_that_the_client_knows_is_read_followed_and_written_in_a_script() -> None:
    verbs = ("create", "delete", "get", "list", "patch", "update", "watch")
    unwatched = Kind("watch", CUSTOM_RESOURCE_DEFINITIONS.group, CUSTOM_RESOURCE_DEFINITIONS.plural)
    # Nobody follows definitions, and when a real server changes their status is its own affair.
    assert missing(Kind(verb, each.group, each.plural) for each in RESOURCES.values() for verb in verbs) == [
        str(unwatched)
    ]


def test_every_request_that_an_installation_sends_is_in_a_script() -> None:
    verbs = ("create", "delete", "get", "update")
    installed = {each.resource for each in load("default")}
    assert missing(Kind(verb, each.group, each.plural) for each in installed for verb in verbs) == []


def test_every_script_is_recorded() -> None:
    unrecorded = {
        name: {step.name for step in script.steps if step.compare} ^ recorded(name).keys()
        for name, script in SCRIPTS.items()
    }
    assert {name: steps for name, steps in unrecorded.items() if steps} == {}


def test_rights_that_no_request_is_sent_for_are_few() -> None:
    assert sorted({each.resource for each in allowed() if is_no_request(each)}) == [
        "jobs/finalizers",
        "jobsets/finalizers",
        "leaderworkersets/finalizers",
        "podgroups",
        "resourceclaims/binding",
        "workloads/finalizers",
    ]


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (get("", "/api/v1/namespaces/{ns}/pods"), Kind("list", "", "pods")),
        (get("", "/api/v1/pods"), Kind("list", "", "pods")),
        (watch("", "/api/v1/pods"), Kind("watch", "", "pods")),
        (get("", "/api/v1/namespaces/{ns}/pods/one"), Kind("get", "", "pods")),
        (post("", "/api/v1/namespaces/{ns}/pods/one/binding", {}), Kind("create", "", "pods/binding")),
        (put("", "/api/v1/namespaces/one/finalize", {}), Kind("update", "", "namespaces/finalize")),
        (delete("", "/api/v1/namespaces/one/pods"), Kind("deletecollection", "", "pods")),
        (patch("", "/apis/batch/v1/namespaces/{ns}/jobs/one/status", {}), Kind("patch", "batch", "jobs/status")),
        (get("", "/apis/batch/v1"), None),
        (get("", "/version"), None),
    ],
)
def test_a_step_is_a_kind_of_request(step: Step, kind: Kind | None) -> None:
    assert kind_of(step) == kind


def test_requests_are_found_in_the_code() -> None:
    found = sent_by_code()
    assert Kind("create", "", "pods/binding") in found
    assert Kind("update", "coordination.k8s.io", "leases") in found
    assert len(found) > 40
