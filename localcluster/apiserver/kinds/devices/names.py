"""What names of drivers, pools, requests and attributes may look like, in the real server's words. Pure.

A real server checks some fields by the rules of their types and others by code of its own, and words the same fault in two
ways: the functions whose names begin with `typed` are for the former.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from localcluster.apiserver.fielderrors import FieldError, duplicate, invalid_value, required, too_long, too_many
from localcluster.apiserver.kinds.names import (
    label_problems,
    label_value_problem,
    qualified_name_problems,
    subdomain_problems,
)

MAX_DRIVER_LENGTH: Final = 63
MAX_POOL_LENGTH: Final = 253
MAX_IDENTIFIER_LENGTH: Final = 32
_IDENTIFIER: Final = r"[A-Za-z_][A-Za-z0-9_]*"
_SUBDOMAIN: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_is_identifier: Final = re.compile(_IDENTIFIER).fullmatch
_is_caseless_subdomain: Final = re.compile(_SUBDOMAIN, re.IGNORECASE).fullmatch
_BAD_IDENTIFIER: Final = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters "
    f"or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '{_IDENTIFIER}')"
)
_BAD_DRIVER: Final = (
    "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an "
    f"alphanumeric character (e.g. 'Example.com', regex used for validation is '{_SUBDOMAIN}')"
)
_UNKNOWN_REQUEST: Final = (
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
)

RequestNames = dict[str, frozenset[str]]
"""The requests of a claim, each with the names of its subrequests."""


def driver_errors(name: str, field: str) -> list[FieldError]:
    """The driver of a slice, of a taint rule or of a device's report."""
    if not name:
        return [required(field)]
    errors = [too_long(field, MAX_DRIVER_LENGTH)] if len(name) > MAX_DRIVER_LENGTH else []
    return errors + [invalid_value(field, name, each) for each in subdomain_problems(name.lower())]


def typed_driver_errors(name: str, field: str) -> list[FieldError]:
    """The driver of parameters or of an allocated device."""
    if not name:
        return [required(field)]
    errors = [] if _is_caseless_subdomain(name) else [invalid_value(field, name, _BAD_DRIVER)]
    if len(name) > MAX_DRIVER_LENGTH:
        errors.append(FieldError("Too long", field, "", f"may not be more than {MAX_DRIVER_LENGTH} characters"))
    return errors


def pool_errors(name: str, field: str) -> list[FieldError]:
    """The pool of a slice or a taint rule."""
    if not name:
        return [required(field)]
    errors = [too_long(field, MAX_POOL_LENGTH)] if len(name) > MAX_POOL_LENGTH else []
    return errors + [invalid_value(field, part, each) for part in name.split("/") for each in subdomain_problems(part)]


def typed_pool_errors(name: str, field: str) -> list[FieldError]:
    """The pool of an allocated device."""
    if not name:
        return [required(field)]
    errors = [too_long(field, MAX_POOL_LENGTH)] if len(name) > MAX_POOL_LENGTH else []
    for number, part in enumerate(name.split("/")):
        problems = subdomain_problems(part) if part else ["must not be empty"]
        errors += [invalid_value(field, name, f"segment {number}: {each}") for each in problems]
    return errors


def label_errors(name: str, field: str) -> list[FieldError]:
    """A name that is one label: of a device, a request, a counter."""
    return [invalid_value(field, name, each) for each in label_problems(name)]


def key_errors(key: str, field: str) -> list[FieldError]:
    """A key as labels have it: of a taint, of a condition."""
    return [invalid_value(field, key, each) for each in qualified_name_problems(key)]


def value_errors(value: str, field: str) -> list[FieldError]:
    """A value as labels have it."""
    problem = label_value_problem(value)
    return [invalid_value(field, value, problem)] if problem else []


def identifier_errors(name: str, field: str) -> list[FieldError]:
    """The part of an attribute's name behind its domain."""
    errors = [too_long(field, MAX_IDENTIFIER_LENGTH)] if len(name) > MAX_IDENTIFIER_LENGTH else []
    return errors if _is_identifier(name) else [*errors, invalid_value(field, name, _BAD_IDENTIFIER)]


def attribute_name_errors(name: str, field: str) -> list[FieldError]:
    """The name of an attribute or capacity in a slice, with a domain or without."""
    domain, slash, identifier = name.partition("/")
    if not slash:
        return identifier_errors(name, field)
    errors = driver_errors(domain, field) if domain else [invalid_value(field, "", "the domain must not be empty")]
    if not identifier:
        return [*errors, invalid_value(field, "", "the name must not be empty")]
    return errors if "/" in identifier else errors + identifier_errors(identifier, field)


def full_name_errors(name: str, field: str) -> list[FieldError]:
    """The name of an attribute in a constraint: it has a domain."""
    domain, slash, identifier = name.partition("/")
    if not slash:
        return [
            *identifier_errors(name, field),
            invalid_value(field, name, "a fully qualified name must be a domain and a name separated by a slash"),
        ]
    errors = [invalid_value(field, domain, f"prefix: {each}") for each in subdomain_problems(domain)]
    return errors + identifier_errors(identifier, field)


def request_names(claim: dict[str, Any]) -> RequestNames:
    """The requests of `spec.devices`."""
    return {
        request.get("name") or "": frozenset(each.get("name") or "" for each in request.get("firstAvailable") or ())
        for request in claim.get("requests") or ()
    }


def request_reference_errors(name: str, field: str, known: RequestNames) -> list[FieldError]:
    """The name of a request, or of a request and one of its subrequests."""
    parts = name.split("/")
    if len(parts) > 2:
        return [invalid_value(field, name, _UNKNOWN_REQUEST)]
    errors = [each for part in parts for each in label_errors(part, field)]
    if parts[0] not in known or (len(parts) == 2 and parts[1] not in known[parts[0]]):
        errors.append(invalid_value(field, name, _UNKNOWN_REQUEST))
    return errors


def each_of(
    items: list[Any],
    field: str,
    most: int,
    check: Callable[[Any, str], Iterable[FieldError]],
    *,
    key: Callable[[Any], Any] | None = None,
    shown: Callable[[Any], Any] | None = None,
) -> list[FieldError]:
    """The faults of a list: too many items, else those of each, and those whose key was there before.

    Items are told apart by `key`, without one they may be equal; `shown` is what the complaint about a second one shows, by
    default the item.
    """
    if len(items) > most:
        return [too_many(field, len(items), most)]
    errors = [error for number, item in enumerate(items) for error in check(item, f"{field}[{number}]")]
    if key is None:
        return errors
    seen = set()
    for number, item in enumerate(items):
        found = key(item)
        if found in seen:
            errors.append(duplicate(f"{field}[{number}]", shown(item) if shown else item))
        seen.add(found)
    return errors


def by_name(item: dict[str, Any]) -> str:
    """The key of most lists."""
    return item.get("name") or ""
