"""Deletions: their options, in the body or in the query, and what becomes of dependents."""

from typing import Any

from tests.parity.scripts.objects import config_map, job, of, pod
from tests.parity.steps import Script, Step, delete, get, patch, post, quiet, table

CORE = "/api/v1/namespaces/{ns}"
MAPS = f"{CORE}/configmaps"
PODS = f"{CORE}/pods"
JOBS = "/apis/batch/v1/namespaces/{ns}/jobs"
EVENTS = f"{CORE}/events"
DROPPED = {"labelSelector": "drop=yes"}


def maps(*names: str, **metadata: Any) -> list[Step]:
    """ConfigMaps to delete."""
    return [
        quiet(
            post(
                f"make {name}", MAPS, config_map(name, labels={"drop": "yes"}, **metadata), keep={name: "metadata.uid"}
            )
        )
        for name in names
    ]


def bound(name: str) -> list[Step]:
    """A pod on a node, which nobody lets go."""
    target = {"target": {"kind": "Node", "name": "n1"}}
    return [
        quiet(post(f"make {name}", PODS, pod(name))),
        quiet(post(f"place {name}", f"{PODS}/{name}/binding", of("v1", "Binding", name, **target))),
    ]


DELETIONS = Script(
    "deletions",
    [
        *maps("one", "two", "three", "four", "five", "six"),
        delete("the query does not count beside a body", f"{MAPS}/one", {}, query={"dryRun": "All"}),
        get("after a body of nothing", f"{MAPS}/one"),
        delete("by the query", f"{MAPS}/two", query={"dryRun": "All", "propagationPolicy": "Orphan"}),
        delete("by the body", f"{MAPS}/two", {"dryRun": ["All"], "propagationPolicy": "Foreground"}),
        delete("by a policy in the query", f"{MAPS}/two", query={"propagationPolicy": "Background"}),
        delete("in the foreground", f"{MAPS}/three", {"propagationPolicy": "Foreground"}),
        get("it waits in the foreground", f"{MAPS}/three"),
        delete("again, in the background", f"{MAPS}/three", {"propagationPolicy": "Background"}),
        patch("let it go", f"{MAPS}/three", {"metadata": {"finalizers": None}}),
        delete("leaving what it owns", f"{MAPS}/four", {"propagationPolicy": "Orphan"}),
        patch("a finalizer too late", f"{MAPS}/four", {"metadata": {"finalizers": ["orphan", "example.org/late"]}}),
        patch("a change while it waits", f"{MAPS}/four", {"data": {"late": "yes"}}),
        delete("in the older way", f"{MAPS}/five", {"orphanDependents": False}),
        delete("in both ways", f"{MAPS}/six", {"orphanDependents": True, "propagationPolicy": "Orphan"}),
        delete("of another kind", f"{MAPS}/six", config_map("six")),
        delete("with a grace that is a text", f"{MAPS}/six", {"gracePeriodSeconds": "long"}),
        delete("with less than no grace", f"{MAPS}/six", {"gracePeriodSeconds": -1}),
        delete("with an unknown trial", f"{MAPS}/six", {"dryRun": ["Some"]}),
        delete("with both preconditions", f"{MAPS}/six", {"preconditions": {"uid": "${six}", "resourceVersion": "1"}}),
        delete("with what is no JSON", f"{MAPS}/six", b"{"),
        delete("several for trial", MAPS, {"dryRun": ["All"]}, query={"labelSelector": "drop=yes"}),
        delete("several by name", MAPS, query={"fieldSelector": "metadata.name=six"}),
        delete("several that are none", MAPS, query={"labelSelector": "drop=no"}),
        delete("several by a bad selector", MAPS, query={"labelSelector": "drop in"}),
        delete("all that is left, as a namespace that ends", MAPS, {"propagationPolicy": "Background"}, query=DROPPED),
        table("what waits still", MAPS, query=DROPPED),
        delete("all events", EVENTS, {"propagationPolicy": "Background"}),
        *bound("placed"),
        *bound("again"),
        delete("a placed pod", f"{PODS}/placed", {"gracePeriodSeconds": 20, "propagationPolicy": "Background"}),
        delete("a placed pod for longer", f"{PODS}/placed", {"gracePeriodSeconds": 40}),
        delete("a placed pod for shorter", f"{PODS}/placed", {"gracePeriodSeconds": 10}),
        delete("all pods", PODS, {"gracePeriodSeconds": 5}),
        get("both are going", PODS),
        delete("all pods at once", PODS, {"gracePeriodSeconds": 0}),
        get("both are gone", PODS),
        *(quiet(post(f"make job {name}", JOBS, job(name))) for name in ("a", "b", "c", "d")),
        delete("a job by default", f"{JOBS}/a"),
        delete("a job with what it owns", f"{JOBS}/b", {"propagationPolicy": "Background"}),
        delete("a job after what it owns", f"{JOBS}/c", {"propagationPolicy": "Foreground"}),
        delete("a job in the older way", f"{JOBS}/d", {"orphanDependents": True}),
        get("the jobs that wait", JOBS),
    ],
)

SCRIPTS = [DELETIONS]
