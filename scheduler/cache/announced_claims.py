"""Groups that announce pods with resource claims: what their devices may help is tried as if these pods waited already."""

from typing import Final

import msgspec

from api.pod import Pod, PodSpec
from api.revision import LEADER, read_roles
from scheduler.cache.devices.pod_claims import ClaimUse, PodClaims, parse_pod_claims
from scheduler.cache.devices.state import DeviceState
from scheduler.cache.records import GroupRecord

_FIELD: Final = "resourceClaims"


class AnnouncedClaims:
    """The groups whose pods to come have claims; these groups wait for devices by their own UIDs."""

    def __init__(self, devices: DeviceState) -> None:
        self._devices: Final = devices
        self._groups: Final[dict[str, tuple[tuple[str, str], PodClaims]]] = {}
        """By UID: (namespace, name), and what the pods to come use."""

    def group(self, uid: str) -> tuple[str, str] | None:
        """(namespace, name) of the group with this UID; None when it announces no claims."""
        found = self._groups.get(uid)
        return found[0] if found is not None else None

    def moved(self, old: GroupRecord | None, new: GroupRecord | None) -> None:
        """A group came, changed or went."""
        known = self._groups.pop(old.uid, None) if old is not None else None
        if old is not None and known is not None:
            self._devices.pod_waits_no_more(old.namespace, old.uid, known[1])
        claims = announced_claims(new.min_resources) if new is not None else None
        if new is not None and claims is not None:
            self._groups[new.uid] = ((new.namespace, new.name), claims)
            self._devices.pod_waits(new.namespace, new.uid, claims)


def announced_claims(text: str) -> PodClaims | None:
    """The claims of all pods to come that an annotation `min-resources` lists; None when there are none, or nobody can read it."""
    if _FIELD not in text:
        return None
    uses: dict[ClaimUse, None] = {}
    for role in read_roles(text):
        entries = (role.placement or {}).get(_FIELD) if role.role != LEADER else None
        if entries:
            pod = Pod(spec=PodSpec(resource_claims=msgspec.Raw(msgspec.json.encode(entries))))
            claims = parse_pod_claims(pod)
            uses.update(dict.fromkeys(claims.uses if claims is not None else ()))
    return PodClaims(tuple(uses)) if uses else None
