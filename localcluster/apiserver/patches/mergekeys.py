"""Which lists of the built-in kinds are merged item by item, and by which key.

Pure. The table follows the `patchMergeKey` marks of the Kubernetes API types: by the list's name, which is unambiguous but
for `ports`; a list that is not named here is replaced as a whole.
"""

from collections.abc import Mapping
from typing import Final

ENTRY_SET: Final = ""
"""The list is a set of plain values."""

MERGE_KEYS: Final[Mapping[str, str]] = {
    "addresses": "type",
    "conditions": "type",
    "containers": "name",
    "env": "name",
    "ephemeralContainers": "name",
    "finalizers": ENTRY_SET,
    "hostAliases": "ip",
    "hostIPs": "ip",
    "imagePullSecrets": "name",
    "initContainers": "name",
    "matchConditions": "name",
    "ownerReferences": "uid",
    "podIPs": "ip",
    "ports": "containerPort",
    "reservedFor": "uid",
    "resourceClaimStatuses": "name",
    "resourceClaims": "name",
    "schedulingGates": "name",
    "secrets": "name",
    "topologySpreadConstraints": "topologyKey",
    "volumeDevices": "devicePath",
    "volumeMounts": "mountPath",
    "volumes": "name",
    "webhooks": "name",
}
_PORT_KEYS: Final = ("containerPort", "port")


def merge_key(name: str, items: list[object]) -> str | None:
    """The key by which items of the list of this name are told apart; ENTRY_SET for a set, None for a replaced list."""
    if name not in MERGE_KEYS:
        return None
    if name != "ports":
        return MERGE_KEYS[name]
    for key in _PORT_KEYS:
        if any(isinstance(item, dict) and key in item for item in items):
            return key
    return _PORT_KEYS[0]
