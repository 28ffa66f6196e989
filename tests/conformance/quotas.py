"""Quotas of objects, in force when they are returned from: the server counts a kind a moment after it is asked to."""

from collections.abc import Mapping

from api.constants import BUILT_IN_GROUP, GROUP
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually

IN_FORCE_SECONDS = 60


def counted(control_plane: ControlPlane, plural: str) -> str:
    """What a quota calls objects of this kind of the group API in force."""
    return f"count/{plural}.{GROUP if control_plane.group_api == 'own' else BUILT_IN_GROUP}"


def give_quota(control_plane: ControlPlane, namespace: str, name: str, hard: Mapping[str, int], *waited: str) -> None:
    """Makes a quota of so many objects, and returns when the server counts those of `waited`."""
    admin = control_plane.admin
    body = {"metadata": {"name": name}, "spec": {"hard": {kind: str(most) for kind, most in hard.items()}}}
    admin.create("resourcequotas", body, namespace)

    def is_counted() -> bool:
        status = admin.get("resourcequotas", name, namespace).get("status", {})
        return set(waited) <= set(status.get("used", {}))

    eventually(is_counted, within_seconds=IN_FORCE_SECONDS)
