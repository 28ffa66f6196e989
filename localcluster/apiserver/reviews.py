"""Questions about users and rights: objects that are answered and never kept."""

from collections.abc import Awaitable, Callable, Mapping

from localcluster.apiserver import status
from localcluster.apiserver.auth import Authenticator
from localcluster.apiserver.dispatch import Call
from localcluster.apiserver.fielderrors import invalid_value
from localcluster.apiserver.http import Reply, json_reply
from localcluster.apiserver.kinds.kind import KindInfo, Object, User
from localcluster.apiserver.rbac import Attributes, Authorizer
from localcluster.apiserver.tokens import ISSUER

Answer = Callable[[Call], Awaitable[Reply]]
_NAMESPACE = "spec.resourceAttributes.namespace"
_ONE_OF = "exactly one of nonResourceAttributes or resourceAttributes must be specified"


class Reviews:
    """Answers all reviews."""

    def __init__(self, authorizer: Authorizer, authenticator: Authenticator) -> None:
        self._authorizer = authorizer
        self._authenticator = authenticator

    def answers(self) -> Mapping[str, Answer]:
        """Who answers which, by plural."""
        return {
            "localsubjectaccessreviews": self.local_access,
            "selfsubjectaccessreviews": self.self_access,
            "selfsubjectrulesreviews": self.self_rules,
            "selfsubjectreviews": self.self_review,
            "subjectaccessreviews": self.subject_access,
            "tokenreviews": self.token,
        }

    async def self_access(self, call: Call) -> Reply:
        """May the sender do that?"""
        return self._access(call, _body(call), call.context.user)

    async def subject_access(self, call: Call) -> Reply:
        """May somebody else do that?"""
        return self._of_somebody(call, _body(call))

    def _of_somebody(self, call: Call, body: Object) -> Reply:
        spec = body.get("spec") or {}
        user = User(spec.get("user") or "", tuple(spec.get("groups") or ()), spec.get("uid") or "")
        if not user.name and not user.groups:
            text = "at least one of user or group must be specified"
            raise _invalid([invalid_value("spec.user", "", text)])
        return self._access(call, body, user)

    async def local_access(self, call: Call) -> Reply:
        """May somebody else do that in this namespace?"""
        body = _body(call)
        asked = ((body.get("spec") or {}).get("resourceAttributes") or {}).get("namespace") or ""
        if asked != call.namespace:
            raise _invalid([invalid_value(_NAMESPACE, asked, "must match metadata.namespace")])
        body["metadata"] = {**(body.get("metadata") or {}), "namespace": call.namespace}
        return self._of_somebody(call, body)

    def _access(self, call: Call, body: Object, user: User) -> Reply:
        spec = body.get("spec") or {}
        resource, other = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
        if (resource is None) == (other is None):
            shown = None if other is None else {"Path": other.get("path", ""), "Verb": other.get("verb", "")}
            raise _invalid([invalid_value("spec", shown, _ONE_OF)])
        wanted = _attributes(resource or {}) if resource is not None else _path(other or {})
        state: Object = {"allowed": self._authorizer.allows(user, wanted)}
        if reason := self._authorizer.reason(user, wanted):
            state["reason"] = reason
        return _answered(call, body, state)

    async def self_rules(self, call: Call) -> Reply:
        """What may the sender do in a namespace?"""
        body = _body(call)
        namespace = (body.get("spec") or {}).get("namespace") or ""
        rules = list(self._authorizer.rules(call.context.user, namespace))
        resource = [each for each in rules if each.get("resources")]
        paths = [each for each in rules if each.get("nonResourceURLs")]
        state = {"resourceRules": resource, "nonResourceRules": paths, "incomplete": False}
        return _answered(call, {**body, "spec": {}}, state)

    async def self_review(self, call: Call) -> Reply:
        """Who is the sender?"""
        body = _body(call)
        body["metadata"] = {"creationTimestamp": call.context.now}
        return _answered(call, body, {"userInfo": _user_info(call.context.user)})

    async def token(self, call: Call) -> Reply:
        """Whose token is this?"""
        body = _body(call)
        token = (body.get("spec") or {}).get("token") or ""
        try:
            user = self._authenticator.review(token)
        except status.StatusError:
            return _answered(call, body, {"user": {}, "error": "invalid bearer token"})
        state = {"authenticated": True, "user": _user_info(user), "audiences": [ISSUER]}
        return _answered(call, body, state)


def _body(call: Call) -> Object:
    if call.info.verb != "create":
        raise status.method_not_allowed()
    return call.body()


def _invalid(errors: list[object]) -> status.StatusError:
    kind = KindInfo("authorization.k8s.io", "v1", "", "", strategy=None)  # type: ignore[arg-type]
    return status.invalid(kind, "", errors)  # type: ignore[arg-type]


def _attributes(wanted: Object) -> Attributes:
    return Attributes(
        verb=wanted.get("verb") or "",
        group=wanted.get("group") or "",
        resource=wanted.get("resource") or "",
        subresource=wanted.get("subresource") or "",
        namespace=wanted.get("namespace") or "",
        name=wanted.get("name") or "",
    )


def _path(wanted: Object) -> Attributes:
    return Attributes(wanted.get("verb") or "", path=wanted.get("path") or "")


def _user_info(user: User) -> Object:
    info: Object = {"username": user.name, "uid": user.uid, "groups": list(user.groups)}
    if user.extra:
        info["extra"] = dict(user.extra)
    return info


def _answered(call: Call, body: Object, state: Object) -> Reply:
    answer = {
        "kind": call.kind.kind,
        "apiVersion": call.kind.api_version,
        "metadata": body.get("metadata") or {},
        "spec": body.get("spec") or {},
        "status": state,
    }
    if call.kind.kind == "SelfSubjectReview":
        del answer["spec"]
    return json_reply(201, answer)
