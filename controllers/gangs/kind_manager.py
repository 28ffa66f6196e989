"""Runs the controller of a kind for as long as the cluster knows it.

The kind comes with a CRD that many clusters do not have, and that may be installed or removed at any time. Until it is served,
nothing of it is watched and one small question is asked now and then. When it goes, so do the watches; nothing else is
disturbed by either.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol

from api.meta import Metadata
from api.podgroup import PodGroup, Workload
from controllers.context import ControllerContext
from kube.cache.informer import Informer
from kube.client.errors import KubeError, NotFound
from kube.client.resources import Resource

_log = logging.getLogger(__name__)

ASK_SECONDS: Final = 10.0
"""How often to ask whether the kind is served, while it was not or while its watch fails."""


class FollowedKind(Protocol):
    """The controller of a kind that may come and go."""

    @property
    def informer(self) -> Informer[Any]:
        """That of the kind itself."""

    @property
    def informers(self) -> tuple[tuple[str, Informer[Any]], ...]:
        """What is followed, with a name for people."""

    async def run_until(self, gone: Callable[[], Awaitable[object]]) -> None:
        """Work until `gone` returns, or until cancelled."""

    def workload_changed(self, workload: Workload) -> None:
        """A Workload came, changed or went."""

    def pod_group_changed(self, group: PodGroup) -> None:
        """A PodGroup came, went, or changed by more than its status."""

    def group_object_changed(self, owned: Metadata) -> None:
        """A group object of another gang scheduler came, went, or changed its minimum."""

    def report_waiting(self, group: PodGroup) -> None:
        """A group that waits says why on its owner."""


class KindManager:
    """Starts a controller when the kind appears and ends it when the kind goes. Hands changes of other kinds on to it."""

    def __init__(
        self, context: ControllerContext, resource: Resource, controller: Callable[[ControllerContext], FollowedKind]
    ) -> None:
        """Nothing runs yet.

        Args:
            context: what the controllers share.
            resource: the kind.
            controller: makes its controller.
        """
        self._context = context
        self._resource = resource
        self._new_controller = controller
        self._controller: FollowedKind | None = None

    @property
    def informers(self) -> tuple[tuple[str, Informer[Any]], ...]:
        """What is followed at the moment, with a name for people."""
        return () if self._controller is None else self._controller.informers

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            if not await self._is_served():
                await self._pause()
                continue
            _log.info("%ss are served: following them", self._resource.kind)
            self._controller = self._new_controller(self._context)
            try:
                await self._controller.run_until(self._not_served)
                _log.info("%ss are not served any more", self._resource.kind)
            finally:
                self._controller = None

    def workload_changed(self, workload: Workload) -> None:
        """A Workload came, changed or went."""
        if self._controller is not None:
            self._controller.workload_changed(workload)

    def pod_group_changed(self, group: PodGroup) -> None:
        """A PodGroup came, went, or changed by more than its status."""
        if self._controller is not None:
            self._controller.pod_group_changed(group)

    def group_object_changed(self, owned: Metadata) -> None:
        """A group object of another gang scheduler came, went, or changed its minimum."""
        if self._controller is not None:
            self._controller.group_object_changed(owned)

    def pod_group_status_changed(self, group: PodGroup) -> None:
        """The status of a PodGroup may have changed."""
        if self._controller is not None:
            self._controller.report_waiting(group)

    async def _not_served(self) -> None:
        """Returns when the kind is not served any more; asked only while it cannot be followed."""
        while True:
            await self._pause()
            informer = self._controller.informer if self._controller is not None else None
            if informer is not None and informer.is_in_trouble and not await self._is_served():
                return

    async def _pause(self) -> None:
        await asyncio.sleep(ASK_SECONDS * self._context.random.uniform(0.8, 1.2))

    async def _is_served(self) -> bool:
        path = f"/apis/{self._resource.group}/{self._resource.version}"
        try:
            found = await self._context.client.request_json("GET", path)
        except NotFound:
            return False
        except KubeError:
            # Unknown: what is followed stays followed, what is not will be asked for again.
            return self._controller is not None
        return any(each.get("name") == self._resource.plural for each in found.get("resources") or ())
