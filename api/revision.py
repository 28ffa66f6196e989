"""The revision a replica of a LeaderWorkerSet was made from, and what its pods ask for.

While a LeaderWorkerSet is rolled out, its spec describes the next revision only. Each pod names its own (a label), and the
ControllerRevision of that name holds the templates: size and templates are read there, so that a replica of an old revision
that is created anew gets the group it needs.
"""

import json
from typing import Any, Final

import msgspec

from api.constants import LWS_REVISION
from api.errors import InvalidQuantity
from api.features import fields_that_need, required_features
from api.job import TemplateMetadata
from api.meta import NO_METADATA, Metadata
from api.pod import PodSpec
from api.requests import PODS, effective_requests, format_amount

LEADER: Final = "leader"
WORKER: Final = "worker"
_PLACEMENT: Final = ("nodeSelector", "affinity", "tolerations", "topologySpreadConstraints", "resourceClaims")
_HOST_PORTS: Final = "hostPorts"
_FEATURES: Final = "features"


class RevisionTemplate(msgspec.Struct, frozen=True):
    """A pod template with all that decides where its pods may run."""

    metadata: TemplateMetadata = TemplateMetadata()
    spec: msgspec.Raw = msgspec.Raw(b"{}")


class RevisionTemplates(msgspec.Struct, frozen=True, rename="camel"):
    """The templates of one revision."""

    size: int | None = None
    leader_template: RevisionTemplate | None = None
    worker_template: RevisionTemplate = RevisionTemplate()

    @property
    def leader(self) -> RevisionTemplate:
        """What leaders are made from."""
        return self.leader_template or self.worker_template


class _RevisionSpec(msgspec.Struct, frozen=True, rename="camel"):
    leader_worker_template: RevisionTemplates = RevisionTemplates()


class _RevisionData(msgspec.Struct, frozen=True):
    spec: _RevisionSpec = _RevisionSpec()


class Revision(msgspec.Struct, frozen=True):
    """A ControllerRevision (apps/v1) of a LeaderWorkerSet."""

    metadata: Metadata = NO_METADATA
    data: _RevisionData = _RevisionData()

    @property
    def hash(self) -> str:
        """What pods call it."""
        return self.metadata.label(LWS_REVISION) or ""

    @property
    def templates(self) -> RevisionTemplates:
        """Its templates."""
        return self.data.spec.leader_worker_template


class Role(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Pods of one kind in a replica: how many, what each takes of its node (quantities), and where it may run.

    `placement` has the fields of a pod's spec that limit its place, under their own names, its `hostPorts`, and the `features`
    that its node must declare.
    """

    role: str
    count: int
    requests: dict[str, str]
    labels: dict[str, str] | None = None
    placement: dict[str, Any] | None = None


def roles_of(templates: RevisionTemplates, *, size: int, labels: dict[str, str]) -> tuple[Role, ...]:
    """The leader and the workers of a replica; `labels` are those that all its pods carry beside their template's.

    Raises:
        InvalidQuantity: a template asks for something that is no sane quantity.
    """
    leader = Role(role=LEADER, count=1, requests=_requests(templates.leader))
    if size < 2:
        return (leader,)
    template = templates.worker_template
    fields = msgspec.json.decode(template.spec, type=dict[str, Any])
    placement = {key: fields[key] for key in _PLACEMENT if fields.get(key)}
    ports = _host_ports(fields)
    if ports:
        placement[_HOST_PORTS] = ports
    features = required_features(_typed(template))
    if features:
        placement[_FEATURES] = sorted(features)
    worker = Role(
        role=WORKER,
        count=size - 1,
        requests=_requests(template),
        labels={**(template.metadata.labels or {}), **labels},
        placement=placement or None,
    )
    return (leader, worker)


def pod_spec_of(role: Role) -> PodSpec:
    """A pod that asks for the same as those of the role, as far as its place goes.

    Raises:
        msgspec.ValidationError: the role holds fields of the wrong kinds.
    """
    placement = dict(role.placement or {})
    container = {"resources": {"requests": role.requests}, "ports": placement.pop(_HOST_PORTS, None) or []}
    needing, spec = fields_that_need(msgspec.convert(placement.pop(_FEATURES, None) or (), tuple[str, ...]))
    return msgspec.json.decode(json.dumps({"containers": [container | needing], **placement, **spec}), type=PodSpec)


def write_roles(roles: tuple[Role, ...]) -> str:
    """The value of the annotation `min-resources`."""
    return json.dumps(msgspec.to_builtins(roles), separators=(",", ":"), sort_keys=True)


def read_roles(text: str) -> tuple[Role, ...]:
    """The roles that an annotation `min-resources` lists; none when it cannot be read."""
    try:
        return msgspec.json.decode(text, type=tuple[Role, ...])
    except (msgspec.MsgspecError, UnicodeError, ValueError, RecursionError):
        return ()


def _typed(template: RevisionTemplate) -> PodSpec:
    try:
        return msgspec.json.decode(json.dumps(spec_of(template)), type=PodSpec)
    except msgspec.ValidationError as error:
        raise InvalidQuantity(str(error)) from error


def _requests(template: RevisionTemplate) -> dict[str, str]:
    amounts = effective_requests(_typed(template))
    return {name: format_amount(name, amount) for name, amount in sorted(amounts.items()) if name != PODS}


def spec_of(template: RevisionTemplate) -> dict[str, Any]:
    """The `spec` of a template, with text for quantities: inside custom resources they may be numbers (`cpu: 125`)."""
    fields: dict[str, Any] = msgspec.json.decode(template.spec, type=dict[str, Any])
    owners = [fields, *(fields.get("containers") or ()), *(fields.get("initContainers") or ())]
    for each in owners:
        for kind in ("requests", "limits"):
            amounts = (each.get("resources") or {}).get(kind)
            if isinstance(amounts, dict):
                each["resources"][kind] = {name: str(amount) for name, amount in amounts.items()}
    return fields


def _host_ports(fields: dict[str, Any]) -> list[dict[str, Any]]:
    on_host = bool(fields.get("hostNetwork"))
    found = []
    for container in fields.get("containers") or ():
        for port in container.get("ports") or ():
            number = port.get("hostPort") or (port.get("containerPort") if on_host else None)
            if number:
                found.append({**port, "hostPort": number})
    return found
