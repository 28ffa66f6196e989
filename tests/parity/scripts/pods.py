"""Pods: what controllers, schedulers, kubelets and kubectl do with them."""

from tests.parity.scripts.objects import condition, pod
from tests.parity.steps import Script, delete, get, patch, post, put, quiet, table, watch

PODS = "/api/v1/namespaces/{ns}/pods"
ONE = f"{PODS}/one"
NODE = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "one"}, "target": {"kind": "Node", "name": "n1"}}
RUNNING = {"status": {"phase": "Running", "conditions": [condition("Ready", reason="Up", message="It is up.")]}}
RICH = {
    "initContainers": [{"name": "first", "image": "i:1", "command": ["true"]}],
    "containers": [
        {
            "name": "main",
            "image": "i",
            "env": [
                {"name": "A", "value": "1"},
                {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            ],
            "ports": [{"containerPort": 80}],
            "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}},
            "volumeMounts": [{"name": "v", "mountPath": "/v"}],
            "readinessProbe": {"httpGet": {"path": "/", "port": 80}},
        }
    ],
    "volumes": [{"name": "v", "emptyDir": {}}, {"name": "c", "configMap": {"name": "c"}}],
    "tolerations": [{"key": "a", "operator": "Exists"}],
    "nodeSelector": {"disk": "fast"},
    "restartPolicy": "OnFailure",
}

PODS_SCRIPT = Script(
    "pods",
    [
        post(
            "create",
            PODS,
            pod("one", labels={"app": "a"}),
            keep={"uid": "metadata.uid", "version": "metadata.resourceVersion"},
        ),
        post("create a second time", PODS, pod("one")),
        post("create with many fields", PODS, pod("rich", spec=RICH)),
        post("create by a generated name", PODS, {**pod(""), "metadata": {"generateName": "some-"}}),
        post("create without containers", PODS, pod("bad", spec={"containers": []})),
        post("create with a bad name", PODS, pod("Not_A_Name")),
        post("create with bad labels", PODS, pod("bad", labels={"a b": "c", "d": "e f"})),
        post("create with a bad restart policy", PODS, pod("bad", spec={"restartPolicy": "Maybe"})),
        post(
            "create with requests over limits",
            PODS,
            pod(
                "bad",
                spec={
                    "containers": [
                        {"name": "a", "image": "b", "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}}
                    ]
                },
            ),
        ),
        post(
            "create with a bad quantity",
            PODS,
            pod("bad", spec={"containers": [{"name": "a", "image": "b", "resources": {"requests": {"cpu": "many"}}}]}),
        ),
        post(
            "create with two containers of one name",
            PODS,
            pod("bad", spec={"containers": [{"name": "a", "image": "b"}, {"name": "a", "image": "b"}]}),
        ),
        post("create of an unknown priority class", PODS, pod("bad", spec={"priorityClassName": "nothing"})),
        post("create gated", PODS, pod("gated", spec={"schedulingGates": [{"name": "example.org/wait"}]})),
        post("create for trial", PODS, pod("trial"), query={"dryRun": "All"}),
        get("the trial left nothing", f"{PODS}/trial"),
        get("get", ONE),
        get("get what is not there", f"{PODS}/nothing"),
        table("get as a table", ONE),
        post("bind", f"{ONE}/binding", NODE),
        get("get after the binding", ONE),
        post("bind again", f"{ONE}/binding", NODE),
        post("bind what is not there", f"{PODS}/nothing/binding", {**NODE, "metadata": {"name": "nothing"}}),
        post("bind with the wrong UID", f"{PODS}/rich/binding", {**NODE, "metadata": {"name": "rich", "uid": "other"}}),
        post("bind a gated pod", f"{PODS}/gated/binding", {**NODE, "metadata": {"name": "gated"}}),
        patch("open the gate", f"{PODS}/gated", {"spec": {"schedulingGates": []}}),
        patch("set the status", f"{ONE}/status", RUNNING, "strategic"),
        patch(
            "set another condition",
            f"{ONE}/status",
            {"status": {"conditions": [condition("PodScheduled")]}},
            "strategic",
        ),
        patch(
            "the status path leaves the rest alone",
            f"{ONE}/status",
            {"spec": {"nodeName": "n9"}, "metadata": {"labels": {"b": "c"}}},
        ),
        patch("the main path leaves the status alone", ONE, {"status": {"phase": "Failed"}}),
        patch("label", ONE, {"metadata": {"labels": {"app": None, "b": "d"}}}),
        patch("change the image", ONE, {"spec": {"containers": [{"name": "main", "image": "other"}]}}, "strategic"),
        patch("change the node", ONE, {"spec": {"nodeName": "n2"}}),
        patch("change the command", ONE, {"spec": {"containers": [{"name": "main", "command": ["x"]}]}}, "strategic"),
        patch("add a toleration", ONE, {"spec": {"tolerations": [{"key": "k", "operator": "Exists"}]}}),
        patch(
            "add a scheduling gate late", f"{PODS}/rich", {"spec": {"schedulingGates": [{"name": "example.org/late"}]}}
        ),
        get("logs", f"{PODS}/rich/log"),
        get("logs of a bound pod", f"{ONE}/log"),
        get("logs of what is not there", f"{PODS}/nothing/log"),
        get("list by label", PODS, query={"labelSelector": "b=d"}),
        get("list by node", PODS, query={"fieldSelector": "spec.nodeName=n1"}),
        get(
            "list what has not ended on a node",
            PODS,
            query={"fieldSelector": "spec.nodeName=n1,status.phase!=Succeeded,status.phase!=Failed"},
        ),
        table(
            "list as a table",
            PODS,
            query={"fieldSelector": "metadata.name!=x", "labelSelector": "!none", "limit": "500"},
        ),
        put("replace with a stale version", ONE, pod("one", resourceVersion="${version}")),
        post(
            "evict",
            f"{PODS}/rich/eviction",
            {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "rich"}},
        ),
        post(
            "evict what is not there",
            f"{PODS}/nothing/eviction",
            {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "nothing"}},
        ),
        delete("delete with the wrong UID", ONE, {"preconditions": {"uid": "other"}}),
        delete("delete with a stale version", ONE, {"preconditions": {"resourceVersion": "${version}"}}),
        delete("delete gracefully", ONE, {"preconditions": {"uid": "${uid}"}, "gracePeriodSeconds": 30}),
        get("a bound pod stays until its kubelet lets it go", ONE),
        delete("delete at once", ONE, {"gracePeriodSeconds": 0}),
        get("it is gone", ONE),
        delete("delete what is not there", ONE),
        delete("delete an unbound pod", f"{PODS}/gated", {"propagationPolicy": "Background"}),
        delete("delete with a bad policy", f"{PODS}/rich", {"propagationPolicy": "Sometimes"}),
    ],
)

NODES = "/api/v1/nodes"
UNREADY = {"status": {"conditions": [condition("Ready", "False", reason="Down", message="It is down.")]}}
NODES_SCRIPT = Script(
    "nodes",
    [
        post(
            "create",
            NODES,
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "parity-n", "labels": {"parity": "n"}}},
        ),
        get("get", f"{NODES}/parity-n"),
        table("get as a table", f"{NODES}/parity-n"),
        patch("report", f"{NODES}/parity-n/status", UNREADY, "strategic"),
        patch(
            "report room",
            f"{NODES}/parity-n/status",
            {"status": {"capacity": {"cpu": "4"}, "allocatable": {"cpu": "4"}}},
        ),
        patch(
            "cordon",
            f"{NODES}/parity-n",
            {"spec": {"unschedulable": True}},
            "strategic",
            query={"fieldManager": "kubectl-cordon"},
        ),
        table("get cordoned", f"{NODES}/parity-n"),
        patch("taint", f"{NODES}/parity-n", {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}, "strategic"),
        patch("taint badly", f"{NODES}/parity-n", {"spec": {"taints": [{"key": "a", "effect": "Never"}]}}, "strategic"),
        get("list by label", NODES, query={"labelSelector": "parity=n"}),
        get("list by field", NODES, query={"fieldSelector": "spec.unschedulable=true", "labelSelector": "parity=n"}),
        watch("watch from the beginning", NODES, query={"labelSelector": "parity=n"}),
        delete("delete", f"{NODES}/parity-n"),
        get("it is gone", f"{NODES}/parity-n"),
    ],
)

STATES: list[tuple[str, dict[str, object]]] = [
    ("pending", {"phase": "Pending"}),
    (
        "gated",
        {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]},
    ),
    ("creating", {"phase": "Pending", "containerStatuses": [{"state": {"waiting": {"reason": "ContainerCreating"}}}]}),
    (
        "running",
        {
            "phase": "Running",
            "containerStatuses": [
                {"ready": True, "started": True, "state": {"running": {"startedAt": "2026-01-15T08:00:00Z"}}}
            ],
        },
    ),
    (
        "restarted",
        {
            "phase": "Running",
            "containerStatuses": [
                {
                    "ready": True,
                    "restartCount": 3,
                    "state": {"running": {}},
                    "lastState": {"terminated": {"exitCode": 1, "finishedAt": "2026-01-15T08:00:00Z"}},
                }
            ],
        },
    ),
    (
        "completed",
        {
            "phase": "Succeeded",
            "containerStatuses": [{"state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}],
        },
    ),
    (
        "error",
        {"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"exitCode": 2, "reason": "Error"}}}]},
    ),
    ("exit-code", {"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"exitCode": 2}}}]}),
    ("signal", {"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"exitCode": 137, "signal": 9}}}]}),
    ("evicted", {"phase": "Failed", "reason": "Evicted"}),
    (
        "init-waiting",
        {
            "phase": "Pending",
            "initContainerStatuses": [{"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "restartCount": 2}],
        },
    ),
    ("init-running", {"phase": "Pending", "initContainerStatuses": [{"state": {"running": {}}}]}),
    ("init-failed", {"phase": "Failed", "initContainerStatuses": [{"state": {"terminated": {"exitCode": 1}}}]}),
    (
        "init-done",
        {
            "phase": "Running",
            "conditions": [condition("Initialized")],
            "initContainerStatuses": [{"restartCount": 1, "state": {"terminated": {"exitCode": 0}}}],
            "containerStatuses": [{"ready": True, "state": {"running": {}}}],
        },
    ),
    ("placed", {"phase": "Running", "podIPs": [{"ip": "10.9.8.7"}], "podIP": "10.9.8.7", "nominatedNodeName": "n7"}),
]


def _state(name: str, status: dict[str, object]) -> dict[str, object]:
    """The status with the names and images that the API asks for."""
    made = dict(status)
    for key, container in (("containerStatuses", "main"), ("initContainerStatuses", "first")):
        listed = made.get(key)
        if isinstance(listed, list):
            made[key] = [
                {"name": container, "image": "i", "imageID": "", "ready": False, "restartCount": 0, **each}
                for each in listed
            ]
    return {"status": made}


INIT = {"initContainers": [{"name": "first", "image": "i"}]}
POD_ROWS = Script(
    "pod-rows",
    [
        *(
            quiet(step)
            for name, status in STATES
            for step in (
                post(f"create {name}", PODS, pod(name, spec=INIT if name.startswith("init") else None)),
                patch(f"set {name}", f"{PODS}/{name}/status", _state(name, status)),
            )
        ),
        table("list", PODS, query={"limit": "500"}),
        table("with objects", f"{PODS}/pending", query={"includeObject": "Object"}),
        table("without objects", PODS, query={"includeObject": "None"}),
        table("with nonsense", PODS, query={"includeObject": "Some"}),
        watch("watch rows", PODS, accept="application/json;as=Table;v=v1;g=meta.k8s.io,application/json"),
        quiet(post("bind", f"{PODS}/pending/binding", {**NODE, "metadata": {"name": "pending"}})),
        delete("delete a bound pod", f"{PODS}/pending", {"gracePeriodSeconds": 60}),
        table("it terminates", f"{PODS}/pending"),
    ],
)

SCRIPTS = [PODS_SCRIPT, NODES_SCRIPT, POD_ROWS]
