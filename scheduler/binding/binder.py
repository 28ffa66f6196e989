"""Sends binds and finds out what became of them. A lost answer is unknown, not failed: the pod is read before anything else.

One bind ends in exactly one of three ways, each told to the `BindResults` once:

- `bound`: the server has this pod (by UID) on this node, because it said so or because we read it there;
- `failed`: it has not and will not by this bind (pod or node gone, somebody else was faster, time is up): the room is given
  back and the pod goes through a cycle again, in which its bound siblings count;
- `forbidden`: the server forbids it. Its namespace is being deleted, so the pod will go too; or we lack the right, and a person
  has to act.

Before the first bind of a decision is sent, all of them are looked at once more: when a node or a pod has gone since, so that fewer
could be bound than have to be, none is sent. Later, each goes its own way: what has been sent cannot be taken back.

Until then the pod stays assumed, so its room cannot be given away twice. The UID of the pod is in the request, so a
same-named successor is never bound in its place. A retry always names the same node: a first request that arrives late
can then do no harm.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

from api.constants import REASON_BIND_FORBIDDEN, REASON_NAMESPACE_TERMINATING
from kube.client.client import Client
from kube.client.errors import AlreadyExists, BadRequest, Conflict, Forbidden, Invalid, KubeError, NotFound
from kube.client.resources import PODS
from scheduler.apicalls.dispatcher import APIDispatcher, Retries

_log = logging.getLogger(__name__)

BOUND: Final = "bound"
FAILED: Final = "failed"
FORBIDDEN: Final = "forbidden"
OVERTAKEN: Final = "overtaken"
RETRY: Final = "retry"
UNKNOWN: Final = "unknown"

NAMESPACE_TERMINATES: Final = "the namespace {} is being deleted, so none of its pods can be bound any more"


@dataclass(frozen=True, slots=True)
class Bind:
    """One pod to be bound to one node.

    Attributes:
        namespace: of the pod.
        name: of the pod.
        uid: of the pod; the server refuses the bind of any other.
        node_name: the node decided upon.
        node_uid: that node's UID when it was decided.
        since_seconds: when it was decided, on the process's monotonic clock.
    """

    namespace: str
    name: str
    uid: str
    node_name: str
    node_uid: str
    since_seconds: float

    def body(self) -> dict[str, Any]:
        """The Binding as the API takes it."""
        return {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": self.name, "namespace": self.namespace, "uid": self.uid},
            "target": {"apiVersion": "v1", "kind": "Node", "name": self.node_name},
        }


@dataclass(slots=True)
class _Together:
    """The binds of one decision, of which `need` must be possible before the first is sent."""

    binds: Sequence[Bind]
    need: int
    is_looked_at: bool = False
    given_up: str | None = None


class BindResults(Protocol):
    """Who is told how binds end, and knows whether one still makes sense."""

    def obstacle(self, bind: Bind) -> str | None:
        """Why this bind must not be sent any more (pod or node gone, assumption given up); None when it may."""

    def bound(self, bind: Bind) -> None:
        """The server has the pod on the node."""

    def failed(self, bind: Bind, reason: str) -> None:
        """The pod is not on the node: forget the assumption and try again through a cycle. `reason` is for the log."""

    def forbidden(self, bind: Bind, reason: str, message: str) -> None:
        """The server forbids the bind: forget the assumption and say why.

        Args:
            bind: what was refused.
            reason: of the condition.
            message: of the condition.
        """


class Binder:
    """Sends binds and tells how each of them ends.

    Args:
        client: sends them, and reads pods whose bind had no answer.
        dispatcher: takes them as urgent calls.
        results: told how they end.
        retries: of those that failed for a passing reason.
        clock: monotonic seconds.
        give_up_seconds: a bind that was decided so long ago is not repeated.
        observe_seconds: told for each pod that is bound, or given up after `give_up_seconds`, how long ago it was decided. Were
            it told of bound ones only, a server that answers no bind in time would look as quick as one that has none to do.
    """

    def __init__(
        self,
        client: Client,
        dispatcher: APIDispatcher,
        results: BindResults,
        *,
        retries: Retries,
        clock: Callable[[], float],
        give_up_seconds: float = 60.0,
        observe_seconds: Callable[[float], None] | None = None,
    ) -> None:
        self._client = client
        self._dispatcher = dispatcher
        self._results = results
        self._retries = retries
        self._clock = clock
        self._give_up_seconds = give_up_seconds
        self._observe_seconds = observe_seconds or (lambda _seconds: None)
        self._forbidden_said = False

    def submit(self, binds: Sequence[Bind], need: int) -> None:
        """Queue the binds of one decision; none is sent unless `need` of them still make sense when the first is."""
        together = _Together(binds, need)
        for bind in binds:
            self._dispatcher.add_urgent(partial(self._begin, bind, together))

    # --- sending -----------------------------------------------------------------------------------------------------

    async def _begin(self, bind: Bind, together: _Together) -> str:
        if not together.is_looked_at:
            together.is_looked_at, together.given_up = True, self._too_few(together)
        if together.given_up is not None:
            return self._fail(bind, together.given_up, OVERTAKEN)
        return await self._send(bind)

    def _too_few(self, together: _Together) -> str | None:
        """Why fewer of these can be bound than have to be, None when that is not so."""
        obstacles = [text for each in together.binds if (text := self._results.obstacle(each)) is not None]
        left = len(together.binds) - len(obstacles)
        if not obstacles or left >= together.need:
            return None
        if len(together.binds) == 1:
            return obstacles[0]
        return f"{left} of {len(together.binds)} pods can still be bound, {together.need} must be: {obstacles[0]}"

    async def _send(self, bind: Bind) -> str:
        obstacle = self._results.obstacle(bind)
        if obstacle is not None:
            return self._fail(bind, obstacle, OVERTAKEN)
        try:
            await self._client.create(
                PODS, bind.body(), bind.namespace, name=bind.name, subresource="binding", parse=False
            )
        except NotFound:
            return self._fail(bind, "the pod is gone")
        except (Conflict, AlreadyExists):
            return await self._read_pod(bind, afterwards=self._end_unbound)
        except Forbidden as error:
            return self._refuse(bind, error)
        except (BadRequest, Invalid) as error:
            return self._fail(bind, str(error))
        except KubeError as error:
            if error.outcome_unknown:
                return await self._read_pod(bind, afterwards=self._retry)
            return self._retry(bind, str(error), error)
        return self._succeed(bind)

    # --- reading -----------------------------------------------------------------------------------------------------

    async def _read_pod(self, bind: Bind, *, afterwards: "Callable[[Bind, str], str]") -> str:
        """Read the pod; `afterwards` decides when it turns out to be on no node yet."""
        try:
            pod = await self._client.get(PODS, bind.name, bind.namespace)
        except NotFound:
            return self._fail(bind, "the pod is gone")
        except KubeError as error:
            # Nothing is known, so nothing may be concluded: keep the room and read again.
            read_again = lambda: self._dispatcher.add_urgent(lambda: self._read_pod(bind, afterwards=afterwards))  # noqa: E731
            self._retries.add(bind.uid, read_again, error)
            return UNKNOWN
        if pod.get("metadata", {}).get("uid") != bind.uid:
            return self._fail(bind, "the pod was replaced by another of its name")
        node_name = pod.get("spec", {}).get("nodeName") or ""
        if node_name == bind.node_name:
            return self._succeed(bind)
        if node_name:
            return self._fail(bind, f"somebody else bound the pod to {node_name}")
        return afterwards(bind, "the answer to the bind was lost, and the pod is not bound")

    def _retry(self, bind: Bind, reason: str, error: KubeError | None = None) -> str:
        waited_seconds = self._clock() - bind.since_seconds
        if waited_seconds > self._give_up_seconds:
            self._observe_seconds(waited_seconds)
            return self._fail(bind, f"gave up after {self._give_up_seconds:.0f} s: {reason}")
        self._retries.add(bind.uid, lambda: self._dispatcher.add_urgent(lambda: self._send(bind)), error)
        return RETRY

    def _end_unbound(self, bind: Bind, _reason: str) -> str:
        return self._fail(bind, "the server refused the bind, the pod is on no node")

    # --- ends --------------------------------------------------------------------------------------------------------

    def _succeed(self, bind: Bind) -> str:
        self._retries.forget(bind.uid)
        self._forbidden_said = False
        self._observe_seconds(self._clock() - bind.since_seconds)
        self._results.bound(bind)
        return BOUND

    def _fail(self, bind: Bind, reason: str, outcome: str = FAILED) -> str:
        self._retries.forget(bind.uid)
        _log.info("pod %s/%s was not bound to %s: %s", bind.namespace, bind.name, bind.node_name, reason)
        self._results.failed(bind, reason)
        return outcome

    def _refuse(self, bind: Bind, error: Forbidden) -> str:
        self._retries.forget(bind.uid)
        if error.has_cause(REASON_NAMESPACE_TERMINATING):
            self._results.forbidden(bind, REASON_NAMESPACE_TERMINATING, NAMESPACE_TERMINATES.format(bind.namespace))
            return FORBIDDEN
        if not self._forbidden_said:
            self._forbidden_said = True
            _log.error("the scheduler may not bind pods: %s", error)
        self._results.forbidden(bind, REASON_BIND_FORBIDDEN, f"the scheduler may not bind pods: {error}")
        return FORBIDDEN
