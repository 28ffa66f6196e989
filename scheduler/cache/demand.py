"""What a pod takes of a node: amounts per resource and host ports; and which host ports are taken on which nodes.

Amounts are parsed once per distinct bytes. A pod whose amounts cannot be understood still has a demand: it takes one of
the node's `pods` and says in `problem` why it cannot be placed, so that a stranger's object never raises.

Amounts are limited to `MAX_AMOUNT`: sums over thousands of pods must stay inside an int64.
"""

from collections import Counter
from typing import Annotated, Final

import msgspec

from api.errors import InvalidObject
from api.extended_resources import ExtendedResources, parse_extended_resources
from api.pod import PodSpec
from api.requests import PODS, effective_requests

MAX_AMOUNT: Final = 2**50
"""1 PiB, or a million million devices: more is refused for pending pods and cut for bound ones and nodes."""

DEFAULT_CPU_MILLI: Final = 100
DEFAULT_MEMORY_BYTES: Final = 200 * 1024 * 1024
"""What scoring assumes of a pod that states no request, as the stock scheduler does (`NonZeroRequest`)."""

HostPort = tuple[str, int, str]
"""(protocol, port, host address); the address `0.0.0.0` means all of them."""

ANY_ADDRESS: Final = "0.0.0.0"


_PortNumber = Annotated[int, msgspec.Meta(ge=0, le=65535)]


class _Port(msgspec.Struct, frozen=True, rename="camel"):
    host_port: _PortNumber = 0
    container_port: _PortNumber = 0
    protocol: str = "TCP"
    host_ip: str = msgspec.field(default="", name="hostIP")


_decode_ports: Final = msgspec.json.Decoder(tuple[_Port, ...] | None).decode


class Demand:
    """Amounts and ports of a pod, shared by all pods with the same bytes; compared by identity.

    Attributes:
        extended: those of the amounts that device classes may stand for, by container; None where there are none.
    """

    __slots__ = ("__weakref__", "amounts", "extended", "ports", "problem", "scored")

    def __init__(
        self,
        amounts: dict[str, int],
        ports: tuple[HostPort, ...] = (),
        problem: str = "",
        extended: ExtendedResources | None = None,
    ) -> None:
        self.amounts: Final = amounts
        self.ports: Final = ports
        self.problem: Final = problem
        self.extended: Final = extended
        self.scored: Final = (
            amounts.get("cpu", 0) or DEFAULT_CPU_MILLI,
            amounts.get("memory", 0) or DEFAULT_MEMORY_BYTES,
        )


def demand_key(spec: PodSpec) -> bytes:
    """The bytes that decide a demand; equal bytes mean an equal demand."""
    parts: list[bytes | msgspec.Raw] = []
    for container in spec.containers:
        parts += (container.resources, container.ports)
    parts.append(b"\x01")
    for container in spec.init_containers:
        parts += (container.resources, container.ports, container.restart_policy.encode())
    parts += (b"\x01", spec.resources, spec.overhead, b"host" if spec.host_network else b"")
    key = b"\x00".join(parts)
    if b"/" in key:
        # There may be extended resources, and who uses which of their devices is told by the names of containers.
        names = (container.name.encode() for container in (*spec.init_containers, *spec.containers))
        key = b"\x00".join((key, *names))
    return key


def parse_demand(spec: PodSpec) -> Demand:
    """The demand of a pod; never raises for what a user wrote."""
    try:
        amounts = effective_requests(spec)
        ports = _host_ports(spec)
        extended = parse_extended_resources(spec)
    except (InvalidObject, msgspec.MsgspecError, RecursionError) as error:
        return Demand({PODS: 1}, problem=f"its resource requests or ports cannot be read: {error}")
    problem = next((_problem(name, amount) for name, amount in amounts.items() if not 0 <= amount <= MAX_AMOUNT), "")
    if problem:
        amounts = {name: min(max(amount, 0), MAX_AMOUNT) for name, amount in amounts.items()}
    return Demand(amounts, ports, problem, extended)


def _problem(resource: str, amount: int) -> str:
    return f"its request of {amount} for {resource} is {'negative' if amount < 0 else 'more than any node can have'}"


def _host_ports(spec: PodSpec) -> tuple[HostPort, ...]:
    found: dict[HostPort, None] = {}
    sidecars = (container for container in spec.init_containers if container.restart_policy == "Always")
    for container in (*spec.containers, *sidecars):
        for port in (_decode_ports(container.ports) if container.ports else None) or ():
            number = port.host_port or (port.container_port if spec.host_network else 0)
            if number > 0:
                found[port.protocol, number, port.host_ip or ANY_ADDRESS] = None
    return tuple(found)


def ports_conflict(one: HostPort, other: HostPort) -> bool:
    """True when two pods on one node cannot both open these ports."""
    same_address = one[2] == other[2] or ANY_ADDRESS in {one[2], other[2]}
    return one[:2] == other[:2] and same_address


class PortTable:
    """Taken ports by protocol and number, then by node name, so that a question touches only nodes that matter."""

    def __init__(self) -> None:
        self._taken: dict[tuple[str, int], dict[str, Counter[HostPort]]] = {}

    def take(self, node_name: str, ports: tuple[HostPort, ...]) -> None:
        """Counts the ports of a pod against a node."""
        for port in ports:
            self._taken.setdefault(port[:2], {}).setdefault(node_name, Counter())[port] += 1

    def give_back(self, node_name: str, ports: tuple[HostPort, ...]) -> None:
        """Undoes `take`."""
        for port in ports:
            nodes = self._taken[port[:2]]
            counter = nodes[node_name]
            counter[port] -= 1
            if not counter[port]:
                del counter[port]
            if not counter:
                del nodes[node_name]
            if not nodes:
                del self._taken[port[:2]]

    def conflicts(self, ports: tuple[HostPort, ...]) -> set[str]:
        """Names of the nodes on which one of these ports is taken already."""
        return {
            name
            for port in ports
            for name, counter in self._taken.get(port[:2], {}).items()
            if any(ports_conflict(port, taken) for taken in counter)
        }

    def copy(self) -> "PortTable":
        """The same ports, to be altered."""
        made = PortTable()
        made._taken = {
            number: {name: Counter(taken) for name, taken in nodes.items()} for number, nodes in self._taken.items()
        }
        return made
