"""A scheduler that is slow and obvious: one pod after the other, each on the first node that takes it, from plain manifests.

It shares no code with ours. For equal pods without rules about each other it is exact: a pod that fits on a node leaves every
other node as it was, so which node the next one takes does not matter.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Spec = Mapping[str, Any]


@dataclass
class Site:
    """A node and what is left of it; `free` has cpu, memory (GiB), pods and gpu."""

    name: str
    free: Counter[str]
    labels: Mapping[str, str] = field(default_factory=dict)
    is_tainted: bool = False
    is_cordoned: bool = False
    ports: set[int] = field(default_factory=set)

    def refusal(self, wants: Mapping[str, int], spec: Spec, port: int = 0) -> str:
        """Why a pod cannot go there, empty when it can."""
        if self.is_cordoned:
            return "cordoned"
        if self.is_tainted and not spec.get("tolerations"):
            return "tainted"
        if any(self.labels.get(key) != value for key, value in spec.get("nodeSelector", {}).items()):
            return "not selected"
        if port in self.ports:
            return "port"
        # Who asks for nothing is not refused where others took too much.
        short = [name for name, amount in {**wants, "pods": 1}.items() if amount and amount > self.free[name]]
        return f"too little {short}" if short else ""

    def take(self, wants: Mapping[str, int], port: int = 0) -> None:
        """Puts a pod there."""
        self.free.subtract({**wants, "pods": 1})
        if port:
            self.ports.add(port)


def most_that_fit(sites: list[Site], wants: Mapping[str, int], spec: Spec, port: int, limit: int) -> int:
    """How many equal pods can be placed, at most `limit`."""
    for number in range(limit):
        site = next((site for site in sites if not site.refusal(wants, spec, port)), None)
        if site is None:
            return number
        site.take(wants, port)
    return limit
