"""What is wrong with a LeaderWorkerSet, or with the change of one. Pure; the sentences are those of the LWS webhook."""

import re
from typing import Any, Final

from localcluster.apiserver.fielderrors import FieldError, invalid_value
from localcluster.apiserver.kinds.names import label_1035_problems
from localcluster.controllers.leaderworkersets.model import LEADER_EXCLUDED
from localcluster.controllers.leaderworkersets.names import SUBGROUP_EXCLUSIVE_ANNOTATION
from localcluster.controllers.statefulsets.plan import scaled

Object = dict[str, Any]

MOST_PODS: Final = 2**31 - 1

_PERCENT: Final = re.compile(r"[0-9]+%")
_BAD_PERCENT: Final = (
    "a valid percent string must be a numeric string followed by an ending '%' "
    "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
)
_ROLLING: Final = "spec.rolloutStrategy.rollingUpdateConfiguration"
_SUBGROUP: Final = "spec.leaderWorkerTemplate.SubGroupPolicy.subGroupSize"
_NOT_NEGATIVE: Final = "must be greater than or equal to 0"


def complaints(lws: Object) -> list[FieldError]:
    """What is wrong with a LeaderWorkerSet after defaulting."""
    meta, spec = lws["metadata"], lws["spec"]
    name = str(meta.get("name", ""))
    errors = [invalid_value("metadata.name", name, each) for each in label_1035_problems(name)]
    errors += _amounts(spec)
    errors += _rollout(spec)
    subgroups = spec["leaderWorkerTemplate"].get("subGroupPolicy")
    exclusive = (meta.get("annotations") or {}).get(SUBGROUP_EXCLUSIVE_ANNOTATION)
    if subgroups is not None:
        errors += _subgroups(subgroups, _size(spec))
    elif exclusive is not None:
        field = f"metadata.annotations.{SUBGROUP_EXCLUSIVE_ANNOTATION}"
        errors.append(
            invalid_value(field, exclusive, "cannot have subgroup-exclusive-topology without subGroupSize set")
        )
    return errors


def complaints_of_change(new: Object, old: Object) -> list[FieldError]:
    """What is wrong with a changed LeaderWorkerSet: subgroups stay as they are, a subdomain policy stays set."""
    errors = complaints(new)
    now = new["spec"]["leaderWorkerTemplate"].get("subGroupPolicy")
    before = old["spec"]["leaderWorkerTemplate"].get("subGroupPolicy")
    if now is not None and before is not None and now.get("subGroupSize") != before.get("subGroupSize"):
        errors.append(invalid_value(_SUBGROUP, now.get("subGroupSize"), "field is immutable"))
    if now is not None and before is None:
        text = "cannot enable subGroupSize after the lws is already created"
        errors.append(invalid_value(_SUBGROUP, now.get("subGroupSize"), text))
    if now is None and before is not None:
        errors.append(invalid_value(_SUBGROUP, before.get("subGroupSize"), "cannot remove subGroupSize after enabled"))
    network = new["spec"].get("networkConfig")
    if network is not None and network.get("subdomainPolicy") is None:
        former = (old["spec"].get("networkConfig") or {}).get("subdomainPolicy")
        field = "spec.networkConfig.subdomainPolicy"
        errors.append(invalid_value(field, former, "cannot set subdomainPolicy as null"))
    return errors


def _replicas(spec: Object) -> int:
    return int(spec.get("replicas", 1))


def _size(spec: Object) -> int:
    return int(spec["leaderWorkerTemplate"].get("size", 1))


def _amounts(spec: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    replicas, size = _replicas(spec), _size(spec)
    if replicas < 0:
        errors.append(invalid_value("spec.replicas", replicas, "replicas must be equal or greater than 0"))
    if size < 1:
        errors.append(invalid_value("spec.leaderWorkerTemplate.size", size, "size must be equal or greater than 1"))
    if replicas * size > MOST_PODS:
        text = f"the product of replicas and worker replicas must not exceed {MOST_PODS}"
        errors.append(invalid_value("spec.replicas", replicas, text))
    return errors


def _rollout(spec: Object) -> list[FieldError]:
    rolling = (spec.get("rolloutStrategy") or {}).get("rollingUpdateConfiguration")
    if rolling is None:
        return []
    unavailable, surge = rolling.get("maxUnavailable", 1), rolling.get("maxSurge", 0)
    partition = rolling.get("partition", 0)
    errors = _limit(unavailable, f"{_ROLLING}.maxUnavailable") + _limit(surge, f"{_ROLLING}.maxSurge")
    if partition < 0:
        errors.append(invalid_value(f"{_ROLLING}.partition", partition, _NOT_NEGATIVE))
    if errors:
        return errors
    replicas = _replicas(spec)
    amounts = scaled(unavailable, replicas, round_up=False), scaled(surge, replicas, round_up=True)
    if amounts == (0, 0) and replicas != 0:
        text = "must not be 0 when `maxSurge` is 0"
        return [invalid_value(f"{_ROLLING}.maxUnavailable", unavailable, text)]
    return []


def _limit(value: int | str, field: str) -> list[FieldError]:
    if isinstance(value, int):
        return [invalid_value(field, value, _NOT_NEGATIVE)] if value < 0 else []
    if not _PERCENT.fullmatch(value):
        return [invalid_value(field, value, _BAD_PERCENT)]
    return [invalid_value(field, value, "must not be greater than 100%")] if int(value[:-1]) > 100 else []


def _subgroups(policy: Object, size: int) -> list[FieldError]:
    step = int(policy.get("subGroupSize", 0))
    if step < 1:
        return [invalid_value(_SUBGROUP, step, "subGroupSize must be equal or greater than 1")]
    problems = []
    if size % step != 0 and (size - 1) % step != 0:
        problems.append("size or size - 1 must be divisible by subGroupSize")
    if size < step:
        problems.append("subGroupSize cannot be larger than size")
    if policy.get("subGroupPolicyType") == LEADER_EXCLUDED and (size - 1) % step != 0:
        problems.append("size-1 must be divisible by subGroupSize when using LeaderExcluded")
    return [invalid_value(_SUBGROUP, step, each) for each in problems]
