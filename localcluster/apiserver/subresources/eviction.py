"""`pods/eviction`: a deletion that respects disruption budgets."""

from dataclasses import replace

from localcluster.apiserver import status
from localcluster.apiserver.core import Core
from localcluster.apiserver.dispatch import Call
from localcluster.apiserver.http import Reply, json_reply
from localcluster.apiserver.kinds.kind import Object
from localcluster.apiserver.selectors import matches_labels
from localcluster.apiserver.store.memory import Stored
from localcluster.apiserver.subresources.binding import DONE
from localcluster.apiserver.subresources.posted import admit, posted_options
from localcluster.apiserver.verbs.delete import delete
from localcluster.apiserver.verbs.options import delete_options

_BUDGETS = ("policy", "poddisruptionbudgets")
_ENDED = frozenset({"Succeeded", "Failed"})
_RETRY_SECONDS = 10
_ALLOWED = "DisruptionAllowed"


async def evict(call: Call) -> Reply:
    """Delete the pod if its budget allows it.

    Raises:
        StatusError: it is not there, or must stay for now.
    """
    options = posted_options(call)
    body = call.body("policy/v1", "Eviction")
    if (body.get("metadata") or {}).get("name") != call.info.name:
        raise status.bad_request("name in URL does not match name in Eviction object")
    eviction = await admit(call, body, "policy/v1", "Eviction", options)
    pod = call.core.store.get(call.kind.resource, call.namespace, call.info.name)
    if pod is None:
        raise status.not_found(call.kind, call.info.name)
    spend = None if _is_free(pod.obj) else _spending(call.core, pod.obj)
    wanted = delete_options({}, eviction.get("deleteOptions") or None)
    wanted = replace(wanted, dry_run=wanted.dry_run or options.dry_run)
    await delete(call.core, call.kind, call.namespace, call.info.name, wanted, call.context)
    if spend is not None and not wanted.dry_run:
        _spend(call.core, spend, call.info.name, call.context.now)
    return json_reply(201, DONE)


def _is_free(pod: Object) -> bool:
    """Whether nobody would miss the pod: it has ended, runs nowhere or is going anyway."""
    ended = (pod.get("status") or {}).get("phase") in _ENDED
    return ended or not pod["spec"].get("nodeName") or bool(pod["metadata"].get("deletionTimestamp"))


def _spending(core: Core, pod: Object) -> Stored | None:
    """The budget that the eviction counts against."""
    metadata = pod["metadata"]
    labels = metadata.get("labels") or {}
    found = [
        each
        for each in core.store.list(_BUDGETS, metadata["namespace"])
        if (each.obj.get("spec") or {}).get("selector") is not None
        and matches_labels(each.obj["spec"]["selector"], labels)
    ]
    if len(found) > 1:
        text = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        raise status.StatusError(500, "", text)
    if not found:
        return None
    budget = found[0].obj
    allowed = (budget.get("status") or {}).get("disruptionsAllowed") or 0
    if allowed <= 0:
        needed = (budget.get("status") or {}).get("desiredHealthy") or 0
        healthy = (budget.get("status") or {}).get("currentHealthy") or 0
        name = budget["metadata"]["name"]
        is_counted = ((budget.get("status") or {}).get("observedGeneration") or 0) >= budget["metadata"].get(
            "generation", 0
        )
        text = f"The disruption budget {name} needs {needed} healthy pods and has {healthy} currently"
        if healthy >= needed:
            text = f"The disruption budget {name} does not allow evicting pods currently"
        if not is_counted:
            text = f"The disruption budget {name} is still being processed by the server."
        raise status.too_many_requests(
            "Cannot evict pod as it would violate the pod's disruption budget.",
            retry_after_seconds=0 if is_counted else _RETRY_SECONDS,
            causes=[{"reason": "DisruptionBudget", "message": text}],
        )
    return found[0]


def _spend(core: Core, budget: Stored, pod: str, now: str) -> None:
    metadata = budget.obj["metadata"]
    present = core.store.get(_BUDGETS, metadata["namespace"], metadata["name"])
    if present is None:
        return
    before = present.obj.get("status") or {}
    left = max((before.get("disruptionsAllowed") or 0) - 1, 0)
    after = {
        **before,
        "disruptionsAllowed": left,
        "disruptedPods": {**(before.get("disruptedPods") or {}), pod: now},
    }
    if not left:
        after["conditions"] = _none_left(present.obj, now)
    core.store.replace(_BUDGETS, present, {**present.obj, "metadata": dict(metadata), "status": after})


def _none_left(budget: Object, now: str) -> list[Object]:
    """The conditions of a budget that has just been used up."""
    present = (budget.get("status") or {}).get("conditions") or []
    was: Object = next((each for each in present if each.get("type") == _ALLOWED), {})
    since = was.get("lastTransitionTime") if was.get("status") == "False" else now
    used_up = {
        "type": _ALLOWED,
        "status": "False",
        "observedGeneration": (budget.get("status") or {}).get("observedGeneration"),
        "lastTransitionTime": since,
        "reason": "InsufficientPods",
        "message": "",
    }
    return [*(each for each in present if each.get("type") != _ALLOWED), used_up]
