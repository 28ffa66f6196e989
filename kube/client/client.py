"""One asynchronous client for all verbs: aiohttp, one keep-alive pool, orjson.

It does as little per call as possible (writes are what limits a scheduler): no models, no schema, and with
`parse=False` a successful answer is read but not decoded. What it guarantees:

- every failure is a `KubeError`; a write is sent once unless the server said that it refused it;
- a delete always carries the UID of the object that was meant;
- a 401 makes it fetch the token anew, once, before it gives up.
"""

import contextlib
import functools
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from enum import StrEnum
from types import TracebackType
from typing import Any, Self

import msgspec
import orjson

from kube.client.connection import Connection, Guard, Observe, Request
from kube.client.credentials import Credentials
from kube.client.errors import Gone, OutcomeUnknown
from kube.client.pages import continue_in_head, continue_of
from kube.client.resources import Resource
from kube.client.retry import ReadRetry
from kube.outside import new_random

PAGE_SIZE = 500
"""Objects per page of a list; the API server's own clients use the same."""


_RESTARTED_LISTS = 2
_UNCHECKED = {"fieldValidation": "Ignore"}
"""The server looks for unknown and repeated fields only to warn of them: work for nothing when nobody reads its answer."""


class PatchKind(StrEnum):
    """The patch types of the API server, by media type."""

    JSON = "application/json-patch+json"
    MERGE = "application/merge-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"
    APPLY = "application/apply-patch+yaml"


class Client:
    """Requests to one API server as one identity. An asynchronous context manager; belongs to one event loop.

    Every method raises `KubeError` when its request did not succeed, and those that write when the outcome is not known.

    Args:
        credentials: the server and the identity.
        user_agent: what the server's audit log calls us.
        max_connections: connections, and so requests under way, at a time; watches count.
        timeout_seconds: limit for each sending of a request, unless the call says another.
        observe: called after every request, for metrics.
        guard: called right before every write; raises `NotSent` to forbid it.
        jitter: spreads the repetitions of reads.
    """

    def __init__(
        self,
        credentials: Credentials,
        *,
        user_agent: str,
        max_connections: int = 32,
        timeout_seconds: float = 10.0,
        observe: Observe | None = None,
        guard: Guard | None = None,
        jitter: random.Random | None = None,
    ) -> None:
        self.credentials = credentials
        self._connection = Connection(
            credentials,
            user_agent=user_agent,
            max_connections=max_connections,
            timeout_seconds=timeout_seconds,
            observe=observe,
            guard=guard,
        )
        self._retry_read = ReadRetry(jitter or new_random())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections; calling it twice does no harm."""
        await self._connection.close()

    # --- reads -------------------------------------------------------------------------------------------------------

    async def get(
        self,
        resource: Resource,
        name: str,
        namespace: str | None = None,
        *,
        subresource: str | None = None,
        timeout_seconds: float | None = None,
    ) -> dict[str, Any]:
        """The object as the server has it now.

        Args:
            resource: its kind.
            name: its name.
            namespace: where it is; None for cluster-scoped resources.
            subresource: such as `status` or `binding`; None for the object itself.
            timeout_seconds: limit for each sending; None: the client's.

        Raises:
            NotFound: there is none.
        """
        path = resource.path(namespace, name, subresource)
        return _decoded(await self._read(Request("get", resource.plural, "GET", path, {}), timeout_seconds), path)

    async def list(
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        label_selector: str | None = None,
        field_selector: str | None = None,
        resource_version: str | None = None,
        timeout_seconds: float | None = None,
    ) -> dict[str, Any]:
        """All objects as one list, whatever number of pages the server cuts it into.

        Args:
            resource: their kind.
            namespace: where they are; None for all namespaces, and for cluster-scoped resources.
            label_selector: only objects it matches.
            field_selector: only objects it matches.
            resource_version: the version to list; `0` for what the server has in its cache, None for the newest.
            timeout_seconds: limit for each page; None: the client's.
        """
        pages = functools.partial(
            self.list_pages,
            resource,
            namespace,
            label_selector=label_selector,
            field_selector=field_selector,
            resource_version=resource_version,
            timeout_seconds=timeout_seconds,
        )
        for _ in range(_RESTARTED_LISTS):
            with contextlib.suppress(Gone):
                return await _joined(pages())
        return await _joined(pages())

    async def list_pages(
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        label_selector: str | None = None,
        field_selector: str | None = None,
        resource_version: str | None = None,
        timeout_seconds: float | None = None,
        looks_through: bool = True,
    ) -> AsyncIterator[bytes]:
        """The pages of a list, undecoded.

        Args:
            resource: their kind.
            namespace: None for all namespaces.
            label_selector: only objects it matches.
            field_selector: only objects it matches.
            resource_version: the version to list; `0` for what the server has in its cache, None for the newest.
            timeout_seconds: limit for each page; None: the client's.
            looks_through: whether a page is given only when all of it is JSON. False for who decodes it anyway, and finds that out.

        Raises:
            Gone: the server forgot the list's version between two pages; start again.
        """
        path = resource.path(namespace)
        params = _selectors(label_selector, field_selector) | {"limit": str(PAGE_SIZE)}
        if resource_version is not None:
            params["resourceVersion"] = resource_version
        while True:
            page = await self._read(Request("list", resource.plural, "GET", path, params), timeout_seconds)
            try:
                token = (continue_of if looks_through else continue_in_head)(page)
            except msgspec.MsgspecError as error:
                raise OutcomeUnknown(f"GET {path}: the answer is no list: {error}") from error
            yield page
            if not token:
                return
            params["continue"] = token
            params.pop("resourceVersion", None)

    def watch(
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        resource_version: str,
        timeout_seconds: float,
        label_selector: str | None = None,
        field_selector: str | None = None,
        silence_seconds: float | None = None,
        opened: Callable[[], None] | None = None,
    ) -> AsyncGenerator[bytes, None]:
        """Changes after `resource_version`, one undecoded JSON object per item, bookmarks included.

        Args:
            resource: the kind to follow.
            namespace: None for all namespaces.
            resource_version: where to begin: the version of a list, an event or a bookmark.
            timeout_seconds: after about this time the server ends the stream cleanly.
            label_selector: only objects it matches.
            field_selector: only objects it matches.
            silence_seconds: a stream on which nothing came for so long is taken for dead; None: never.
            opened: called once the server has said that it will tell; of a quiet kind nothing else may come for long.

        Raises:
            StreamSilent: it fell silent.
            KubeError: the stream could not be opened, or broke.
        """
        path = resource.path(namespace)
        params = _selectors(label_selector, field_selector) | {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": resource_version,
            "timeoutSeconds": str(int(timeout_seconds)),
        }
        request = Request("watch", resource.plural, "GET", path, params)
        return self._connection.stream(request, silence_seconds, opened)

    # --- writes ------------------------------------------------------------------------------------------------------

    async def create(
        self,
        resource: Resource,
        body: Mapping[str, Any],
        namespace: str | None = None,
        *,
        name: str | None = None,
        subresource: str | None = None,
        dry_run: bool = False,
        parse: bool = True,
        timeout_seconds: float | None = None,
    ) -> dict[str, Any]:
        """Create the object, or post to a subresource of `name`.

        Args:
            resource: its kind.
            body: the manifest.
            namespace: where it is; None for cluster-scoped resources.
            name: the object whose subresource is meant, else None.
            subresource: such as `binding`, `eviction` or `token`.
            dry_run: have the server check it and store nothing.
            parse: False when nobody reads the answer; it is then not decoded.
            timeout_seconds: limit for each sending; None: the client's.

        Returns:
            What the server has stored or answered; {} when `parse` is false.

        Raises:
            AlreadyExists: the name is taken.
        """
        path = resource.path(namespace, name, subresource)
        params = ({} if parse else _UNCHECKED) | ({"dryRun": "All"} if dry_run else {})
        request = Request("create", resource.plural, "POST", path, params, orjson.dumps(body))
        answer = await self._connection.call(request, timeout_seconds)
        return _decoded(answer, path) if parse else {}

    async def replace(
        self,
        resource: Resource,
        body: Mapping[str, Any],
        name: str,
        namespace: str | None = None,
        *,
        subresource: str | None = None,
        timeout_seconds: float | None = None,
    ) -> dict[str, Any]:
        """Put the whole object in the place of the stored one; what the server has stored then.

        Args:
            resource: its kind.
            body: the manifest; with a resourceVersion in it, only if nobody has changed the object since.
            name: its name.
            namespace: where it is; None for cluster-scoped resources.
            subresource: such as `status` or `binding`; None for the object itself.
            timeout_seconds: limit for each sending; None: the client's.

        Raises:
            Conflict: somebody changed it meanwhile.
            NotFound: it is gone.
        """
        path = resource.path(namespace, name, subresource)
        request = Request("update", resource.plural, "PUT", path, {}, orjson.dumps(body))
        return _decoded(await self._connection.call(request, timeout_seconds), path)

    async def patch(  # noqa: PLR0913 (the choices of the API, all but three optional)
        self,
        resource: Resource,
        body: Any,
        name: str,
        namespace: str | None = None,
        *,
        subresource: str | None = None,
        kind: PatchKind = PatchKind.MERGE,
        field_manager: str | None = None,
        parse: bool = True,
        timeout_seconds: float | None = None,
    ) -> dict[str, Any]:
        """Change some fields.

        Args:
            resource: its kind.
            body: the patch.
            name: its name.
            namespace: where it is; None for cluster-scoped resources.
            subresource: such as `status` or `binding`; None for the object itself.
            kind: how the patch is meant; APPLY takes over fields of other managers (force).
            field_manager: in whose name the fields are set; APPLY needs one.
            parse: False when nobody reads the answer; it is then not decoded.
            timeout_seconds: limit for each sending; None: the client's.

        Returns:
            What the server has stored; {} when `parse` is false.

        Raises:
            Conflict: the patch names a UID or resourceVersion that is not the object's.
            NotFound: there is no such object.
        """
        path = resource.path(namespace, name, subresource)
        params = ({} if parse else _UNCHECKED) | ({"fieldManager": field_manager} if field_manager else {})
        if kind is PatchKind.APPLY:
            params["force"] = "true"
        request = Request("patch", resource.plural, "PATCH", path, params, orjson.dumps(body), kind.value)
        answer = await self._connection.call(request, timeout_seconds)
        return _decoded(answer, path) if parse else {}

    async def delete(
        self,
        resource: Resource,
        name: str,
        namespace: str | None = None,
        *,
        uid: str,
        resource_version: str | None = None,
        propagation: str = "Background",
        grace_seconds: int | None = None,
        timeout_seconds: float | None = None,
    ) -> None:
        """Delete exactly the object with that UID.

        Args:
            resource: its kind.
            name: its name.
            namespace: where it is; None for cluster-scoped resources.
            uid: of the object that is meant.
            resource_version: only if it still has this version; None: any.
            propagation: what becomes of what it owns: `Background`, `Foreground` or `Orphan`.
            grace_seconds: time a pod gets to end; None: its own.
            timeout_seconds: limit for each sending; None: the client's.

        Raises:
            NotFound: it is gone.
            Conflict: the name now belongs to another object, or the version differs.
        """
        preconditions = {"uid": uid}
        if resource_version is not None:
            preconditions["resourceVersion"] = resource_version
        options: dict[str, Any] = {"preconditions": preconditions, "propagationPolicy": propagation}
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        path = resource.path(namespace, name)
        request = Request("delete", resource.plural, "DELETE", path, {}, orjson.dumps(options))
        await self._connection.call(request, timeout_seconds)

    async def request_json(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        params: Mapping[str, str] | None = None,
        timeout_seconds: float | None = None,
    ) -> dict[str, Any]:
        """Any other request, for discovery and the odd path; GETs are repeated like all reads.

        Args:
            method: the HTTP method.
            path: the URL's path, already escaped.
            body: encoded as JSON; None for none.
            params: the query.
            timeout_seconds: limit for each sending; None: the client's.
        """
        data = None if body is None else orjson.dumps(body)
        request = Request(method.lower(), "", method, path, dict(params or {}), data)
        if method == "GET":
            return _decoded(await self._read(request, timeout_seconds), path)
        return _decoded(await self._connection.call(request, timeout_seconds), path)

    async def ask_behind(self, service_path: str, *, token_header: str, timeout_seconds: float | None = None) -> bytes:
        """What somebody answers to whom the API server passes a GET on, and who is to know whose it is.

        Args:
            service_path: the URL's path, through the proxy of a Service.
            token_header: the header in which he is shown our token.
            timeout_seconds: limit for each sending; None: the client's.
        """
        request = Request("get", "services/proxy", "GET", service_path, {}, token_header=token_header)
        return await self._connection.call(request, timeout_seconds)

    async def _read(self, request: Request, timeout_seconds: float | None) -> bytes:
        return await self._retry_read(lambda: self._connection.call(request, timeout_seconds))


async def _joined(pages: AsyncIterator[bytes]) -> dict[str, Any]:
    whole: dict[str, Any] = {}
    items: list[Any] = []
    async for page in pages:
        part = _decoded(page, "the list")
        items.extend(part.get("items") or [])
        whole = whole or part
    whole["items"] = items
    whole.get("metadata", {}).pop("continue", None)
    return whole


def _selectors(label_selector: str | None, field_selector: str | None) -> dict[str, str]:
    given = {"labelSelector": label_selector, "fieldSelector": field_selector}
    return {key: value for key, value in given.items() if value}


def _decoded(answer: bytes, path: str) -> dict[str, Any]:
    try:
        document = orjson.loads(answer)
    except orjson.JSONDecodeError as error:
        raise OutcomeUnknown(f"{path}: the answer is no JSON: {error}") from error
    if not isinstance(document, dict):
        raise OutcomeUnknown(f"{path}: the answer is no object")
    return document
