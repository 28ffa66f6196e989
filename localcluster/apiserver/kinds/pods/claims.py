"""Rules for the device claims of pods: what a spec names, what containers use, what the status says was made. Pure."""

from localcluster.apiserver.fielderrors import FieldError, duplicate, invalid_value, required
from localcluster.apiserver.kinds.kind import Object
from localcluster.apiserver.kinds.names import label_problems, subdomain_problems

_NO_CONTAINER = "must match the name of an entry in spec.initContainers.name or spec.containers.name"
_NO_RESOURCE = (
    "must match the extended resource name of an entry in spec.initContainers.resources.requests or "
    "spec.containers.resources.requests"
)
_SOURCES = ("resourceClaimName", "resourceClaimTemplateName")


def validate_claims(spec: Object, field: str) -> list[FieldError]:
    """What is wrong with the claims of a pod spec and with what its containers use of them."""
    claims = spec.get("resourceClaims") or []
    errors: list[FieldError] = []
    names: set[str] = set()
    for number, claim in enumerate(claims):
        errors += _claim(claim, f"{field}.resourceClaims[{number}]", names)
    known = sorted({each["name"] for each in claims if each.get("name")})
    for key in ("initContainers", "containers"):
        for number, container in enumerate(spec.get(key) or []):
            used = (container.get("resources") or {}).get("claims") or []
            errors += _used(used, f"{field}.{key}[{number}].resources.claims", known)
    return errors


def _claim(claim: Object, field: str, names: set[str]) -> list[FieldError]:
    name = claim.get("name") or ""
    if not name:
        errors = [required(f"{field}.name")]
    elif name in names:
        errors = [duplicate(f"{field}.name", name)]
    else:
        errors = [invalid_value(f"{field}.name", name, each) for each in label_problems(name)]
    names.add(name)
    given = {key: claim[key] for key in _SOURCES if claim.get(key) is not None}
    if len(given) != 1:
        # The complaint shows the entry by the names that Go has for its fields.
        shown = {"Name": name} | {key[0].upper() + key[1:]: given.get(key) for key in _SOURCES}
        both = " or ".join(f"`{key}`" for key in _SOURCES)
        text = (
            f"at most one of {both} may be specified" if given else f"must specify one of: {both.replace(' or ', ', ')}"
        )
        errors.append(invalid_value(field, shown, text))
    for key, value in given.items():
        errors += [invalid_value(f"{field}.{key}", value, each) for each in subdomain_problems(value)]
    return errors


def _used(used: list[Object], field: str, known: list[str]) -> list[FieldError]:
    """A container uses a claim as a whole once, or parts of it, each once."""
    errors: list[FieldError] = []
    seen: set[str] = set()
    for number, each in enumerate(used):
        where, name, request = f"{field}[{number}]", each.get("name") or "", each.get("request") or ""
        if not name:
            errors.append(required(where))
            continue
        key = f"{name}/{request}" if request else name
        if request:
            errors += [invalid_value(f"{where}.request", request, text) for text in label_problems(request)]
        overlaps = name in seen or key in seen or (not request and any(one.startswith(f"{name}/") for one in seen))
        if overlaps:
            errors.append(duplicate(where, key if name not in seen else name))
        seen.add(key)
        if name not in known:
            there = f": {', '.join(known)}" if known else " which is empty"
            text = f"must be one of the names in pod.spec.resourceClaims{there}"
            errors.append(FieldError("Not found", where, name, text))
    return errors


def validate_claim_statuses(status: Object, spec: Object) -> list[FieldError]:
    """What is wrong with what a pod's status says of its claims."""
    field = "status.resourceClaimStatuses"
    known = {each.get("name") for each in spec.get("resourceClaims") or []}
    errors: list[FieldError] = []
    seen: set[str] = set()
    for number, each in enumerate(status.get("resourceClaimStatuses") or []):
        where, name = f"{field}[{number}]", each.get("name") or ""
        if name not in known:
            text = "must match the name of an entry in `spec.resourceClaims`"
            errors.append(invalid_value(f"{where}.name", name, text))
        if name in seen:
            errors.append(duplicate(f"{where}.name", name))
        seen.add(name)
        made = each.get("resourceClaimName")
        if made is not None:
            errors += [invalid_value(f"{where}.resourceClaimName", made, text) for text in subdomain_problems(made)]
    extended = status.get("extendedResourceClaimStatus")
    return errors + (_extended(extended, spec, "status.extendedResourceClaimStatus") if extended is not None else [])


def _extended(status: Object, spec: Object, field: str) -> list[FieldError]:
    """The claim for extended resources: which request is for what of which container."""
    containers = [*(spec.get("initContainers") or []), *(spec.get("containers") or [])]
    requests = {each.get("name"): (each.get("resources") or {}).get("requests") or {} for each in containers}
    mappings, where = status.get("requestMappings") or [], f"{field}.requestMappings"
    errors = [] if mappings else [required(where, "at least one request mapping is required")]
    seen: list[Object] = []
    for number, each in enumerate(mappings):
        container, resource, request = (each.get(f"{key}Name") or "" for key in ("container", "resource", "request"))
        if container not in requests:
            errors.append(invalid_value(f"{where}[{number}].containerName", container, _NO_CONTAINER))
        elif resource not in requests[container]:
            errors.append(invalid_value(f"{where}[{number}].resourceName", resource, _NO_RESOURCE))
        errors += [invalid_value(f"{field}.requestName", request, text) for text in label_problems(request)]
        if each in seen:
            errors += [
                duplicate(f"{where}[{number}].{key}Name", each.get(f"{key}Name"))
                for key in ("container", "resource", "request")
            ]
        seen.append(each)
    name = status.get("resourceClaimName") or ""
    if not name:
        return [*errors, required(f"{field}.resourceClaimName")]
    return errors + [invalid_value(f"{field}.resourceClaimName", name, text) for text in subdomain_problems(name)]
