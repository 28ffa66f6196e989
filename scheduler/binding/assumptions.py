"""Pods that are counted on their node before the watch shows them there (upstream: assumed pods), and what becomes of their binds.

A pod stays assumed while nothing certain is known. It is forgotten only when the server said, or a read showed, that it is not on
its node; an assumption that merely grew old is read, never guessed about.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import msgspec

from api.pod import Pod
from kube.client.client import Client
from kube.client.errors import KubeError, NotFound
from kube.client.resources import PODS
from scheduler.apicalls.dispatcher import APIDispatcher
from scheduler.binding.binder import Bind
from scheduler.cache.cluster import ClusterState
from scheduler.cache.records import PodRecord, StateChange
from scheduler.queue.item_errors import ItemErrors
from scheduler.queue.scheduling_queue import SchedulingQueue
from scheduler.reporting.reporter import Reporter

_AGAIN_SECONDS: Final = 30.0
"""An assumption that was read and is still open is looked at again after this time."""

_PODS: Final = msgspec.json.Decoder(Pod)
"""A pod's raw fields exist in JSON only, so what the client decoded is encoded again for this rare read."""


class Assumptions:
    """The binder's `BindResults`: what begins and ends an assumption is told to everybody through `apply`.

    Args:
        client: reads pods whose bind nobody knows about.
        dispatcher: where these reads are queued.
        state: where pods are assumed and forgotten.
        queue: hears of binds that failed, so that their item is not tried again at once.
        reporter: hears what the server said to binds.
        apply: takes a change of the state; every part of the scheduler hears of it.
        wake: makes the scheduling loop look again.
        errors: where exceptions about single items are noted.
        clock: monotonic seconds.
        assume_seconds: after this time an assumption whose bind has ended is read.
    """

    def __init__(  # noqa: PLR0913 (the parts it ties together)
        self,
        *,
        client: Client,
        dispatcher: APIDispatcher,
        state: ClusterState,
        queue: SchedulingQueue,
        reporter: Reporter,
        apply: Callable[[StateChange], None],
        wake: Callable[[], None],
        errors: ItemErrors,
        clock: Callable[[], float],
        assume_seconds: float,
    ) -> None:
        self._client = client
        self._dispatcher = dispatcher
        self._state = state
        self._queue = queue
        self._reporter = reporter
        self._apply = apply
        self._wake = wake
        self._errors = errors
        self._clock = clock
        self._assume_seconds = assume_seconds
        self._open: set[str] = set()
        self._expiry_due: float | None = None
        self._last_deadline = clock()

    # --- for the loop ------------------------------------------------------------------------------------------------

    @property
    def open_binds(self) -> int:
        """Binds that were decided and of which nobody knows yet how they ended."""
        return len(self._open)

    def is_open(self, pod_uid: str) -> bool:
        """Whether a bind of this pod was decided and nobody knows yet how it ended."""
        return pod_uid in self._open

    def assume(self, binds: Sequence[Bind]) -> None:
        """Count these pods on their nodes from now on: all of them or, when one cannot be assumed, none.

        Raises:
            UnknownPod: one is not there, or has a node already.
        """
        freed: list[int] = []
        deadline = self._clock() + self._assume_seconds
        try:
            for bind in binds:
                freed += self._state.assume(bind.uid, bind.node_name, deadline).freed
                self._open.add(bind.uid)
                self._last_deadline = deadline
                if self._expiry_due is None:
                    self._expiry_due = deadline
        except Exception:
            self.give_back(binds)
            raise
        finally:
            self._apply(StateChange(freed=tuple(freed)))

    def give_back(self, binds: Sequence[Bind]) -> None:
        """Nothing of these has been sent, and what is queued is refused when its turn comes: they are not assumed any more."""
        for bind in binds:
            with self._errors.about(self._state.item_of(bind.uid), "give back"):
                self.failed(bind, "the attempt met a defect")

    def next_due_seconds(self) -> float | None:
        """When `recheck_old` has something to do, None when nothing is assumed."""
        return None if self._expiry_due is None else max(0.0, self._expiry_due - self._clock())

    def recheck_old(self) -> None:
        """Queue a read of every pod that is still assumed after its time, though its bind has ended."""
        now = self._clock()
        if self._expiry_due is None or now < self._expiry_due:
            return
        late = self._state.assumed_pods.expire(now)
        for uid in late:
            pod = self._state.pod(uid)
            if pod is not None and uid not in self._open:
                self._dispatcher.add_urgent(partial(self._recheck, pod))
        if late:
            self._expiry_due = now + _AGAIN_SECONDS
        else:
            self._expiry_due = self._last_deadline if self._last_deadline > now else None

    # --- for the binder ----------------------------------------------------------------------------------------------

    def obstacle(self, bind: Bind) -> str | None:
        """Why the bind must not be sent: what the state knows, or that the pod was decided upon anew meanwhile."""
        assumption = self._state.assumption(bind.uid)
        if assumption is not None and (assumption.node_name, assumption.node_uid) != (bind.node_name, bind.node_uid):
            return "the pod was given another node meanwhile"
        return self._state.assumed_pods.bind_obstacle(bind.uid)

    def bound(self, bind: Bind) -> None:
        """The watch will confirm it; until then the server's word counts."""
        self._open.discard(bind.uid)
        self._reporter.bound(bind.uid, bind.node_name)
        self._wake()

    def failed(self, bind: Bind, reason: str) -> None:  # noqa: ARG002 (part of BindResults; the binder logs it)
        """Forget the assumption and let the pod go through a cycle, after a pause."""
        self._forget(bind.uid, bind.node_name)

    def forbidden(self, bind: Bind, reason: str, message: str) -> None:
        """As `failed`, and say so where people look."""
        self._reporter.forbidden(bind.uid, reason, message)
        self._forget(bind.uid, bind.node_name)

    # --- inside ------------------------------------------------------------------------------------------------------

    async def _recheck(self, pod: PodRecord) -> str:
        try:
            found = await self._client.get(PODS, pod.name, pod.namespace)
        except NotFound:
            found = None
        except KubeError:
            return "unknown"
        live = _PODS.decode(msgspec.json.encode(found)) if found is not None else None
        if live is None or live.metadata.uid != pod.uid:
            self._apply(self._state.remove_pod(pod.namespace, pod.name, pod.uid))
            outcome = "gone"
        elif live.spec.node_name:
            self._apply(self._state.upsert_pod(live))
            outcome = "bound"
        else:
            assumption = self._state.assumption(pod.uid)
            if assumption is not None:
                self._forget(pod.uid, assumption.node_name)
            outcome = "unbound"
        self._wake()
        return outcome

    def _forget(self, pod_uid: str, node_name: str) -> None:
        self._open.discard(pod_uid)
        assumption = self._state.assumption(pod_uid)
        if assumption is not None and assumption.node_name == node_name:
            key = self._state.queued_item_of(pod_uid)
            if key is not None:
                self._queue.bind_failed(key)
            self._apply(self._state.forget(pod_uid))
        self._wake()
