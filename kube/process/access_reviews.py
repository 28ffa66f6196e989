"""Whose a token is, and what he may: asked of the API server (TokenReview, SubjectAccessReview).

These are questions, not objects: they are created and answered, and nobody can read, follow or change one.
"""

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final, Self

import msgspec

from kube.client.client import Client
from kube.client.credentials import Credentials
from kube.client.errors import KubeError
from kube.client.resources import Resource

TOKEN_REVIEWS: Final = Resource("authentication.k8s.io", "v1", "tokenreviews", "TokenReview", namespaced=False)
SUBJECT_ACCESS_REVIEWS: Final = Resource(
    "authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", namespaced=False
)

_SCHEME: Final = "bearer "
_ANSWER_SECONDS: Final = 5.0


class User(msgspec.Struct, frozen=True):
    """Whose a token is, as the API server says it."""

    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = {}


def bearer_token(authorization: str) -> str:
    """The token in the value of an Authorization header, "" when it has none."""
    return authorization[len(_SCHEME) :].strip() if authorization.lower().startswith(_SCHEME) else ""


class AccessReviews:
    """Asks the API server. An asynchronous context manager; belongs to the loop that entered it.

    Args:
        credentials: of this process, which needs the right to create both kinds of reviews.
        user_agent: how it calls itself there.
    """

    def __init__(self, credentials: Credentials, *, user_agent: str) -> None:
        self._client: Final = Client(credentials, user_agent=user_agent, max_connections=2)

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.__aexit__(kind, error, trace)

    async def user_of(self, token: str) -> User | None:
        """Whose it is; None: nobody's.

        Raises:
            KubeError: the API server does not say.
        """
        review = await self._create(TOKEN_REVIEWS, {"token": token})
        if not review.get("authenticated"):
            return None
        try:
            return msgspec.convert(review.get("user") or {}, User)
        except msgspec.ValidationError as error:
            raise KubeError("the API server's answer about a token makes no sense") from error

    async def may(self, user: User, **question: Mapping[str, str]) -> bool:
        """Whether he may, by `resourceAttributes` or `nonResourceAttributes`.

        Raises:
            KubeError: the API server does not say.
        """
        spec = {**msgspec.to_builtins(user), **question}
        spec["user"] = spec.pop("username")
        return bool((await self._create(SUBJECT_ACCESS_REVIEWS, spec)).get("allowed"))

    async def _create(self, resource: Resource, spec: dict[str, Any]) -> dict[str, Any]:
        body = {"apiVersion": f"{resource.group}/{resource.version}", "kind": resource.kind, "spec": spec}
        answer = await self._client.create(resource, body, timeout_seconds=_ANSWER_SECONDS)
        status: dict[str, Any] = answer.get("status") or {}
        return status
