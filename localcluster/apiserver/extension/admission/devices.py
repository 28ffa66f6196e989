"""Who may write allocations and reports of devices, and where admin access to devices is allowed.

A real server asks for a permission of its own, `resourceclaims/binding` in the whole cluster, before anybody changes which
devices a claim has or who may use them, and for `resourceclaims/driver` before anybody reports of a driver's devices; the verb
is that of the request.
"""

from typing import Any, Final

from localcluster.apiserver import rbac, status
from localcluster.apiserver.admission import AdmissionAttributes
from localcluster.apiserver.extension.admission.authorizing import Allows
from localcluster.apiserver.fielderrors import FieldError, forbidden_field
from localcluster.apiserver.kinds.devices.claim_status import device_key
from localcluster.apiserver.kinds.devices.kinds import CLAIMS, GROUP
from localcluster.apiserver.requestinfo import RequestInfo

Object = dict[str, Any]

ADMIN_LABEL: Final = "resource.kubernetes.io/admin-access"
TEMPLATES: Final = (GROUP, "resourceclaimtemplates")
_NO_ADMIN: Final = f"admin access to devices requires the `{ADMIN_LABEL}: true` label on the containing namespace"


def check_devices(attributes: AdmissionAttributes, namespace: Object | None, allows: Allows) -> None:
    """Refuses what the sender may not write of devices.

    Raises:
        StatusError: refused.
    """
    if attributes.kind.resource not in {CLAIMS, TEMPLATES} or attributes.obj is None:
        return
    is_admin = ((namespace or {}).get("metadata", {}).get("labels") or {}).get(ADMIN_LABEL) == "true"
    errors: list[FieldError] = []
    if attributes.subresource == "status" and attributes.old is not None:
        new, old = (each.get("status") or {} for each in (attributes.obj, attributes.old))
        errors = [] if is_admin else _admin_results(new, old)
        errors += _binding(new, old, attributes, allows) + _reports(new, old, attributes, allows)
    elif attributes.verb == "CREATE" and not is_admin:
        errors = _admin_requests(attributes.obj.get("spec") or {}, is_template=attributes.kind.resource == TEMPLATES)
    if errors:
        raise status.invalid(attributes.kind, attributes.name or attributes.obj["metadata"].get("name") or "", errors)


def _admin_requests(spec: Object, *, is_template: bool) -> list[FieldError]:
    claim = spec.get("spec") or {} if is_template else spec
    for number, request in enumerate((claim.get("devices") or {}).get("requests") or []):
        if (request.get("exactly") or {}).get("adminAccess"):
            return [forbidden_field(f"spec.devices.requests[{number}].adminAccess", _NO_ADMIN)]
    return []


def _admin_results(new: Object, old: Object) -> list[FieldError]:
    if any(each.get("adminAccess") for each in _results(old)):
        return []
    for number, each in enumerate(_results(new)):
        if each.get("adminAccess"):
            return [forbidden_field(f"status.allocation.devices.results[{number}].adminAccess", _NO_ADMIN)]
    return []


def _results(claim_status: Object) -> list[Object]:
    return ((claim_status.get("allocation") or {}).get("devices") or {}).get("results") or []


def _verb(attributes: AdmissionAttributes) -> str:
    return "patch" if attributes.options.get("kind") == "PatchOptions" else "update"


def _binding(new: Object, old: Object, attributes: AdmissionAttributes, allows: Allows) -> list[FieldError]:
    if all(new.get(key) == old.get(key) for key in ("allocation", "reservedFor")):
        return []
    verb = _verb(attributes)
    refused = _refused(RequestInfo(verb, "", True, GROUP, "v1", CLAIMS[1], subresource="binding"), attributes, allows)
    text = f'changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="{verb}"'
    return [forbidden_field("status.allocation", f"{text} permission: {refused}")] if refused else []


def _reports(new: Object, old: Object, attributes: AdmissionAttributes, allows: Allows) -> list[FieldError]:
    if new.get("allocation") is None:
        return []
    now, before = ({device_key(each): each for each in one.get("devices") or []} for one in (new, old))
    drivers = sorted({key[0] for key in {*now, *before} if now.get(key) != before.get(key)})
    verb = f"arbitrary-node:{_verb(attributes)}"
    errors = []
    for driver in drivers:
        info = RequestInfo(verb, "", True, GROUP, "v1", CLAIMS[1], attributes.namespace, driver, "driver")
        if refused := _refused(info, attributes, allows):
            text = f'changing status.devices requires resource="resourceclaims/driver", verb="[{verb}]" permission: {refused}'
            errors.append(forbidden_field("status.devices", text))
    return errors


def _refused(info: RequestInfo, attributes: AdmissionAttributes, allows: Allows) -> str:
    """Why the sender may not; empty when they may."""
    if allows(attributes.user, rbac.attributes_of(info)):
        return ""
    return rbac.refusal(attributes.user, info).message
