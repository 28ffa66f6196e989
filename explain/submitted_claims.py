"""What the claim controller would make for pods that are submitted: a ResourceClaim from each template that they name."""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from api.devices import ResourceClaim, ResourceClaimTemplate
from api.meta import Metadata, OwnerReference
from api.pod import Pod
from scheduler.cache.devices.pod_claims import parse_pod_claims


class ClaimMaker:
    """Makes claims of templates.

    Args:
        templates: those that there are; of two of one name the later one counts.
        created: when the claims are made, RFC 3339.
    """

    def __init__(self, templates: Iterable[ResourceClaimTemplate], created: str) -> None:
        self._templates: Final = {template.metadata.key: template for template in templates}
        self._created: Final = created
        self.claims: Final[list[ResourceClaim]] = []
        """All that were made."""

    def with_claims(self, pod: Pod) -> Pod:
        """The pod as it is when its claims have been made; those whose template is missing are not."""
        claims = parse_pod_claims(pod)
        if claims is None or claims.problem:
            return pod
        statuses = []
        for use in claims.uses:
            template = self._templates.get((pod.metadata.namespace, use.template)) if use.template else None
            if template is not None:
                made = self._made(pod, use.entry, template)
                self.claims.append(made)
                statuses.append({"name": use.entry, "resourceClaimName": made.metadata.name})
        told = msgspec.Raw(msgspec.json.encode(statuses))
        return msgspec.structs.replace(pod, status=msgspec.structs.replace(pod.status, resource_claim_statuses=told))

    def note_on(self, pods: Sequence[Pod]) -> str:
        """Which templates are missing that these pods name; empty when all are there."""
        found = ((pod.metadata.namespace, parse_pod_claims(pod)) for pod in pods)
        missing = {
            use.template: None
            for namespace, claims in found
            for use in (claims.uses if claims is not None else ())
            if use.template and (namespace, use.template) not in self._templates
        }
        return (
            f"no ResourceClaimTemplate {', '.join(missing)} is in the file, or known of the cluster" if missing else ""
        )

    def _made(self, pod: Pod, entry: str, template: ResourceClaimTemplate) -> ResourceClaim:
        meta = pod.metadata
        owner = OwnerReference("v1", "Pod", meta.name, meta.uid, controller=True)
        metadata = Metadata(
            name=f"{meta.name}-{entry}-fit",
            namespace=meta.namespace,
            uid=f"claim-{entry}-of-{meta.uid}",
            creation_timestamp=self._created,
            owner_references=(owner,),
        )
        return ResourceClaim(metadata, template.spec.spec)
