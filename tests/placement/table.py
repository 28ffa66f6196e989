"""All cases by filter and score."""

from tests.placement import about_nodes, inter_pod_affinity, pod_topology_spread
from tests.placement.case import Case

GROUPS: dict[str, tuple[Case, ...]] = {
    "filter PodTopologySpread": pod_topology_spread.HARD,
    "score PodTopologySpread": pod_topology_spread.SOFT,
    "score PodTopologySpread by default": pod_topology_spread.DEFAULT,
    "filter InterPodAffinity": inter_pod_affinity.FILTER,
    "score InterPodAffinity": inter_pod_affinity.SCORE,
    "score NodeAffinity": about_nodes.PREFERRED_NODES,
    "score TaintToleration": about_nodes.SOFT_TAINTS,
    "score ImageLocality": about_nodes.IMAGES,
}

CASES = [(group, case) for group, cases in GROUPS.items() for case in cases]
IDS = [f"{group}: {case.name}" for group, case in CASES]
