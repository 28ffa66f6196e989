"""Acting as somebody else takes the right to do so."""

import pytest

from localcluster.apiserver.impersonation import impersonated
from localcluster.apiserver.kinds.kind import User
from localcluster.apiserver.rbac import Authorizer
from localcluster.apiserver.status import StatusError
from localcluster.apiserver.store.memory import Store

ADMIN = User("admin", ("system:masters",))
NOBODY = User("nobody")


def acting(user: User, name: str = "", *groups: str) -> User:
    """As whom the user acts."""
    headers = {"Impersonate-User": name} if name else {}
    return impersonated(user, headers, list(groups), Authorizer(Store()))


def test_without_the_header_everybody_is_who_they_are() -> None:
    assert acting(NOBODY) is NOBODY


def test_an_administrator_may_be_anybody_with_that_ones_rights_only() -> None:
    assert acting(ADMIN, "ann", "team") == User("ann", ("team", "system:authenticated"))


def test_a_service_account_brings_its_groups() -> None:
    groups = ("system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated")
    assert acting(ADMIN, "system:serviceaccount:ns:robot").groups == groups


def test_others_may_not() -> None:
    with pytest.raises(StatusError, match='User "nobody" cannot impersonate resource "users"') as refused:
        acting(NOBODY, "admin")
    assert refused.value.code == 403


def test_groups_need_a_user() -> None:
    with pytest.raises(StatusError, match="without impersonating a user"):
        acting(ADMIN, "", "system:masters")
