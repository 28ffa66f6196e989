"""Acting as somebody else: the `Impersonate-` headers behind `kubectl --as`.

Whoever may impersonate a user, and every group that is named with it, is that user for the request; ignoring the headers
would let a question about somebody else's rights be answered for the asker.
"""

from collections.abc import Mapping

from localcluster.apiserver import rbac, status
from localcluster.apiserver.auth import AUTHENTICATED
from localcluster.apiserver.kinds.kind import User

USER, GROUP = "Impersonate-User", "Impersonate-Group"
_ACCOUNT = "system:serviceaccount:"


def impersonated(user: User, headers: Mapping[str, str], groups: list[str], authorizer: rbac.Authorizer) -> User:
    """The user as whom the request is to be carried out; `groups` are all values of the group header.

    Raises:
        StatusError: the user may not act as that one, or names groups without a user.
    """
    name = headers.get(USER, "")
    if not name:
        if groups:
            raise status.internal(f"requested {groups} without impersonating a user")
        return user
    _require(authorizer, user, "users", name)
    for group in groups:
        _require(authorizer, user, "groups", group)
    own = [AUTHENTICATED]
    if name.startswith(_ACCOUNT) and not groups:
        namespace = name.removeprefix(_ACCOUNT).partition(":")[0]
        own = ["system:serviceaccounts", f"system:serviceaccounts:{namespace}", AUTHENTICATED]
    return User(name, tuple(dict.fromkeys([*groups, *own])))


def _require(authorizer: rbac.Authorizer, user: User, resource: str, name: str) -> None:
    if not authorizer.allows(user, rbac.Attributes("impersonate", resource=resource, name=name)):
        text = (
            f'{resource} "{name}" is forbidden: User "{user.name}" cannot impersonate resource "{resource}" '
            'in API group "" at the cluster scope'
        )
        raise status.StatusError(403, "Forbidden", text, {"name": name, "kind": resource})
