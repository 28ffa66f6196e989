"""Devices: what is wrong with classes, slices, claims, templates and taint rules, and what they are given."""

from typing import Any

from tests.parity.scripts.devices import (
    CLAIMS,
    CLASSES,
    DRIVER,
    GROUP,
    LONG,
    RULES,
    SLICES,
    TEMPLATES,
    cel,
    claim,
    device,
    device_class,
    exactly,
    first,
    opaque,
    resource_slice,
    shared,
    spec,
    taint_rule,
    with_device,
)
from tests.parity.scripts.objects import Object, of
from tests.parity.steps import Script, Step, delete, get, patch, post, quiet, table

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
        "nodeSelector": {
            "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}] * 2
        },
    },
    "a selector of no nodes": {"nodeName": None, "nodeSelector": {"nodeSelectorTerms": []}},
    "devices and counters": {"sharedCounters": [{"name": "c", "counters": {"m": {"value": "1"}}}]},
    "devices of one name": {"devices": [device(), device()]},
    "many devices": {"devices": [device(f"g{index}") for index in range(129)]},
    "many tainted devices": {
        "devices": [device(f"g{index}", taints=[{"key": "a", "effect": "NoSchedule"}]) for index in range(65)]
    },
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


RULES_SCRIPT = Script(
    "device-rules",
    [
        *_bad("a claim", CLAIMS, BAD_REQUESTS, claim),
        *_bad("a claim", CLAIMS, BAD_CLAIMS, lambda name, given: of(GROUP, "ResourceClaim", name, spec=given)),
        *_bad("a slice", SLICES, BAD_SLICES, lambda name, given: resource_slice(name, **given)),
        *_bad("a class", CLASSES, BAD_CLASSES, lambda name, given: device_class(name, **given)),
        *_bad("a rule", RULES, BAD_RULES, taint_rule),
        post(
            "a template with a bad claim",
            TEMPLATES,
            of(GROUP, "ResourceClaimTemplate", "bad", spec={"spec": spec({"name": "r"})}),
        ),
        post(
            "a template with a bad label",
            TEMPLATES,
            of(GROUP, "ResourceClaimTemplate", "bad", spec={"metadata": {"labels": {"a": "b c"}}, "spec": spec()}),
        ),
        post(
            "a template with a name",
            TEMPLATES,
            of(GROUP, "ResourceClaimTemplate", "bad", spec={"metadata": {"name": "x"}, "spec": spec()}),
        ),
        post(
            "a claim with everything",
            CLAIMS,
            claim(
                "whole",
                exactly(
                    selectors=cel(
                        'device.attributes["gpu.example.com"].model == "a100"',
                        "device.capacity['gpu.example.com'].memory.compareTo(quantity('1Gi')) >= 0",
                    ),
                    allocationMode="All",
                    tolerations=[
                        {"operator": "Exists"},
                        {"key": "a", "value": "b", "effect": "NoExecute", "operator": "Equal", "tolerationSeconds": 5},
                    ],
                ),
                {
                    "name": "s",
                    "firstAvailable": [
                        {"name": "x", "deviceClassName": "gpu", "count": 2},
                        {"name": "y", "deviceClassName": "gpu", "capacity": {"requests": {"memory": "2048Mi"}}},
                    ],
                },
                constraints=[
                    {"matchAttribute": "gpu.example.com/numa"},
                    {"distinctAttribute": "gpu.example.com/numa", "requests": ["s/x"]},
                ],
                config=[{"opaque": opaque(), "requests": ["r"]}],
            ),
        ),
        post("a claim of count zero", CLAIMS, claim("zero", exactly(count=0))),
        post(
            "a claim with a status",
            CLAIMS,
            {**claim("early"), "status": {"reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}]}},
        ),
        post(
            "a claim with a field of an alpha gate",
            CLAIMS,
            claim("alpha", exactly(derivedAttributes=[{"name": "a", "expression": "1"}])),
        ),
        post(
            "a claim with an unknown field",
            CLAIMS,
            claim("odd", exactly(colour="red")),
            query={"fieldValidation": "Strict"},
        ),
        get("the whole claim", f"{CLAIMS}/whole"),
        patch(
            "change the spec of a claim",
            f"{CLAIMS}/zero",
            {"spec": {"devices": {"constraints": [{"matchAttribute": "a.b/c"}]}}},
        ),
        post(
            "a template",
            TEMPLATES,
            of(GROUP, "ResourceClaimTemplate", "t", spec={"metadata": {"labels": {"a": "b"}}, "spec": spec()}),
        ),
        patch("change the spec of a template", f"{TEMPLATES}/t", {"spec": {"metadata": {"labels": {"a": "c"}}}}),
        table("templates", TEMPLATES),
        table("claims", CLAIMS),
        post(
            "a slice with everything",
            SLICES,
            resource_slice(
                "parity-whole",
                devices=[
                    device(
                        attributes={
                            "numa": {"int": 0},
                            "ok": {"bool": False},
                            "a.b/model": {"string": ""},
                            "v": {"version": "1.2.3-rc.1+b"},
                        },
                        capacity={"memory": {"value": "81920Mi"}},
                        taints=[
                            {"key": "sick", "value": "yes", "effect": "NoSchedule", "timeAdded": "2026-01-15T08:00:00Z"}
                        ],
                        bindsToNode=True,
                        bindingConditions=["a.b/Ready"],
                        bindingFailureConditions=["a.b/Failed"],
                    ),
                    device(
                        "g1",
                        consumesCounters=[{"counterSet": "c", "counters": {"memory": {"value": "40Gi"}}}],
                        taints=[{"key": "a", "effect": "None"}],
                    ),
                    device(
                        "g2",
                        allowMultipleAllocations=True,
                        capacity={
                            "bw": {
                                "value": "10",
                                "requestPolicy": {"default": "1", "validRange": {"min": "1", "step": "2", "max": "9"}},
                            }
                        },
                    ),
                    device(
                        "g3",
                        attributes={"a": {"int": 1, "ints": [1]}},
                        nodeAllocatableResources={"cpu": {"overhead": {"perPod": "1"}}},
                    ),
                ],
            ),
        ),
        patch("move a slice", f"{SLICES}/parity-whole", {"spec": {"nodeName": "n2"}}),
        patch("another driver", f"{SLICES}/parity-whole", {"spec": {"driver": "other.example.com"}}),
        patch("another pool", f"{SLICES}/parity-whole", {"spec": {"pool": {"name": "n2"}}}),
        patch("another generation", f"{SLICES}/parity-whole", {"spec": {"pool": {"generation": 2}}}),
        post(
            "counters",
            SLICES,
            resource_slice(
                "parity-counters",
                devices=None,
                sharedCounters=[{"name": "c", "counters": {"memory": {"value": "80Gi"}}}],
            ),
        ),
        get("slices of a node", SLICES, query={"fieldSelector": "spec.nodeName=n1"}),
        get("slices of a driver", SLICES, query={"fieldSelector": "spec.driver=other.example.com"}),
        get("slices of a pool", SLICES, query={"fieldSelector": "spec.pool.name=n1"}),
        get("claims by a field that is none", CLAIMS, query={"fieldSelector": "spec.nodeName=n1"}),
        table("slices", SLICES),
        post(
            "a class with everything",
            CLASSES,
            device_class(
                "parity-whole",
                selectors=cel('device.driver == "gpu.example.com"'),
                config=[{"opaque": opaque()}],
                extendedResourceName="example.com/gpu",
            ),
        ),
        patch("change a class", f"{CLASSES}/parity-whole", {"spec": {"selectors": cel("true")}}),
        patch("change a class badly", f"{CLASSES}/parity-whole", {"spec": {"selectors": cel("1")}}),
        table("classes", f"{CLASSES}/parity-whole"),
        post(
            "a rule of all devices",
            RULES,
            taint_rule(
                "parity-whole", {"deviceSelector": {}, "taint": {"key": "a", "value": "b", "effect": "NoSchedule"}}
            ),
        ),
        post(
            "a rule of one",
            RULES,
            taint_rule(
                "parity-one",
                {
                    "deviceSelector": {"driver": DRIVER, "pool": "n1", "device": "g0"},
                    "taint": {"key": "a", "effect": "NoExecute", "timeAdded": "2026-01-15T08:00:00Z"},
                },
            ),
        ),
        patch("change a rule", f"{RULES}/parity-one", {"spec": {"taint": {"effect": "None"}}}),
        table("rules", RULES),
        *(
            quiet(delete(f"drop {path}/{name}", f"{path}/{name}"))
            for path, name in (
                (SLICES, "parity-whole"),
                (SLICES, "parity-counters"),
                (CLASSES, "parity-whole"),
                (RULES, "parity-whole"),
                (RULES, "parity-one"),
            )
        ),
    ],
)

SCRIPTS = [RULES_SCRIPT]
