"""All cases by filter and score."""

from tests.placement import (
    about_nodes,
    amounts,
    basics,
    declared_features,
    inter_pod_affinity,
    node_volume_limits,
    pod_topology_spread,
    volume_binding,
    volume_restrictions,
    volume_zone,
)
from tests.placement.case import Case

GROUPS: dict[str, tuple[Case, ...]] = {
    "filter SchedulingGates": basics.GATES,
    "filter NodeUnschedulable": basics.CORDONS,
    "filter NodeName": basics.NAMED,
    "filter TaintToleration": basics.TAINTS,
    "filter NodeAffinity": basics.AFFINITY,
    "filter NodePorts": basics.PORTS,
    "filter NodeResourcesFit": amounts.FIT,
    "score NodeResourcesFit, LeastAllocated": amounts.LEAST,
    "score NodeResourcesFit, MostAllocated": amounts.MOST,
    "score NodeResourcesFit, RequestedToCapacityRatio": amounts.RATIO,
    "score NodeResourcesBalancedAllocation": amounts.BALANCE,
    "weights of scores": amounts.WEIGHTS,
    "filter PodTopologySpread": pod_topology_spread.HARD,
    "score PodTopologySpread": pod_topology_spread.SOFT,
    "score PodTopologySpread by default": pod_topology_spread.DEFAULT,
    "filter InterPodAffinity": inter_pod_affinity.FILTER,
    "score InterPodAffinity": inter_pod_affinity.SCORE,
    "score NodeAffinity": about_nodes.PREFERRED_NODES,
    "score TaintToleration": about_nodes.SOFT_TAINTS,
    "score ImageLocality": about_nodes.IMAGES,
    "filter VolumeRestrictions": volume_restrictions.RESTRICTIONS,
    "filter NodeVolumeLimits": node_volume_limits.LIMITS,
    "filter VolumeBinding": volume_binding.BINDING,
    "score VolumeBinding": volume_binding.SIZES,
    "filter VolumeZone": volume_zone.ZONES,
    "filter NodeDeclaredFeatures": declared_features.FEATURES,
}

CASES = [(group, case) for group, cases in GROUPS.items() for case in cases]
IDS = [f"{group}: {case.name}" for group, case in CASES]
