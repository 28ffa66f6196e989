"""Follows pods, claims and templates: makes the claims of pods, and gives back what nobody uses any more."""

import random as randomness
from collections.abc import Callable, Iterable
from typing import Any, Final

from api.devices import ConsumerReference, ResourceClaim
from api.pod_claims import PodClaim
from kube.cache.decoding import ListDecoder
from kube.cache.informer import Change, Informer
from kube.cache.workqueue import WorkQueue
from kube.client.client import Client, PatchKind
from kube.client.errors import AnsweredError, Conflict, KubeError, NotFound
from kube.client.events import EventRecorder, ObjectReference
from kube.client.resources import PODS, RESOURCE_CLAIM_TEMPLATES, RESOURCE_CLAIMS
from localcluster.controllers.following import follow
from localcluster.controllers.resourceclaims.claims import Cleaning, cleaning, finalizer_patch, owning_pod
from localcluster.controllers.resourceclaims.pods import (
    ClaimTemplate,
    is_entry,
    is_for,
    missing_entries,
    new_claim,
    reservation_patch,
    status_patch,
    unreserved,
)
from localcluster.podclaims import ClaimedPod, is_pod, made_claims, needed_claims

WORKERS: Final = 8
AGAIN_SECONDS: Final = 0.2
RETRY_SECONDS: Final = 2.0
"""When a claim that could not be made is tried again, if nothing happens before."""

Key = tuple[str, str, str]
"""(plural, namespace, name)."""


class ResourceClaimController:
    """Makes and cleans claims until cancelled."""

    def __init__(
        self, client: Client, recorder: EventRecorder, *, clock: Callable[[], float], random: randomness.Random
    ) -> None:
        self._client = client
        self._recorder = recorder
        self._made: dict[tuple[str, str], str] = {}
        more: Any = {"clock": clock, "random": random}
        self.pods = Informer[ClaimedPod](
            client,
            PODS,
            ListDecoder(ClaimedPod),
            indexers={"template": _templates, "claim": _claims, "owner": lambda pod: (pod.metadata.uid,)},
            **more,
        )
        self.claims = Informer[ResourceClaim](
            client, RESOURCE_CLAIMS, ListDecoder(ResourceClaim), indexers={"owner": _owner}, **more
        )
        self.templates = Informer[ClaimTemplate](client, RESOURCE_CLAIM_TEMPLATES, ListDecoder(ClaimTemplate), **more)
        self._queue = WorkQueue[Key](self._look, workers=WORKERS, clock=clock, random=random)
        self.pods.add_handler(self._pod_changed)
        self.claims.add_handler(self._claim_changed)
        self.templates.add_handler(self._template_changed)

    async def run(self) -> None:
        """Runs the informers, then the queue."""
        await follow((self.pods, self.claims, self.templates), self._queue)

    # --- who is looked at --------------------------------------------------------------------------------------------

    def _pod_changed(self, change: Change[ClaimedPod]) -> None:
        pod = change.new or change.old
        if pod is None or not (pod.spec.resource_claims or pod.status.extended_resource_claim_status):
            return
        if change.new is None:
            self._made = {key: name for key, name in self._made.items() if key[0] != pod.metadata.uid}
        elif not pod.is_done:
            self._queue.add((PODS.plural, *pod.metadata.key))
            return
        for name in needed_claims(pod.spec, pod.status) or ():
            self._queue.add((RESOURCE_CLAIMS.plural, pod.metadata.namespace, name))
        for claim in self.claims.store.by_index("owner", pod.metadata.uid):
            self._queue.add((RESOURCE_CLAIMS.plural, *claim.metadata.key))

    def _claim_changed(self, change: Change[ResourceClaim]) -> None:
        claim = change.new or change.old
        if claim is None:
            return
        namespace, name = claim.metadata.key
        owner = owning_pod(claim)
        if change.new is not None:
            self._queue.add((RESOURCE_CLAIMS.plural, namespace, name))
        elif owner is not None:
            self._made = {key: made for key, made in self._made.items() if (key[0], made) != (owner.uid, name)}
        owners = self.pods.store.by_index("owner", owner.uid) if owner is not None else ()
        for pod in (*owners, *self.pods.store.by_index("claim", f"{namespace}/{name}")):
            self._queue.add((PODS.plural, *pod.metadata.key))

    def _template_changed(self, change: Change[ClaimTemplate]) -> None:
        if change.new is not None:
            namespace, name = change.new.metadata.key
            for pod in self.pods.store.by_index("template", f"{namespace}/{name}"):
                self._queue.add((PODS.plural, *pod.metadata.key))

    async def _look(self, key: Key) -> float | None:
        plural, namespace, name = key
        try:
            if plural == RESOURCE_CLAIMS.plural:
                claim = self.claims.store.get(namespace, name)
                return await self._clean(claim) if claim is not None else None
            pod = self.pods.store.get(namespace, name)
            return await self._supply(pod) if pod is not None and not pod.is_done else None
        except (Conflict, NotFound):
            return AGAIN_SECONDS

    # --- a pod's claims ----------------------------------------------------------------------------------------------

    async def _supply(self, pod: ClaimedPod) -> float | None:
        namespace = pod.metadata.namespace

        def find(name: str) -> ResourceClaim | None:
            return self.claims.store.get(namespace, name)

        made: dict[str, str] = {}
        failed = False
        for entry in missing_entries(pod, find):
            try:
                made[entry.name] = await self._known(pod, entry) or await self._make(pod, entry)
            except (KubeError, _NoTemplate) as error:
                self._tell(pod, entry, error)
                failed = True
        patches = [(PODS, pod.metadata.name, status_patch(pod, made))] if made else []
        patches += [
            (RESOURCE_CLAIMS, claim.metadata.name, reservation_patch(pod, claim)) for claim in unreserved(pod, find)
        ]
        for resource, name, body in patches:
            await self._client.patch(
                resource, body, name, namespace, subresource="status", kind=PatchKind.STRATEGIC, parse=False
            )
        return RETRY_SECONDS if failed else None

    async def _known(self, pod: ClaimedPod, entry: PodClaim) -> str:
        """The claim that was made for the entry before, by us or by a life of ours that ended in between; empty for none."""
        for claim in self.claims.store.by_index("owner", pod.metadata.uid):
            if is_for(claim, pod) and is_entry(claim, entry) and not claim.metadata.is_terminating:
                return claim.metadata.name
        name = self._made.get((pod.metadata.uid, entry.name)) or made_claims(pod.status).get(entry.name)
        if not name:
            return ""
        try:
            found = await self._client.get(RESOURCE_CLAIMS, name, pod.metadata.namespace)
        except NotFound:
            return ""
        owners = found["metadata"].get("ownerReferences") or []
        return name if any(each.get("uid") == pod.metadata.uid for each in owners) else ""

    async def _make(self, pod: ClaimedPod, entry: PodClaim) -> str:
        namespace, wanted = pod.metadata.namespace, entry.resource_claim_template_name or ""
        template = self.templates.store.get(namespace, wanted)
        if template is None:
            raise _NoTemplate(
                f'resource claim template "{wanted}": resourceclaimtemplate.resource.k8s.io "{wanted}" not found'
            )
        claim = await self._client.create(RESOURCE_CLAIMS, new_claim(pod, entry, template), namespace)
        name = str(claim["metadata"]["name"])
        # The watch has not shown it yet: if the pod is looked at again before it does, there is one already.
        self._made[pod.metadata.uid, entry.name] = name
        return name

    def _tell(self, pod: ClaimedPod, entry: PodClaim, error: Exception) -> None:
        meta = pod.metadata
        said = error.message if isinstance(error, AnsweredError) else str(error)
        self._recorder.record(
            ObjectReference("v1", "Pod", meta.namespace, meta.name, meta.uid),
            reason="FailedResourceClaimCreation",
            note=f"PodResourceClaim {entry.name}: {said}",
            type="Warning",
            action="Sync",
        )

    # --- a claim's end -----------------------------------------------------------------------------------------------

    async def _clean(self, claim: ResourceClaim) -> float | None:
        gone = {each.uid for each in claim.status.reserved_for or () if await self._is_gone(claim, each)}
        owner = owning_pod(claim)
        pod = self.pods.store.get(claim.metadata.namespace, owner.name) if owner is not None else None
        await self._write(claim, cleaning(claim, lambda consumer: consumer.uid in gone, pod))
        return None

    async def _is_gone(self, claim: ResourceClaim, consumer: ConsumerReference) -> bool:
        """Whether a pod is gone, replaced or done; one that the watch has not shown is asked for."""
        if not is_pod(consumer):
            return False
        pod = self.pods.store.get(claim.metadata.namespace, consumer.name)
        if pod is not None:
            return pod.metadata.uid != consumer.uid or pod.is_done
        try:
            found = await self._client.get(PODS, consumer.name, claim.metadata.namespace)
        except NotFound:
            return True
        return bool(found["metadata"]["uid"] != consumer.uid)

    async def _write(self, claim: ResourceClaim, do: Cleaning) -> None:
        meta = claim.metadata
        version, finalizers = meta.resource_version, meta.finalizers or ()
        if do.status is not None:
            stored = await self._client.patch(
                RESOURCE_CLAIMS, do.status, meta.name, meta.namespace, subresource="status"
            )
            version = str(stored["metadata"]["resourceVersion"])
        if do.takes_finalizer_off:
            body = finalizer_patch(meta.uid, version, finalizers)
            await self._client.patch(RESOURCE_CLAIMS, body, meta.name, meta.namespace, parse=False)
        if do.deletes:
            await self._client.delete(RESOURCE_CLAIMS, meta.name, meta.namespace, uid=meta.uid)


class _NoTemplate(Exception):
    """A claim cannot be made before its template is there."""


def _templates(pod: ClaimedPod) -> Iterable[str]:
    names = (each.resource_claim_template_name for each in pod.spec.resource_claims)
    return tuple(f"{pod.metadata.namespace}/{name}" for name in names if name)


def _claims(pod: ClaimedPod) -> Iterable[str]:
    names = needed_claims(pod.spec, pod.status) or ()
    return tuple(f"{pod.metadata.namespace}/{name}" for name in names)


def _owner(claim: ResourceClaim) -> Iterable[str]:
    owner = owning_pod(claim)
    return (owner.uid,) if owner is not None else ()
