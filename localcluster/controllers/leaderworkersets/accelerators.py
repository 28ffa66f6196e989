"""The variables that containers on TPUs find their neighbours by. Pure; changes the pod, which belongs to the request.

A container that names its neighbours itself is left alone. With several such containers in a pod each is a process of its
own: hosts appear once for each, ports count up.
"""

from typing import Any, Final

from api.constants import LEADER_INDEX, LWS_WORKER_INDEX
from localcluster.controllers.leaderworkersets.names import (
    LEADER_TPU_ANNOTATION,
    SUBGROUP_INDEX_LABEL,
    SUBGROUP_SIZE_ANNOTATION,
    parent_and_ordinal,
)

Object = dict[str, Any]

RESOURCE: Final = "google.com/tpu"
FIRST_PORT: Final = 8476
HOSTS: Final = "TPU_WORKER_HOSTNAMES"
WORKER_ID: Final = "TPU_WORKER_ID"
PORT: Final = "TPU_PROCESS_PORT"


def requests_tpus(spec: Object) -> bool:
    """Whether any container of a pod spec asks for TPUs."""
    return bool(_containers(spec))


def add_tpu_variables(pod: Object, size: int) -> None:
    """Adds the variables; `size` is the number of pods in the group."""
    containers = _containers(pod["spec"])
    own = {each["name"] for container in containers for each in container.get("env") or []}
    if not containers or own & {HOSTS, WORKER_ID}:
        return
    names, first = _neighbours(pod, size)
    hosts = [f"{name}.{pod['spec'].get('subdomain', '')}" for name in names]
    ports = [_port(container) or str(FIRST_PORT + number) for number, container in enumerate(containers)]
    addresses = [f"{host}:{port}" for host in hosts for port in ports]
    for number, container in enumerate(containers):
        added = {
            HOSTS: ",".join(host for host in hosts for _ in ports),
            WORKER_ID: str(number + len(containers) * first),
            "TPU_NAME": _leader_of(pod),
            "TPU_PROCESS_ADDRESSES": ",".join(addresses),
        }
        if _port(container) is None:
            added[PORT] = ports[number]
        variables = container.setdefault("env", [])
        variables += [{"name": name, "value": value} for name, value in added.items()]


def _neighbours(pod: Object, size: int) -> tuple[list[str], int]:
    """Names of the pods that work on TPUs together with this one, and its own place among them."""
    leader, index = _leader_of(pod), int(pod["metadata"]["labels"][LWS_WORKER_INDEX])
    annotations = pod["metadata"].get("annotations") or {}
    leads = index == 0 or annotations.get(LEADER_TPU_ANNOTATION) == "true"
    subgroup_size, subgroup = annotations.get(SUBGROUP_SIZE_ANNOTATION), _subgroup(pod)
    if subgroup_size is None or subgroup is None:
        first, last, place = (0 if leads else 1), size - 1, index if leads else index - 1
    else:
        step = int(subgroup_size)
        first = step * subgroup + (0 if leads else 1)
        last, place = first + step - 1, (index if leads else index - 1) % step
    return [f"{leader}-{number}" if number else leader for number in range(first, last + 1)], place


def _subgroup(pod: Object) -> int | None:
    text = pod["metadata"]["labels"].get(SUBGROUP_INDEX_LABEL)
    return None if text is None else int(text)


def _leader_of(pod: Object) -> str:
    name = str(pod["metadata"]["name"])
    if pod["metadata"]["labels"][LWS_WORKER_INDEX] == LEADER_INDEX:
        return name
    parent = parent_and_ordinal(name)
    return parent[0] if parent is not None else name


def _port(container: Object) -> str | None:
    return next((each.get("value") for each in container.get("env") or [] if each["name"] == PORT), None)


def _containers(spec: Object) -> list[Object]:
    every = [*(spec.get("containers") or []), *(spec.get("initContainers") or [])]
    return [each for each in every if _asks(each.get("resources") or {})]


def _asks(resources: Object) -> bool:
    amounts = [(resources.get(kind) or {}).get(RESOURCE) for kind in ("limits", "requests")]
    return any(str(amount or "0") != "0" for amount in amounts)
