"""The `authorizer` of admission expressions, answered by the roles of the server."""

from collections.abc import Callable

from localcluster.apiserver.admission import AdmissionAttributes
from localcluster.apiserver.extension.cel.authorizer import AuthorizerVariable, Question
from localcluster.apiserver.kinds.kind import User
from localcluster.apiserver.rbac import Attributes

Allows = Callable[[User, Attributes], bool]


def authorizer_of(attributes: AdmissionAttributes, allows: Allows) -> AuthorizerVariable:
    """The variable for one request: asked about its sender."""

    def decide(question: Question) -> bool:
        user = attributes.user
        if "serviceAccount" in question:
            user = _service_account(*question["serviceAccount"])
        wanted = Attributes(
            verb=question["verb"],
            group=question.get("group", ""),
            resource=question.get("resource", ""),
            subresource=question.get("subresource", ""),
            namespace=question.get("namespace", ""),
            name=question.get("name", ""),
            path=question.get("path", ""),
        )
        return allows(user, wanted)

    kind = attributes.kind
    own = {"group": kind.group, "resource": kind.plural, "subresource": attributes.subresource}
    return AuthorizerVariable(decide, {**own, "namespace": attributes.namespace, "name": attributes.name})


def _service_account(namespace: str, name: str) -> User:
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
    return User(f"system:serviceaccount:{namespace}:{name}", groups)
