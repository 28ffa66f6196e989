"""What our own kinds and LeaderWorkerSets accept, refuse and keep: the rules of their definitions, case by case."""

from collections.abc import Iterator
from typing import Any

from tests.conformance.api_cases import CHANGED, CREATED, Case
from tests.parity.scripts.objects import Object, condition, of
from tests.parity.steps import Script, Step, delete, get, patch, post, put, quiet, table

SCOPE = "namespaces/{ns}"
OWN = f"/apis/tutti.scheduler/v1beta1/{SCOPE}"
KINDS = {"podgroups": "PodGroup", "workloads": "Workload"}
SETS = f"/apis/leaderworkerset.x-k8s.io/v1/{SCOPE}/leaderworkersets"
ONE = f"{SETS}/one"


def _of(case: Case, name: str) -> Object:
    return of("tutti.scheduler/v1beta1", KINDS[case.kind], name, spec=case.spec)


def _creations() -> Iterator[Step]:
    for number, case in enumerate(CREATED):
        title = f"{number}: {str(case)[:60]}"
        yield post(title, f"{OWN}/{case.kind}", _of(case, "case"), query={"dryRun": "All"})


def _changes() -> Iterator[Step]:
    for number, case in enumerate(CHANGED):
        name = f"case-{number}"
        path = f"{OWN}/{case.kind}/{name}"
        yield quiet(post(f"make {name}", f"{OWN}/{case.kind}", _of(case, name)))
        yield patch(f"{number}: {str(case)[:60]}", path, {"spec": case.change})
        yield delete(f"drop {name}", path)


RULES = Script("rules", [*_creations(), *_changes()])


def lws(name: str, template: Object | None = None, **spec: Any) -> Object:
    """A LeaderWorkerSet."""
    containers = {"containers": [{"name": "main", "image": "none:1"}]}
    group = {"size": 3, "workerTemplate": {"spec": containers}, **(template or {})}
    return of("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", name, spec={"leaderWorkerTemplate": group, **spec})


BAD_SETS: dict[str, Object] = {
    "fewer than no replicas": lws("bad", replicas=-1),
    "too many replicas": lws("bad", replicas=1000001),
    "a size that is a text": lws("bad", {"size": "three"}),
    "an unknown restart policy": lws("bad", {"restartPolicy": "Never"}),
    "an unknown startup policy": lws("bad", startupPolicy="LeaderLast"),
    "no subdomain policy": lws("bad", networkConfig={}),
    "an unknown rollout": lws("bad", rolloutStrategy={"type": "Recreate"}),
    "no worker template": of(
        "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "bad", spec={"leaderWorkerTemplate": {}}
    ),
    "nothing": of("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "bad", spec={}),
    "a container without a name": lws("bad", {"workerTemplate": {"spec": {"containers": [{"image": "none"}]}}}),
    "no containers": lws("bad", {"workerTemplate": {"spec": {}}}),
    "an unknown field": lws("bad", replika=1),
    "a bad request": lws(
        "bad",
        {
            "workerTemplate": {
                "spec": {"containers": [{"name": "a", "resources": {"requests": {"cpu": "much"}}}]},
            }
        },
    ),
    "two ports of one number": lws(
        "bad",
        {
            "workerTemplate": {
                "spec": {"containers": [{"name": "a", "ports": [{"containerPort": 1}, {"containerPort": 1}]}]}
            }
        },
    ),
}
STATE = {
    "status": {
        "replicas": 2,
        "readyReplicas": 1,
        "updatedReplicas": 2,
        "hpaPodSelector": "leaderworkerset.sigs.k8s.io/name=one",
        "conditions": [condition("Available", reason="AllGroupsReady", message="All are ready.")],
    }
}
SETS_SCRIPT = Script(
    "leader-worker-sets",
    [
        *(
            post(f"create with {what}", SETS, body, query={"dryRun": "All", "fieldValidation": "Strict"})
            for what, body in BAD_SETS.items()
        ),
        post("create the least", SETS, lws("least", {"size": None})),
        post(
            "create",
            SETS,
            lws(
                "one",
                {"leaderTemplate": {"spec": {"containers": [{"name": "main", "image": "none:1"}]}}, "size": 4},
                replicas=2,
                startupPolicy="LeaderReady",
                networkConfig={"subdomainPolicy": "Shared"},
                rolloutStrategy={"type": "RollingUpdate", "rollingUpdateConfiguration": {"maxSurge": "25%"}},
            ),
            keep_as="made",
        ),
        put("put the status", f"{ONE}/status", STATE, onto="made", keep_as="told"),
        put("put the status by what was read before", f"{ONE}/status", STATE, onto="made"),
        put("put the same status", f"{ONE}/status", {}, onto="told"),
        put("the status path leaves the rest alone", f"{ONE}/status", {"spec": {"replicas": 9}}, onto="told"),
        patch(
            "one condition by a patch of its list",
            f"{ONE}/status",
            {"status": {"conditions": [condition("Progressing", reason="Told", message="Told.")]}},
        ),
        patch("a condition without a reason", f"{ONE}/status", {"status": {"conditions": [condition("X")]}}),
        patch(
            "a condition of a bad reason", f"{ONE}/status", {"status": {"conditions": [condition("X", reason="a b")]}}
        ),
        table("as a table", ONE),
        get("the scale", f"{ONE}/scale", keep_as="scale"),
        put("scale", f"{ONE}/scale", {"spec": {"replicas": 3}}, onto="scale"),
        put("scale by what was read before", f"{ONE}/scale", {"spec": {"replicas": 4}}, onto="scale"),
        patch("scale too far", f"{ONE}/scale", {"spec": {"replicas": 1000001}}),
        patch("scale to nothing", f"{ONE}/scale", {"spec": {"replicas": 0}}),
        patch(
            "an annotation as we write it",
            ONE,
            {
                "metadata": {"annotations": {"tutti.scheduler/policy": "none"}},
                "spec": {"startupPolicy": "LeaderCreated"},
            },
        ),
        patch("strategically", ONE, {"spec": {"replicas": 2}}, "strategic"),
        patch("an unknown startup policy", ONE, {"spec": {"startupPolicy": "LeaderLast"}}),
        delete("delete in the foreground", ONE, {"propagationPolicy": "Foreground"}),
        get("it waits for what it owns", ONE),
        patch("let it go", ONE, {"metadata": {"finalizers": None}}),
        get("it is gone", ONE),
    ],
    foreign=("leaderworkersets.yaml",),
)

SCRIPTS = [RULES, SETS_SCRIPT]
