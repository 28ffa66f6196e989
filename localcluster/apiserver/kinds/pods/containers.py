"""Rules for containers.

Pure.
"""

from localcluster.apiserver.fielderrors import (
    FieldError,
    duplicate,
    invalid_value,
    not_found_field,
    required,
    unsupported,
)
from localcluster.apiserver.kinds.kind import Object
from localcluster.apiserver.kinds.names import label_problems
from localcluster.apiserver.kinds.pods.resources import validate_resources

_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_HIGHEST_PORT = 65535


def validate_containers(spec: Object, field: str) -> list[FieldError]:
    """Containers and init containers of a pod spec."""
    volumes = {each.get("name") for each in spec.get("volumes") or []}
    containers = spec.get("containers") or []
    errors = [] if containers else [required(f"{field}.containers")]
    seen: set[str] = set()
    for key in ("initContainers", "containers"):
        for number, container in enumerate(spec.get(key) or []):
            errors += _validate(container, f"{field}.{key}[{number}]", seen, volumes)
    return errors


def _validate(container: Object, field: str, seen: set[str], volumes: set[str | None]) -> list[FieldError]:
    errors = _validate_name(container.get("name") or "", f"{field}.name", seen)
    image = container.get("image") or ""
    if not image:
        errors.append(required(f"{field}.image"))
    elif image != image.strip():
        errors.append(invalid_value(f"{field}.image", image, "must not have leading or trailing whitespace"))
    policy = container.get("imagePullPolicy") or ""
    if policy not in _PULL_POLICIES:
        errors.append(unsupported(f"{field}.imagePullPolicy", policy, _PULL_POLICIES))
    for number, port in enumerate(container.get("ports") or []):
        errors += _validate_port(port, f"{field}.ports[{number}]")
    for number, variable in enumerate(container.get("env") or []):
        errors += _validate_variable(variable, f"{field}.env[{number}]")
    for number, mount in enumerate(container.get("volumeMounts") or []):
        errors += _validate_mount(mount, f"{field}.volumeMounts[{number}]", volumes)
    return errors + validate_resources(container.get("resources") or {}, f"{field}.resources")


def _validate_name(name: str, field: str, seen: set[str]) -> list[FieldError]:
    if not name:
        return [required(field)]
    errors = [invalid_value(field, name, each) for each in label_problems(name)]
    if name in seen:
        errors.append(duplicate(field, name))
    seen.add(name)
    return errors


def _validate_port(port: Object, field: str) -> list[FieldError]:
    errors: list[FieldError] = []
    number = port.get("containerPort") or 0
    if not number:
        errors.append(required(f"{field}.containerPort"))
    elif not 0 < number <= _HIGHEST_PORT:
        text = f"must be between 1 and {_HIGHEST_PORT}, inclusive"
        errors.append(invalid_value(f"{field}.containerPort", number, text))
    protocol = port.get("protocol") or "TCP"
    if protocol not in _PROTOCOLS:
        errors.append(unsupported(f"{field}.protocol", protocol, _PROTOCOLS))
    return errors


def _validate_variable(variable: Object, field: str) -> list[FieldError]:
    name = variable.get("name") or ""
    if not name:
        return [required(f"{field}.name")]
    if variable.get("value") and variable.get("valueFrom"):
        return [invalid_value(f"{field}.valueFrom", "", "may not be specified when `value` is not empty")]
    return []


def _validate_mount(mount: Object, field: str, volumes: set[str | None]) -> list[FieldError]:
    errors: list[FieldError] = []
    name = mount.get("name") or ""
    if not name:
        errors.append(required(f"{field}.name"))
    elif name not in volumes:
        errors.append(not_found_field(f"{field}.name", name))
    if not mount.get("mountPath"):
        errors.append(required(f"{field}.mountPath"))
    return errors
