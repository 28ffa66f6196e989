"""Rules about other pods, asked the slow way: one pod, one node, one running pod after the other, straight from the manifests.

Follows kube-scheduler's plugins PodTopologySpread and InterPodAffinity term by term, on plain dictionaries.
"""

from dataclasses import dataclass, field
from math import floor, log
from typing import Any

from scheduler.plugins.inter_pod_affinity import REASON_AFFINITY, REASON_ANTI_AFFINITY, REASON_EXISTING
from scheduler.plugins.pod_topology_spread import REASON, REASON_LABEL

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
HOSTNAME = "kubernetes.io/hostname"


@dataclass
class Being:
    """A pod as the rules see it."""

    name: str
    namespace: str
    labels: dict[str, str]
    spec: dict[str, Any] = field(default_factory=dict)
    node: str = ""
    leaving: bool = False


@dataclass
class Cluster:
    """Node labels, pods that run, namespaces."""

    nodes: dict[str, dict[str, str]]
    pods: list[Being]
    namespaces: dict[str, dict[str, str]] = field(default_factory=dict)

    def value(self, node: str, key: str) -> str | None:
        return self.nodes[node].get(key)


def selects(selector: dict[str, Any] | None, labels: dict[str, str]) -> bool:
    """Whether a label selector matches."""
    if selector is None:
        return False
    if any(labels.get(key) != value for key, value in selector.get("matchLabels", {}).items()):
        return False
    for one in selector.get("matchExpressions", []):
        value, values = labels.get(one["key"]), one.get("values", [])
        holds = {
            "In": value in values,
            "NotIn": value not in values,
            "Exists": value is not None,
            "DoesNotExist": value is None,
        }[one["operator"]]
        if not holds:
            return False
    return True


def terms(pod: Being, kind: str, when: str) -> list[dict[str, Any]]:
    """The affinity terms of a pod."""
    found: list[dict[str, Any]] = pod.spec.get("affinity", {}).get(kind, {}).get(when, [])
    return found


def speaks_of(term: dict[str, Any], owner: Being, other: Being, cluster: Cluster) -> bool:
    """Whether an affinity term of `owner` matches another pod."""
    names, chosen = term.get("namespaces", []), term.get("namespaceSelector")
    if not names and chosen is None:
        names = [owner.namespace]
    if other.namespace not in names and not selects(chosen, cluster.namespaces.get(other.namespace, {})):
        return False
    return selects(term.get("labelSelector"), other.labels)


def refusal(pod: Being, node: str, cluster: Cluster) -> str:
    """Why a node does not take the pod, empty when it does."""
    return _uneven(pod, node, cluster) or _bad_company(pod, node, cluster)


def _bad_company(pod: Being, node: str, cluster: Cluster) -> str:
    needs = terms(pod, "podAffinity", REQUIRED)
    if needs and not _near(pod, needs, node, cluster):
        return REASON_AFFINITY.text
    for term in terms(pod, "podAntiAffinity", REQUIRED):
        if any(
            _together(term, node, other, cluster) and speaks_of(term, pod, other, cluster) for other in cluster.pods
        ):
            return REASON_ANTI_AFFINITY.text
    for other in cluster.pods:
        for term in terms(other, "podAntiAffinity", REQUIRED):
            if _together(term, node, other, cluster) and speaks_of(term, other, pod, cluster):
                return REASON_EXISTING.text
    return ""


def _together(term: dict[str, Any], node: str, other: Being, cluster: Cluster) -> bool:
    key = term["topologyKey"]
    mine = cluster.value(node, key)
    return mine is not None and mine == cluster.value(other.node, key)


def _near(pod: Being, needs: list[dict[str, Any]], node: str, cluster: Cluster) -> bool:
    if any(cluster.value(node, term["topologyKey"]) is None for term in needs):
        return False
    kind = [other for other in cluster.pods if all(speaks_of(term, pod, other, cluster) for term in needs)]
    if all(any(_together(term, node, other, cluster) for other in kind) for term in needs):
        return True
    somewhere = any(cluster.value(other.node, term["topologyKey"]) is not None for other in kind for term in needs)
    return not somewhere and all(speaks_of(term, pod, pod, cluster) for term in needs)


def _counting(pod: Being, constraints: list[dict[str, Any]], one: dict[str, Any], cluster: Cluster) -> list[str]:
    found = []
    for node, labels in cluster.nodes.items():
        if any(labels.get(constraint["topologyKey"]) is None for constraint in constraints):
            continue
        wanted = pod.spec.get("nodeSelector", {})
        if one.get("nodeAffinityPolicy", "Honor") == "Honor" and any(labels.get(k) != v for k, v in wanted.items()):
            continue
        found.append(node)
    return found


def _alike(one: dict[str, Any], pod: Being, node: str, cluster: Cluster) -> int:
    selector = one.get("labelSelector") or {}
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        return 0
    return sum(
        other.node == node
        and other.namespace == pod.namespace
        and not other.leaving
        and selects(one["labelSelector"], other.labels)
        for other in cluster.pods
    )


def _constraints(pod: Being, when: str) -> list[dict[str, Any]]:
    return [one for one in pod.spec.get("topologySpreadConstraints", []) if one["whenUnsatisfiable"] == when]


def _uneven(pod: Being, node: str, cluster: Cluster) -> str:
    constraints = _constraints(pod, "DoNotSchedule")
    for one in constraints:
        key = one["topologyKey"]
        value = cluster.value(node, key)
        if value is None:
            return REASON_LABEL.text
        counts: dict[str, int] = {}
        for other in _counting(pod, constraints, one, cluster):
            there = cluster.nodes[other][key]
            counts[there] = counts.get(there, 0) + _alike(one, pod, other, cluster)
        least = min(counts.values(), default=0) if len(counts) >= one.get("minDomains", 1) else 0
        itself = int(selects(one.get("labelSelector"), pod.labels))
        if counts.get(value, 0) + itself - least > one["maxSkew"]:
            return REASON.text
    return ""


def company_scores(pod: Being, feasible: list[str], cluster: Cluster) -> dict[str, int]:
    """InterPodAffinity's normalised score of the feasible nodes."""
    raw = {node: _liking(pod, node, cluster) for node in feasible}
    least, most = min(raw.values()), max(raw.values())
    return {node: int(100 * ((one - least) / (most - least))) if most > least else 0 for node, one in raw.items()}


def _liking(pod: Being, node: str, cluster: Cluster) -> int:
    total = 0
    for other in cluster.pods:
        for kind, sign in (("podAffinity", 1), ("podAntiAffinity", -1)):
            for wish in terms(pod, kind, PREFERRED):
                term = wish["podAffinityTerm"]
                if _together(term, node, other, cluster) and speaks_of(term, pod, other, cluster):
                    total += sign * wish["weight"]
            for wish in terms(other, kind, PREFERRED):
                term = wish["podAffinityTerm"]
                if _together(term, node, other, cluster) and speaks_of(term, other, pod, cluster):
                    total += sign * wish["weight"]
        for term in terms(other, "podAffinity", REQUIRED):
            if _together(term, node, other, cluster) and speaks_of(term, other, pod, cluster):
                total += 1
    return total


def evenness_scores(pod: Being, feasible: list[str], cluster: Cluster) -> dict[str, int]:
    """PodTopologySpread's normalised score of the feasible nodes."""
    constraints = _constraints(pod, "ScheduleAnyway")
    if not constraints:
        return dict.fromkeys(feasible, 0)
    keys = [one["topologyKey"] for one in constraints]
    scored = [node for node in feasible if all(cluster.value(node, key) is not None for key in keys)]
    raw = {node: floor(_crowd(pod, node, constraints, scored, cluster) + 0.5) for node in scored}
    least, most = min(raw.values(), default=0), max(raw.values(), default=0)
    return {
        node: (100 if not most else 100 * (most + least - raw[node]) // most) if node in raw else 0 for node in feasible
    }


def _crowd(pod: Being, node: str, constraints: list[dict[str, Any]], scored: list[str], cluster: Cluster) -> float:
    total = 0.0
    for one in constraints:
        key = one["topologyKey"]
        if key == HOSTNAME:
            pods, values = _alike(one, pod, node, cluster), len(scored)
        else:
            inside = [
                other
                for other in _counting(pod, constraints, one, cluster)
                if cluster.nodes[other][key] == cluster.nodes[node][key]
            ]
            pods = sum(_alike(one, pod, other, cluster) for other in inside)
            values = len({cluster.nodes[other][key] for other in scored})
        total += pods * log(values + 2) + (one["maxSkew"] - 1)
    return total
