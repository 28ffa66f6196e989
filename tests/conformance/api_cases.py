"""The validation table of Workload and PodGroup, as upstream has it: one list for both group APIs.

`words` is what the built-in API says. Where our CRDs say or do something else, the case carries it, with the reason in
`docs/api-differences.md`.
"""

from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]
LONG = "a" * 254
IMMUTABLE = "field is immutable"
NAME = "a lowercase RFC 1123 subdomain must consist of"
LABEL = "a lowercase RFC 1123 label must consist of"


@dataclass(frozen=True, slots=True)
class Case:
    """What is sent, and the answer.

    Attributes:
        number: of the upstream scenario.
        kind: plural of the object.
        spec: what is created; with `change`, what is there before.
        change: a merge patch of the spec that is sent afterwards; the answer to it counts.
        words: part of the refusal, "" when the object is taken.
        field: the field the refusal names.
        own_words: what our CRDs say instead of `words`.
        own_field: what our CRDs name instead of `field`.
        code: the HTTP status of the refusal.
        own_code: the status our CRDs answer with instead.
    """

    number: int
    kind: str
    spec: Object
    words: str = ""
    field: str = ""
    change: Object | None = None
    own_words: str | None = None
    own_field: str | None = None
    code: int = 422
    own_code: int | None = None

    def __str__(self) -> str:
        subject = str(self.change if self.change is not None else self.spec).replace(LONG, "LONG")
        return f"{self.number} {self.kind} {subject[:70]}"


def group(**fields: Any) -> Object:
    """A PodGroup's spec: a gang of two."""
    return {"schedulingPolicy": {"gang": {"minCount": 2}}, **fields}


def policy(**fields: Any) -> Object:
    """A spec with just this policy."""
    return {"schedulingPolicy": fields}


def topology(*keys: str) -> Object:
    """A PodGroup's spec with topology constraints."""
    return group(schedulingConstraints={"topology": [{"key": key} for key in keys]})


def reference(workload: str = "w", template: str = "t") -> Object:
    """A PodGroup's spec with a reference to a Workload."""
    return group(workloadRef={"workloadName": workload, "templateName": template})


def claims(*names: str, **fields: Any) -> Object:
    """A PodGroup's spec with resource claims."""
    return group(resourceClaims=[{"name": name, **(fields or {"resourceClaimName": "c"})} for name in names])


def template(name: str = "t", **fields: Any) -> Object:
    """A template of a Workload."""
    return {"name": name, "schedulingPolicy": {"gang": {"minCount": 2}}, **fields}


def load(*templates: Object, **fields: Any) -> Object:
    """A Workload's spec."""
    return {"podGroupTemplates": list(templates), **fields}


def controller(**fields: str) -> Object:
    """A Workload's spec with a controller reference."""
    return load(template(), controllerRef={"apiGroup": "batch", "kind": "Job", "name": "j", **fields})


def _groups(number: int, *cases: tuple[Any, ...], **same: Any) -> list[Case]:
    return [Case(number, "podgroups", *case, **same) for case in cases]


def _loads(number: int, *cases: tuple[Any, ...], **same: Any) -> list[Case]:
    return [Case(number, "workloads", *case, **same) for case in cases]


MIN_COUNT = "spec.schedulingPolicy.gang.minCount"
POLICY = "spec.schedulingPolicy"
TEMPLATES = "spec.podGroupTemplates"
FIRST = f"{TEMPLATES}[0]"
KEY = "spec.schedulingConstraints.topology[0].key"
REQUIRED = "Required value"
EMPTY = {"own_words": "should be at least 1 chars long"}
ONE_POLICY = "must specify one of: `basic`, `gang`"
BOTH_POLICIES = "must specify exactly one of: `basic`, `gang`"

CREATED: list[Case] = [
    *_groups(88, (group(),), (policy(basic={}),), (policy(gang={"minCount": 1}),)),
    *_groups(88, (policy(gang={}), REQUIRED, MIN_COUNT)),
    *_groups(88, (policy(gang={"minCount": 0}), REQUIRED, MIN_COUNT), own_words="should be greater than or equal to 1"),
    *_groups(
        88,
        (policy(gang={"minCount": -1}), "must be greater than or equal to 1", MIN_COUNT),
        own_words="should be greater than or equal to 1",
    ),
    *_groups(
        88, (policy(gang={"minCount": "3"}), "cannot unmarshal string", ""), code=400, own_code=422, own_words="integer"
    ),
    *_groups(89, (policy(), ONE_POLICY, POLICY), (policy(basic={}, gang={"minCount": 1}), BOTH_POLICIES, POLICY)),
    *_groups(89, ({}, ONE_POLICY, POLICY), own_words=REQUIRED),
    *_loads(90, (load(*(template(f"t{number}") for number in range(8))),), (load(template(), template("u")),)),
    *_loads(90, (load(*(template(f"t{n}") for n in range(9))), "Too many: 9: must have at most 8 items", TEMPLATES)),
    *_loads(
        90,
        ({}, "must specify one of: `podGroupTemplates`, `compositePodGroupTemplates`", "spec"),
        own_words=REQUIRED,
        own_field=TEMPLATES,
    ),
    *_loads(
        90,
        (load(), "must specify one of: `podGroupTemplates`, `compositePodGroupTemplates`", "spec"),
        own_words="should have at least 1 items",
        own_field=TEMPLATES,
    ),
    *_loads(90, (load(template(), template()), "Duplicate value", f"{TEMPLATES}[1]")),
    *_loads(90, (load(template("")), REQUIRED, f"{FIRST}.name"), **EMPTY),
    *_loads(90, (load(template("A")), LABEL, f"{FIRST}.name"), (load(template("a.b")), "must not contain dots", FIRST)),
    *_loads(
        90,
        (load(template("a" * 64)), "must be no more than 63 bytes", f"{FIRST}.name"),
        own_words="may not be more than 63 bytes",
    ),
    *_loads(
        90,
        (load(template(priority=0), template("u")), "detected multiple priority configurations", "spec"),
        (load(template(priorityClassName="x"), template("u")), "detected multiple priority configurations", "spec"),
    ),
    *_loads(91, (controller(),), (controller(apiGroup=""),), (controller(name="..."),), (load(template()),)),
    *_loads(91, (controller(kind=""), REQUIRED, "spec.controllerRef.kind"), **EMPTY),
    *_loads(91, (controller(name=""), REQUIRED, "spec.controllerRef.name"), **EMPTY),
    *_loads(
        91,
        (controller(kind="a/b"), "may not contain '/'", "spec.controllerRef.kind"),
        (controller(name="a%b"), "may not contain '%'", "spec.controllerRef.name"),
        (controller(kind=".."), "may not be '..'", "spec.controllerRef.kind"),
        (controller(apiGroup="A_"), NAME, "spec.controllerRef.apiGroup"),
    ),
    *_groups(92, (topology("topology.kubernetes.io/zone"),), (topology("a" * 253 + "/" + "b" * 63),)),
    *_groups(92, (group(schedulingConstraints={}),)),
    *_groups(92, (topology(""), REQUIRED, KEY), **EMPTY),
    *_groups(92, (topology("a/b/c"), "a valid label key must consist of", KEY), own_words="name part must consist of"),
    *_groups(92, (topology("b" * 64), "name part must be no more than 63", KEY), own_words="name part must consist of"),
    *_groups(92, (topology("a", "b"), "Too many: 2: must have at most 1 item", "spec.schedulingConstraints.topology")),
    *_groups(
        93,
        (group(disruptionMode={}), "must specify one of: `single`, `all`", "spec.disruptionMode"),
        (group(disruptionMode={"all": {}, "single": {}}), "must specify exactly one of", "spec.disruptionMode"),
    ),
    *_groups(93, (group(disruptionMode={"all": {}}),), (policy(basic={}) | {"disruptionMode": {"all": {}}},)),
    *_loads(94, (load(template(priority=-5)),), (load(template(priority=1_000_000_000)),)),
    *_loads(
        94,
        (load(template(priority=1_000_000_001)), "must be less than or equal to 1000000000", f"{FIRST}.priority"),
        own_words="should be less than or equal to 1000000000",
    ),
    *_loads(94, (load(template(priorityClassName="high/priority")), NAME, f"{FIRST}.priorityClassName")),
    *_groups(95, (claims("a", "b"),)),
    *_groups(
        95,
        (claims("a", "a"), "Duplicate value", "spec.resourceClaims[1]"),
        (claims(*"abcde"), "Too many: 5: must have at most 4 items", "spec.resourceClaims"),
        (claims("a", other="x"), "must specify one of: `resourceClaimName`", "spec.resourceClaims[0]"),
        (
            claims("a", resourceClaimName="x", resourceClaimTemplateName="y"),
            "must specify exactly one of: `resourceClaimName`",
            "spec.resourceClaims[0]",
        ),
        (claims("A"), LABEL, "spec.resourceClaims[0].name"),
        (claims("a", resourceClaimName="A_"), NAME, "spec.resourceClaims[0].resourceClaimName"),
    ),
    *_groups(96, (reference("a.b"),)),
    *_groups(
        96,
        (reference(workload=""), REQUIRED, "spec.workloadRef.workloadName"),
        (reference(template=""), REQUIRED, "spec.workloadRef.templateName"),
        **EMPTY,
    ),
    *_groups(
        96,
        (reference(workload=LONG), "must be no more than 253 bytes", "spec.workloadRef.workloadName"),
        own_words="may not be more than 253",
    ),
    *_groups(
        96,
        (reference(workload="A_"), NAME, "spec.workloadRef.workloadName"),
        (reference(template="temp/late"), LABEL, "spec.workloadRef.templateName"),
    ),
]

FULL = group(
    workloadRef={"workloadName": "w", "templateName": "t"},
    schedulingConstraints={"topology": [{"key": "zone"}]},
    resourceClaims=[{"name": "a", "resourceClaimName": "c"}],
    disruptionMode={"all": {}},
)
CHANGES: Object = {
    "workloadRef": {"workloadName": "other"},
    "schedulingConstraints": {"topology": [{"key": "rack"}]},
    "resourceClaims": [{"name": "b", "resourceClaimName": "c"}],
    "disruptionMode": {"all": None, "single": {}},
}
TWO = load(template("a"), template("b"))

CHANGED: list[Case] = [
    *_groups(88, (group(), "", "", policy(gang={"minCount": 5}))),
    *_loads(88, (load(template()), "", "", load(template(schedulingPolicy={"gang": {"minCount": 5}})))),
    *_groups(
        89,
        (group(), "field cannot be cleared once set", f"{POLICY}.gang", policy(gang=None, basic={})),
        (
            policy(basic={}),
            "field cannot be set once created",
            f"{POLICY}.gang",
            policy(basic=None, gang={"minCount": 1}),
        ),
    ),
    *_loads(
        90,
        (TWO, "item may not be added", TEMPLATES, load(template("a"), template("b"), template("c"))),
        (TWO, "item may not be removed", TEMPLATES, load(template("a"))),
        (TWO, "", "", load(template("b"), template("a"))),
    ),
    *_loads(
        91,
        (controller(), IMMUTABLE, "spec.controllerRef", {"controllerRef": {"name": "k"}}),
        (controller(), IMMUTABLE, "spec.controllerRef", {"controllerRef": None}),
        (load(template()), IMMUTABLE, "spec.controllerRef", {"controllerRef": {"kind": "Job", "name": "j"}}),
    ),
    *[Case(93, "podgroups", FULL, IMMUTABLE, f"spec.{name}", {name: to}) for name, to in CHANGES.items()],
    *[
        Case(93, "podgroups", FULL, IMMUTABLE, f"spec.{name}", {name: None})
        for name in CHANGES
        if name != "disruptionMode"
    ],
    *[
        Case(96, "podgroups", policy(basic={}), IMMUTABLE, f"spec.{name}", {name: FULL[name]})
        for name in CHANGES
        if name != "disruptionMode"
    ],
]
