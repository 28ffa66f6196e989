"""Whether a pod is for TPUs: then the template of its workers says so. Pure."""

from typing import Any, Final

Object = dict[str, Any]

RESOURCE: Final = "google.com/tpu"


def requests_tpus(spec: Object) -> bool:
    """Whether any container of a pod spec asks for TPUs."""
    every = [*(spec.get("containers") or []), *(spec.get("initContainers") or [])]
    return any(_asks(each.get("resources") or {}) for each in every)


def _asks(resources: Object) -> bool:
    amounts = [(resources.get(kind) or {}).get(RESOURCE) for kind in ("limits", "requests")]
    return any(str(amount or "0") != "0" for amount in amounts)
