"""Who may read the metrics: whoever the API server says may `get` the path `/metrics`, as for Kubernetes' own components.

So it is with every other path that is not for everybody.

The caller shows a token; the API server says whose it is (TokenReview) and whether he may (SubjectAccessReview). Answers are kept
for a minute. When the API server does not answer nobody is let in: metrics are for those who are known.
"""

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from types import TracebackType
from typing import Any, Final, Self

from kube.client.client import Client
from kube.client.credentials import Credentials
from kube.client.errors import KubeError
from kube.client.resources import Resource

TOKEN_REVIEWS: Final = Resource("authentication.k8s.io", "v1", "tokenreviews", "TokenReview", namespaced=False)
SUBJECT_ACCESS_REVIEWS: Final = Resource(
    "authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", namespaced=False
)
"""Questions, not objects: they are created and answered, and nobody can read, follow or change one."""

METRICS_PATH: Final = "/metrics"
_SCHEME: Final = "bearer "
_KEPT_SECONDS: Final = 60.0
_MOST_KEPT: Final = 100
"""Strangers may show any number of tokens."""
_ANSWER_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class _Answer:
    status: HTTPStatus
    until_seconds: float


class MetricsAccess:
    """Asks the API server. An asynchronous context manager; belongs to the loop that entered it.

    Args:
        credentials: of this process, which needs the right to create both kinds of reviews.
        user_agent: how it calls itself there.
        clock: monotonic seconds.
    """

    def __init__(
        self, credentials: Credentials, *, user_agent: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._client: Final = Client(credentials, user_agent=user_agent, max_connections=2)
        self._clock: Final = clock
        self._answers: Final[dict[str, _Answer]] = {}

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.__aexit__(kind, error, trace)

    async def decide(self, authorization: str, path: str = METRICS_PATH) -> HTTPStatus:
        """OK, UNAUTHORIZED or FORBIDDEN for that header and path; SERVICE_UNAVAILABLE when nobody can say."""
        token = authorization[len(_SCHEME) :].strip() if authorization.lower().startswith(_SCHEME) else ""
        if not token:
            return HTTPStatus.UNAUTHORIZED
        key = hashlib.sha256(f"{path} {token}".encode()).hexdigest()
        known = self._answers.get(key)
        if known is not None and self._clock() < known.until_seconds:
            return known.status
        try:
            status = await self._ask(token, path)
        except KubeError:
            return HTTPStatus.SERVICE_UNAVAILABLE
        self._keep(key, status)
        return status

    async def _ask(self, token: str, path: str) -> HTTPStatus:
        review = await self._create(TOKEN_REVIEWS, {"token": token})
        if not review.get("authenticated"):
            return HTTPStatus.UNAUTHORIZED
        user = review.get("user") or {}
        question = {
            "user": user.get("username", ""),
            "uid": user.get("uid", ""),
            "groups": user.get("groups") or [],
            "extra": user.get("extra") or {},
            "nonResourceAttributes": {"path": path, "verb": "get"},
        }
        answer = await self._create(SUBJECT_ACCESS_REVIEWS, question)
        return HTTPStatus.OK if answer.get("allowed") else HTTPStatus.FORBIDDEN

    async def _create(self, resource: Resource, spec: dict[str, Any]) -> dict[str, Any]:
        body = {"apiVersion": f"{resource.group}/{resource.version}", "kind": resource.kind, "spec": spec}
        answer = await self._client.create(resource, body, timeout_seconds=_ANSWER_SECONDS)
        status: dict[str, Any] = answer.get("status") or {}
        return status

    def _keep(self, key: str, status: HTTPStatus) -> None:
        while len(self._answers) >= _MOST_KEPT:
            del self._answers[next(iter(self._answers))]
        self._answers.pop(key, None)
        self._answers[key] = _Answer(status, self._clock() + _KEPT_SECONDS)


def metrics_access(*, is_asked: bool, credentials: Credentials, user_agent: str) -> MetricsAccess | None:
    """What the health server of a process is given; None lets everybody read."""
    return MetricsAccess(credentials, user_agent=user_agent) if is_asked else None
