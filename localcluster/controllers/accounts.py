"""Gives every namespace its service account `default`, which pods without another one name."""

import random as randomness
from collections.abc import Callable
from typing import Final

from kube.cache.decoding import ListDecoder, ObjectHead
from kube.cache.informer import Change, Informer
from kube.cache.workqueue import WorkQueue
from kube.client.client import Client
from kube.client.errors import AlreadyExists, Forbidden, NotFound
from kube.client.resources import NAMESPACES, SERVICE_ACCOUNTS
from localcluster.controllers.following import follow

NAME: Final = "default"


class AccountController:
    """Makes service accounts until cancelled."""

    def __init__(self, client: Client, *, clock: Callable[[], float], random: randomness.Random) -> None:
        self._client = client
        self.namespaces = Informer[ObjectHead](client, NAMESPACES, ListDecoder(ObjectHead), clock=clock, random=random)
        self.accounts = Informer[ObjectHead](
            client,
            SERVICE_ACCOUNTS,
            ListDecoder(ObjectHead),
            field_selector=f"metadata.name={NAME}",
            clock=clock,
            random=random,
        )
        self._queue = WorkQueue[str](self._look, workers=4, clock=clock, random=random)
        self.namespaces.add_handler(self._namespace_changed)
        self.accounts.add_handler(self._account_changed)

    async def run(self) -> None:
        """Runs the informers, then the queue."""
        await follow((self.namespaces, self.accounts), self._queue)

    def _namespace_changed(self, change: Change[ObjectHead]) -> None:
        if change.new is not None:
            self._queue.add(change.new.metadata.name)

    def _account_changed(self, change: Change[ObjectHead]) -> None:
        if change.new is None and change.old is not None:
            self._queue.add(change.old.metadata.namespace)

    async def _look(self, namespace: str) -> float | None:
        found = self.namespaces.store.get("", namespace)
        if found is None or found.metadata.is_terminating or self.accounts.store.get(namespace, NAME) is not None:
            return None
        body = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": NAME, "namespace": namespace}}
        try:
            await self._client.create(SERVICE_ACCOUNTS, body, namespace, parse=False)
        except (AlreadyExists, NotFound, Forbidden):
            return None  # somebody else made it, or the namespace is going away
        return None
