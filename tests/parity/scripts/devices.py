"""What the scripts about devices send: classes, slices, claims, templates and taint rules."""

from typing import Any

from tests.parity.scripts.objects import Object, of

GROUP = "resource.k8s.io/v1"
ROOT = f"/apis/{GROUP}"
CLAIMS = f"{ROOT}/namespaces/{{ns}}/resourceclaims"
TEMPLATES = f"{ROOT}/namespaces/{{ns}}/resourceclaimtemplates"
CLASSES = f"{ROOT}/deviceclasses"
SLICES = f"{ROOT}/resourceslices"
RULES = f"{ROOT}/devicetaintrules"
DRIVER = "gpu.example.com"
LONG = "x" * 64


def exactly(**more: Any) -> Object:
    """A request for devices of one class."""
    return {"name": "r", "exactly": {"deviceClassName": "gpu", **more}}


def first(*subrequests: Object) -> Object:
    """A request for the first of several things."""
    return {"name": "r", "firstAvailable": [{"name": "a", "deviceClassName": "gpu", **each} for each in subrequests]}


def spec(*requests: Object, **more: Any) -> Object:
    """The spec of a claim."""
    return {"devices": {"requests": list(requests) or [exactly()], **more}}


def claim(name: str, *requests: Object, **more: Any) -> Object:
    """A claim."""
    return of(GROUP, "ResourceClaim", name, spec=spec(*requests, **more))


def device_class(name: str, **more: Any) -> Object:
    """A class."""
    return of(GROUP, "DeviceClass", name, spec=more)


def cel(*expressions: str) -> list[Object]:
    """Selectors."""
    return [{"cel": {"expression": each}} for each in expressions]


def device(name: str = "g0", **more: Any) -> Object:
    """A device."""
    return {"name": name, **more}


def resource_slice(name: str, **more: Any) -> Object:
    """A slice of one node; None takes a field away."""
    usual = {
        "driver": DRIVER,
        "nodeName": "n1",
        "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1},
        "devices": [device()],
    }
    given = {key: value for key, value in (usual | more).items() if value is not None}
    return of(GROUP, "ResourceSlice", name, spec=given)


def with_device(**more: Any) -> Object:
    """What makes a slice of one device with these fields."""
    return {"devices": [device(**more)]}


def shared(**policy: Any) -> Object:
    """What makes a slice of one device that several claims may share."""
    return with_device(allowMultipleAllocations=True, capacity={"memory": {"value": "10", "requestPolicy": policy}})


def opaque(driver: str = DRIVER, parameters: Any = None) -> Object:
    """Parameters for a driver."""
    return {"driver": driver, "parameters": parameters if parameters is not None else {"a": "b"}}


def taint_rule(name: str, given: Object) -> Object:
    """A taint rule."""
    return of(GROUP, "DeviceTaintRule", name, spec=given)
