"""From a request about objects to the verb that does it, and from its outcome to an answer."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import orjson

from localcluster.apiserver import status
from localcluster.apiserver.bodies import decoded_object, decoded_options
from localcluster.apiserver.core import Core
from localcluster.apiserver.duplicates import duplicate_fields
from localcluster.apiserver.http import HttpRequest, Reply, json_reply
from localcluster.apiserver.kinds.kind import KindInfo, Object, RequestContext
from localcluster.apiserver.requestinfo import RequestInfo
from localcluster.apiserver.store.memory import Stored
from localcluster.apiserver.verbs import read
from localcluster.apiserver.verbs.checks import check_metadata, check_type, tell
from localcluster.apiserver.verbs.create import create
from localcluster.apiserver.verbs.delete import delete, delete_collection
from localcluster.apiserver.verbs.forms import Form, accepted_form, many, one
from localcluster.apiserver.verbs.options import DeleteOptions, WriteOptions, delete_options, write_options
from localcluster.apiserver.verbs.patch import patch
from localcluster.apiserver.verbs.update import Target, check_name, update
from localcluster.apiserver.verbs.watch import Watcher

_PARTS = frozenset({"", "finalize", "status"})
"""Subresources that are views of the object itself, read and written by the ordinary verbs."""


@dataclass(slots=True)
class Call:
    """One authorized request about objects."""

    core: Core
    kind: KindInfo
    info: RequestInfo
    request: HttpRequest
    context: RequestContext

    @property
    def namespace(self) -> str:
        """Where the objects are kept; the path of a namespace itself has its name here for RBAC only."""
        return self.info.namespace if self.kind.namespaced else ""

    @property
    def target(self) -> Target:
        """The object it is about."""
        return Target(self.kind, self.namespace, self.info.name, self.info.subresource)

    @property
    def form(self) -> Form:
        """The form in which the client wants the answer."""
        return accepted_form(self.request.headers.get("Accept", ""))

    def body(self, api_version: str = "", kind: str = "") -> Object:
        """The object in the body; it is of the kind of the path, or of the one named here."""
        content_type = self.request.headers.get("Content-Type", "")
        obj = decoded_object(self.request.body, content_type, kind or self.kind.kind)
        check_type(self.kind, obj, api_version=api_version, object_kind=kind)
        return obj

    def tell_duplicates(self, options: WriteOptions) -> None:
        """Fields that the body names twice are refused or told of, if the sender asked for that; looking takes time.

        Raises:
            StatusError: there are some, and the sender asked for Strict.
        """
        if self.request.query.get("fieldValidation") in {"Strict", "Warn"}:
            tell(self.kind, duplicate_fields(self.request.body), options, self.context)


Special = Callable[[Call], Awaitable[Reply]]


class Dispatcher:
    """Knows who answers what."""

    def __init__(self, subresources: Mapping[str, Special], posted: Mapping[str, Special]) -> None:
        """`subresources` that are more than a view, by name; `posted`: resources that are answered and never kept."""
        self._subresources = subresources
        self._posted = posted

    async def answer(self, call: Call) -> Reply | Watcher:
        """The answer, or the watcher that will write it.

        Raises:
            StatusError: refused.
        """
        info, kind = call.info, call.kind
        if info.subresource not in _PARTS:
            special = self._subresources.get(info.subresource)
            if special is None or info.subresource not in kind.subresources:
                raise status.no_such_path()
            return await special(call)
        if info.subresource and info.subresource not in kind.subresources:
            raise status.no_such_path()
        if info.subresource == "finalize" and info.verb != "update":
            raise status.method_not_allowed()
        if kind.plural in self._posted and kind.definition is None and not info.name:
            return await self._posted[kind.plural](call)
        if info.verb == "watch":
            return Watcher(call.core, kind, call.namespace, _query(call), call.form)
        if info.verb not in kind.verbs or (not info.name and info.verb in {"update", "patch"}):
            raise status.method_not_allowed()
        return await _VERBS[info.verb](call)


def _query(call: Call) -> Mapping[str, str]:
    if not call.info.name:
        return call.request.query
    return {**call.request.query, "fieldSelector": f"metadata.name={call.info.name}"}


async def _get(call: Call) -> Reply:
    read.check_version(call.core, call.request.query)
    found = read.get(call.core, call.kind, call.namespace, call.info.name)
    return Reply(200, one(call.core, call.kind, found, call.form, call.request.query))


async def _list(call: Call) -> Reply:
    form = call.form
    listing = read.list_objects(call.core, call.kind, call.namespace, call.request.query)
    return Reply(200, many(call.core, listing, form, call.request.query))


async def _create(call: Call) -> Reply:
    if call.kind.namespaced and not call.namespace:
        raise status.method_not_allowed()
    if call.info.name:
        raise status.method_not_allowed()
    form = call.form
    options = write_options("CreateOptions", call.request.query)
    call.context.dry_run = options.dry_run
    body = call.body()
    call.tell_duplicates(options)
    stored = await create(call.core, call.kind, call.namespace, body, options, call.context)
    return Reply(201, _written(call, stored, form))


async def _update(call: Call) -> Reply:
    form = call.form
    options = write_options("UpdateOptions", call.request.query)
    call.context.dry_run = options.dry_run
    body = call.body()
    call.tell_duplicates(options)
    if call.kind.create_on_update and not _exists(call):
        check_metadata(call.kind, body, call.namespace)
        body["metadata"].pop("resourceVersion", None)
        check_name(call.target, body)
        stored = await create(call.core, call.kind, call.namespace, body, options, call.context)
        return Reply(201, _written(call, stored, form))
    return Reply(200, _written(call, await update(call.core, call.target, body, options, call.context), form))


def _exists(call: Call) -> bool:
    return call.core.store.get(call.kind.resource, call.namespace, call.info.name) is not None


async def _patch(call: Call) -> Reply:
    form = call.form
    options = write_options("PatchOptions", call.request.query)
    call.context.dry_run = options.dry_run
    content_type = call.request.headers.get("Content-Type", "")
    stored = await patch(call.core, call.target, call.request.body, content_type, options, call.context)
    return Reply(200, _written(call, stored, form))


def _written(call: Call, stored: Stored, form: Form) -> bytes:
    return one(call.core, call.kind, stored, form, call.request.query)


async def _delete(call: Call) -> Reply:
    content_type = call.request.headers.get("Content-Type", "")
    options = delete_options(call.request.query, decoded_options(call.request.body, content_type))
    call.context.dry_run = options.dry_run
    _warn_of_deletion(call, options)
    last, is_gone = await delete(call.core, call.kind, call.namespace, call.info.name, options, call.context)
    code = 202 if not is_gone and options.legacy_orphan is False else 200
    if not is_gone or call.kind.returns_deleted:
        return Reply(code, orjson.dumps(call.kind.served(last.obj)))
    return json_reply(code, status.success(call.kind, call.info.name, last.obj["metadata"]["uid"]))


def _warn_of_deletion(call: Call, options: DeleteOptions) -> None:
    warning = getattr(call.kind.strategy, "deletion_warning", "")
    if warning and not options.policy and options.legacy_orphan is None:
        call.context.warnings.append(warning)


async def _delete_collection(call: Call) -> Reply:
    content_type = call.request.headers.get("Content-Type", "")
    options = delete_options(call.request.query, decoded_options(call.request.body, content_type))
    call.context.dry_run = options.dry_run
    _warn_of_deletion(call, options)
    listing = read.list_objects(call.core, call.kind, call.namespace, call.request.query)
    await delete_collection(call.core, call.kind, listing.records, options, call.context)
    return Reply(200, listing.encoded())


_VERBS: dict[str, Callable[[Call], Awaitable[Reply]]] = {
    "get": _get,
    "list": _list,
    "create": _create,
    "update": _update,
    "patch": _patch,
    "delete": _delete,
    "deletecollection": _delete_collection,
}
