"""Leases as an election uses them: take, renew, lose, give back."""

from typing import Any

from tests.parity.scripts.objects import Object, of
from tests.parity.steps import Script, delete, get, patch, post, put, quiet, watch

LEASES = "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases"
ONE = f"{LEASES}/one"
NOW = "2026-01-15T08:00:00.000000Z"
LATER = "2026-01-15T08:00:05.123456Z"


def lease(name: str, holder: str = "me", *, metadata: Object | None = None, **spec: Any) -> Object:
    """A lease held by somebody."""
    usual = {
        "holderIdentity": holder,
        "leaseDurationSeconds": 15,
        "acquireTime": NOW,
        "renewTime": NOW,
        "leaseTransitions": 0,
    }
    found = of("coordination.k8s.io/v1", "Lease", name, spec={**usual, **spec})
    return {**found, "metadata": {"name": name, "namespace": "{ns}", **(metadata or {})}}


LEASES_SCRIPT = Script(
    "leases",
    [
        get("nobody holds it", ONE),
        post("take it", LEASES, lease("one"), keep_as="mine", keep={"first": "metadata.resourceVersion"}),
        post("take it too late", LEASES, lease("one", "you")),
        quiet(get("another looks", ONE, keep_as="theirs")),
        put("renew it", ONE, {"spec": {"renewTime": LATER}}, onto="mine", keep_as="mine", keep={"uid": "metadata.uid"}),
        put("another takes what was renewed", ONE, {"spec": {"holderIdentity": "you"}}, onto="theirs"),
        put("renew it again", ONE, {"spec": {"renewTime": LATER}}, onto="mine", keep_as="mine"),
        put("give it back", ONE, {"spec": {"holderIdentity": "", "leaseDurationSeconds": 1}}, onto="mine"),
        put("renew what was given back", ONE, {"spec": {"renewTime": LATER}}, onto="mine"),
        put("take it without having looked", ONE, lease("one", "you")),
        put("make it by a put", f"{LEASES}/two", lease("two")),
        put("make it by a put of a version", f"{LEASES}/three", lease("three", metadata={"resourceVersion": "1"})),
        put("put of no name", f"{LEASES}/four", {**lease("four"), "metadata": {}}),
        put("put of another namespace", f"{LEASES}/five", lease("five", metadata={"namespace": "elsewhere"})),
        post("of no duration", LEASES, lease("bad", leaseDurationSeconds=0)),
        post("of less than no duration", LEASES, lease("bad", leaseDurationSeconds=-1)),
        post("of less than no transitions", LEASES, lease("bad", leaseTransitions=-1)),
        post("of a time that is none", LEASES, lease("bad", renewTime="soon")),
        post("of a time of seconds", LEASES, lease("bad", renewTime="2026-01-15T08:00:00Z"), query={"dryRun": "All"}),
        post("of a time in another zone", LEASES, lease("zoned", renewTime="2026-01-15T09:00:00.000000+01:00")),
        post("of a time of nanoseconds", LEASES, lease("fine", renewTime="2026-01-15T08:00:00.123456789Z")),
        post("of a duration that is a text", LEASES, lease("bad", leaseDurationSeconds="15")),
        post("of a holder that is a number", LEASES, lease("bad", holderIdentity=1)),
        post("with a strategy", LEASES, lease("chosen", strategy="OldestEmulationVersion")),
        post("with an unknown strategy", LEASES, lease("bad", strategy="Loudest")),
        post("with a preferred holder alone", LEASES, lease("bad", preferredHolder="you")),
        post("with nothing", LEASES, of("coordination.k8s.io/v1", "Lease", "empty")),
        post(
            "in a namespace that is not there",
            "/apis/coordination.k8s.io/v1/namespaces/parity-nowhere/leases",
            lease("one", metadata={"namespace": "parity-nowhere"}),
        ),
        patch("renew it by a patch", ONE, {"spec": {"renewTime": LATER}}),
        delete("let another go", ONE, {"preconditions": {"uid": "other"}}),
        delete("let it go", ONE, {"preconditions": {"uid": "${uid}"}}),
        quiet(post("it comes again", LEASES, lease("one", "you"))),
        put("renew one of a former life", ONE, {"spec": {"renewTime": LATER}}, onto="mine"),
        put(
            "take the name of a former life",
            ONE,
            {"metadata": {"resourceVersion": None}, "spec": {"renewTime": LATER}},
            onto="mine",
        ),
        watch("follow", LEASES, query={"resourceVersion": "${first}", "fieldSelector": "metadata.name=one"}),
    ],
)

SCRIPTS = [LEASES_SCRIPT]
