"""A request to an API server, as far as a script can name it."""

from dataclasses import dataclass
from urllib.parse import parse_qs

VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
GROUPLESS, GROUPED = "api", "apis"
NAMESPACES = "namespaces"
YES = {"1", "true"}


@dataclass(frozen=True, slots=True)
class Asked:
    """Verb and object of a request; a path that is no resource's has an empty `resource` and the verb `get`.

    Attributes:
        resource: its plural, with the subresource: `pods/binding`.
        agent: who asks, as the client calls itself.
    """

    verb: str
    resource: str
    namespace: str
    name: str
    agent: str

    @property
    def component(self) -> str:
        """Who asks, whichever of its processes it is."""
        return self.agent.partition("/")[0]

    def __str__(self) -> str:
        where = f"{self.namespace}/{self.name}".strip("/")
        return " ".join(filter(None, [self.agent, self.verb, self.resource, where]))


def asked(method: str, path: str, query: str, agent: str) -> Asked:
    """What a request asks for.

    Args:
        method: of HTTP.
        path: without the query.
        query: without the question mark.
        agent: the header User-Agent.
    """
    words = [word for word in path.split("/") if word]
    rest = words[2:] if words[:1] == [GROUPLESS] else words[3:] if words[:1] == [GROUPED] else []
    if not rest:
        return Asked("get", "", "", "", agent)
    namespace = ""
    if rest[0] == NAMESPACES and len(rest) > 2 and rest[2] not in {"status", "finalize"}:
        namespace, rest = rest[1], rest[2:]
    resource, name = rest[0], rest[1] if len(rest) > 1 else ""
    if len(rest) > 2:
        resource = f"{resource}/{rest[2]}"
    return Asked(_verb(method, query, has_name=bool(name)), resource, namespace, name, agent)


def _verb(method: str, query: str, *, has_name: bool) -> str:
    if method in {"GET", "HEAD"}:
        watches = YES & set(parse_qs(query).get("watch", []))
        return "watch" if watches else "get" if has_name else "list"
    verb = VERBS.get(method, method.lower())
    return "deletecollection" if verb == "delete" and not has_name else verb
