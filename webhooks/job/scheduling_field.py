"""`spec.scheduling` of a Job (Kubernetes 1.37, gate WorkloadWithJob): read where we act on it, written where the cluster does.

An API server without the gate drops the field *after* admission and says nothing, so admission cannot know whether it will be
kept. It need not: the field is translated into our annotations as well, which say the same. If the stored Job still has it,
the cluster's own Job controller makes the group and our controllers step back; if not, they make it.
"""

from collections.abc import Mapping
from typing import Any, Final

from api.constants import DISRUPTION_MODE, ELASTIC, MIN_COUNT, POLICY, TOPOLOGY
from api.errors import ConfigurationError, InvalidGangSettings
from api.gang import GroupIntent
from api.job import Job
from kube.groups.group_api import GroupAPI
from webhooks.admission.config import JobIntegration

FIELD: Final = "spec.scheduling"
_DECIDED: Final = (POLICY, MIN_COUNT, DISRUPTION_MODE, TOPOLOGY, ELASTIC)


def integration_in_force(asked: JobIntegration, group_api: GroupAPI) -> JobIntegration:
    """The setting, as far as the group API allows it.

    Raises:
        ConfigurationError: the cluster's Job controller is to make the groups, but they are kept in our own CRDs.
    """
    if group_api.keeps_pod_field:
        return asked
    if asked == "kubernetes":
        raise ConfigurationError(
            "setting 'job_integration': 'kubernetes' needs the built-in group API (scheduling.k8s.io), and this "
            "cluster runs with our own: use 'auto' or 'tutti'"
        )
    return "tutti"


def annotations_of(scheduling: Mapping[str, Any]) -> dict[str, str | None]:
    """The annotations that say what the field says; None for those that must go, since the field wins.

    Raises:
        InvalidGangSettings: the field is not built as the API has it.
    """
    policy = _struct(scheduling, "schedulingPolicy")
    gang = _struct(policy, "gang") if policy.get("gang") is not None else None
    if gang is not None and policy.get("basic") is not None:
        raise InvalidGangSettings("must specify exactly one of: `basic`, `gang`", field=f"{FIELD}.schedulingPolicy")
    stated: dict[str, str | None] = dict.fromkeys(_DECIDED)
    stated[POLICY] = "basic" if gang is None else "gang"
    if gang is not None:
        # The field's gang may be resized at any time; its minimum follows only where the user left it out.
        stated[ELASTIC] = "true"
        if gang.get("minCount") is not None:
            stated[MIN_COUNT] = str(gang["minCount"])
    mode = _struct(scheduling, "disruptionMode")
    stated[DISRUPTION_MODE] = "all" if "all" in mode else "single"
    stated[TOPOLOGY] = _topology(scheduling)
    return stated


def field_of(job: Job, intent: GroupIntent) -> dict[str, Any]:
    """The field `spec.scheduling` (KEP-5547) that asks the cluster's own Job controller for this group.

    Args:
        job: its annotations say whether a minimum was stated; otherwise none is written.
        intent: the group it asks for.
    """
    policy: dict[str, Any] = {"basic": {}}
    if intent.policy == "gang":
        stated = job.metadata.annotation(MIN_COUNT) is not None
        policy = {"gang": {"minCount": intent.min_count} if stated else {}}
    field: dict[str, Any] = {"schedulingPolicy": policy, "disruptionMode": {intent.disruption_mode: {}}}
    if intent.topology_key is not None:
        field["schedulingConstraints"] = {"topology": [{"key": intent.topology_key}]}
    return field


def _topology(scheduling: Mapping[str, Any]) -> str | None:
    constraints = _struct(scheduling, "schedulingConstraints").get("topology") or ()
    try:
        keys = [str(entry["key"]) for entry in constraints]
    except (TypeError, KeyError) as error:
        raise _malformed("schedulingConstraints.topology") from error
    if len(keys) > 1:
        raise InvalidGangSettings("must have at most 1 item", field=f"{FIELD}.schedulingConstraints.topology")
    return keys[0] if keys else None


def _struct(parent: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = parent.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _malformed(key)
    return value


def _malformed(key: str) -> InvalidGangSettings:
    return InvalidGangSettings("is not what the API has there", field=f"{FIELD}.{key}")
