"""What manifests become once they are submitted: groups and pods, as the webhooks and controllers would make them.

Names and UIDs are made up. What is decided does not depend on them but for the order of equal things.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from api.devices import DeviceClass, ResourceClaim, ResourceClaimTemplate
from api.priorityclass import PriorityClass
from api.storage import Claim
from explain.manifests import Manifest
from explain.submitted_claims import ClaimMaker
from explain.submitted_items import Submitted, SubmittedItems
from explain.submitted_jobs import submit_job, submit_job_set
from explain.submitted_objects import ObjectMaker, typed
from explain.submitted_sets import submit_leader_worker_set
from webhooks.admission.config import AdmissionConfig

_BESIDE: Final[Mapping[str, Any]] = {
    "PersistentVolumeClaim": Claim,
    "ResourceClaim": ResourceClaim,
    "ResourceClaimTemplate": ResourceClaimTemplate,
    "DeviceClass": DeviceClass,
}
"""What is placed nowhere itself, but used by what is."""


@dataclass(frozen=True, slots=True)
class Submission:
    """All that a file becomes: items in the order in which they are named first, what they use beside them, kinds left out."""

    items: tuple[Submitted, ...]
    claims: tuple[Claim, ...]
    ignored: tuple[str, ...]
    device_classes: tuple[DeviceClass, ...] = ()
    resource_claims: tuple[ResourceClaim, ...] = ()
    """Those that the file names, and those that are made for its pods from templates."""


class Submitter:
    """Makes objects of manifests.

    Args:
        config: the configuration of admission.
        classes: the PriorityClasses of the cluster.
        now_seconds: since 1970.
        templates: the ResourceClaimTemplates of the cluster.
    """

    def __init__(
        self,
        config: AdmissionConfig,
        classes: tuple[PriorityClass, ...],
        now_seconds: float,
        templates: Iterable[ResourceClaimTemplate] = (),
    ) -> None:
        self._config: Final = config
        self._templates: Final = tuple(templates)
        self._maker: Final = ObjectMaker(classes, now_seconds)

    def submit(self, manifests: list[Manifest]) -> Submission:
        """What these become.

        Raises:
            Refused: admission, or the API server, would refuse one of them.
            ConfigurationError: one of them is of a form that cannot be looked at here.
        """
        collected = SubmittedItems()
        beside: dict[str, list[Any]] = {kind: [] for kind in _BESIDE}
        ignored: dict[str, None] = {}
        for manifest in manifests:
            kind = manifest["kind"]
            if kind in _BESIDE:
                beside[kind].append(typed(self._maker.with_identity(manifest), _BESIDE[kind]))
            elif not self._takes(collected, manifest):
                ignored[kind] = None
        items = collected.joined()
        made = ClaimMaker((*self._templates, *beside["ResourceClaimTemplate"]), self._maker.created)
        for item in items:
            item.pods = [made.with_claims(pod) for pod in item.pods]
            item.notes += filter(None, (made.note_on(item.pods),))
        return Submission(
            items=tuple(items),
            claims=tuple(beside["PersistentVolumeClaim"]),
            ignored=tuple(ignored),
            device_classes=tuple(beside["DeviceClass"]),
            resource_claims=(*beside["ResourceClaim"], *made.claims),
        )

    def _takes(self, items: SubmittedItems, manifest: Manifest) -> bool:
        """Takes in what is placed on nodes; False when it is not."""
        match manifest["kind"]:
            case "Job":
                submit_job(manifest, items, self._maker, self._config)
            case "JobSet":
                submit_job_set(manifest, items, self._maker, self._config)
            case "LeaderWorkerSet":
                submit_leader_worker_set(manifest, items, self._maker, self._config)
            case "CompositePodGroup":
                items.composite(self._maker.composite(manifest))
            case "PodGroup":
                items.group(self._maker.group(manifest))
            case "Pod":
                items.pod(self._maker.pod(manifest))
            case _:
                return False
        return True
