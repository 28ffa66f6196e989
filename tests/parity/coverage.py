"""Which kinds of requests there are: those that the scripts send, those that our processes may, those that our code sends.

A kind of request is a verb, a group and a resource with its subresource, as RBAC names them. What our processes may send is in
config/rbac; what our code sends is read from its source: calls of the client's verbs with one of the resources of
`kube.client.resources`.
"""

import ast
import functools
import inspect
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from kube.client import resources
from kube.client.resources import Resource
from tests.parity.play import REPOSITORY
from tests.parity.scripts import SCRIPTS
from tests.parity.steps import Step

RBAC = REPOSITORY / "config" / "rbac"
ROLES_OF_USERS = "users.yaml"
"""Its rules are for people: what they may do, none of our processes sends."""
SOURCES = ("controllers", "hack", "install", "kube", "localcluster", "scheduler", "webhooks")
NOT_OURS = REPOSITORY / "localcluster" / "apiserver"
"""The server itself sends nothing."""

RESOURCES = dict(inspect.getmembers(resources, lambda each: isinstance(each, Resource)))
_OF_METHODS = {"POST": "create", "PUT": "update", "PATCH": "patch"}
_OF_CALLS = {
    "create": "create",
    "delete": "delete",
    "get": "get",
    "list": "list",
    "list_pages": "list",
    "patch": "patch",
    "replace": "update",
    "watch": "watch",
}
_OF_NAMESPACES = frozenset({"finalize", "status"})


class Kind(NamedTuple):
    """One kind of request."""

    verb: str
    group: str
    resource: str

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}.{self.group}" if self.group else f"{self.verb} {self.resource}"


def sent_by_scripts() -> set[Kind]:
    """All that the scripts send and compare."""
    steps = (step for script in SCRIPTS.values() for step in script.steps if step.compare)
    return {kind for step in steps if (kind := kind_of(step)) is not None}


def kind_of(step: Step) -> Kind | None:
    """What a step asks for; None when it is not about objects."""
    root, _, rest = step.path.strip("/").partition("/")
    segments = rest.split("/")
    group = segments.pop(0) if root == "apis" else ""
    parts = segments[1:]
    if root not in {"api", "apis"} or not parts:
        return None
    if parts[0] == "namespaces" and len(parts) > 2 and parts[2] not in _OF_NAMESPACES:
        parts = parts[2:]
    resource = "/".join([parts[0], *parts[2:]])
    return Kind(_verb(step, has_name=len(parts) > 1), group, resource)


def _verb(step: Step, *, has_name: bool) -> str:
    if step.method == "GET":
        return "watch" if step.watch else "get" if has_name else "list"
    if step.method == "DELETE":
        return "delete" if has_name else "deletecollection"
    return _OF_METHODS.get(step.method, step.method)


def allowed() -> set[Kind]:
    """All that the rules under config/rbac allow our processes."""
    rules = (rule for document in _documents() for rule in document.get("rules") or ())
    return {
        Kind(verb, group, resource)
        for rule in rules
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }


def _documents() -> Iterator[dict[str, Any]]:
    for file in sorted(RBAC.glob("*.yaml")):
        if file.name == ROLES_OF_USERS:
            continue
        yield from filter(None, yaml.safe_load_all(file.read_text()))


@functools.cache
def sent_by_code() -> dict[Kind, str]:
    """All that our code sends whose resource stands in the call, with one place where it does."""
    found: dict[Kind, str] = {}
    for file in _files():
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and (kind := _called(node)) is not None:
                found.setdefault(kind, f"{file.relative_to(REPOSITORY)}:{node.lineno}")
    return found


def _files() -> Iterable[Path]:
    files = (file for folder in SOURCES for file in sorted((REPOSITORY / folder).rglob("*.py")))
    return (file for file in files if NOT_OURS not in file.parents)


def _called(call: ast.Call) -> Kind | None:
    if not isinstance(call.func, ast.Attribute) or not call.args or not isinstance(call.args[0], ast.Name):
        return None
    verb, resource = _OF_CALLS.get(call.func.attr), RESOURCES.get(call.args[0].id)
    if verb is None or resource is None:
        return None
    part = next((each.value for each in call.keywords if each.arg == "subresource"), ast.Constant(""))
    if not isinstance(part, ast.Constant) or not isinstance(part.value, str):
        return None
    return Kind(verb, resource.group, f"{resource.plural}/{part.value}" if part.value else resource.plural)
