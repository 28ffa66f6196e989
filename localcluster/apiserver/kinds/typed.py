"""Kinds whose fields are described: unknown ones are told of and dropped, values of the wrong type are refused.

The descriptions are those of the OpenAPI documents. A few fields that exist upstream and are described nowhere here are
known nevertheless, so that an object that carries them loses nothing.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from localcluster.apiserver import status
from localcluster.apiserver.discovery.openapi.compact import SCALARS
from localcluster.apiserver.discovery.openapi.fields import TYPES
from localcluster.apiserver.kinds.kind import Object
from localcluster.apiserver.kinds.names import NameCheck, subdomain_problems
from localcluster.apiserver.kinds.plain import PlainStrategy

_ALSO_KNOWN: Mapping[str, frozenset[str]] = {
    "Container": frozenset({"restartPolicyRules", "stdinOnce"}),
    "ContainerStatus": frozenset(
        {"allocatedResources", "allocatedResourcesStatus", "resources", "stopSignal", "user", "volumeMounts"}
    ),
    "NodeSpec": frozenset({"configSource", "externalID"}),
    "NodeStatus": frozenset({"config", "daemonEndpoints", "declaredFeatures", "features", "phase", "runtimeHandlers"}),
    "ObjectMeta": frozenset({"managedFields", "selfLink"}),
    "PodSpec": frozenset({"dnsConfig", "hostUsers", "hostnameOverride", "resources", "serviceAccount"}),
    "PodStatus": frozenset(
        {"allocatedResources", "ephemeralContainerStatuses", "hostIPs", "resize", "resourceClaimStatuses", "resources"}
    ),
    "ServicePort": frozenset({"appProtocol"}),
    "ServiceSpec": frozenset(
        {
            "allocateLoadBalancerNodePorts",
            "clusterIPs",
            "externalIPs",
            "externalTrafficPolicy",
            "healthCheckNodePort",
            "internalTrafficPolicy",
            "ipFamilies",
            "ipFamilyPolicy",
            "loadBalancerClass",
            "loadBalancerIP",
            "loadBalancerSourceRanges",
            "sessionAffinityConfig",
            "trafficDistribution",
        }
    ),
}
_GATED: Mapping[str, frozenset[str]] = {
    "CSINode": frozenset({"status"}),
    "JobSpec": frozenset({"scheduling"}),
    "LeaseSpec": frozenset({"preferredHolder", "strategy"}),
    "PersistentVolumeClaimStatus": frozenset({"healthStatus"}),
    "PodSpec": frozenset({"evictionResponders", "schedulingGroup"}),
}
"""Fields behind feature gates that are off: dropped without a word."""

_TEXT = frozenset({"string", "bytes", "time"})
_WHOLE = frozenset({"int32", "int64"})
_GO = {dict: "object", list: "array", str: "string", bool: "bool", int: "number", float: "number"}
_LOOSE = frozenset({"object", "quantity", "intOrString", "double"})


class _Rule(NamedTuple):
    """What a field holds: shape "" for one value, "[" for a list, "{" for a map; `type` is a scalar or a type's name."""

    shape: str
    type: str


@cache
def _rules(name: str) -> Mapping[str, _Rule]:
    rules = {
        field.name: _Rule(field.type[0] if field.type[0] in "[{" else "", field.type.strip("[]{}"))
        for field in TYPES[name].fields
    }
    for known in _ALSO_KNOWN.get(name, frozenset()):
        rules.setdefault(known, _Rule("", "object"))
    for gated in _GATED.get(name, frozenset()):
        rules.pop(gated, None)
    return rules


class _Mismatch(Exception):
    """A value of the wrong type."""


class _Walk:
    """One pass over one object."""

    def __init__(self) -> None:
        self.complaints: list[str] = []

    def fields(self, obj: Object, name: str, path: str) -> None:
        """The fields of an object of this type; nulls and unknown fields are dropped."""
        rules, gated = _rules(name), _GATED.get(name, frozenset())
        for key in tuple(obj):
            value = obj[key]
            rule = rules.get(key)
            if rule is None:
                del obj[key]
                if key not in gated:
                    self.complaints.append(f'unknown field "{path}{key}"')
            elif value is None:
                del obj[key]
            elif rule.shape == "[":
                self._list(value, rule, name, path + key)
            elif rule.shape == "{":
                self._map(value, rule, name, path + key)
            else:
                self._value(value, rule.type, name, path + key)

    def _list(self, value: Any, rule: _Rule, name: str, path: str) -> None:
        if not isinstance(value, list):
            raise _mismatch(value, name, path, f"[]{_go(rule.type)}")
        for number, item in enumerate(value):
            if item is not None:
                self._value(item, rule.type, name, f"{path}[{number}]")

    def _map(self, value: Any, rule: _Rule, name: str, path: str) -> None:
        if not isinstance(value, dict):
            raise _mismatch(value, name, path, f"map[string]{_go(rule.type)}")
        for item in value.values():
            if item is not None:
                self._value(item, rule.type, name, path)

    def _value(self, value: Any, kind: str, name: str, path: str) -> None:
        if kind in _TEXT:
            good = isinstance(value, str)
        elif kind in _WHOLE:
            good = isinstance(value, int) and not isinstance(value, bool)
        elif kind == "bool":
            good = isinstance(value, bool)
        elif kind in _LOOSE:
            good = True
        elif isinstance(value, dict):
            return self.fields(value, kind, path + ".")
        else:
            good = False
        if not good:
            raise _mismatch(value, name, path, _go(kind))
        return None


def _go(kind: str) -> str:
    return {"time": "string", "bytes": "string"}.get(kind, kind if kind in SCALARS else f"v1.{kind}")


def go_kind(value: Any) -> str:
    """What Go's decoder calls a JSON value."""
    return _GO.get(type(value), "null")


def _mismatch(value: Any, name: str, path: str, go_type: str) -> _Mismatch:
    plain = "".join(part.partition("[")[0] + ("." if dot else "") for part, dot in _parts(path))
    return _Mismatch(f"json: cannot unmarshal {go_kind(value)} into Go struct field {name}.{plain} of type {go_type}")


def _parts(path: str) -> list[tuple[str, bool]]:
    parts = path.split(".")
    return [(part, number < len(parts) - 1) for number, part in enumerate(parts)]


class TypedStrategy(PlainStrategy):
    """A kind with described fields."""

    def __init__(
        self,
        type_name: str,
        version: str = "v1",
        *,
        has_status: bool = False,
        counts_generations: bool = False,
        name_check: NameCheck = subdomain_problems,
    ) -> None:
        super().__init__(has_status=has_status, counts_generations=counts_generations, name_check=name_check)
        self.type_name = type_name
        self.version = version

    def decode(self, obj: Object) -> list[str]:
        """Drop unknown fields and nulls; the complaints about the former.

        Raises:
            StatusError: a value has a type that its field cannot have.
        """
        walk = _Walk()
        try:
            walk.fields(obj, self.type_name, "")
        except _Mismatch as error:
            name = self.type_name
            text = f'{name} in version "{self.version}" cannot be handled as a {name}: {error}'
            raise status.bad_request(text) from error
        return walk.complaints


def plain_strategy(type_name: str, **settings: Any) -> PlainStrategy:
    """The rules of a kind without rules of its own: its fields are checked if they are described."""
    return TypedStrategy(type_name, **settings) if type_name in TYPES else PlainStrategy(**settings)
