"""Follows budgets and pods, and tells in a budget's status how many of its pods may be disrupted now."""

import random as randomness
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from api.meta import OwnerReference, controller_of
from kube.cache.decoding import ListDecoder
from kube.cache.informer import Change, Informer
from kube.cache.workqueue import WorkQueue
from kube.client.client import Client
from kube.client.errors import Conflict, NotFound
from kube.client.resources import (
    POD_DISRUPTION_BUDGETS,
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
)
from localcluster.controllers.disruption.count import Uncountable, counted, members, needs_scales, refused
from localcluster.controllers.disruption.model import Budget, BudgetStatus, Member
from localcluster.controllers.documents import Whole, WholeDecoder
from localcluster.controllers.following import follow
from localcluster.controllers.times import Now

SCALED: Final = {resource.kind: resource for resource in (REPLICA_SETS, REPLICATION_CONTROLLERS, STATEFUL_SETS)}
"""Controllers of pods that say how many they want; a Job does not."""

EVICTED_AGAIN_SECONDS: Final = 30.0
"""How often a budget with pods that were evicted and are not gone is looked at."""

Key = tuple[str, str]


class DisruptionController:
    """Keeps the status of budgets until cancelled."""

    def __init__(self, client: Client, *, now: Now, clock: Callable[[], float], random: randomness.Random) -> None:
        self._client = client
        self._now = now
        self.budgets = Informer[Whole[Budget]](
            client,
            POD_DISRUPTION_BUDGETS,
            WholeDecoder(Budget),
            indexers={"namespace": lambda budget: (budget.metadata.namespace,)},
            clock=clock,
            random=random,
        )
        self.pods = Informer[Member](
            client,
            PODS,
            ListDecoder(Member),
            indexers={"namespace": lambda pod: (pod.metadata.namespace,)},
            clock=clock,
            random=random,
        )
        self._queue = WorkQueue[Key](self._look, workers=4, clock=clock, random=random)
        self.budgets.add_handler(self._budget_changed)
        self.pods.add_handler(self._pod_changed)

    async def run(self) -> None:
        """Runs the informers, then the queue."""
        await follow((self.budgets, self.pods), self._queue)

    def _budget_changed(self, change: Change[Whole[Budget]]) -> None:
        if change.new is not None:
            self._queue.add(change.new.metadata.key)

    def _pod_changed(self, change: Change[Member]) -> None:
        for pod in (change.old, change.new):
            if pod is None:
                continue
            for budget in self.budgets.store.by_index("namespace", pod.metadata.namespace):
                if members(budget.view, [pod]):
                    self._queue.add(budget.metadata.key)

    async def _look(self, key: Key) -> float | None:
        whole = self.budgets.store.get(*key)
        if whole is None:
            return None
        budget, now = whole.view, self._now()
        pods = members(budget, self.pods.store.by_index("namespace", key[0]))
        try:
            wanted = await self._wanted(pods) if needs_scales(budget) else 0
            status = counted(budget, pods, wanted, now)
        except (Uncountable, ValueError) as error:
            status = refused(budget, str(error), now)
        if status != budget.status:
            await self._tell(whole, status)
        return EVICTED_AGAIN_SECONDS if status.disrupted_pods else None

    async def _tell(self, whole: Whole[Budget], status: BudgetStatus) -> None:
        counts = {"currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0, "expectedPods": 0}
        body = {**whole.document, "status": counts | msgspec.to_builtins(status)}
        namespace, name = whole.metadata.key
        try:
            await self._client.replace(POD_DISRUPTION_BUDGETS, body, name, namespace, subresource="status")
        except (Conflict, NotFound):
            return  # its next version is on its way here

    async def _wanted(self, pods: Sequence[Member]) -> int:
        """How many pods the controllers of these pods want; pods without any count for nothing.

        Raises:
            Uncountable: a controller does not say it.
        """
        owners = {owner.uid: (pod.metadata.namespace, owner) for pod in pods if (owner := controller_of(pod.metadata))}
        return sum([await self._replicas(namespace, owner) for namespace, owner in owners.values()])

    async def _replicas(self, namespace: str, owner: OwnerReference) -> int:
        resource = SCALED.get(owner.kind)
        if resource is None:
            plural = owner.kind.lower() + "s"
            group = owner.api_version.rpartition("/")[0]
            raise Uncountable(f"{plural}.{group} does not implement the scale subresource")
        try:
            found = await self._client.get(resource, owner.name, namespace)
        except NotFound:
            return 0
        return int(found["spec"].get("replicas", 1)) if found["metadata"]["uid"] == owner.uid else 0
