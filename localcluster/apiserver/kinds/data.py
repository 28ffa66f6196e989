"""ConfigMaps and Secrets: what they may hold, how much of it, and that some never change."""

import base64
import re
from collections.abc import Mapping
from typing import Final

from localcluster.apiserver.fielderrors import FieldError, forbidden_field, invalid_value, required, too_long
from localcluster.apiserver.kinds.bytes64 import length_of
from localcluster.apiserver.kinds.kind import Object
from localcluster.apiserver.kinds.typed import TypedStrategy

MOST_BYTES: Final = 1024 * 1024
_LONGEST_KEY: Final = 253
_IMMUTABLE: Final = "field is immutable when `immutable` is set"
_KEY: Final = re.compile(r"[-._a-zA-Z0-9]+")
_BAD_KEY: Final = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or "
    "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)
_NEEDED: Final[Mapping[str, tuple[str, ...]]] = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}
"""What a Secret of a type must have."""
_LOGIN: Final = "kubernetes.io/basic-auth"
_TOKEN: Final = "kubernetes.io/service-account-token"  # noqa: S105 (the name of a type)
_TOKEN_OF: Final = "kubernetes.io/service-account.name"  # noqa: S105 (the name of an annotation)


class _DataStrategy(TypedStrategy):
    """What both have in common."""

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:  # noqa: ARG002
        """Keys, and what may not change."""
        errors = [
            invalid_value(f"{key}[{name}]", name, problem)
            for key in ("data", "binaryData")
            for name in new.get(key) or {}
            if (problem := _key_problem(name))
        ]
        return errors + (_changes(new, old) if old is not None and old.get("immutable") else [])


class ConfigMapStrategy(_DataStrategy):
    """The rules of ConfigMaps."""

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:
        """Each key once, and not too much."""
        text, binary = new.get("data") or {}, new.get("binaryData") or {}
        errors = super().validate(new, old, subresource)
        errors += [
            invalid_value(f"data[{key}]", key, "duplicate of key present in binaryData")
            for key in text
            if key in binary
        ]
        size = sum(len(value.encode()) for value in text.values()) + sum(map(length_of, binary.values()))
        return [*errors, too_long("[]", MOST_BYTES)] if size > MOST_BYTES else errors


class SecretStrategy(_DataStrategy):
    """The rules of Secrets."""

    def default(self, obj: Object) -> None:
        """Secrets are opaque unless they say otherwise; plain strings become data."""
        obj["type"] = obj.get("type") or "Opaque"
        plain = obj.pop("stringData", None)
        if plain:
            encoded = {key: base64.b64encode(str(value).encode()).decode() for key, value in plain.items()}
            obj["data"] = {**(obj.get("data") or {}), **encoded}

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:
        """Not too much, and what the type asks for."""
        data = new.get("data") or {}
        errors = super().validate(new, old, subresource)
        if sum(map(length_of, data.values())) > MOST_BYTES:
            errors.append(too_long("data", MOST_BYTES))
        errors += [required(f"data[{key}]") for key in _NEEDED.get(new["type"], ()) if key not in data]
        if new["type"] == _LOGIN and not {"username", "password"} & set(data):
            errors += [required("data[username]"), required("data[password]")]
        if new["type"] == _TOKEN and not (new["metadata"].get("annotations") or {}).get(_TOKEN_OF):
            errors.append(required(f"metadata.annotations[{_TOKEN_OF}]"))
        if old is not None and new["type"] != old.get("type"):
            errors.append(invalid_value("type", new["type"], "field is immutable"))
        return errors


def _key_problem(key: str) -> str:
    if len(key) > _LONGEST_KEY:
        return f"must be no more than {_LONGEST_KEY} characters"
    if not _KEY.fullmatch(key):
        return _BAD_KEY
    if key in {".", ".."}:
        return f"must not be '{key}'"
    return "must not start with '..'" if key.startswith("..") else ""


def _changes(new: Object, old: Object) -> list[FieldError]:
    errors = [] if new.get("immutable") else [forbidden_field("immutable", _IMMUTABLE)]
    return errors + [forbidden_field(key, _IMMUTABLE) for key in ("data", "binaryData") if new.get(key) != old.get(key)]
