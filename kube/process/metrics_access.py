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
from typing import Final, Self

from kube.client.credentials import Credentials
from kube.client.errors import KubeError
from kube.process.access_reviews import AccessReviews, bearer_token

METRICS_PATH: Final = "/metrics"
_KEPT_SECONDS: Final = 60.0
_MOST_KEPT: Final = 100
"""Strangers may show any number of tokens."""


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
        self._reviews: Final = AccessReviews(credentials, user_agent=user_agent)
        self._clock: Final = clock
        self._answers: Final[dict[str, _Answer]] = {}

    async def __aenter__(self) -> Self:
        await self._reviews.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._reviews.__aexit__(kind, error, trace)

    async def decide(self, authorization: str, path: str = METRICS_PATH) -> HTTPStatus:
        """OK, UNAUTHORIZED or FORBIDDEN for that header and path; SERVICE_UNAVAILABLE when nobody can say."""
        token = bearer_token(authorization)
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
        user = await self._reviews.user_of(token)
        if user is None:
            return HTTPStatus.UNAUTHORIZED
        allowed = await self._reviews.may(user, nonResourceAttributes={"path": path, "verb": "get"})
        return HTTPStatus.OK if allowed else HTTPStatus.FORBIDDEN

    def _keep(self, key: str, status: HTTPStatus) -> None:
        while len(self._answers) >= _MOST_KEPT:
            del self._answers[next(iter(self._answers))]
        self._answers.pop(key, None)
        self._answers[key] = _Answer(status, self._clock() + _KEPT_SECONDS)


def metrics_access(*, is_asked: bool, credentials: Credentials, user_agent: str) -> MetricsAccess | None:
    """What the health server of a process is given; None lets everybody read."""
    return MetricsAccess(credentials, user_agent=user_agent) if is_asked else None
