"""The requests of claims, checked and with their classes and selectors looked up: once for all nodes."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from api.device_selectors.rewrite import SelectorInvalid
from api.devices import DeviceRequest, DeviceToleration, ExactRequest
from api.errors import InvalidQuantity
from scheduler.algorithm.devices.errors import AllocationError
from scheduler.cache.devices.record_factory import asked_amounts
from scheduler.cache.devices.records import Amounts, ClaimRecord, ClassRecord, DeviceRecord
from scheduler.cache.devices.selectors import Selector, SelectorError, Selectors

EXACT_COUNT: Final = "ExactCount"
ALL: Final = "All"


class Named(NamedTuple):
    """A selector with whose it is, for complaints."""

    owner: str
    selector: Selector


class Request:
    """A request of a claim, or one of its alternatives.

    Attributes:
        name: of the request, and after a slash of the alternative.
        names: by which constraints and configurations may mean it.
        count: devices it wants, unless it wants all.
        asked: amounts of each device.
    """

    __slots__ = (
        "asked",
        "count",
        "device_class",
        "is_admin",
        "name",
        "names",
        "of_class",
        "of_request",
        "short_name",
        "tolerations",
        "wants_all",
    )

    def __init__(
        self,
        parent: str,
        exact: ExactRequest,
        device_class: ClassRecord,
        of_class: tuple[Named, ...],
        of_request: tuple[Named, ...],
        asked: Amounts,
    ) -> None:
        self.short_name: Final = exact.name or parent
        self.name: Final = f"{parent}/{exact.name}" if exact.name else parent
        self.names: Final = (parent, self.name) if exact.name else (parent,)
        self.device_class: Final = device_class
        self.of_class: Final = of_class
        self.of_request: Final = of_request
        self.wants_all: Final = exact.allocation_mode == ALL
        self.count: Final = exact.count
        self.is_admin: Final = bool(exact.admin_access) and not exact.name
        self.tolerations: Final[tuple[DeviceToleration, ...]] = exact.tolerations or ()
        self.asked: Final = asked

    def selects(self, device: DeviceRecord) -> bool:
        """Whether class and request mean this device.

        Raises:
            AllocationError: a selector has no answer for it.
        """
        for number, (owner, selector) in _numbered(self.of_class, self.of_request):
            try:
                if not selector.matches(device.content):
                    return False
            except SelectorError as error:
                raise AllocationError(
                    f"{owner}: selector #{number} on device {device.id}: CEL runtime error: {error}"
                ) from error
        return True

    def tolerates(self, key: str, value: str, effect: str) -> bool:
        """Whether it tolerates such a taint."""
        return any(_tolerates(one, key, value, effect) for one in self.tolerations)


class ClaimRequests(msgspec.Struct, frozen=True, eq=False):
    """A claim that is to be allocated, with its requests: for each the alternatives, one where there is no choice."""

    claim: ClaimRecord
    requests: tuple[tuple[Request, ...], ...]

    @property
    def shown(self) -> str:
        """The claim for people."""
        return shown(self.claim)


def shown(claim: ClaimRecord) -> str:
    """A claim for people: its namespace and name."""
    namespace, name = claim.key
    return f"{namespace}/{name}" if namespace else name


def look_up(claim: ClaimRecord, classes: Mapping[str, ClassRecord], selectors: Selectors) -> ClaimRequests:
    """The requests of a claim.

    Raises:
        AllocationError: a class is missing, or the claim asks for what we do not know.
    """
    where = f"claim {shown(claim)}"
    for number, constraint in enumerate(claim.spec.constraints):
        if constraint.match_attribute is None and constraint.distinct_attribute is None:
            raise AllocationError(f"{where}, constraint #{number}: empty constraint (unsupported constraint type?)")
    look = _LookUp(claim, classes, selectors)
    return ClaimRequests(claim, tuple(look.request(one) for one in claim.spec.requests))


class _LookUp:
    def __init__(self, claim: ClaimRecord, classes: Mapping[str, ClassRecord], selectors: Selectors) -> None:
        self._claim = claim
        self._classes = classes
        self._selectors = selectors

    def request(self, request: DeviceRequest) -> tuple[Request, ...]:
        if request.first_available:
            return tuple(self._exact(request.name, one) for one in request.first_available)
        exact = request.exactly if request.exactly is not None else ExactRequest()
        return (self._exact(request.name, exact),)

    def _exact(self, parent: str, exact: ExactRequest) -> Request:
        where = f"claim {shown(self._claim)}, request {exact.name or parent}"
        if exact.derived_attributes and bytes(exact.derived_attributes) != b"null":
            raise AllocationError(f"{where}: derivedAttributes are not supported by this scheduler")
        own = [one.cel.expression if one.cel else None for one in exact.selectors or ()]
        for number, expression in enumerate(own):
            if expression is None:
                raise AllocationError(f"{where}, selector #{number}: CEL expression empty (unsupported selector type?)")
        if not exact.device_class_name:
            raise AllocationError(f"{where}: missing device class name (unsupported request type?)")
        device_class = self._classes.get(exact.device_class_name)
        if device_class is None:
            raise AllocationError(f"{where}: could not retrieve device class {exact.device_class_name}")
        if exact.allocation_mode not in {EXACT_COUNT, ALL}:
            raise AllocationError(f"{where}: unsupported count mode {exact.allocation_mode}")
        try:
            asked = asked_amounts(exact.capacity)
        except InvalidQuantity as error:
            raise AllocationError(f"{where}: {error}") from error
        return Request(
            parent,
            exact,
            device_class,
            self._compiled(f"class {device_class.name}", device_class.selectors),
            self._compiled(f"claim {shown(self._claim)}", own),
            asked,
        )

    def _compiled(self, owner: str, expressions: Sequence[str | None]) -> tuple[Named, ...]:
        found = []
        for number, expression in enumerate(expressions):
            try:
                found.append(Named(owner, self._selectors.get(expression or "")))
            except SelectorInvalid as error:
                raise AllocationError(f"{owner}: selector #{number}: CEL compile error: {error}") from error
        return tuple(found)


def _numbered(*lists: tuple[Named, ...]) -> list[tuple[int, Named]]:
    return [numbered for named in lists for numbered in enumerate(named)]


def _tolerates(toleration: DeviceToleration, key: str, value: str, effect: str) -> bool:
    if toleration.effect not in {"", effect} or toleration.key not in {"", key}:
        return False
    if toleration.operator == "Exists":
        return True
    return toleration.operator in {"", "Equal"} and toleration.value == value
