"""A new Job of a JobSet that was taken in: its pods learn the name of their group, which follows from the Job alone.

The Job is not held: its JobSet would resume it at once. Its pods wait for their group in the scheduler.
"""

from api.constants import GATE, POD_GROUP_UID
from api.parents.children import Child
from api.replica import group_to_come
from providers.base import Provider
from webhooks.admission.patch import Patch, set_pod_metadata

TEMPLATE = ("spec", "template", "metadata")


def tie_to_group(patch: Patch, child: Child, provider: Provider, namespace: str) -> None:
    """Writes the name of its group into the pod template of the Job."""
    patch.remove((*TEMPLATE, "annotations", POD_GROUP_UID))
    patch.remove(("metadata", "annotations", GATE))
    set_pod_metadata(patch, TEMPLATE, provider.association(group_to_come(child.group_name, namespace)))
