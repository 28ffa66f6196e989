"""Extended resources that device classes stand for: which of them a pod gets by a claim on which node.

A node that offers a resource by itself is counted, as for any other resource; on all others the pod gets devices, by one claim for
all such resources. So one pod may ask for different claims on different nodes, and for none on some.
"""

from collections.abc import Callable, Hashable, Mapping
from typing import Final

from api.devices import DeviceClaim
from api.extended_resources import ExtendedResources, requests_for
from api.meta import Metadata
from scheduler.algorithm.devices.requests import ClaimRequests
from scheduler.cache.cluster import ClusterState
from scheduler.cache.devices.records import ClaimKey, ClaimRecord
from scheduler.cache.nodes import NodeFacts
from scheduler.cache.pod_signature import PodSignature
from scheduler.plugins import dynamic_resources as plugin
from scheduler.plugins.status import Status

IN_MEMORY: Final = "<extended-resources>"
"""Stands for the name of a claim that is not made yet; no claim can be called so."""


def extended_key(namespace: str, pod_uid: str) -> ClaimKey:
    """Under which a decision has the devices of the claim that is to be made for a pod."""
    return (namespace, f"{IN_MEMORY}/{pod_uid}")


def asks_devices(state: ClusterState, signature: PodSignature) -> bool:
    """Whether pods of this signature have resource claims, or may get one for their extended resources."""
    return signature.rules.asks_devices or bool(state.devices.backed(signature.demand.extended))


class ExtendedClaims:
    """The claims of equal pods by what a node does not offer by itself.

    Args:
        state: the cluster.
        namespace: of the pods.
        asked: what one of them asks for.
        look_up: finds the requests of a claim, or says why that cannot be done.
        are_to_come: they do not exist yet, and no devices are kept for them: they can only go where the node is counted.
    """

    def __init__(
        self,
        state: ClusterState,
        namespace: str,
        asked: ExtendedResources,
        look_up: Callable[[ClaimRecord], ClaimRequests | str],
        *,
        are_to_come: bool = False,
    ) -> None:
        self._classes: Final = state.devices.backed(asked)
        self._spec_of: Final = state.devices.spec_of
        self._look_up: Final = look_up
        self._namespace: Final = namespace
        self._asked: Final = asked
        self._known: dict[tuple[str, ...], ClaimRequests | Status | None] = {}
        self._are_to_come: Final = are_to_come
        self.key: Final[Hashable] = (asked, tuple(sorted(self._classes.items())), are_to_come)
        """Equal for pods that ask for the same."""

    def on(self, node: NodeFacts) -> ClaimRequests | Status | None:
        """What the claim asks for on this node: None where there is none, a status where nobody can say."""
        names = tuple(name for name in self._classes if not node.offers(name))
        if names not in self._known:
            self._known[names] = self._claim({name: self._classes[name] for name in names}) if names else None
        return self._known[names]

    def _claim(self, classes: Mapping[str, str]) -> ClaimRequests | Status | None:
        requests, _ = requests_for(self._asked, classes)
        if not requests:
            return None
        if self._are_to_come:
            return plugin.REASON_TO_COME
        found = self._look_up(
            ClaimRecord(
                metadata=Metadata(name=IN_MEMORY, namespace=self._namespace),
                spec=self._spec_of(DeviceClaim(requests)),
                allocation=None,
                held=(),
                terms=None,
                reserved_for={},
                device_status=(),
            )
        )
        return plugin.refusal(found) if isinstance(found, str) else found
