"""Our own group kinds in a cluster without Tutti: their definitions as they are shipped, and nothing else."""

from pathlib import Path

import yaml

from verify.clusters.client import Api, ApiError
from verify.clusters.eventually import eventually

FILES = Path(__file__).resolve().parents[2] / "config" / "crd"
SERVED_SECONDS = 30


def install_definitions(api: Api) -> None:
    """Makes the definitions that are missing and waits until their kinds are served."""
    for kind in ("podgroups", "workloads", "compositepodgroups"):
        definition = yaml.safe_load((FILES / f"{kind}.yaml").read_text())
        if api.find("customresourcedefinitions", definition["metadata"]["name"]) is None:
            api.create("customresourcedefinitions", definition)
    eventually(lambda: groups_are_served(api), within_seconds=SERVED_SECONDS)


def groups_are_served(api: Api) -> bool:
    """Whether PodGroups and Workloads can be listed, in the group API in force."""
    try:
        return api.list("podgroups") is not None and api.list("workloads") is not None
    except ApiError:
        return False
