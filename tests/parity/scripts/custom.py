"""Custom resources: our own PodGroup and Workload, and a definition made on the spot."""

from tests.parity.scripts.objects import Object, condition, days_ago, group
from tests.parity.steps import Script, delete, get, patch, post, put, quiet, table, watch

GROUPS = "/apis/tutti.scheduler/v1beta1/namespaces/{ns}/podgroups"
ONE = f"{GROUPS}/one"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
TOYS = "/apis/toys.example.org/v1/namespaces/{ns}/toys"


def columns(*described: tuple[str, str, str]) -> list[Object]:
    """Printer columns."""
    return [{"name": name, "type": kind, "jsonPath": path} for name, kind, path in described]


SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "minimum": 1, "maximum": 10},
                "color": {"type": "string", "enum": ["red", "blue"], "default": "red"},
                "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
                "when": {"type": "string", "format": "date-time"},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "either": {"x-kubernetes-int-or-string": True},
                "word": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5},
            },
            "x-kubernetes-validations": [
                {"rule": "self.size != 7", "message": "seven is not allowed"},
                {"rule": "self.size >= oldSelf.size", "message": "toys only grow"},
            ],
        },
        "status": {
            "type": "object",
            "properties": {
                "conditions": {
                    "type": "array",
                    "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                },
                "replicas": {"type": "integer"},
            },
        },
    },
}
DEFINITION: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "toys.toys.example.org"},
    "spec": {
        "group": "toys.example.org",
        "scope": "Namespaced",
        "names": {"kind": "Toy", "plural": "toys", "singular": "toy", "shortNames": ["ty"], "categories": ["all"]},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": SCHEMA},
                "subresources": {
                    "status": {},
                    "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.replicas"},
                },
                "additionalPrinterColumns": columns(
                    ("Size", "integer", ".spec.size"),
                    ("Color", "string", ".spec.color"),
                    ("Ready", "string", '.status.conditions[?(@.type=="Ready")].status'),
                    ("Why", "string", ".status.conditions[?(@.type=='Ready')].reason"),
                    ("Tags", "string", ".spec.tags"),
                    ("First", "string", ".spec.tags[0]"),
                    ("All", "string", ".spec.tags[*]"),
                    ("Free", "string", ".spec.free"),
                    ("Number", "number", ".spec.free.number"),
                    ("Flag", "boolean", ".spec.free.flag"),
                    ("Wrong", "integer", ".spec.color"),
                    ("When", "date", ".spec.when"),
                    ("Label", "string", r".metadata.labels.example\.org/l"),
                ),
            },
            {
                "name": "v1alpha1",
                "served": True,
                "storage": False,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            },
        ],
    },
}


def toy(name: str, *, labels: Object | None = None, **spec: object) -> Object:
    """A toy."""
    metadata = {"name": name, **({"labels": labels} if labels else {})}
    return {"apiVersion": "toys.example.org/v1", "kind": "Toy", "metadata": metadata, "spec": spec}


OWN = Script(
    "groups",
    [
        post("create", GROUPS, group("one"), keep={"version": "metadata.resourceVersion"}),
        post("create without a policy", GROUPS, {**group("bad"), "spec": {}}),
        post(
            "create with both policies", GROUPS, group("bad", schedulingPolicy={"gang": {"minCount": 2}, "basic": {}})
        ),
        post("create with a count of zero", GROUPS, group("bad", schedulingPolicy={"gang": {"minCount": 0}})),
        post(
            "create with a count that is no number",
            GROUPS,
            group("bad", schedulingPolicy={"gang": {"minCount": "two"}}),
        ),
        post("create with an unknown field", GROUPS, group("odd", unknown=1), query={"fieldValidation": "Strict"}),
        post(
            "create with an unknown field, warned", GROUPS, group("odd", unknown=1), query={"fieldValidation": "Warn"}
        ),
        table("as a table", ONE),
        patch("change the count", ONE, {"spec": {"schedulingPolicy": {"gang": {"minCount": 3}}}}),
        patch("change the policy", ONE, {"spec": {"schedulingPolicy": {"gang": None, "basic": {}}}}),
        patch("change the priority", ONE, {"spec": {"priorityClassName": "x"}}),
        patch("strategically", ONE, {"spec": {}}, "strategic"),
        patch(
            "report",
            f"{ONE}/status",
            {
                "status": {
                    "conditions": [
                        condition("PodGroupInitiallyScheduled", "False", reason="Unschedulable", message="No room.")
                    ]
                }
            },
        ),
        patch(
            "report badly",
            f"{ONE}/status",
            {
                "status": {
                    "conditions": [
                        condition("PodGroupInitiallyScheduled", "Perhaps", reason="Unschedulable", message="No room.")
                    ]
                }
            },
        ),
        patch("the status path leaves the rest alone", f"{ONE}/status", {"spec": {"priority": 3}}),
        patch("the main path leaves the status alone", ONE, {"status": None}),
        table("reported, as a table", ONE),
        put(
            "replace with a stale version",
            ONE,
            {**group("one"), "metadata": {"name": "one", "resourceVersion": "${version}"}},
        ),
        put("replace with no version", ONE, group("one", schedulingPolicy={"gang": {"minCount": 4}})),
        watch(
            "watch rows",
            GROUPS,
            query={"resourceVersion": "${version}"},
            accept="application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
        ),
        delete("delete", ONE),
        get("it is gone", ONE),
    ],
)

DEFINED = Script(
    "custom",
    [
        post("define", DEFINITIONS, DEFINITION),
        quiet(get("wait for it", f"{DEFINITIONS}/toys.toys.example.org", until=("status.conditions.1.status", "True"))),
        quiet(get("wait until it is served", TOYS, until=("kind", "ToyList"))),
        get("the definition", f"{DEFINITIONS}/toys.toys.example.org"),
        table("the definition as a table", f"{DEFINITIONS}/toys.toys.example.org"),
        get("discovery", "/apis/toys.example.org/v1"),
        get("the group", "/apis/toys.example.org"),
        post("define a second time", DEFINITIONS, DEFINITION),
        post("define under a wrong name", DEFINITIONS, {**DEFINITION, "metadata": {"name": "wrong.example.org"}}),
        post(
            "define without a schema",
            DEFINITIONS,
            {
                **DEFINITION,
                "metadata": {"name": "bads.toys.example.org"},
                "spec": {
                    **DEFINITION["spec"],
                    "names": {"kind": "Bad", "plural": "bads"},
                    "versions": [{"name": "v1", "served": True, "storage": True}],
                },
            },
        ),
        post(
            "define without a stored version",
            DEFINITIONS,
            {
                **DEFINITION,
                "metadata": {"name": "bads.toys.example.org"},
                "spec": {
                    **DEFINITION["spec"],
                    "names": {"kind": "Bad", "plural": "bads"},
                    "versions": [
                        {
                            "name": "v1",
                            "served": True,
                            "storage": False,
                            "schema": {"openAPIV3Schema": {"type": "object"}},
                        }
                    ],
                },
            },
        ),
        post(
            "create",
            TOYS,
            toy(
                "one",
                labels={"example.org/l": "marked"},
                size=3,
                tags=["a", "b"],
                free={"x": {"y": 1}, "number": 1.5, "flag": True},
                when=days_ago(310),
                either="5%",
            ),
        ),
        post("create the least", TOYS, toy("least", size=1)),
        post("create too small", TOYS, toy("bad", size=0)),
        post("create of the wrong type", TOYS, toy("bad", size="big")),
        post("create of an unknown color", TOYS, toy("bad", size=1, color="green")),
        post("create without a size", TOYS, toy("bad")),
        post("create with many tags", TOYS, toy("bad", size=1, tags=["a", "b", "c"])),
        post("create against a rule", TOYS, toy("bad", size=7)),
        post("create with a bad time", TOYS, toy("bad", size=1, when="soon")),
        post("create with a bad pattern", TOYS, toy("bad", size=1, word="ABCDEFG")),
        post("create with many faults", TOYS, toy("bad", size=11, color="green", tags="x", either=1.5)),
        table("as a table", TOYS),
        get("in the other version", "/apis/toys.example.org/v1alpha1/namespaces/{ns}/toys/one"),
        table("in the other version as a table", "/apis/toys.example.org/v1alpha1/namespaces/{ns}/toys"),
        patch("shrink", f"{TOYS}/one", {"spec": {"size": 2}}),
        patch("grow", f"{TOYS}/one", {"spec": {"size": 4}}),
        patch("by a JSON patch", f"{TOYS}/one", [{"op": "replace", "path": "/spec/color", "value": "blue"}], "json"),
        get("scale", f"{TOYS}/one/scale"),
        patch("set the scale", f"{TOYS}/one/scale", {"spec": {"replicas": 5}}),
        patch(
            "report",
            f"{TOYS}/one/status",
            {"status": {"replicas": 1, "conditions": [{"type": "Ready", "status": "True", "reason": "Done"}]}},
        ),
        table("reported, as a table", f"{TOYS}/one"),
        delete("delete all", TOYS),
        delete("undefine", f"{DEFINITIONS}/toys.toys.example.org"),
        get("it is served no more", TOYS, until=("code", 404)),
    ],
)

SCRIPTS = [OWN, DEFINED]
