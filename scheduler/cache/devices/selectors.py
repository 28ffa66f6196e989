"""Device selectors (CEL): each expression is compiled once, and asked once of each distinct content of a device.

What a selector can see of a device is its driver, attributes and capacities; devices that are equal in these have one
`content`, a number, and share the answers.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from cel_expr_python import cel

from api.device_selectors.compiling import compiled, told
from api.device_selectors.functions import quantity_value, version_value
from api.device_selectors.rewrite import DEVICE, SelectorInvalid
from api.devices import Device, DeviceAttribute
from api.errors import InvalidQuantity, TuttiError
from api.quantity import parse_nano

MAX_EXPRESSIONS: Final = 4096
"""So many compiled expressions are kept."""


class SelectorError(TuttiError):
    """A selector has no answer for a device; `str()` says why."""


class Content(msgspec.Struct, frozen=True, eq=False):
    """What selectors can see of a device, shared by all devices that are equal in it; compared by identity.

    Attributes:
        variables: for the library; None when a selector cannot look at such a device.
        problem: why, then.
    """

    variables: dict[str, Any] | None
    problem: str = ""


class Contents:
    """Finds the content of a device, and its likeness; each distinct one is kept once."""

    def __init__(self) -> None:
        self._contents: dict[bytes, Content] = {}
        self._likenesses: dict[bytes, int] = {}
        self._encode = msgspec.json.Encoder(order="sorted").encode

    def __len__(self) -> int:
        return len(self._contents)

    def of(self, driver: str, device: Device) -> Content:
        """The content of a device of this driver."""
        key = self._encode((driver, bool(device.allow_multiple_allocations), device.attributes, device.capacity))
        found = self._contents.get(key)
        if found is None:
            found = self._contents[key] = _content(driver, device)
        return found

    def likeness(self, driver: str, device: Device) -> int:
        """A number that devices of a driver share which differ in their names only."""
        key = self._encode((driver, msgspec.structs.replace(device, name="")))
        return self._likenesses.setdefault(key, len(self._likenesses))


def _content(driver: str, device: Device) -> Content:
    try:
        variables = {
            "driver": driver,
            "allowMultipleAllocations": bool(device.allow_multiple_allocations),
            "attributes": _by_domain(
                driver, {name: _value(name, one) for name, one in (device.attributes or {}).items()}
            ),
            "capacity": _by_domain(
                driver, {name: quantity_value(parse_nano(one.value)) for name, one in (device.capacity or {}).items()}
            ),
        }
    except (InvalidQuantity, ValueError) as error:
        return Content(None, str(error))
    return Content({DEVICE: variables})


def _by_domain(driver: str, values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Names without a domain are of the driver's, where those that say so win."""
    found: dict[str, dict[str, Any]] = {}
    for name, value in sorted(values.items(), key=lambda item: "/" in item[0]):
        domain, slash, identifier = name.partition("/")
        found.setdefault(domain if slash else driver, {})[identifier if slash else name] = value
    return found


def _value(name: str, attribute: DeviceAttribute) -> Any:
    try:
        if attribute.versions is not None:
            return [version_value(one) for one in attribute.versions]
        if attribute.version is not None and attribute.string is None and attribute.int_value is None:
            return version_value(attribute.version)
    except ValueError as error:
        raise ValueError(f"attribute {name}: parse semantic version: {error}") from error
    for value in (attribute.ints, attribute.bools, attribute.strings):
        if value is not None:
            return list(value)
    for plain in (attribute.int_value, attribute.bool_value, attribute.string):
        if plain is not None:
            return plain
    raise ValueError(f"attribute {name}: unsupported attribute value")


class Selector:
    """A compiled expression with the answers it has given."""

    __slots__ = ("_answers", "_compiled", "evaluations", "source")

    def __init__(self, source: str, compiled: Any) -> None:
        self.source: Final = source
        self.evaluations = 0
        self._compiled = compiled
        self._answers: dict[Content, bool | str] = {}

    def matches(self, content: Content) -> bool:
        """Whether the expression is true of devices with this content.

        Raises:
            SelectorError: it has no answer for them.
        """
        answer = self._answers.get(content)
        if answer is None:
            answer = self._answers[content] = self._ask(content)
        if isinstance(answer, str):
            raise SelectorError(answer)
        return answer

    def _ask(self, content: Content) -> bool | str:
        self.evaluations += 1
        if content.variables is None:
            return content.problem
        try:
            value = self._compiled.eval(data=content.variables)
        except RuntimeError as error:
            return told(str(error))
        if value.type() == cel.Type.ERROR:
            return told(str(value.value()))
        result = value.value()
        if isinstance(result, bool):
            return result
        kind = str(value.type()).partition("<")[0].lower()
        return f"CEL result of type {kind} could not be converted to bool"


class Selectors:
    """The selectors in use, by their text; what is not asked for any more gives way."""

    def __init__(self) -> None:
        self._known: dict[str, Selector | SelectorInvalid] = {}

    def __len__(self) -> int:
        return len(self._known)

    def get(self, source: str) -> Selector:
        """The selector of an expression.

        Raises:
            SelectorInvalid: it cannot be compiled.
        """
        known = self._known.get(source)
        if known is None:
            if len(self._known) >= MAX_EXPRESSIONS:
                del self._known[next(iter(self._known))]
            known = self._known[source] = _made(source)
        if isinstance(known, SelectorInvalid):
            raise known
        return known

    def forget_answers(self) -> None:
        """The devices have become others."""
        self._known.clear()


def _made(source: str) -> Selector | SelectorInvalid:
    try:
        return compile_selector(source)
    except SelectorInvalid as error:
        return error


def compile_selector(source: str) -> Selector:
    """A selector that has not been asked anything yet.

    Raises:
        SelectorInvalid: it cannot be compiled.
    """
    return Selector(source, compiled(source))
