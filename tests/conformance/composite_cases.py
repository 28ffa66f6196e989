"""The validation table of CompositePodGroup, as Kubernetes 1.37 has it: one list for the built-in kind and our CRD."""

from typing import Any

from tests.conformance.api_cases import (
    BOTH_POLICIES,
    EMPTY,
    IMMUTABLE,
    KEY,
    LABEL,
    LONG,
    NAME,
    ONE_POLICY,
    POLICY,
    REQUIRED,
    Case,
    Object,
)

KIND = "compositepodgroups"
MIN_GROUP_COUNT = "spec.schedulingPolicy.gang.minGroupCount"
PARENT = "spec.parentCompositePodGroupName"
REF: Object = {"workloadName": "w", "templateName": "t"}


def tree(**fields: Any) -> Object:
    """A CompositePodGroup's spec: two of its children start together."""
    return {"workloadRef": REF, "schedulingPolicy": {"gang": {"minGroupCount": 2}}, **fields}


def policy(**fields: Any) -> Object:
    """A spec with just this policy."""
    return tree(schedulingPolicy=fields)


def topology(*keys: str) -> Object:
    """A spec with topology constraints."""
    return tree(schedulingConstraints={"topology": [{"key": key} for key in keys]})


def child(parent: str, **fields: Any) -> Object:
    """A PodGroup's spec with a parent."""
    spec = {"workloadRef": REF, "schedulingPolicy": {"basic": {}}, "parentCompositePodGroupName": parent, **fields}
    return {name: value for name, value in spec.items() if value is not None}


def _children(number: int, *cases: tuple[Any, ...]) -> list[Case]:
    return [Case(number, "podgroups", *case) for case in cases]


def _trees(number: int, *cases: tuple[Any, ...], **same: Any) -> list[Case]:
    return [Case(number, KIND, *case, **same) for case in cases]


CREATED: list[Case] = [
    *_trees(88, (tree(),), (policy(basic={}),), (policy(gang={"minGroupCount": 1}),)),
    *_trees(88, (policy(gang={}), REQUIRED, MIN_GROUP_COUNT)),
    *_trees(
        88,
        (policy(gang={"minGroupCount": 0}), REQUIRED, MIN_GROUP_COUNT),
        own_words="should be greater than or equal to 1",
    ),
    *_trees(
        88,
        (policy(gang={"minGroupCount": -1}), "must be greater than or equal to 1", MIN_GROUP_COUNT),
        own_words="should be greater than or equal to 1",
    ),
    *_trees(
        88,
        (policy(gang={"minGroupCount": "3"}), "cannot unmarshal string", ""),
        code=400,
        own_code=422,
        own_words="integer",
    ),
    *_trees(
        89,
        (policy(), ONE_POLICY, POLICY),
        (policy(basic={}, gang={"minGroupCount": 1}), BOTH_POLICIES, POLICY),
    ),
    *_trees(89, ({"workloadRef": REF}, ONE_POLICY, POLICY), own_words=REQUIRED),
    *_trees(92, (topology("topology.kubernetes.io/zone"),), (topology("a" * 253 + "/" + "b" * 63),)),
    *_trees(92, (tree(schedulingConstraints={}),)),
    *_trees(92, (topology(""), REQUIRED, KEY), **EMPTY),
    *_trees(92, (topology("a/b/c"), "a valid label key must consist of", KEY), own_words="name part must consist of"),
    *_trees(92, (topology("b" * 64), "name part must be no more than 63", KEY), own_words="name part must consist of"),
    *_trees(92, (topology("a", "b"), "Too many: 2: must have at most 1 item", "spec.schedulingConstraints.topology")),
    *_trees(
        93,
        (tree(disruptionMode={}), "must specify one of: `single`, `all`", "spec.disruptionMode"),
        (tree(disruptionMode={"all": {}, "single": {}}), "must specify exactly one of", "spec.disruptionMode"),
    ),
    *_trees(93, (tree(disruptionMode={"all": {}}),), (policy(basic={}) | {"disruptionMode": {"all": {}}},)),
    *_trees(
        94,
        (tree(priorityClassName="high/priority"), "no PriorityClass with name", ""),
        code=403,
        own_words=NAME,
        own_code=422,
    ),
    *_trees(96, (tree(workloadRef={**REF, "workloadName": "a.b"}),)),
    *_trees(96, ({"schedulingPolicy": {"basic": {}}}, REQUIRED, "spec.workloadRef")),
    *_trees(
        96,
        (tree(workloadRef={**REF, "workloadName": ""}), REQUIRED, "spec.workloadRef.workloadName"),
        (tree(workloadRef={**REF, "templateName": ""}), REQUIRED, "spec.workloadRef.templateName"),
        **EMPTY,
    ),
    *_trees(
        96,
        (tree(workloadRef={**REF, "workloadName": LONG}), "must be no more than 253", "spec.workloadRef.workloadName"),
        own_words="may not be more than 253",
    ),
    *_trees(
        96,
        (tree(workloadRef={**REF, "workloadName": "A_"}), NAME, "spec.workloadRef.workloadName"),
        (tree(workloadRef={**REF, "templateName": "temp/late"}), LABEL, "spec.workloadRef.templateName"),
        (tree(workloadRef={**REF, "templateName": "a.b"}), "must not contain dots", "spec.workloadRef.templateName"),
    ),
    *_trees(97, (tree(parentCompositePodGroupName="nobody"),), (tree(parentCompositePodGroupName="a.b"),)),
    *_trees(97, (tree(parentCompositePodGroupName=""), NAME, PARENT), **EMPTY),
    *_trees(97, (tree(parentCompositePodGroupName="A_"), NAME, PARENT)),
    *_trees(
        97,
        (tree(parentCompositePodGroupName=LONG), "must be no more than 253", PARENT),
        own_words="may not be more than 253",
    ),
    *_children(97, (child("nobody"),)),
    *_children(97, (child("A_"), NAME, PARENT)),
    *_children(97, (child("nobody", workloadRef=None), f"{REQUIRED}: must be set when", "spec.workloadRef")),
]

FULL = tree(
    parentCompositePodGroupName="root",
    schedulingConstraints={"topology": [{"key": "zone"}]},
    disruptionMode={"all": {}},
)
CHANGES: Object = {
    "parentCompositePodGroupName": "other",
    "workloadRef": {"workloadName": "other"},
    "schedulingConstraints": {"topology": [{"key": "rack"}]},
    "disruptionMode": {"all": None, "single": {}},
}

OPTIONAL = ("parentCompositePodGroupName", "schedulingConstraints")

CHANGED: list[Case] = [
    *_trees(88, (tree(), IMMUTABLE, POLICY, {"schedulingPolicy": {"gang": {"minGroupCount": 3}}}), own_words=""),
    *_trees(
        89,
        (tree(), IMMUTABLE, POLICY, {"schedulingPolicy": {"gang": None, "basic": {}}}),
        own_words="field cannot be cleared once set",
        own_field=f"{POLICY}.gang",
    ),
    *_trees(
        89,
        (policy(basic={}), IMMUTABLE, POLICY, {"schedulingPolicy": {"basic": None, "gang": {"minGroupCount": 1}}}),
        own_words="field cannot be set once created",
        own_field=f"{POLICY}.gang",
    ),
    *_trees(93, *((FULL, IMMUTABLE, f"spec.{name}", {name: to}) for name, to in CHANGES.items())),
    *_trees(93, *((FULL, IMMUTABLE, f"spec.{name}", {name: None}) for name in OPTIONAL)),
    *_trees(96, *((policy(basic={}), IMMUTABLE, f"spec.{name}", {name: FULL[name]}) for name in OPTIONAL)),
    *_children(97, (child("root"), IMMUTABLE, PARENT, {"parentCompositePodGroupName": "other"})),
    *_children(97, (child("root"), IMMUTABLE, PARENT, {"parentCompositePodGroupName": None})),
]
