"""What an administrator does against tenants who flood the API server, as `config/samples/flow-control` has it for one of them."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from tests.conformance.quotas import counted, give_quota
from tests.conformance.tenants.tenant import Tenant
from verify.clusters.client import Api, Object
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually

SAMPLE = Path(__file__).parents[3] / "config" / "samples" / "flow-control"
PLURALS = {"FlowSchema": "flowschemas", "PriorityLevelConfiguration": "prioritylevelconfigurations"}
SEATS = "apiserver_flowcontrol_nominal_limit_seats"
DISPATCHED = "apiserver_flowcontrol_dispatched_requests_total"
IN_FORCE_SECONDS = 60


@contextmanager
def levels_of_their_own(admin: Api, tenants: Iterable[Tenant]) -> Iterator[None]:
    """Each of the tenants has one seat meanwhile, as soon as this is entered; AssertionError when one has not used it."""
    namespaces = [tenant.namespace for tenant in tenants]
    objects = [*sample("unassigned"), *(each for namespace in namespaces for each in sample("tenant", namespace))]
    try:
        for each in objects:
            admin.create(PLURALS[each["kind"]], each)
        levels = [f"tenant-{namespace}" for namespace in namespaces]
        one_each = dict.fromkeys(levels, 1).items()
        eventually(lambda: one_each <= by_level(admin, SEATS).items(), within_seconds=IN_FORCE_SECONDS)
        yield
        assert set(levels) <= set(by_level(admin, DISPATCHED)), "requests of a tenant were answered by another level"
    finally:
        for each in reversed(objects):
            admin.delete(PLURALS[each["kind"]], each["metadata"]["name"])


def quota(control_plane: ControlPlane, who: Tenant, most: int) -> None:
    """Gives his namespace a quota: of each kind that the sample counts so many."""
    (body,) = sample("quota", who.namespace)
    hard = dict.fromkeys(body["spec"]["hard"], most)
    give_quota(control_plane, who.namespace, "objects", hard, "pods", counted(control_plane, "podgroups"))


def sample(name: str, namespace: str = "team-a") -> list[Object]:
    """The objects of a file of the sample, for this namespace."""
    text = (SAMPLE / f"{name}.yaml").read_text().replace("team-a", namespace)
    return list(yaml.safe_load_all(text))


def by_level(admin: Api, metric: str) -> dict[str, int]:
    """A metric of the API server by priority level; those without a figure are not in it."""
    text = admin.request("GET", "/metrics")["text"]
    found = re.findall(rf'^{metric}{{(?:.*,)?priority_level="(.+)"}} (\d+)$', text, re.MULTILINE)
    return {level: int(figure) for level, figure in found}
