"""Whether somebody still wants the room of a group that was asked to leave: who is gone needs none.

The scheduler takes its request back when its reason goes away. It may be down at that moment, and the controllers may be back
before it is; a healthy gang is not suspended for nobody.
"""

from typing import Final

from api.compositepodgroup import COMPOSITE_KIND
from api.podgroup import POD_GROUP_KIND, PodGroup
from api.preemption import Preemptor, preemptor_of
from controllers.gangs.pod import GangPod
from controllers.mutation_cache import MutationCache
from kube.cache.decoding import ListDecoder
from kube.client.client import Client
from kube.client.resources import PODS

_PODS: Final = ListDecoder(GangPod)


class Preemptors:
    """Looks them up: groups in the store that shows the request, too, so they are there before it; lone pods on the server."""

    def __init__(self, client: Client, pod_groups: MutationCache[PodGroup]) -> None:
        self._client = client
        self._pod_groups = pod_groups

    async def is_gone(self, group: PodGroup) -> bool:
        """Whether whoever the group is asked to leave for is gone, or has a place; False when nobody says who that is.

        Raises:
            KubeError: a lone pod could not be looked up.
        """
        preemptor = preemptor_of(group.status.conditions)
        if preemptor is None:
            return False
        if preemptor.kind == COMPOSITE_KIND:
            # Followed by the scheduler alone, which takes its request back.
            return False
        if preemptor.kind == POD_GROUP_KIND:
            known = self._pod_groups.get(preemptor.namespace, preemptor.name)
            return known is None or known.metadata.uid != preemptor.uid or known.metadata.is_terminating
        pod = await self._pod(preemptor)
        return pod is None or pod.metadata.uid != preemptor.uid or pod.is_over or pod.is_bound

    async def _pod(self, preemptor: Preemptor) -> GangPod | None:
        selector = f"metadata.name={preemptor.name}"
        async for page in self._client.list_pages(PODS, preemptor.namespace, field_selector=selector):
            for pod in _PODS.page(page).items:
                return pod
        return None
