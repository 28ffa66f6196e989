"""Short histories for the tests of the auditor: records as an API server writes them, and the verdict on them."""

from dataclasses import replace

from verify.auditor.audit_log import Object, Record
from verify.auditor.auditor import Auditor
from verify.auditor.identities import CONTROLLERS_USER, SCHEDULER_USER
from verify.clusters.cluster_files import ADMIN, CONTROLLER_MANAGER, KUBELET

END = 1000.0


def write(user: str, verb: str, resource: str, name: str, when: float, **details: object) -> Record:
    settings: dict[str, object] = {
        "group": "",
        "namespace": "" if resource == "nodes" else "ns",
        "code": 200,
        "received": when - 0.01,
        "completed": when,
        "request": {},
        "response": {},
        **details,
    }
    return Record(user=user, verb=verb, resource=resource, name=name, **settings)  # type: ignore[arg-type]


def node(cpu: str = "4", name: str = "n", when: float = 0.0) -> Record:
    return write(ADMIN, "create", "nodes", name, when, response={"status": {"allocatable": {"cpu": cpu, "pods": "9"}}})


def group(
    minimum: int,
    name: str = "g",
    *,
    user: str = CONTROLLERS_USER,
    when: float = 0.1,
    whole: bool = False,
    priority: int | None = None,
    owner: str = "",
) -> Record:
    spec: Object = {"schedulingPolicy": {"gang": {"minCount": minimum}}, "disruptionMode": {"all": {}} if whole else {}}
    if priority is not None:
        spec["priority"] = priority
    response = {"metadata": made_by_us(f"uid-{name}", owner), "spec": spec}
    return write(user, "create", "podgroups", name, when, response=response)


def made_by_us(uid: str, owner: str) -> Object:
    owners = [{"uid": owner, "controller": True}] if owner else []
    return {"uid": uid, "annotations": {"tutti.scheduler/managed-by": "tutti"}, "ownerReferences": owners}


def pod(
    name: str,
    *,
    scheduler: str = "tutti",
    member_of: str | None = "g",
    cpu: str = "1",
    priority: int = 0,
    owner: str = "",
    when: float = 0.2,
    **spec: object,
) -> Record:
    annotations = {"tutti.scheduler/pod-group": member_of} if member_of else {}
    owners = [{"uid": owner, "controller": True}] if owner else []
    containers = [{"resources": {"requests": {"cpu": cpu}}}]
    body: Object = {
        "metadata": {
            "namespace": "ns",
            "name": name,
            "uid": f"uid-{name}",
            "annotations": annotations,
            "ownerReferences": owners,
        },
        "spec": {"schedulerName": scheduler, "priority": priority, "containers": containers, **spec},
    }
    return write(CONTROLLER_MANAGER, "create", "pods", name, when, response=body)


def managed(record: Record) -> Record:
    metadata = {**record.response["metadata"], "labels": {"tutti.scheduler/managed": "embedded"}}
    return replace(record, response={**record.response, "metadata": metadata})


def bind(name: str, when: float, *, target: str = "n", user: str = SCHEDULER_USER, code: int = 201) -> Record:
    return write(user, "create", "pods/binding", name, when, request={"target": {"name": target}}, code=code)


def ended(name: str, when: float, phase: str = "Succeeded") -> Record:
    return write(KUBELET, "patch", "pods/status", name, when, request={"status": {"phase": phase}})


def verdict(*records: Record, now: float = END) -> list[str]:
    auditor = Auditor()
    auditor.feed(list(records))
    return auditor.close(now)


def nominated(name: str, when: float, *, target: str | None = "n") -> Record:
    return write(SCHEDULER_USER, "patch", "pods/status", name, when, request={"status": {"nominatedNodeName": target}})


def evicted(name: str, when: float) -> Record:
    response = {"metadata": {"deletionGracePeriodSeconds": 30}}
    return write(SCHEDULER_USER, "delete", "pods", name, when, response=response)


def told(name: str, when: float, **conditions: tuple[str, str, str]) -> Record:
    said = [
        {"type": kind, "status": status, "reason": reason, "message": message}
        for kind, (status, reason, message) in conditions.items()
    ]
    return write(SCHEDULER_USER, "patch", "podgroups/status", name, when, request={"status": {"conditions": said}})


def lease(holder: str, when: float, *, of: str = "tutti-scheduler") -> Record:
    user = f"system:serviceaccount:tutti-system:{of}"
    response = {"spec": {"holderIdentity": holder}}
    return write(user, "update", "leases", of, when, namespace="tutti-system", response=response)


def broken(promise: str, *records: Record, now: float = END) -> list[str]:
    """What is said of one promise; the others have their own tests."""
    return [each for each in verdict(*records, now=now) if each.startswith(f"{promise}:")]
