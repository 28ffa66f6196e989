"""Devices: what a scheduler, drivers and controllers write of claims and of pods with claims; the lives of all kinds."""

from typing import Any

from tests.parity.life import Kind, lives
from tests.parity.scripts.devices import (
    CLAIMS,
    CLASSES,
    DRIVER,
    GROUP,
    RULES,
    SLICES,
    TEMPLATES,
    cel,
    claim,
    device_class,
    resource_slice,
    spec,
    taint_rule,
)
from tests.parity.scripts.objects import Object, of
from tests.parity.steps import NOBODY, Script, delete, get, patch, post, put, quiet, table, watch

ONE = f"{CLAIMS}/one"
STATUS = f"{ONE}/status"
ON_N1: Object = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}
FINALIZER = "resource.kubernetes.io/delete-protection"
NO_ALLOCATION = {"status": {"allocation": None, "reservedFor": None}}


def consumer(name: str = "p", uid: str = "11111111-1111-1111-1111-111111111111", **more: Any) -> Object:
    """Who may use a claim."""
    return {"resource": "pods", "name": name, "uid": uid, **more}


def result(**more: Any) -> Object:
    """One device of an allocation."""
    return {"request": "r", "driver": DRIVER, "pool": "n1", "device": "g0", **more}


def allocated(*consumers: Object, results: list[Object] | None = None, **more: Any) -> Object:
    """The status that a scheduler writes."""
    allocation = {
        "devices": {"results": results or [result()]},
        "nodeSelector": ON_N1,
        "allocationTimestamp": "2026-01-15T08:00:00Z",
        **more,
    }
    return {"status": {"allocation": allocation, "reservedFor": list(consumers) or [consumer()]}}


def reserved(*consumers: Object) -> Object:
    """The list of consumers alone."""
    return {"status": {"reservedFor": list(consumers)}}


BAD_RESULTS: dict[str, Object] = {
    "an unknown request": result(request="x"),
    "no driver": result(driver=""),
    "a bad pool": result(pool="a//b"),
    "a bad device": result(device="G_0"),
    "a bad share": result(shareID="x"),
    "conditions without failures": result(bindingConditions=["Ready"]),
    "admin access": result(adminAccess=True),
}
ALLOWED: Object = of(
    "rbac.authorization.k8s.io/v1",
    "ClusterRole",
    "parity-claims",
    rules=[
        {"apiGroups": ["resource.k8s.io"], "resources": ["resourceclaims", "resourceclaims/status"], "verbs": ["*"]},
    ],
)
BOUND: Object = of(
    "rbac.authorization.k8s.io/v1",
    "ClusterRoleBinding",
    "parity-claims",
    roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "parity-claims"},
    subjects=[{"kind": "User", "name": NOBODY, "apiGroup": "rbac.authorization.k8s.io"}],
)
BINDS: Object = {
    "rules": [
        *ALLOWED["rules"],
        {"apiGroups": ["resource.k8s.io"], "resources": ["resourceclaims/binding"], "verbs": ["patch"]},
    ]
}
RBAC = "/apis/rbac.authorization.k8s.io/v1"
DEVICE_STATE: Object = {
    "driver": DRIVER,
    "pool": "n1",
    "device": "g0",
    "conditions": [
        {"type": "Ready", "status": "True", "reason": "R", "message": "", "lastTransitionTime": "2026-01-15T08:00:00Z"}
    ],
    "data": {"a": 1},
    "networkData": {"interfaceName": "eth0", "ips": ["10.9.8.7/24"], "hardwareAddress": "00:00"},
}
STATUS_SCRIPT = Script(
    "device-claims",
    [
        post("create", CLAIMS, claim("one"), keep={"uid": "metadata.uid"}),
        table("it is pending", ONE),
        patch("reserve what is not allocated", STATUS, reserved(consumer())),
        *(patch(f"allocate with {what}", STATUS, allocated(results=[each])) for what, each in BAD_RESULTS.items()),
        patch("allocate by a bad selector", STATUS, allocated(nodeSelector={"nodeSelectorTerms": []})),
        patch("allocate 33", STATUS, allocated(results=[result(device=f"g{index}") for index in range(33)])),
        patch("reserve for nobody in particular", STATUS, allocated({"resource": ""})),
        patch("reserve twice for one", STATUS, allocated(consumer(), consumer("q"))),
        patch("reserve for many", STATUS, allocated(*(consumer(f"p{index}", f"u{index}") for index in range(257)))),
        patch("the finalizer by the status path", STATUS, {"metadata": {"finalizers": [FINALIZER]}}),
        patch("the finalizer", ONE, {"metadata": {"finalizers": [FINALIZER], "uid": "${uid}"}}),
        quiet(post("a role", f"{RBAC}/clusterroles", ALLOWED)),
        quiet(post("a binding", f"{RBAC}/clusterrolebindings", BOUND)),
        quiet(get("until it is known", ONE, user=NOBODY, until=("kind", "ResourceClaim"))),
        patch("allocate without the right", STATUS, allocated(), user=NOBODY),
        quiet(patch("the right", f"{RBAC}/clusterroles/parity-claims", BINDS)),
        quiet(
            patch(
                "until that is known",
                STATUS,
                allocated(),
                user=NOBODY,
                query={"dryRun": "All"},
                until=("kind", "ResourceClaim"),
            )
        ),
        patch("allocate", STATUS, allocated(), user=NOBODY, keep_as="read"),
        put("replace without the right", STATUS, reserved(consumer(), consumer("q", "u2")), onto="read", user=NOBODY),
        patch("allocate another device", STATUS, allocated(results=[result(device="g1")])),
        patch(
            "allocate at another time",
            STATUS,
            {"status": {"allocation": {"allocationTimestamp": "2026-01-15T09:00:00Z"}}},
        ),
        table("it is reserved", ONE),
        put("reserve for another", STATUS, reserved(consumer(), consumer("q", "u2")), onto="read"),
        patch("reserve for one more strategically", STATUS, reserved(consumer("s", "u3")), "strategic"),
        patch(
            "take a consumer away strategically",
            STATUS,
            {
                "metadata": {"uid": "${uid}"},
                "status": {"reservedFor": [{"$patch": "delete", "uid": "u3"}]},
            },
            "strategic",
        ),
        patch(
            "a group",
            STATUS,
            reserved(consumer(), {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "u4"}),
        ),
        patch("report of a device", STATUS, {"status": {"devices": [DEVICE_STATE]}}),
        patch(
            "report of a device without the right",
            STATUS,
            {"status": {"devices": [{**DEVICE_STATE, "data": {"a": 2}}]}},
            user=NOBODY,
        ),
        patch("report of another device", STATUS, {"status": {"devices": [{**DEVICE_STATE, "device": "g9"}]}}),
        patch(
            "report of bad data",
            STATUS,
            {"status": {"devices": [{**DEVICE_STATE, "data": [1], "networkData": {"ips": ["x"]}}]}},
        ),
        patch("the spec by the status path", STATUS, {"spec": {"devices": {"requests": []}}}),
        patch(
            "the status by the main path", ONE, {"status": {"reservedFor": None}, "metadata": {"labels": {"a": "b"}}}
        ),
        delete("delete", ONE),
        table("it is deleted", ONE),
        patch("reserve what is being deleted", STATUS, reserved(consumer("z", "u9"))),
        patch("release", STATUS, reserved()),
        patch("deallocate", STATUS, NO_ALLOCATION),
        patch("let it go", ONE, {"metadata": {"finalizers": None}}),
        get("it is gone", ONE),
        watch("follow", CLAIMS, query={"fieldSelector": "metadata.name=one"}),
        quiet(post("another", CLAIMS, claim("two"))),
        patch("allocate the other", f"{CLAIMS}/two/status", allocated()),
        patch("deallocate what is reserved", f"{CLAIMS}/two/status", {"status": {"allocation": None}}),
        patch(
            "allocate without a time",
            f"{CLAIMS}/two/status",
            allocated(allocationTimestamp=None, nodeSelector=None),
            keep_as="bare",
        ),
        patch(
            "a time later",
            f"{CLAIMS}/two/status",
            {"status": {"allocation": {"allocationTimestamp": "2026-01-15T08:00:00Z"}}},
        ),
        delete("delete by trial", f"{CLAIMS}/two", {"dryRun": ["All"]}),
        quiet(delete("drop the binding", f"{RBAC}/clusterrolebindings/parity-claims")),
        quiet(delete("drop the role", f"{RBAC}/clusterroles/parity-claims")),
    ],
)

PODS = "/api/v1/namespaces/{ns}/pods"


def pod(name: str, *claims: Object, uses: list[Object] | None = None, **requests: str) -> Object:
    """A pod with claims."""
    resources: Object = {"claims": uses or []}
    if requests:
        amounts = {key.replace("_", "/"): value for key, value in requests.items()}
        resources |= {"requests": amounts, "limits": amounts}
    container = {"name": "c", "image": "i", "resources": resources}
    return of(
        "v1",
        "Pod",
        name,
        spec={"schedulerName": "nobody", "containers": [container], "resourceClaims": list(claims)},
    )


OWN: Object = {"name": "a", "resourceClaimTemplateName": "t"}
NAMED: Object = {"name": "b", "resourceClaimName": "c"}
BAD_PODS: dict[str, Object] = {
    "a claim of no name": pod("bad", {"resourceClaimName": "c"}),
    "a claim of a bad name": pod("bad", {"name": "A_", "resourceClaimName": "C_"}),
    "a template of a bad name": pod("bad", {"name": "a", "resourceClaimTemplateName": "T_"}),
    "two claims of a name": pod("bad", OWN, OWN),
    "a claim of nothing": pod("bad", {"name": "a"}),
    "a claim of two sources": pod("bad", {**OWN, "resourceClaimName": "c"}),
    "a container that uses what is not there": pod("bad", uses=[{"name": "x"}]),
    "a container that uses another": pod("bad", OWN, NAMED, uses=[{"name": "x"}]),
    "a container that uses it twice": pod("bad", OWN, uses=[{"name": "a"}, {"name": "a"}]),
    "a container that uses no name": pod("bad", OWN, uses=[{}]),
    "a container that uses a bad request": pod("bad", OWN, uses=[{"name": "a", "request": "R_"}]),
    "a container that uses whole and part": pod("bad", OWN, uses=[{"name": "a", "request": "r"}, {"name": "a"}]),
}
ACC = {"example.com_acc": "2"}
MAPPING: Object = {"containerName": "c", "resourceName": "example.com/acc", "requestName": "container-0-request-0"}
PODS_SCRIPT = Script(
    "device-pods",
    [
        *(post(f"a pod with {what}", PODS, given) for what, given in BAD_PODS.items()),
        post("create", PODS, pod("one", OWN, NAMED, uses=[{"name": "a"}, {"name": "b", "request": "r"}], **ACC)),
        patch("other claims", f"{PODS}/one", {"spec": {"resourceClaims": [OWN]}}),
        patch(
            "its claim",
            f"{PODS}/one/status",
            {"status": {"resourceClaimStatuses": [{"name": "a", "resourceClaimName": "one-a-x"}]}},
            "strategic",
        ),
        patch(
            "its other claim", f"{PODS}/one/status", {"status": {"resourceClaimStatuses": [{"name": "b"}]}}, "strategic"
        ),
        patch(
            "a claim that it has not",
            f"{PODS}/one/status",
            {"status": {"resourceClaimStatuses": [{"name": "z"}]}},
            "strategic",
        ),
        patch(
            "a claim of a bad name",
            f"{PODS}/one/status",
            {"status": {"resourceClaimStatuses": [{"name": "a", "resourceClaimName": "A_"}]}},
            "strategic",
        ),
        patch("no claim any more", f"{PODS}/one/status", {"status": {"resourceClaimStatuses": None}}),
        patch(
            "a claim for resources",
            f"{PODS}/one/status",
            {
                "status": {"extendedResourceClaimStatus": {"resourceClaimName": "one-x", "requestMappings": [MAPPING]}},
            },
        ),
        patch(
            "a claim for other resources",
            f"{PODS}/one/status",
            {
                "status": {
                    "extendedResourceClaimStatus": {
                        "resourceClaimName": "",
                        "requestMappings": [{**MAPPING, "containerName": "d"}, {**MAPPING, "resourceName": "z"}],
                    }
                },
            },
        ),
        patch(
            "a claim for no resources",
            f"{PODS}/one/status",
            {
                "status": {"extendedResourceClaimStatus": {"resourceClaimName": "X_", "requestMappings": []}},
            },
        ),
        quiet(delete("drop it", f"{PODS}/one", {"gracePeriodSeconds": 0})),
    ],
)

LIVES = Script(
    "lives-devices",
    lives(
        Kind(CLASSES, device_class("", selectors=cel("true")), {"spec": {"selectors": cel("false")}}),
        Kind(SLICES, resource_slice(""), {"spec": {"pool": {"generation": 2}}}),
        Kind(
            CLAIMS,
            claim(""),
            {"metadata": {"finalizers": None}},
            status=allocated(),
        ),
        Kind(
            TEMPLATES,
            of(GROUP, "ResourceClaimTemplate", "", spec={"spec": spec()}),
            {"metadata": {"annotations": {"a": "b"}}},
        ),
        Kind(
            RULES,
            taint_rule(
                "",
                {
                    "deviceSelector": {},
                    "taint": {"key": "a", "effect": "NoSchedule", "timeAdded": "2026-01-15T08:00:00Z"},
                },
            ),
            {"spec": {"taint": {"value": "x"}}},
            status={"status": {"conditions": DEVICE_STATE["conditions"]}},
        ),
    ),
)
SCRIPTS = [STATUS_SCRIPT, PODS_SCRIPT, LIVES]
