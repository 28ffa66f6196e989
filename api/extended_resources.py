"""Extended resources that device classes may stand for: what each container of a pod asks of them, and what a claim for it asks.

The rules are those of Kubernetes 1.37 (KEP-5004): each container that stays has a request of its own for each such resource;
ordinary init containers, which run one after the other and are gone before the others start, use what those after them have, and
only the most that one of them needs besides is asked for once.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from api.constants import DEVICE_CLASS_PREFIX
from api.devices import DeviceRequest, ExactRequest
from api.pod import Container, PodSpec
from api.requests import stated_amounts

_NATIVE: Final = "kubernetes.io/"
_OF_QUOTA: Final = "requests."
_ALWAYS: Final = "Always"


class Asked(msgspec.Struct, frozen=True, gc=False):
    """So many of a resource; `place` is that of its name among all that the container asks for."""

    resource: str
    place: int
    amount: int


class AskingContainer(msgspec.Struct, frozen=True, gc=False):
    """A container that asks for extended resources.

    Attributes:
        name: of the container.
        index: its place, init containers first.
        is_short: it has ended before the others start.
        asked: in the order of the names.
    """

    name: str
    index: int
    is_short: bool
    asked: tuple[Asked, ...]

    def amount(self, resource: str) -> int:
        """What it asks of a resource, 0 for nothing."""
        return next((one.amount for one in self.asked if one.resource == resource), 0)

    def request_name(self, resource: str) -> str:
        """How a request of its own for that resource is called."""
        place = next(one.place for one in self.asked if one.resource == resource)
        return f"container-{self.index}-request-{place}"


class ExtendedResources(msgspec.Struct, frozen=True, gc=False):
    """All that a pod asks of extended resources, by container."""

    containers: tuple[AskingContainer, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The resources, sorted."""
        return tuple(sorted({one.resource for container in self.containers for one in container.asked}))

    def with_amounts(self, before: Mapping[str, int], after: Mapping[str, int]) -> "ExtendedResources | None":
        """The same for a pod that asks for other amounts in all; of what is different, one container asks for all."""
        kept = (
            msgspec.structs.replace(
                container,
                asked=tuple(one for one in container.asked if before.get(one.resource) == after.get(one.resource)),
            )
            for container in self.containers
        )
        changed = [name for name in self.names if before.get(name) != after.get(name) and after.get(name)]
        asked = tuple(Asked(name, place, after[name]) for place, name in enumerate(changed))
        whole = AskingContainer("", 1 + max(one.index for one in self.containers), is_short=False, asked=asked)
        found = tuple(one for one in (*kept, whole) if one.asked)
        return ExtendedResources(found) if found else None


class RequestMapping(msgspec.Struct, frozen=True, rename="camel"):
    """Which request of the claim has the devices of a container's resource."""

    container_name: str
    resource_name: str
    request_name: str


def is_extended(resource: str) -> bool:
    """Whether a class can stand for a resource of this name."""
    if resource.startswith(DEVICE_CLASS_PREFIX):
        return True
    return "/" in resource and _NATIVE not in resource and not resource.startswith(_OF_QUOTA)


def parse_extended_resources(spec: PodSpec) -> ExtendedResources | None:
    """What a pod asks of extended resources; None for most pods, which ask for none.

    Raises:
        InvalidQuantity: a quantity is out of bounds.
    """
    found: list[AskingContainer] = []
    starting = len(spec.init_containers)
    for index, container in enumerate((*spec.init_containers, *spec.containers)):
        asked = tuple(_asked(container))
        if asked:
            is_short = index < starting and container.restart_policy != _ALWAYS
            found.append(AskingContainer(container.name, index, is_short, asked))
    return ExtendedResources(tuple(found)) if found else None


def requests_for(
    extended: ExtendedResources, classes: Mapping[str, str]
) -> tuple[tuple[DeviceRequest, ...], tuple[RequestMapping, ...]]:
    """The requests of the claim for some of a pod's extended resources, sorted by name, and who uses which.

    Args:
        extended: what the pod asks for.
        classes: of each resource that the claim is for, the class that stands for it.
    """
    requests: list[DeviceRequest] = []
    mappings: list[RequestMapping] = []
    for resource, device_class in sorted(classes.items()):
        staying, starting, own, most = _shared_out(extended, resource)
        requests += (_request(name, device_class, count) for name, count in own.items())
        mappings += (RequestMapping(container.name, resource, name) for container, name in staying)
        mappings += (RequestMapping(container.name, resource, name or most) for container, name in starting)
    return tuple(sorted(requests, key=lambda one: one.name)), tuple(mappings)


_Users = Sequence[tuple[AskingContainer, str]]
"""Containers with the names of requests they use, one after the other; no name stands for what is asked for all that start."""


def _shared_out(extended: ExtendedResources, resource: str) -> tuple[_Users, _Users, dict[str, int], str]:
    """Who uses what of one resource: those that stay, those that start; devices by request; the request of those that start."""
    asking = [one for one in extended.containers if one.amount(resource)]
    own = {one.request_name(resource): one.amount(resource) for one in asking if not one.is_short}
    staying = [(one, one.request_name(resource)) for one in asking if not one.is_short]
    starting: list[tuple[AskingContainer, str]] = []
    most, needed = "", 0
    for container in asking:
        if not container.is_short:
            continue
        left = container.amount(resource)
        for later, name in staying:
            if left > 0 and later.index >= container.index:
                starting.append((container, name))
                left -= own[name]
        if left > 0:
            starting.append((container, ""))
            if left > needed:
                most, needed = container.request_name(resource), left
    return staying, starting, {**own, **({most: needed} if most else {})}, most


def _request(name: str, device_class: str, count: int) -> DeviceRequest:
    return DeviceRequest(name, ExactRequest(device_class_name=device_class, count=count))


def _asked(container: Container) -> Iterator[Asked]:
    if b"/" not in bytes(container.resources):
        return
    amounts = stated_amounts(container.resources)
    for place, name in enumerate(sorted(amounts)):
        if amounts[name] and is_extended(name):
            yield Asked(name, place, amounts[name])
