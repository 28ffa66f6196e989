"""Writes the condition by which a Job or LeaderWorkerSet says that it waits for the CRD of its gang scheduler.

The status belongs to another controller, so ours is written on the version that was read, keeps every other condition, and is
written only when it changes. It is news for people: nothing waits for it, and a refusal is logged and forgotten.
"""

import datetime as dt
import logging
from typing import Any

from api.constants import CONDITION_GROUP_KIND_MISSING, EVENT_GROUP_KIND_MISSING, REASON_GROUP_KIND_FOUND
from api.meta import Metadata
from controllers.gangs.common_steps import ShowKindMissing
from controllers.gangs.tools import Tools
from controllers.gangs.writes import Outdated
from kube.client.errors import AnsweredError, Conflict, NotFound
from kube.client.resources import Resource

_log = logging.getLogger(__name__)


async def show_kind_missing(
    step: ShowKindMissing, tools: Tools[Any], resource: Resource, owner: Metadata
) -> dict[str, Any] | None:
    """Write the condition; gives the object as the server has it then, None when it would not take it.

    Args:
        step: what the condition has to say.
        tools: the client and the time of day.
        resource: the kind of the owner.
        owner: the Job or LeaderWorkerSet; another one of its name is left alone.

    Raises:
        Outdated: the object has changed, or is another one, or is gone.
        KubeError: the server did not answer.
    """
    try:
        live = await tools.client.get(resource, owner.name, owner.namespace)
        if live["metadata"]["uid"] != owner.uid:
            raise Outdated(f"{resource.kind} {owner.name} is another one now")
        body = {
            "metadata": {"uid": owner.uid, "resourceVersion": live["metadata"]["resourceVersion"]},
            "status": {"conditions": _with_ours(live, step, tools.now())},
        }
        return await tools.client.patch(resource, body, owner.name, owner.namespace, subresource="status")
    except (Conflict, NotFound) as error:
        raise Outdated(str(error)) from error
    except AnsweredError as error:
        if error.outcome_unknown:
            raise
        _log.warning("the status of %s %s/%s was not written: %s", resource.kind, owner.namespace, owner.name, error)
        return None


def _with_ours(live: dict[str, Any], step: ShowKindMissing, now: dt.datetime) -> list[dict[str, Any]]:
    found = (live.get("status") or {}).get("conditions") or []
    others = [each for each in found if each.get("type") != CONDITION_GROUP_KIND_MISSING]
    ours = {
        "type": CONDITION_GROUP_KIND_MISSING,
        "status": "True" if step.note else "False",
        "reason": EVENT_GROUP_KIND_MISSING if step.note else REASON_GROUP_KIND_FOUND,
        "message": step.note,
        "lastTransitionTime": now.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    return [*others, ours]
