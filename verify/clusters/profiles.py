"""Profiles that differ from the default one: as kube-scheduler is told, and as Tutti is."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

GPU = "example.com/gpu"


class Profile(NamedTuple):
    """The same profile twice: arguments of kube-scheduler's plugins, with weights that differ, and our settings."""

    arguments: dict[str, dict[str, Any]]
    settings: dict[str, Any]
    weights: Mapping[str, int] = MappingProxyType({})


def _fit(strategy: str, resources: dict[str, int], **more: Any) -> dict[str, dict[str, Any]]:
    listed = [{"name": name, "weight": weight} for name, weight in resources.items()]
    return {"NodeResourcesFit": {"scoringStrategy": {"type": strategy, "resources": listed, **more}}}


def _ratio(resources: dict[str, int], *points: tuple[int, int]) -> Profile:
    shape = [{"utilization": used, "score": score} for used, score in points]
    fit = {"strategy": "RequestedToCapacityRatio", "resources": resources, "shape": shape}
    stock = _fit("RequestedToCapacityRatio", resources, requestedToCapacityRatio={"shape": shape})
    return Profile(stock, {"resources_fit": fit})


BOTH = {"cpu": 1, "memory": 1}
WITH_GPU = {"cpu": 1, "memory": 1, GPU: 5}

PROFILES = {
    "packed": Profile(_fit("MostAllocated", BOTH), {"resources_fit": {"strategy": "MostAllocated"}}),
    "packed-gpus": Profile(
        _fit("MostAllocated", WITH_GPU), {"resources_fit": {"strategy": "MostAllocated", "resources": WITH_GPU}}
    ),
    "least-gpus": Profile(_fit("LeastAllocated", WITH_GPU), {"resources_fit": {"resources": WITH_GPU}}),
    "rising": _ratio(BOTH, (0, 0), (100, 10)),
    "hill": _ratio(WITH_GPU, (0, 0), (40, 10), (100, 2)),
    "balanced": Profile(
        {"NodeResourcesBalancedAllocation": {"resources": [{"name": name, "weight": 1} for name in WITH_GPU]}},
        {"balanced_resources": list(WITH_GPU), "scores": {"NodeResourcesFit": 0}},
        {"NodeResourcesFit": 0},
    ),
    "near": Profile(
        {}, {"scores": {"NodeAffinity": 50, "TaintToleration": 0}}, {"NodeAffinity": 50, "TaintToleration": 0}
    ),
}


def stock_configuration(kubeconfig: str) -> dict[str, Any]:
    """What kube-scheduler is started with: the default profile and all of these."""
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"kubeconfig": kubeconfig, "qps": 1000, "burst": 2000},
        "profiles": [
            {"schedulerName": "default-scheduler"},
            *(_stock_profile(name, profile) for name, profile in PROFILES.items()),
        ],
    }


def _stock_profile(name: str, profile: Profile) -> dict[str, Any]:
    plugins = {
        "score": {
            "disabled": [{"name": score} for score in profile.weights],
            "enabled": [{"name": score, "weight": weight} for score, weight in profile.weights.items() if weight],
        }
    }
    arguments = [{"name": plugin, "args": given} for plugin, given in profile.arguments.items()]
    return {"schedulerName": f"stock-{name}", "plugins": plugins, "pluginConfig": arguments}


def settings() -> dict[str, Any]:
    """What `tutti run` is started with."""
    profiles = [{"scheduler_name": f"tutti-{name}", **profile.settings} for name, profile in PROFILES.items()]
    return {"scheduler": {"profiles": profiles}}
