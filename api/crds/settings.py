"""What a PodGroup and the template it is made from have in common: how its members are scheduled and disrupted."""

from typing import Final

from api.constants import HIGHEST_USER_PRIORITY
from api.crds.schema import (
    IMMUTABLE,
    Schema,
    fields,
    immutable,
    immutable_text,
    keyed_list,
    label,
    label_key,
    number,
    one_of,
    rule,
    subdomain,
    text,
)

MOST_RESOURCE_CLAIMS: Final = 4


def scheduling_policy() -> Schema:
    """`schedulingPolicy`: gang or basic, for good."""
    min_count = number(
        "How many members must be able to start together. It counts while the group is being scheduled, not against "
        "members that end later. May be changed.",
        minimum=1,
    )
    return gang_or_basic(
        "How the members are scheduled; exactly one of basic and gang. It cannot be switched later.",
        basic="Members are scheduled one by one, as room allows.",
        gang="All or nothing. No member starts before minCount members can.",
        minimum=("minCount", min_count),
    )


def gang_or_basic(about: str, *, basic: str, gang: str, minimum: tuple[str, Schema]) -> Schema:
    """Exactly one of two policies, for good; `minimum` is the field of `gang`, its name and its schema."""
    name, count = minimum
    return fields(
        about,
        {"basic": fields(basic, {}), "gang": fields(gang, {name: count}, required=(name,))},
        rules=(
            *one_of("basic", "gang"),
            rule("has(self.basic) == has(oldSelf.basic)", IMMUTABLE, field="basic"),
            rule("has(self.gang) || !has(oldSelf.gang)", "field cannot be cleared once set", field="gang"),
            rule("!has(self.gang) || has(oldSelf.gang)", "field cannot be set once created", field="gang"),
        ),
    )


def scheduling_constraints() -> Schema:
    """`schedulingConstraints`: at most one topology."""
    key = label_key(
        "A node label key, such as topology.kubernetes.io/zone. All members run on nodes with the same value of it; "
        "nodes without it are not used."
    )
    topology = {
        "type": "array",
        "description": "At most one topology in one value of which all members must be.",
        "maxItems": 1,
        "x-kubernetes-list-type": "atomic",
        "items": fields("", {"key": key}, required=("key",)),
    }
    return fields("Where the members must be in relation to each other. Immutable.", {"topology": topology})


def resource_claims() -> Schema:
    """`resourceClaims`: kept for schedulers that know what to do with them."""
    return keyed_list(
        "Claims for devices that the members share, for schedulers that allocate them for a group; the embedded "
        "scheduler does not. Immutable.",
        "name",
        fields(
            "",
            {
                "name": label("What the members call the claim."),
                "resourceClaimName": subdomain("A ResourceClaim in the same namespace."),
                "resourceClaimTemplateName": subdomain(
                    "A ResourceClaimTemplate in the same namespace, from which a claim is made for the group."
                ),
            },
            required=("name",),
            rules=one_of("resourceClaimName", "resourceClaimTemplateName"),
        ),
        maxItems=MOST_RESOURCE_CLAIMS,
    )


def disruption_mode(description: str) -> Schema:
    """`disruptionMode`: one by one, or as a whole."""
    return fields(
        description,
        {
            "single": fields("Each member may be preempted alone.", {}),
            "all": fields("The group is preempted as a whole or not at all.", {}),
        },
        rules=one_of("single", "all"),
    )


def priority_class_name(description: str) -> Schema:
    """`priorityClassName`."""
    return subdomain(description, may_be_empty=True)


def priority(description: str) -> Schema:
    """`priority`: users' classes end where the system's begin."""
    return number(description, maximum=HIGHEST_USER_PRIORITY)


def preemption_policy() -> Schema:
    """`preemptionPolicy`."""
    return text(
        "Never means that the group waits for room and preempts nobody. Immutable.",
        enum=["Never", "PreemptLowerPriority"],
    )


def kept_for_good() -> tuple[Schema, ...]:
    """The rules that keep all of these from changing, but for the policy, which has rules of its own."""
    return (
        immutable("schedulingConstraints"),
        immutable("resourceClaims"),
        immutable("disruptionMode"),
        immutable_text("priorityClassName"),
        immutable("priority"),
        immutable("preemptionPolicy"),
    )
