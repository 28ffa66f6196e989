"""What should not be when nothing happens any more."""

from collections import Counter
from collections.abc import Iterator

from api.constants import DEFAULT_SCHEDULER_NAME, GATE, MANAGED, MIN_RESOURCES, POD_GROUP
from api.quantity import parse_milli
from localcluster.apiserver.store.memory import Store
from verify.simulator.promises.objects import (
    CLAIMS,
    GROUPS,
    JOBS,
    NODES,
    PODS,
    WORKLOADS,
    Object,
    has_ended,
    requests_of,
    used_on,
)


def at_rest(store: Store) -> Iterator[str]:
    """What should not be, when nothing happens any more."""
    yield from _orphans(store)
    yield from _jobs(store)


def _orphans(store: Store) -> Iterator[str]:
    living = {each.obj["metadata"]["uid"] for resource in store.resources() for each in store.list(resource)}
    for resource in (PODS, GROUPS, WORKLOADS):
        for each in store.list(resource):
            metadata = each.obj["metadata"]
            owners = metadata.get("ownerReferences") or []
            controllers = [owner for owner in owners if owner.get("controller")]
            if controllers and controllers[0]["uid"] not in living:
                yield f"I5: {resource[1]} {metadata['name']} has lost its owner {controllers[0]['name']}"


def _jobs(store: Store) -> Iterator[str]:
    owned: Counter[tuple[str, str]] = Counter()
    for resource in (GROUPS, WORKLOADS):
        for each in store.list(resource):
            for owner in each.obj["metadata"].get("ownerReferences") or []:
                if owner.get("controller") and owner["kind"] == "Job":
                    owned[resource[1], owner["uid"]] += 1
    for each in store.list(JOBS):
        metadata = each.obj["metadata"]
        if MANAGED not in (each.obj["spec"]["template"]["metadata"].get("labels") or {}):
            continue
        for resource in (GROUPS, WORKLOADS):
            found = owned[resource[1], metadata["uid"]]
            if found != 1 and not _is_finished(each.obj):
                yield f"I5: Job {metadata['name']} has {found} {resource[1]}"
        if GATE in (metadata.get("annotations") or {}) and not _is_finished(each.obj):
            yield f"I8: Job {metadata['name']} is still behind its gate"


def _is_finished(job: Object) -> bool:
    kinds = {each["type"] for each in job.get("status", {}).get("conditions") or [] if each["status"] == "True"}
    return bool(kinds & {"Complete", "Failed"})


def waiting_though_there_is_room(store: Store) -> Iterator[str]:
    """Gangs and pods that wait although all of them fit into what is free now, without a rule that could stand in the way."""
    free = _free(store)
    waiting: dict[str, list[Object]] = {}
    for each in store.list(PODS):
        pod = each.obj
        if pod["spec"].get("nodeName") or pod["metadata"].get("deletionTimestamp") or has_ended(pod):
            continue
        if pod["spec"].get("schedulerName") == DEFAULT_SCHEDULER_NAME and not pod["spec"].get("schedulingGates"):
            name = (pod["metadata"].get("annotations") or {}).get(POD_GROUP) or pod["metadata"]["name"]
            waiting.setdefault(name, []).append(pod)
    for name, pods in sorted(waiting.items()):
        if _is_plain(store, name, pods) and _fits(free, pods):
            yield f"liveness: {name} waits with {len(pods)} pods, and there is room for all of them"


def _free(store: Store) -> dict[str, dict[str, int]]:
    free = {}
    for each in store.list(NODES):
        if each.obj["spec"].get("unschedulable"):
            continue
        name = each.obj["metadata"]["name"]
        used = used_on(store, name)
        amounts = {key: parse_milli(str(text)) for key, text in each.obj["status"]["allocatable"].items()}
        free[name] = {key: much - used[key] for key, much in amounts.items()}
    return free


def _is_plain(store: Store, name: str, pods: list[Object]) -> bool:
    """Whether nothing but room matters to them."""
    if any(_has_a_volume(store, pod) for pod in pods):
        return False  # its node may be full, or gone
    namespace = pods[0]["metadata"]["namespace"]
    managed = MANAGED in (pods[0]["metadata"].get("labels") or {})
    group = store.get(GROUPS, namespace, name)
    if group is None:
        return not managed
    policy = group.obj["spec"].get("schedulingPolicy", {})
    if MIN_RESOURCES in (group.obj["metadata"].get("annotations") or {}):
        return False  # room for pods that are still to come counts too
    if group.obj["spec"].get("schedulingConstraints"):
        return False
    if any(each["metadata"].get("deletionTimestamp") for each in pods):
        return False
    members = [
        each.obj
        for each in store.list(PODS)
        if (each.obj["metadata"].get("annotations") or {}).get(POD_GROUP) == name
        and each.obj.get("status", {}).get("phase") != "Failed"
        and not each.obj["metadata"].get("deletionTimestamp")
    ]
    return len(members) >= int((policy.get("gang") or {}).get("minCount", 1))


def _has_a_volume(store: Store, pod: Object) -> bool:
    """Whether one of its claims is bound; one that is not yet gets its volume where the pod is placed."""
    metadata = pod["metadata"]
    claims = (f"{metadata['name']}-{each['name']}" for each in pod["spec"].get("volumes") or () if "ephemeral" in each)
    found = (store.get(CLAIMS, metadata["namespace"], claim) for claim in claims)
    return any(claim is not None and claim.obj["spec"].get("volumeName") for claim in found)


def _fits(free: dict[str, dict[str, int]], pods: list[Object]) -> bool:
    """Whether all of them fit, the largest first, each on the first node that takes it."""
    left = {name: dict(amounts) for name, amounts in free.items()}
    for pod in sorted(pods, key=lambda each: -sum(requests_of(each).values())):
        asked = requests_of(pod)
        for amounts in left.values():
            if all(amounts.get(key, 0) >= much for key, much in asked.items()):
                for key, much in asked.items():
                    amounts[key] -= much
                break
        else:
            return False
    return True
