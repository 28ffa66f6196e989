"""Rules for pod specs, in pods and in templates.

Pure. What the field is called and where it stands is told by `field`, so that the same rules serve templates.
"""

from localcluster.apiserver.fielderrors import FieldError, duplicate, invalid_value, required, unsupported
from localcluster.apiserver.kinds.kind import Object
from localcluster.apiserver.kinds.metadata import validate_annotations, validate_labels
from localcluster.apiserver.kinds.names import label_problems, subdomain_problems
from localcluster.apiserver.kinds.pods.claims import validate_claims
from localcluster.apiserver.kinds.pods.containers import validate_containers
from localcluster.apiserver.kinds.pods.placement import validate_placement

_RESTARTS = ("Always", "OnFailure", "Never")
_DNS = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_LONGEST_DEADLINE = 2**31 - 1


def validate_pod_spec(spec: Object, field: str) -> list[FieldError]:
    """What is wrong with a pod spec."""
    errors = _validate_volumes(spec.get("volumes") or [], f"{field}.volumes")
    errors += validate_containers(spec, field)
    restart, dns = spec.get("restartPolicy"), spec.get("dnsPolicy")
    if restart not in _RESTARTS:
        errors.append(unsupported(f"{field}.restartPolicy", restart, _RESTARTS))
    if dns not in _DNS:
        errors.append(unsupported(f"{field}.dnsPolicy", dns, _DNS))
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= _LONGEST_DEADLINE:
        text = f"must be between 1 and {_LONGEST_DEADLINE}, inclusive"
        errors.append(invalid_value(f"{field}.activeDeadlineSeconds", deadline, text))
    for key, check in (("nodeName", subdomain_problems), ("serviceAccountName", subdomain_problems)):
        name = spec.get(key)
        if name:
            errors += [invalid_value(f"{field}.{key}", name, each) for each in check(name)]
    for key in ("hostname", "subdomain"):
        if spec.get(key):
            errors += [invalid_value(f"{field}.{key}", spec[key], each) for each in label_problems(spec[key])]
    return errors + validate_claims(spec, field) + validate_placement(spec, field)


def validate_template(template: Object, field: str) -> list[FieldError]:
    """What is wrong with a pod template."""
    metadata = template.get("metadata") or {}
    errors = validate_labels(metadata.get("labels") or {}, f"{field}.labels")
    errors += validate_annotations(metadata.get("annotations") or {}, f"{field}.annotations")
    return errors + validate_pod_spec(template.get("spec") or {}, f"{field}.spec")


def _validate_volumes(volumes: list[Object], field: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for number, volume in enumerate(volumes):
        where, name = f"{field}[{number}].name", volume.get("name") or ""
        if not name:
            errors.append(required(where))
            continue
        errors += [invalid_value(where, name, each) for each in label_problems(name)]
        if name in seen:
            errors.append(duplicate(where, name))
        seen.add(name)
    return errors
