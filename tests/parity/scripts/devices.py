"""Devices: what is wrong with classes, slices, claims and taint rules, and what a scheduler and drivers write of claims."""

from typing import Any

from tests.parity.life import Kind, lives
from tests.parity.scripts.objects import Object, of
from tests.parity.steps import NOBODY, Script, Step, delete, get, patch, post, put, quiet, table, watch

GROUP = "resource.k8s.io/v1"
ROOT = f"/apis/{GROUP}"
CLAIMS = f"{ROOT}/namespaces/{{ns}}/resourceclaims"
TEMPLATES = f"{ROOT}/namespaces/{{ns}}/resourceclaimtemplates"
CLASSES = f"{ROOT}/deviceclasses"
SLICES = f"{ROOT}/resourceslices"
RULES = f"{ROOT}/devicetaintrules"
DRIVER = "gpu.example.com"
LONG = "x" * 64


def exactly(**more: Any) -> Object:
    """A request for devices of one class."""
    return {"name": "r", "exactly": {"deviceClassName": "gpu", **more}}


def first(*subrequests: Object) -> Object:
    """A request for the first of several things."""
    return {"name": "r", "firstAvailable": [{"name": "a", "deviceClassName": "gpu", **each} for each in subrequests]}


def spec(*requests: Object, **more: Any) -> Object:
    """The spec of a claim."""
    return {"devices": {"requests": list(requests) or [exactly()], **more}}


def claim(name: str, *requests: Object, **more: Any) -> Object:
    """A claim."""
    return of(GROUP, "ResourceClaim", name, spec=spec(*requests, **more))


def device_class(name: str, **more: Any) -> Object:
    """A class."""
    return of(GROUP, "DeviceClass", name, spec=more)


def cel(*expressions: str) -> list[Object]:
    """Selectors."""
    return [{"cel": {"expression": each}} for each in expressions]


def device(name: str = "g0", **more: Any) -> Object:
    """A device."""
    return {"name": name, **more}


def resource_slice(name: str, **more: Any) -> Object:
    """A slice of one node; None takes a field away."""
    usual = {
        "driver": DRIVER,
        "nodeName": "n1",
        "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1},
        "devices": [device()],
    }
    given = {key: value for key, value in (usual | more).items() if value is not None}
    return of(GROUP, "ResourceSlice", name, spec=given)


def with_device(**more: Any) -> Object:
    """What makes a slice of one device with these fields."""
    return {"devices": [device(**more)]}


def shared(**policy: Any) -> Object:
    """What makes a slice of one device that several claims may share."""
    return with_device(allowMultipleAllocations=True, capacity={"memory": {"value": "10", "requestPolicy": policy}})


def opaque(driver: str = DRIVER, parameters: Any = None) -> Object:
    """Parameters for a driver."""
    return {"driver": driver, "parameters": parameters if parameters is not None else {"a": "b"}}


MANY = [{"name": f"r{index}", "exactly": {"deviceClassName": "gpu"}} for index in range(33)]
BAD_REQUESTS: dict[str, Object] = {
    "neither exactly nor first": {"name": "r"},
    "both exactly and first": {**first({}), **exactly()},
    "no name": {"exactly": {"deviceClassName": "gpu"}},
    "a bad name": {"name": "R_1", "exactly": {"deviceClassName": "gpu"}},
    "no class": {"name": "r", "exactly": {}},
    "a bad class": exactly(deviceClassName="Not_A_Class"),
    "an unknown mode": exactly(allocationMode="Some"),
    "a count with all": exactly(allocationMode="All", count=2),
    "a negative count": exactly(count=-1),
    "a toleration of nothing": exactly(tolerations=[{}]),
    "a bad toleration": exactly(tolerations=[{"key": "a b", "operator": "Exists", "value": "x", "effect": "Maybe"}]),
    "an unknown operator": exactly(tolerations=[{"key": "a", "operator": "Near"}]),
    "many tolerations": exactly(tolerations=[{"key": f"k{index}", "operator": "Exists"} for index in range(17)]),
    "admin access": exactly(adminAccess=True),
    "a selector of nothing": exactly(selectors=[{}]),
    "a selector that is no expression": exactly(selectors=cel("device.driver ==")),
    "a selector of an unknown field": exactly(selectors=cel("device.foo == 1")),
    "a selector that is a number": exactly(selectors=cel("1 + 1")),
    "a selector of an unknown variable": exactly(selectors=cel("node.name == 'a'")),
    "a selector that is empty": exactly(selectors=cel("")),
    "a selector that is too long": exactly(selectors=cel("true" + " " * 10240)),
    "many selectors": exactly(selectors=cel(*["true"] * 33)),
    "a subrequest without a class": first({"deviceClassName": ""}),
    "a subrequest without a name": first({"name": ""}),
    "a subrequest of an unknown mode": first({"allocationMode": "Some"}),
    "subrequests of one name": first({}, {}),
    "many subrequests": first(*({"name": f"s{index}"} for index in range(9))),
    "a subrequest with a bad selector": first({"selectors": cel("2")}),
}
BAD_CLAIMS: dict[str, Object] = {
    "requests of one name": spec(exactly(), exactly()),
    "many requests": {"devices": {"requests": MANY}},
    "a constraint of nothing": spec(constraints=[{}]),
    "an unqualified attribute": spec(constraints=[{"matchAttribute": "numa"}]),
    "a bad attribute": spec(constraints=[{"matchAttribute": "Bad_Domain/1x"}]),
    "a constraint of both": spec(constraints=[{"matchAttribute": "a.b/c", "distinctAttribute": "a.b/c"}]),
    "a constraint of an unknown request": spec(constraints=[{"matchAttribute": "a.b/c", "requests": ["x"]}]),
    "a constraint of a path too long": spec(constraints=[{"matchAttribute": "a.b/c", "requests": ["r/s/t"]}]),
    "a constraint of a request twice": spec(constraints=[{"matchAttribute": "a.b/c", "requests": ["r", "r"]}]),
    "many constraints": spec(constraints=[{"matchAttribute": "a.b/c"}] * 33),
    "parameters of nothing": spec(config=[{}]),
    "parameters of a bad driver": spec(config=[{"opaque": opaque("Not_A_Driver")}]),
    "parameters of no driver": spec(config=[{"opaque": opaque("")}]),
    "parameters of a long driver": spec(config=[{"opaque": opaque(LONG)}]),
    "parameters that are a list": spec(config=[{"opaque": opaque(parameters=[])}]),
    "no parameters": spec(config=[{"opaque": {"driver": DRIVER}}]),
    "parameters of an unknown request": spec(config=[{"opaque": opaque(), "requests": ["x"]}]),
    "requests that are no list": {"devices": {"requests": "r"}},
    "a count that is a text": spec(exactly(count="two")),
}
BAD_SLICES: dict[str, Object] = {
    "no driver": {"driver": None},
    "a bad driver": {"driver": "Not_A_Driver"},
    "a long driver": {"driver": LONG},
    "no pool": {"pool": None},
    "a bad pool": {"pool": {"name": "a//b", "generation": -1, "resourceSliceCount": 0}},
    "no node": {"nodeName": None},
    "an empty node": {"nodeName": ""},
    "a bad node": {"nodeName": "Not_A_Node"},
    "two sorts of nodes": {"allNodes": True},
    "all nodes that are not": {"nodeName": None, "allNodes": False},
    "two terms of nodes": {
        "nodeName": None,
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}] * 2},
    },
    "a selector of no nodes": {"nodeName": None, "nodeSelector": {"nodeSelectorTerms": []}},
    "devices and counters": {"sharedCounters": [{"name": "c", "counters": {"m": {"value": "1"}}}]},
    "devices of one name": {"devices": [device(), device()]},
    "many devices": {"devices": [device(f"g{index}") for index in range(129)]},
    "many tainted devices": {"devices": [device(f"g{index}", taints=[{"key": "a", "effect": "NoSchedule"}]) for index in range(65)]},
    "a device without a name": with_device(name=""),
    "a device of a bad name": with_device(name="G_0"),
    "an attribute of no value": with_device(attributes={"a": {}}),
    "an attribute of two values": with_device(attributes={"a": {"int": 1, "bool": True}}),
    "an attribute of a list": with_device(attributes={"a": {"ints": [1]}}),
    "an attribute of a bad name": with_device(attributes={"1a": {"int": 1}}),
    "an attribute of a bad domain": with_device(attributes={"Not_A/a": {"int": 1}}),
    "an attribute of an empty domain": with_device(attributes={"/a": {"int": 1}}),
    "an attribute of no name": with_device(attributes={"a.b/": {"int": 1}}),
    "an attribute of a long name": with_device(attributes={"x" * 33: {"int": 1}}),
    "an attribute of a long text": with_device(attributes={"a": {"string": "x" * 65}}),
    "a version that is none": with_device(attributes={"a": {"version": "1.2"}}),
    "many attributes": with_device(attributes={f"a{index}": {"int": index} for index in range(33)}),
    "a capacity that is none": with_device(capacity={"memory": {"value": "much"}}),
    "a policy of a device for one": with_device(capacity={"memory": {"value": "1", "requestPolicy": {"default": "1"}}}),
    "a policy of both sorts": shared(default="1", validValues=["1"], validRange={"min": "1"}),
    "values without a default": shared(validValues=["1"]),
    "values in disorder": shared(default="1", validValues=["2", "1"]),
    "values without the default": shared(default="3", validValues=["1", "2"]),
    "a value beyond the capacity": shared(default="1", validValues=["1", "11"]),
    "values twice": shared(default="1", validValues=["1", "1"]),
    "a range without a default": shared(validRange={"min": "1"}),
    "a range without a minimum": shared(default="1", validRange={"max": "2"}),
    "a range beyond the capacity": shared(default="1", validRange={"min": "1", "max": "11"}),
    "a range of nothing": shared(default="3", validRange={"min": "3", "max": "2"}),
    "a step of nothing": shared(default="1", validRange={"min": "1", "step": "0"}),
    "a default between steps": shared(default="2", validRange={"min": "1", "step": "2"}),
    "a maximum between steps": shared(default="1", validRange={"min": "1", "max": "4", "step": "2"}),
    "a step beyond the capacity": shared(default="1", validRange={"min": "1", "step": "10"}),
    "a bad taint": with_device(taints=[{"key": "a b", "value": "c d", "effect": "Maybe"}]),
    "a taint without an effect": with_device(taints=[{"key": "a"}]),
    "many taints": with_device(taints=[{"key": f"k{index}", "effect": "NoSchedule"} for index in range(17)]),
    "counters of nothing": with_device(consumesCounters=[{}]),
    "many counter sets": with_device(
        consumesCounters=[{"counterSet": f"c{index}", "counters": {"m": {"value": "1"}}} for index in range(3)]
    ),
    "a counter set twice": with_device(consumesCounters=[{"counterSet": "c", "counters": {"m": {"value": "1"}}}] * 2),
    "a counter of a bad name": {
        "devices": None,
        "sharedCounters": [{"name": "c", "counters": {"M_": {"value": "1"}}}],
    },
    "counter sets of one name": {
        "devices": None,
        "sharedCounters": [{"name": "c", "counters": {"m": {"value": "1"}}}] * 2,
    },
    "a counter set of nothing": {"devices": None, "sharedCounters": [{"name": "c"}]},
    "a device with a node": with_device(nodeName="n1"),
    "a device without a node": {"nodeName": None, "perDeviceNodeSelection": True},
    "a device with two sorts of nodes": {
        "nodeName": None,
        "perDeviceNodeSelection": True,
        **with_device(nodeName="n1", allNodes=True),
    },
    "conditions without failures": with_device(bindingConditions=["a.b/Ready"]),
    "failures without conditions": with_device(bindingFailureConditions=["a.b/Failed"]),
    "conditions that are failures": with_device(bindingConditions=["a", "a"], bindingFailureConditions=["a"]),
    "many conditions": with_device(bindingConditions=list("abcde"), bindingFailureConditions=["f"]),
    "devices that are no list": {"devices": "g0"},
}
BAD_CLASSES: dict[str, Object] = {
    "a selector of nothing": {"selectors": [{}]},
    "a bad selector": {"selectors": cel("device.")},
    "many selectors": {"selectors": cel(*["true"] * 33)},
    "parameters of nothing": {"config": [{}]},
    "a bad resource": {"extendedResourceName": "cpu"},
    "a resource of the system": {"extendedResourceName": "kubernetes.io/gpu"},
    "an empty resource": {"extendedResourceName": ""},
}
BAD_RULES: dict[str, Object] = {
    "no taint": {},
    "a bad taint": {"taint": {"key": "a b", "value": "c d", "effect": "Maybe"}},
    "no effect": {"taint": {"key": "a"}},
    "a bad selector": {
        "taint": {"key": "a", "effect": "NoSchedule"},
        "deviceSelector": {"driver": "Not_A_Driver", "pool": "a//b", "device": "G_0"},
    },
}


def _bad(noun: str, path: str, cases: dict[str, Object], make: Any) -> list[Step]:
    return [post(f"{noun} with {what}", path, make("bad", given)) for what, given in cases.items()]


def _rule(name: str, given: Object) -> Object:
    return of(GROUP, "DeviceTaintRule", name, spec=given)


RULES_SCRIPT = Script(
    "device-rules",
    [
        *_bad("a claim", CLAIMS, BAD_REQUESTS, lambda name, given: claim(name, given)),
        *_bad("a claim", CLAIMS, BAD_CLAIMS, lambda name, given: of(GROUP, "ResourceClaim", name, spec=given)),
        *_bad("a slice", SLICES, BAD_SLICES, lambda name, given: resource_slice(name, **given)),
        *_bad("a class", CLASSES, BAD_CLASSES, lambda name, given: device_class(name, **given)),
        *_bad("a rule", RULES, BAD_RULES, _rule),
        post("a template with a bad claim", TEMPLATES, of(GROUP, "ResourceClaimTemplate", "bad", spec={"spec": spec({"name": "r"})})),
        post(
            "a template with a bad label",
            TEMPLATES,
            of(GROUP, "ResourceClaimTemplate", "bad", spec={"metadata": {"labels": {"a": "b c"}}, "spec": spec()}),
        ),
        post("a template with a name", TEMPLATES, of(GROUP, "ResourceClaimTemplate", "bad", spec={"metadata": {"name": "x"}, "spec": spec()})),
        post("a claim with everything", CLAIMS, claim(
            "whole",
            exactly(
                selectors=cel('device.attributes["gpu.example.com"].model == "a100"', "device.capacity['gpu.example.com'].memory.compareTo(quantity('1Gi')) >= 0"),
                allocationMode="All",
                tolerations=[{"operator": "Exists"}, {"key": "a", "value": "b", "effect": "NoExecute", "operator": "Equal", "tolerationSeconds": 5}],
            ),
            {"name": "s", "firstAvailable": [
                {"name": "x", "deviceClassName": "gpu", "count": 2},
                {"name": "y", "deviceClassName": "gpu", "capacity": {"requests": {"memory": "2048Mi"}}},
            ]},
            constraints=[{"matchAttribute": "gpu.example.com/numa"}, {"distinctAttribute": "gpu.example.com/numa", "requests": ["s/x"]}],
            config=[{"opaque": opaque(), "requests": ["r"]}],
        )),
        post("a claim of count zero", CLAIMS, claim("zero", exactly(count=0))),
        post("a claim with a status", CLAIMS, {**claim("early"), "status": {"reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}]}}),
        post("a claim with a field of an alpha gate", CLAIMS, claim("alpha", exactly(derivedAttributes=[{"name": "a", "expression": "1"}]))),
        post("a claim with an unknown field", CLAIMS, claim("odd", exactly(colour="red")), query={"fieldValidation": "Strict"}),
        get("the whole claim", f"{CLAIMS}/whole"),
        patch("change the spec of a claim", f"{CLAIMS}/zero", {"spec": {"devices": {"constraints": [{"matchAttribute": "a.b/c"}]}}}),
        post("a template", TEMPLATES, of(GROUP, "ResourceClaimTemplate", "t", spec={"metadata": {"labels": {"a": "b"}}, "spec": spec()})),
        patch("change the spec of a template", f"{TEMPLATES}/t", {"spec": {"metadata": {"labels": {"a": "c"}}}}),
        table("templates", TEMPLATES),
        table("claims", CLAIMS),
        post("a slice with everything", SLICES, resource_slice(
            "parity-whole",
            devices=[
                device(
                    attributes={"numa": {"int": 0}, "ok": {"bool": False}, "a.b/model": {"string": ""}, "v": {"version": "1.2.3-rc.1+b"}},
                    capacity={"memory": {"value": "81920Mi"}},
                    taints=[{"key": "sick", "value": "yes", "effect": "NoSchedule", "timeAdded": "2026-01-15T08:00:00Z"}],
                    bindsToNode=True,
                    bindingConditions=["a.b/Ready"],
                    bindingFailureConditions=["a.b/Failed"],
                ),
                device("g1", consumesCounters=[{"counterSet": "c", "counters": {"memory": {"value": "40Gi"}}}], taints=[{"key": "a", "effect": "None"}]),
                device("g2", allowMultipleAllocations=True, capacity={"bw": {"value": "10", "requestPolicy": {"default": "1", "validRange": {"min": "1", "step": "2", "max": "9"}}}}),
                device("g3", attributes={"a": {"int": 1, "ints": [1]}}, nodeAllocatableResources={"cpu": {"overhead": {"perPod": "1"}}}),
            ],
        )),
        patch("move a slice", f"{SLICES}/parity-whole", {"spec": {"nodeName": "n2"}}),
        patch("another driver", f"{SLICES}/parity-whole", {"spec": {"driver": "other.example.com"}}),
        patch("another pool", f"{SLICES}/parity-whole", {"spec": {"pool": {"name": "n2"}}}),
        patch("another generation", f"{SLICES}/parity-whole", {"spec": {"pool": {"generation": 2}}}),
        post("counters", SLICES, resource_slice("parity-counters", devices=None, sharedCounters=[{"name": "c", "counters": {"memory": {"value": "80Gi"}}}])),
        get("slices of a node", SLICES, query={"fieldSelector": "spec.nodeName=n1"}),
        get("slices of a driver", SLICES, query={"fieldSelector": "spec.driver=other.example.com"}),
        get("slices of a pool", SLICES, query={"fieldSelector": "spec.pool.name=n1"}),
        get("claims by a field that is none", CLAIMS, query={"fieldSelector": "spec.nodeName=n1"}),
        table("slices", SLICES),
        post("a class with everything", CLASSES, device_class(
            "parity-whole", selectors=cel('device.driver == "gpu.example.com"'), config=[{"opaque": opaque()}], extendedResourceName="example.com/gpu"
        )),
        patch("change a class", f"{CLASSES}/parity-whole", {"spec": {"selectors": cel("true")}}),
        patch("change a class badly", f"{CLASSES}/parity-whole", {"spec": {"selectors": cel("1")}}),
        table("classes", f"{CLASSES}/parity-whole"),
        post("a rule of all devices", RULES, _rule("parity-whole", {"deviceSelector": {}, "taint": {"key": "a", "value": "b", "effect": "NoSchedule"}})),
        post("a rule of one", RULES, _rule("parity-one", {
            "deviceSelector": {"driver": DRIVER, "pool": "n1", "device": "g0"},
            "taint": {"key": "a", "effect": "NoExecute", "timeAdded": "2026-01-15T08:00:00Z"},
        })),
        patch("change a rule", f"{RULES}/parity-one", {"spec": {"taint": {"effect": "None"}}}),
        table("rules", RULES),
        *(quiet(delete(f"drop {path}/{name}", f"{path}/{name}")) for path, name in (
            (SLICES, "parity-whole"), (SLICES, "parity-counters"), (CLASSES, "parity-whole"), (RULES, "parity-whole"), (RULES, "parity-one"),
        )),
    ],
)  # fmt: skip

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
            patch("until that is known", STATUS, allocated(), user=NOBODY, query={"dryRun": "All"}, until=("kind", "ResourceClaim"))
        ),
        patch("allocate", STATUS, allocated(), user=NOBODY, keep_as="read"),
        put("replace without the right", STATUS, reserved(consumer(), consumer("q", "u2")), onto="read", user=NOBODY),
        patch("allocate another device", STATUS, allocated(results=[result(device="g1")])),
        patch("allocate at another time", STATUS, {"status": {"allocation": {"allocationTimestamp": "2026-01-15T09:00:00Z"}}}),
        table("it is reserved", ONE),
        put("reserve for another", STATUS, reserved(consumer(), consumer("q", "u2")), onto="read"),
        patch("reserve for one more strategically", STATUS, reserved(consumer("s", "u3")), "strategic"),
        patch("take a consumer away strategically", STATUS, {
            "metadata": {"uid": "${uid}"}, "status": {"reservedFor": [{"$patch": "delete", "uid": "u3"}]},
        }, "strategic"),
        patch("a group", STATUS, reserved(consumer(), {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "u4"})),
        patch("report of a device", STATUS, {"status": {"devices": [DEVICE_STATE]}}),
        patch("report of a device without the right", STATUS, {"status": {"devices": [{**DEVICE_STATE, "data": {"a": 2}}]}}, user=NOBODY),
        patch("report of another device", STATUS, {"status": {"devices": [{**DEVICE_STATE, "device": "g9"}]}}),
        patch("report of bad data", STATUS, {"status": {"devices": [{**DEVICE_STATE, "data": [1], "networkData": {"ips": ["x"]}}]}}),
        patch("the spec by the status path", STATUS, {"spec": {"devices": {"requests": []}}}),
        patch("the status by the main path", ONE, {"status": {"reservedFor": None}, "metadata": {"labels": {"a": "b"}}}),
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
        patch("allocate without a time", f"{CLAIMS}/two/status", allocated(allocationTimestamp=None, nodeSelector=None), keep_as="bare"),
        patch("a time later", f"{CLAIMS}/two/status", {"status": {"allocation": {"allocationTimestamp": "2026-01-15T08:00:00Z"}}}),
        delete("delete by trial", f"{CLAIMS}/two", {"dryRun": ["All"]}),
        quiet(delete("drop the binding", f"{RBAC}/clusterrolebindings/parity-claims")),
        quiet(delete("drop the role", f"{RBAC}/clusterroles/parity-claims")),
    ],
)  # fmt: skip

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
        patch("its claim", f"{PODS}/one/status", {"status": {"resourceClaimStatuses": [{"name": "a", "resourceClaimName": "one-a-x"}]}}, "strategic"),
        patch("its other claim", f"{PODS}/one/status", {"status": {"resourceClaimStatuses": [{"name": "b"}]}}, "strategic"),
        patch("a claim that it has not", f"{PODS}/one/status", {"status": {"resourceClaimStatuses": [{"name": "z"}]}}, "strategic"),
        patch("a claim of a bad name", f"{PODS}/one/status", {"status": {"resourceClaimStatuses": [{"name": "a", "resourceClaimName": "A_"}]}}, "strategic"),
        patch("no claim any more", f"{PODS}/one/status", {"status": {"resourceClaimStatuses": None}}),
        patch("a claim for resources", f"{PODS}/one/status", {
            "status": {"extendedResourceClaimStatus": {"resourceClaimName": "one-x", "requestMappings": [MAPPING]}},
        }),
        patch("a claim for other resources", f"{PODS}/one/status", {
            "status": {"extendedResourceClaimStatus": {"resourceClaimName": "", "requestMappings": [{**MAPPING, "containerName": "d"}, {**MAPPING, "resourceName": "z"}]}},
        }),
        patch("a claim for no resources", f"{PODS}/one/status", {
            "status": {"extendedResourceClaimStatus": {"resourceClaimName": "X_", "requestMappings": []}},
        }),
        quiet(delete("drop it", f"{PODS}/one", {"gracePeriodSeconds": 0})),
    ],
)  # fmt: skip

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
        Kind(TEMPLATES, of(GROUP, "ResourceClaimTemplate", "", spec={"spec": spec()}), {"metadata": {"annotations": {"a": "b"}}}),
        Kind(
            RULES,
            _rule("", {"deviceSelector": {}, "taint": {"key": "a", "effect": "NoSchedule", "timeAdded": "2026-01-15T08:00:00Z"}}),
            {"spec": {"taint": {"value": "x"}}},
            status={"status": {"conditions": DEVICE_STATE["conditions"]}},
        ),
    ),
)  # fmt: skip
SCRIPTS = [RULES_SCRIPT, STATUS_SCRIPT, PODS_SCRIPT, LIVES]
