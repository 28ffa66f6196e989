"""What a real server writes into the status of a pod that nobody told it. Pure."""

from localcluster.apiserver.kinds.kind import Object

_CONTAINERS = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")


def complete_pod_status(status: Object) -> None:
    """Fills in the zeros of conditions and containers, and makes address and addresses agree; in place."""
    for condition in status.get("conditions") or []:
        condition.setdefault("lastProbeTime", None)
    for key in _CONTAINERS:
        for container in status.get(key) or []:
            _complete_container(container)
    address, addresses = status.get("podIP"), status.get("podIPs") or []
    if address and (not addresses or addresses[0].get("ip") != address):
        status["podIPs"] = [{"ip": address}]
    elif addresses and not address:
        status["podIP"] = addresses[0].get("ip")


def _complete_container(container: Object) -> None:
    for key, zero in (("ready", False), ("restartCount", 0), ("image", ""), ("imageID", "")):
        container.setdefault(key, zero)
    for key in ("state", "lastState"):
        ended = container.setdefault(key, {}).get("terminated")
        if isinstance(ended, dict):
            for moment in ("startedAt", "finishedAt"):
                ended.setdefault(moment, None)
