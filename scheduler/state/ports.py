"""Which host ports are taken on which nodes; only pods that open some are in here."""

from collections import Counter

from scheduler.state.demand import HostPort, ports_conflict


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
