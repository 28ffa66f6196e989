"""What a scheduler, a kubelet and an eviction write about one pod, and how that is refused."""

from typing import Any

from tests.parity.scripts.objects import Object, condition, of, pod
from tests.parity.steps import Script, Step, delete, get, patch, post, put, quiet, table

CORE = "/api/v1/namespaces/{ns}"
PODS = f"{CORE}/pods"
BUDGETS = "/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets"
ONE = f"{PODS}/one"


def binding(name: str, node: str = "n1", *, metadata: Object | None = None, **target: Any) -> Object:
    """A pod's place."""
    found = of("v1", "Binding", name, target={"apiVersion": "v1", "kind": "Node", "name": node, **target})
    return {**found, "metadata": {"name": name, **(metadata or {})}}


def pods(*names: str, **more: Any) -> list[Step]:
    """Pods that nobody places."""
    return [quiet(post(f"make {name}", PODS, pod(name, **more), keep={name: "metadata.uid"})) for name in names]


BINDINGS = Script(
    "bindings",
    [
        *pods("one", "two", "three", "four", "five", "ended"),
        post("to no node", f"{ONE}/binding", binding("one", "")),
        post("to something else", f"{ONE}/binding", binding("one", kind="Service")),
        post("without a target", f"{ONE}/binding", of("v1", "Binding", "one")),
        post("of another name", f"{ONE}/binding", binding("two")),
        post("of no name", f"{ONE}/binding", {**binding("one"), "metadata": {}}),
        post("of another kind", f"{ONE}/binding", pod("one")),
        post("of a predecessor", f"{ONE}/binding", binding("one", metadata={"uid": "other"})),
        post("of a former version", f"{ONE}/binding", binding("one", metadata={"resourceVersion": "1"})),
        post("for trial", f"{ONE}/binding", binding("one"), query={"dryRun": "All"}),
        get("the trial left nothing", ONE),
        post(
            "to a node that is not there, with a word",
            f"{ONE}/binding",
            binding("one", "nowhere", metadata={"uid": "${one}", "annotations": {"a": "b"}, "labels": {"c": "d"}}),
        ),
        get("it says where it is", ONE),
        table("it says so in a row", PODS, query={"fieldSelector": "spec.nodeName=nowhere"}),
        post("again to the same", f"{ONE}/binding", binding("one", "nowhere")),
        post("again to another", f"{ONE}/binding", binding("one", "n2")),
        post("in the older way", f"{CORE}/bindings", binding("two")),
        post("in the older way of what is not there", f"{CORE}/bindings", binding("nothing")),
        post("what is not there", f"{PODS}/nothing/binding", binding("nothing")),
        get("reading a binding", f"{ONE}/binding"),
        put("putting a binding", f"{ONE}/binding", binding("one")),
        quiet(patch("it must be let go", f"{PODS}/three", {"metadata": {"finalizers": ["example.org/wait"]}})),
        quiet(delete("it is going", f"{PODS}/three")),
        post("what is going", f"{PODS}/three/binding", binding("three")),
        quiet(patch("it has ended", f"{PODS}/ended/status", {"status": {"phase": "Failed"}})),
        post("what has ended", f"{PODS}/ended/binding", binding("ended")),
        quiet(patch("let it go", f"{PODS}/three", {"metadata": {"finalizers": None}})),
        post(
            "with all that a scheduler says",
            f"{PODS}/four/binding",
            binding("four", metadata={"namespace": "{ns}", "uid": "${four}"}),
            query={"fieldManager": "tutti"},
        ),
        patch("a node of its own", f"{PODS}/five", {"spec": {"nodeName": "n1"}}),
    ],
)
UNSCHEDULABLE = {
    "status": {
        "conditions": [condition("PodScheduled", "False", reason="Unschedulable", message="No room.")],
        "nominatedNodeName": "n3",
    }
}
DISRUPTED = {
    "metadata": {"uid": "${one}"},
    "status": {"conditions": [condition("DisruptionTarget", reason="PreemptionByScheduler", message="Make room.")]},
}
REPORTS = Script(
    "reports",
    [
        *pods("one", "two"),
        patch("it cannot be placed", f"{ONE}/status", UNSCHEDULABLE, "strategic"),
        patch("it cannot be placed still", f"{ONE}/status", UNSCHEDULABLE, "strategic"),
        patch("it must go", f"{ONE}/status", DISRUPTED, "strategic"),
        patch(
            "its predecessor must go",
            f"{ONE}/status",
            {**DISRUPTED, "metadata": {"uid": "other"}},
            "strategic",
        ),
        patch(
            "a condition without a type",
            f"{ONE}/status",
            {"status": {"conditions": [{"status": "True"}]}},
            "strategic",
        ),
        patch("a condition of no list", f"{ONE}/status", {"status": {"conditions": {}}}),
        patch("an unknown phase", f"{ONE}/status", {"status": {"phase": "Floating"}}),
        patch("a number for a phase", f"{ONE}/status", {"status": {"phase": 1}}),
        patch("a bad nomination", f"{ONE}/status", {"status": {"nominatedNodeName": "Not_A_Name"}}),
        patch("no nomination", f"{ONE}/status", {"status": {"nominatedNodeName": None}}),
        patch(
            "its addresses",
            f"{ONE}/status",
            {"status": {"podIP": "10.1.2.3", "podIPs": [{"ip": "10.1.2.3"}], "hostIP": "10.0.0.1"}},
        ),
        patch("an address that is none", f"{ONE}/status", {"status": {"podIPs": [{"ip": "here"}]}}),
        patch(
            "its containers run",
            f"{ONE}/status",
            {
                "status": {
                    "phase": "Running",
                    "containerStatuses": [
                        {
                            "name": "main",
                            "image": "none",
                            "imageID": "",
                            "ready": True,
                            "started": True,
                            "restartCount": 0,
                            "state": {"running": {"startedAt": "2026-01-15T08:00:00Z"}},
                        }
                    ],
                }
            },
            "strategic",
        ),
        patch(
            "its containers have ended",
            f"{ONE}/status",
            {
                "status": {
                    "phase": "Succeeded",
                    "containerStatuses": [
                        {"name": "main", "ready": False, "state": {"running": None, "terminated": {"exitCode": 0}}}
                    ],
                }
            },
            "strategic",
        ),
        patch("what has ended runs again", f"{ONE}/status", {"status": {"phase": "Running"}}),
        quiet(get("read it", ONE, keep_as="read")),
        put("put the status", f"{ONE}/status", {"status": {"message": "Done."}}, onto="read"),
        put("put a stale status", f"{ONE}/status", {"status": {"message": "Gone."}}, onto="read"),
        get("read the status", f"{ONE}/status"),
        patch("of what is not there", f"{PODS}/nothing/status", UNSCHEDULABLE, "strategic"),
        patch(
            "for a gang, by UID and annotation",
            f"{PODS}/two",
            {"metadata": {"uid": "${two}", "annotations": {"tutti.scheduler/pod-group": "g"}}},
        ),
        patch(
            "a finalizer taken by position",
            f"{PODS}/two",
            [
                {"op": "test", "path": "/metadata/uid", "value": "${two}"},
                {"op": "add", "path": "/metadata/finalizers", "value": ["batch.kubernetes.io/job-tracking"]},
                {"op": "remove", "path": "/metadata/finalizers/0"},
            ],
            "json",
        ),
        patch(
            "owned by a group",
            f"{PODS}/two",
            {
                "metadata": {
                    "ownerReferences": [
                        {
                            "apiVersion": "tutti.scheduler/v1beta1",
                            "kind": "PodGroup",
                            "name": "g",
                            "uid": "u",
                            "controller": False,
                        }
                    ]
                }
            },
            "strategic",
        ),
        patch("owned by half a group", f"{PODS}/two", {"metadata": {"ownerReferences": [{"name": "g", "uid": "v"}]}}),
    ],
)


def budget(name: str, **spec: Any) -> Object:
    """How many pods must stay."""
    return of("policy/v1", "PodDisruptionBudget", name, spec={"selector": {"matchLabels": {"guarded": "yes"}}, **spec})


def eviction(name: str, **more: Any) -> Object:
    """A request to let a pod go."""
    return of("policy/v1", "Eviction", name, **more)


GUARDED = {"labels": {"guarded": "yes"}}
ALLOWED = {
    "disruptionsAllowed": 1,
    "currentHealthy": 2,
    "desiredHealthy": 1,
    "expectedPods": 2,
    "observedGeneration": 1,
}
EVICTIONS = Script(
    "evictions",
    [
        *pods("free", "other", "waiting"),
        *pods("first", "second", **GUARDED),
        *(
            step
            for name in ("first", "second")
            for step in (
                quiet(post(f"place {name}", f"{PODS}/{name}/binding", binding(name))),
                quiet(
                    patch(
                        f"run {name}",
                        f"{PODS}/{name}/status",
                        {"status": {"phase": "Running", "conditions": [condition("Ready")]}},
                    )
                ),
            )
        ),
        post("of another name", f"{PODS}/free/eviction", eviction("other")),
        post("of no name", f"{PODS}/free/eviction", {**eviction(""), "metadata": {}}),
        post("of another kind", f"{PODS}/free/eviction", pod("free")),
        post("for trial", f"{PODS}/free/eviction", eviction("free", deleteOptions={"dryRun": ["All"]})),
        post(
            "of a predecessor",
            f"{PODS}/free/eviction",
            eviction("free", deleteOptions={"preconditions": {"uid": "gone"}}),
        ),
        post(
            "of a pod that nobody guards",
            f"{PODS}/free/eviction",
            eviction("free", deleteOptions={"preconditions": {"uid": "${free}"}, "gracePeriodSeconds": 0}),
        ),
        post("a budget of a bad share", BUDGETS, budget("bad", minAvailable="half")),
        post("a budget of too large a share", BUDGETS, budget("bad", minAvailable="101%")),
        post("a budget of less than none", BUDGETS, budget("bad", maxUnavailable=-1)),
        post("a budget of both", BUDGETS, budget("bad", maxUnavailable=1, minAvailable=1)),
        post("a budget of neither", BUDGETS, budget("neither")),
        post("a budget of an unknown policy", BUDGETS, budget("bad", unhealthyPodEvictionPolicy="Perhaps")),
        delete("drop it", f"{BUDGETS}/neither"),
        post("a budget", BUDGETS, budget("one", minAvailable=1)),
        post("nobody has counted", f"{PODS}/first/eviction", eviction("first")),
        patch("somebody has counted", f"{BUDGETS}/one/status", {"status": ALLOWED}),
        patch("less than none", f"{BUDGETS}/one/status", {"status": {"currentHealthy": -1}}),
        table("one may go", f"{BUDGETS}/one"),
        post("one goes", f"{PODS}/first/eviction", eviction("first")),
        get("it is spent", f"{BUDGETS}/one"),
        post("the other does not", f"{PODS}/second/eviction", eviction("second")),
        quiet(post("a second budget", BUDGETS, budget("two", minAvailable=1))),
        post("two budgets", f"{PODS}/second/eviction", eviction("second")),
        patch("change what it guards", f"{BUDGETS}/one", {"spec": {"selector": {"matchLabels": {"guarded": "no"}}}}),
        get("reading an eviction", f"{PODS}/second/eviction"),
    ],
)

SCRIPTS = [BINDINGS, REPORTS, EVICTIONS]
