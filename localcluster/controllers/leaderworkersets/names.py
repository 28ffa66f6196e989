"""The labels, annotations and variables by which the parts of a LeaderWorkerSet know each other."""

import hashlib
from typing import Final

PREFIX: Final = "leaderworkerset.sigs.k8s.io/"

SUBGROUP_INDEX_LABEL: Final = PREFIX + "subgroup-index"
SUBGROUP_KEY_LABEL: Final = PREFIX + "subgroup-key"

AFTER_START_ANNOTATION: Final = PREFIX + "experimental-recreate-group-after-start"
LEADER_NAME_ANNOTATION: Final = PREFIX + "leader-name"
LEADER_TPU_ANNOTATION: Final = PREFIX + "leader-requests-tpus"
REPLICAS_ANNOTATION: Final = PREFIX + "replicas"
SUBDOMAIN_ANNOTATION: Final = PREFIX + "subdomainPolicy"
SUBGROUP_EXCLUSIVE_ANNOTATION: Final = PREFIX + "subgroup-exclusive-topology"
SUBGROUP_SIZE_ANNOTATION: Final = PREFIX + "subgroup-size"
SUBGROUP_TYPE_ANNOTATION: Final = PREFIX + "subgroup-policy-type"


def unique_key(scope: str, name: str) -> str:
    """The value that only one group or subgroup has in its label."""
    return hashlib.sha1(f"{scope}/{name}".encode(), usedforsecurity=False).hexdigest()


def parent_and_ordinal(name: str) -> tuple[str, int] | None:
    """What stands before and behind the last dash of a pod's name; None when there is no number behind it."""
    parent, dash, number = name.rpartition("-")
    return (parent, int(number)) if dash and number.isascii() and number.isdigit() else None
