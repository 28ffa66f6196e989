"""The audit log: one JSON line for every answered request, in the real server's format, as a policy asks for it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from localcluster.apiserver.kinds.kind import Object, User
from localcluster.apiserver.requestinfo import RequestInfo

LEVELS = ("None", "Metadata", "Request", "RequestResponse")


@dataclass(slots=True)
class Answered:
    """One answered request."""

    info: RequestInfo
    user: User
    uri: str
    agent: str
    source: str
    code: int
    received: datetime
    completed: datetime
    is_forbidden: bool
    request_body: bytes
    response_body: bytes
    audit_id: str


class Policy:
    """Which requests are logged, and how much of them. The first rule that fits counts."""

    def __init__(self, policy: Object) -> None:
        self._rules: list[Object] = list(policy.get("rules") or [])

    @classmethod
    def read(cls, path: Path) -> "Policy":
        """The policy in a JSON file."""
        return cls(orjson.loads(path.read_bytes()))

    def level(self, info: RequestInfo, user: User) -> str:
        """One of LEVELS."""
        return next((str(rule["level"]) for rule in self._rules if _fits(rule, info, user)), "None")


EVERYTHING = Policy({"rules": [{"level": "Metadata"}]})


def _fits(rule: Object, info: RequestInfo, user: User) -> bool:
    if rule.get("users") and user.name not in rule["users"]:
        return False
    if rule.get("userGroups") and not set(rule["userGroups"]) & set(user.groups):
        return False
    if rule.get("verbs") and info.verb not in rule["verbs"]:
        return False
    if rule.get("namespaces") and info.namespace not in rule["namespaces"]:
        return False
    wanted = rule.get("resources")
    return not wanted or (info.is_resource and any(_resource_fits(each, info) for each in wanted))


def _resource_fits(wanted: Mapping[str, Any], info: RequestInfo) -> bool:
    if wanted.get("group", "") != info.group:
        return False
    full = f"{info.plural}/{info.subresource}" if info.subresource else info.plural
    return not wanted.get("resources") or full in wanted["resources"] or "*" in wanted["resources"]


class AuditLog:
    """Appends to a file; a line is in the file before the answer is sent."""

    def __init__(self, path: Path, policy: Policy = EVERYTHING) -> None:
        self._policy = policy
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def write(self, answered: Answered) -> None:
        """Log the request, if the policy wants it."""
        level = self._policy.level(answered.info, answered.user)
        if level != "None":
            os.write(self._file, orjson.dumps(entry(answered, level), option=orjson.OPT_APPEND_NEWLINE))


def entry(answered: Answered, level: str) -> Object:
    """The line for one request, at one of LEVELS."""
    line: Object = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": level,
        "auditID": answered.audit_id,
        "stage": "ResponseComplete",
        "requestURI": answered.uri,
        "verb": answered.info.verb,
        "user": {"username": answered.user.name, "uid": answered.user.uid, "groups": list(answered.user.groups)},
        "sourceIPs": [answered.source],
        "userAgent": answered.agent,
        "responseStatus": {"metadata": {}, "code": answered.code},
        "requestReceivedTimestamp": _micro(answered.received),
        "stageTimestamp": _micro(answered.completed),
        "annotations": {"authorization.k8s.io/decision": "forbid" if answered.is_forbidden else "allow"},
    }
    if answered.info.is_resource:
        line["objectRef"] = _reference(answered.info, _name_of(answered))
    if LEVELS.index(level) >= LEVELS.index("Request") and _is_json(answered.request_body):
        line["requestObject"] = orjson.Fragment(answered.request_body)
    if level == "RequestResponse" and _is_json(answered.response_body):
        line["responseObject"] = orjson.Fragment(answered.response_body)
    return line


def _name_of(answered: Answered) -> str:
    """The name in the path, or that of the object which a creation brought, unless it was refused unread."""
    if answered.info.name or answered.info.verb != "create" or answered.is_forbidden:
        return answered.info.name
    try:
        metadata = orjson.loads(answered.request_body)["metadata"]
        return str(metadata.get("name") or "")
    except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError):
        return ""


def _reference(info: RequestInfo, name: str) -> Object:
    reference: Object = {"resource": info.plural, "apiVersion": info.version}
    optional = {
        "apiGroup": info.group,
        "namespace": info.namespace,
        "name": name,
        "subresource": info.subresource,
    }
    return reference | {key: value for key, value in optional.items() if value}


def _is_json(body: bytes) -> bool:
    try:
        return bool(body) and isinstance(orjson.loads(body), dict | list) and b"\n" not in body
    except orjson.JSONDecodeError:
        return False


def _micro(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
