"""A priority level at the API server for each tenant, as `config/samples/flow-control` has it for one."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from tests.conformance.tenants.tenant import Tenant
from verify.clusters.client import Api, Object
from verify.clusters.eventually import eventually

SAMPLE = Path(__file__).parents[3] / "config" / "samples" / "flow-control"
PLURALS = {"FlowSchema": "flowschemas", "PriorityLevelConfiguration": "prioritylevelconfigurations"}
SEATS = re.compile(r'^apiserver_flowcontrol_nominal_limit_seats\{priority_level="(.+)"\} (\d+)$', re.MULTILINE)
IN_FORCE_SECONDS = 60


@contextmanager
def levels_of_their_own(admin: Api, tenants: Iterable[Tenant]) -> Iterator[None]:
    """Each of the tenants has one seat meanwhile, as soon as this is entered."""
    namespaces = [tenant.namespace for tenant in tenants]
    objects = [*sample("unassigned"), *(each for namespace in namespaces for each in sample("tenant", namespace))]
    try:
        for each in objects:
            admin.create(PLURALS[each["kind"]], each)
        wanted = {f"tenant-{namespace}": 1 for namespace in namespaces}
        eventually(lambda: wanted.items() <= seats(admin).items(), within_seconds=IN_FORCE_SECONDS)
        yield
    finally:
        for each in reversed(objects):
            admin.delete(PLURALS[each["kind"]], each["metadata"]["name"])


def sample(name: str, namespace: str = "team-a") -> list[Object]:
    """The objects of a file of the sample, for this namespace."""
    text = (SAMPLE / f"{name}.yaml").read_text().replace("team-a", namespace)
    return list(yaml.safe_load_all(text))


def seats(admin: Api) -> dict[str, int]:
    """How many requests of each priority level the API server works on at once, by its own account."""
    return {level: int(count) for level, count in SEATS.findall(admin.request("GET", "/metrics")["text"])}
