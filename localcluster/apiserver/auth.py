"""Who sends a request: the users of a token file, and service accounts by tokens that this server has signed."""

import csv
import time
from collections.abc import Callable
from pathlib import Path

from localcluster.apiserver import status
from localcluster.apiserver.kinds.kind import User
from localcluster.apiserver.store.memory import Store
from localcluster.apiserver.tokens import Claims, Signer, TokenRefused

AUTHENTICATED = "system:authenticated"
ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))
SERVICE_ACCOUNTS = ("", "serviceaccounts")
_CREDENTIAL = "authentication.kubernetes.io/credential-id"
_SCHEME = "bearer "


def read_tokens(path: Path) -> dict[str, User]:
    """A token file's users: lines of token, name, UID and optionally groups in one quoted, comma-separated field."""
    users: dict[str, User] = {}
    with path.open(newline="") as lines:
        for line in csv.reader(lines):
            if len(line) >= 3:
                groups = tuple(group for group in (line[3].split(",") if len(line) > 3 else []) if group)
                users[line[0]] = User(line[1], (*groups, AUTHENTICATED), line[2])
    return users


class Authenticator:
    """Finds the user behind an Authorization header.

    A service account's token counts as long as it has not expired and the account it was made for is there.
    """

    def __init__(
        self, users: dict[str, User], signer: Signer, store: Store, wall_seconds: Callable[[], float] = time.time
    ) -> None:
        self._users = users
        self._signer = signer
        self._store = store
        self._wall_seconds = wall_seconds
        self._verified: dict[str, Claims] = {}

    def user(self, authorization: str) -> User:
        """The sender.

        Raises:
            StatusError: the header names nobody that is known.
        """
        if not authorization:
            return ANONYMOUS
        if authorization[: len(_SCHEME)].lower() != _SCHEME:
            return ANONYMOUS
        token = authorization[len(_SCHEME) :].strip()
        known = self._users.get(token)
        return known if known is not None else self.service_account(token)[0]

    def review(self, token: str) -> User:
        """The user behind a token.

        Raises:
            StatusError: it is nobody's.
        """
        return self.user("Bearer " + token)

    def service_account(self, token: str) -> tuple[User, Claims]:
        """The service account behind a token."""
        claims = self._verified.get(token)
        if claims is None:
            try:
                claims = self._signer.verify(token)
            except TokenRefused as error:
                raise status.unauthorized() from error
            if len(self._verified) > 4096:
                self._verified.clear()
            self._verified[token] = claims
        if claims.expires_at <= self._wall_seconds():
            raise status.unauthorized()
        account = self._store.get(SERVICE_ACCOUNTS, claims.namespace, claims.name)
        if account is None or account.obj["metadata"]["uid"] != claims.uid:
            raise status.unauthorized()
        return service_account_user(claims.namespace, claims.name, claims.uid, claims.token_id), claims


def service_account_user(namespace: str, name: str, uid: str = "", token_id: str = "") -> User:
    """A service account as a user; by which of its tokens it is known."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", AUTHENTICATED)
    extra = {_CREDENTIAL: [f"JTI={token_id}"]} if token_id else {}
    return User(f"system:serviceaccount:{namespace}:{name}", groups, uid, extra)
