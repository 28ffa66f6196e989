"""The endpoint: who asks, whether he may, and what he is told.

Every answer but the last step is cheap. In this order: whether this replica schedules at all, whose the token is, how often he has
asked, whether he may get what he asks about, and only then the question is looked at. So nobody learns whether something exists
that he may not see.

The token comes in a header of its own: the API server, through whose proxy people come, keeps `Authorization` for itself.
"""

import contextlib
import logging
import math
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from types import TracebackType
from typing import Any, Final, Self

import msgspec
from aiohttp import web

from api.constants import WHY_TOKEN_HEADER
from api.errors import ConfigurationError
from kube.client.errors import KubeError
from kube.process.access_reviews import AccessReviews, User, bearer_token
from scheduler.tenants.limits import PAUSE_SECONDS, RateLimits
from scheduler.tenants.question import WHY_PATH, Question, parse_question
from scheduler.tenants.respondent import Busy, NoAnswer, NotScheduling, Respondent

MOST_AT_ONCE: Final = 32
"""Requests that are looked at at a time, of which all but one wait for somebody else's answer."""
_END_SECONDS: Final = 2.0
_HEADER_BYTES: Final = 32 * 1024
"""Of one header: tokens of people are long."""
_FOLLOWER_SECONDS: Final = 1
"""After so long somebody may try again, and perhaps meet the other replica."""

_log = logging.getLogger(__name__)


class _Refused(Exception):
    """What somebody is told instead of an answer."""

    def __init__(self, status: HTTPStatus, message: str, retry_after_seconds: float = 0.0) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.retry_after_seconds = math.ceil(retry_after_seconds)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where and for whom.

    Attributes:
        host: to listen on; None: all interfaces.
        port: the same; 0: any free one.
        context: certificate and key.
        groups_api: the API group that has the PodGroups.
        is_scheduling: whether this replica schedules; may be called from any thread.
    """

    host: str | None
    port: int
    context: ssl.SSLContext
    groups_api: str
    is_scheduling: Callable[[], bool]


class WhyServer:
    """Serves the endpoint. An asynchronous context manager; belongs to the loop that entered it.

    Args:
        endpoint: where and for whom.
        reviews: says who may.
        respondent: finds the answers.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        reviews: AccessReviews,
        respondent: Respondent,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._endpoint: Final = endpoint
        self._reviews: Final = reviews
        self._respondent: Final = respondent
        self._limits: Final = RateLimits(clock)
        self._entered: Final = contextlib.AsyncExitStack()
        self._at_once = 0
        self.port = 0
        """In use; 0 while it does not serve."""

    async def __aenter__(self) -> Self:
        """Begin to serve.

        Raises:
            ConfigurationError: the address cannot be listened on.
        """
        app = web.Application(client_max_size=1)
        app.router.add_get(WHY_PATH, self._why)
        runner = web.AppRunner(
            app, access_log=None, shutdown_timeout=_END_SECONDS, max_field_size=_HEADER_BYTES, keepalive_timeout=10
        )
        await self._entered.enter_async_context(self._reviews)
        await runner.setup()
        self._entered.push_async_callback(runner.cleanup)
        try:
            given = self._endpoint
            await web.TCPSite(runner, given.host, given.port, ssl_context=given.context).start()
        except OSError as error:
            await self._entered.aclose()
            where = f"{self._endpoint.host or ''}:{self._endpoint.port}"
            raise ConfigurationError(f"cannot listen on {where}: {error.strerror or error}") from error
        self.port = int(runner.addresses[0][1])
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.port = 0
        await self._entered.aclose()

    async def _why(self, request: web.Request) -> web.Response:
        if self._at_once >= MOST_AT_ONCE:
            return _told(_Refused(HTTPStatus.SERVICE_UNAVAILABLE, "too many requests at once", _FOLLOWER_SECONDS))
        self._at_once += 1
        try:
            return await self._answered(request)
        except _Refused as refusal:
            return _told(refusal)
        finally:
            self._at_once -= 1

    async def _answered(self, request: web.Request) -> web.Response:
        if not self._endpoint.is_scheduling():
            raise _not_scheduling()
        try:
            user = await self._user(bearer_token(request.headers.get(WHY_TOKEN_HEADER, "")))
            wait = self._limits.wait_seconds(user.username)
            if wait:
                text = f"one question in {PAUSE_SECONDS:g} s, and a few at once, is all that is answered"
                raise _Refused(HTTPStatus.TOO_MANY_REQUESTS, text, wait)
            question = await self._allowed(request, user)
        except KubeError as error:
            raise _Refused(HTTPStatus.SERVICE_UNAVAILABLE, "the API server does not say who may ask") from error
        found = await self._found(question)
        _log.info("why %s was answered to %s", question, user.username)
        if found is None:
            raise _Refused(HTTPStatus.NOT_FOUND, f"{question}: nothing of that name is scheduled by Tutti")
        return web.Response(body=found, content_type="application/json")

    async def _user(self, token: str) -> User:
        user = await self._reviews.user_of(token) if token else None
        if user is None:
            raise _Refused(HTTPStatus.UNAUTHORIZED, f"the header {WHY_TOKEN_HEADER} has no token that is valid here")
        return user

    async def _allowed(self, request: web.Request, user: User) -> Question:
        question = parse_question(request.match_info)
        if question is None:
            raise _Refused(HTTPStatus.NOT_FOUND, "nothing can have such a name")
        for right in question.rights(self._endpoint.groups_api):
            if not await self._reviews.may(user, resourceAttributes=right):
                text = f"{user.username} may not {right['verb']} {right['resource']} in {question.namespace}"
                raise _Refused(HTTPStatus.FORBIDDEN, text)
        return question

    async def _found(self, question: Question) -> bytes | None:
        try:
            return await self._respondent.answer(question)
        except NotScheduling:
            raise _not_scheduling() from None
        except Busy as error:
            raise _Refused(HTTPStatus.TOO_MANY_REQUESTS, str(error), _FOLLOWER_SECONDS) from error
        except (NoAnswer, TimeoutError) as error:
            raise _Refused(HTTPStatus.INTERNAL_SERVER_ERROR, "the answer could not be found") from error


def _not_scheduling() -> _Refused:
    return _Refused(HTTPStatus.SERVICE_UNAVAILABLE, "another replica schedules", _FOLLOWER_SECONDS)


def _told(refusal: _Refused) -> web.Response:
    body: dict[str, Any] = {"kind": "Status", "code": refusal.status.value, "message": refusal.message}
    headers = {"Retry-After": str(refusal.retry_after_seconds)} if refusal.retry_after_seconds else None
    return web.Response(
        status=refusal.status, body=msgspec.json.encode(body), content_type="application/json", headers=headers
    )
