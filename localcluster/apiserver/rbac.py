"""Who may do what: roles and bindings, evaluated over the stored objects.

Subjects are indexed, so that a request looks only at the bindings of its user and groups; the index is thrown away whenever
a binding changes. Members of `system:masters` may do everything.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from localcluster.apiserver import status
from localcluster.apiserver.kinds.kind import Object, User
from localcluster.apiserver.requestinfo import RequestInfo
from localcluster.apiserver.selectors import matches_labels
from localcluster.apiserver.store.memory import Event, Store

MASTERS = "system:masters"
_GROUP = "rbac.authorization.k8s.io"
_CLUSTER_ROLES = (_GROUP, "clusterroles")
_ROLES = (_GROUP, "roles")
_CLUSTER_BINDINGS = (_GROUP, "clusterrolebindings")
_BINDINGS = (_GROUP, "rolebindings")


@dataclass(frozen=True, slots=True)
class Attributes:
    """One thing that a user wants to do. `path` is set, and the rest empty, for paths that are about no object."""

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""

    @property
    def full_resource(self) -> str:
        """The resource as rules name it."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


Subject = tuple[str, str]


class Authorizer:
    """Decides by the roles and bindings in the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._index: dict[Subject, list[Object]] | None = None
        for resource in (_CLUSTER_BINDINGS, _BINDINGS):
            store.subscribe(resource, self._forget)

    def allows(self, user: User, wanted: Attributes) -> bool:
        """Whether the user may do it."""
        if MASTERS in user.groups:
            return True
        return any(_covers(rule, wanted) for rule in self.rules(user, wanted.namespace))

    def reason(self, user: User, wanted: Attributes) -> str:
        """Which binding lets the user do it; empty for none, and for those who may do everything."""
        if MASTERS in user.groups:
            return ""
        for binding in self._bindings(user):
            where = binding["metadata"].get("namespace") or ""
            if where in {"", wanted.namespace} and any(
                _covers(rule, wanted) for rule in self._role_rules(binding["roleRef"], where)
            ):
                return _told(binding, user)
        return ""

    def rules(self, user: User, namespace: str) -> Iterator[Object]:
        """The rules that hold for a user in a namespace."""
        for binding in self._bindings(user):
            where = binding["metadata"].get("namespace") or ""
            if where and where != namespace:
                continue
            yield from self._role_rules(binding["roleRef"], where)

    def _bindings(self, user: User) -> Iterator[Object]:
        index = self._index
        if index is None:
            index = self._index = self._build()
        yield from index.get(("User", user.name), ())
        for group in user.groups:
            yield from index.get(("Group", group), ())

    def _build(self) -> dict[Subject, list[Object]]:
        index: dict[Subject, list[Object]] = defaultdict(list)
        for resource in (_CLUSTER_BINDINGS, _BINDINGS):
            for stored in self._store.list(resource):
                for subject in stored.obj.get("subjects") or []:
                    index[_subject(subject, stored.obj)].append(stored.obj)
        return index

    def _forget(self, event: Event) -> None:
        del event
        self._index = None

    def _role_rules(self, reference: Object, namespace: str) -> Iterator[Object]:
        if reference.get("kind") == "Role":
            found = self._store.get(_ROLES, namespace, reference["name"])
        else:
            found = self._store.get(_CLUSTER_ROLES, "", reference["name"])
        if found is None:
            return
        yield from found.obj.get("rules") or []
        for selector in (found.obj.get("aggregationRule") or {}).get("clusterRoleSelectors") or []:
            for each in self._store.list(_CLUSTER_ROLES):
                if each is not found and matches_labels(selector, each.obj["metadata"].get("labels") or {}):
                    yield from each.obj.get("rules") or []


def _told(binding: Object, user: User) -> str:
    """The sentence of a real server about a binding that let somebody do something."""
    metadata, role = binding["metadata"], binding["roleRef"]
    named = f"{metadata['name']}/{metadata['namespace']}" if metadata.get("namespace") else metadata["name"]
    kind = "RoleBinding" if metadata.get("namespace") else "ClusterRoleBinding"
    who: Object = next((each for each in binding.get("subjects") or [] if _is_about(each, binding, user)), {})
    account = f"{who.get('name')}/{who.get('namespace') or metadata.get('namespace')}"
    subject = (
        f'ServiceAccount "{account}"'
        if who.get("kind") == "ServiceAccount"
        else f'{who.get("kind")} "{who.get("name")}"'
    )
    return f'RBAC: allowed by {kind} "{named}" of {role["kind"]} "{role["name"]}" to {subject}'


def _is_about(subject: Object, binding: Object, user: User) -> bool:
    kind, name = _subject(subject, binding)
    return name == user.name if kind == "User" else name in user.groups


def _subject(subject: Object, binding: Object) -> Subject:
    if subject.get("kind") == "ServiceAccount":
        namespace = subject.get("namespace") or binding["metadata"].get("namespace") or ""
        return "User", f"system:serviceaccount:{namespace}:{subject['name']}"
    return str(subject.get("kind")), str(subject.get("name"))


def _covers(rule: Object, wanted: Attributes) -> bool:
    verbs = rule.get("verbs") or []
    if wanted.verb not in verbs and "*" not in verbs:
        return False
    if wanted.path:
        return any(_path_fits(each, wanted.path) for each in rule.get("nonResourceURLs") or [])
    groups = rule.get("apiGroups") or []
    if wanted.group not in groups and "*" not in groups:
        return False
    if not _resource_fits(rule.get("resources") or [], wanted):
        return False
    names = rule.get("resourceNames") or []
    return not names or wanted.name in names


def _resource_fits(resources: list[str], wanted: Attributes) -> bool:
    full = wanted.full_resource
    return any(
        each in {"*", full} or (bool(wanted.subresource) and each == f"*/{wanted.subresource}") for each in resources
    )


def _path_fits(pattern: str, path: str) -> bool:
    return pattern in {"*", path} or (pattern.endswith("*") and path.startswith(pattern[:-1]))


def attributes_of(info: RequestInfo) -> Attributes:
    """What a request wants to do."""
    if not info.is_resource:
        return Attributes(info.verb, path=info.path)
    return Attributes(info.verb, info.group, info.plural, info.subresource, info.namespace, info.name)


def refusal(user: User, info: RequestInfo) -> status.StatusError:
    """The answer to somebody who may not do it."""
    if not info.is_resource:
        text = f'forbidden: User "{user.name}" cannot {info.verb} path "{info.path}"'
        return status.StatusError(403, "Forbidden", text, {})
    plural = f"{info.plural}.{info.group}" if info.group else info.plural
    named = f'{plural} "{info.name}"' if info.name else plural
    resource = f"{info.plural}/{info.subresource}" if info.subresource else info.plural
    where = f'in the namespace "{info.namespace}"' if info.namespace else "at the cluster scope"
    text = (
        f'{named} is forbidden: User "{user.name}" cannot {info.verb} resource "{resource}" '
        f'in API group "{info.group}" {where}'
    )
    details: Object = {"name": info.name} if info.name else {}
    if info.group:
        details["group"] = info.group
    return status.StatusError(403, "Forbidden", text, details | {"kind": info.plural})
