"""The life of CRDs: names are accepted and kinds served; a CRD that is deleted takes the objects of its kind with it.

Works through changed CRDs one after the other in a task of its own, because a change may not be made while another one is
being told. Each pass looks at what is stored now, so nothing depends on how many changes were told.
"""

import asyncio
import dataclasses
import logging
from collections.abc import Callable
from typing import Any, Final

from localcluster.apiserver.admission import NoAdmission
from localcluster.apiserver.core import Core
from localcluster.apiserver.extension.definitions.document import FINALIZER, RESOURCE, is_true, with_condition
from localcluster.apiserver.extension.definitions.kinds import kinds_of
from localcluster.apiserver.extension.definitions.naming import accepted_status
from localcluster.apiserver.kinds.kind import KindInfo, User
from localcluster.apiserver.status import StatusError
from localcluster.apiserver.store.memory import Event, Outdated, Stored
from localcluster.apiserver.verbs.delete import delete
from localcluster.apiserver.verbs.options import DeleteOptions

Object = dict[str, Any]

MYSELF: Final = User("system:apiserver", ("system:masters",))
IN_PROGRESS: Final = {
    "type": "Terminating",
    "status": "True",
    "reason": "InstanceDeletionInProgress",
    "message": "CustomResource deletion is in progress",
}
_log: Final = logging.getLogger(__name__)


class Lifecycle:
    """Serves what the stored CRDs define.

    Args:
        core: the server's state; objects are deleted without asking admission, as on the real server.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        self._quiet = dataclasses.replace(core, admission=NoAdmission())
        self._served: dict[str, list[KindInfo]] = {}
        self._pending: asyncio.Queue[str] = asyncio.Queue()
        self._unsubscribe: dict[str, Callable[[], None]] = {}
        core.store.subscribe(RESOURCE, lambda event: self._pending.put_nowait(event.new.obj["metadata"]["name"]))

    def serve_present(self) -> None:
        """Serves the CRDs that are stored already."""
        for stored in self._core.store.list(RESOURCE):
            if is_true(stored.obj, "Established"):
                self._serve(stored.obj)
            self._pending.put_nowait(stored.obj["metadata"]["name"])

    async def run(self) -> None:
        """Follows the changes until cancelled."""
        while True:
            name = await self._pending.get()
            try:
                await self._look(name)
            except Outdated:
                # Changed meanwhile: whatever it is now is looked at next.
                self._pending.put_nowait(name)
            except StatusError as error:
                _log.warning("customresourcedefinition %s: %s", name, error)

    async def _look(self, name: str) -> None:
        stored = self._core.store.get(RESOURCE, "", name)
        if stored is None:
            self._forget(name)
        elif stored.obj["metadata"].get("deletionTimestamp"):
            await self._end(name, stored)
        else:
            self._accept(stored)

    def _accept(self, stored: Stored) -> None:
        crd = stored.obj
        group = crd["spec"]["group"]
        others = [
            each.obj
            for each in self._core.store.list(RESOURCE)
            if each.obj["spec"]["group"] == group and each.obj["metadata"]["name"] != crd["metadata"]["name"]
        ]
        status = accepted_status(crd, others, self._core.now())
        if status != crd.get("status"):
            crd = {**crd, "metadata": dict(crd["metadata"]), "status": status}
            self._core.store.replace(RESOURCE, stored, crd)
        if is_true(crd, "Established"):
            self._serve(crd)

    def _serve(self, crd: Object) -> None:
        """Serves the kinds of the CRD, unless it does so already: clients look anew at everything when a kind changes."""
        name = crd["metadata"]["name"]
        former = self._served.get(name, [])
        if former and former[0].definition is not None and _meaning(former[0].definition) == _meaning(crd):
            return
        kinds = kinds_of(crd)
        kept = {(each.version, each.plural) for each in kinds}
        for each in former:
            if (each.version, each.plural) not in kept:
                self._core.registry.remove(each)
        for each in kinds:
            self._core.registry.add(each)
        self._served[name] = kinds

    def _forget(self, name: str) -> None:
        self._unsubscribe.pop(name, lambda: None)()
        for each in self._served.pop(name, []):
            self._core.registry.remove(each)

    async def _end(self, name: str, stored: Stored) -> None:
        if self._served.get(name):
            await self._delete_objects(name, self._served[name][0])
        spec = stored.obj["spec"]
        resource = (spec["group"], spec["names"]["plural"])
        current = self._core.store.get(RESOURCE, "", name)
        if current is None or FINALIZER not in (current.obj["metadata"].get("finalizers") or []):
            return
        if self._core.store.count(resource):
            self._wait(name, resource, current)
            return
        self._let_go(current)

    async def _delete_objects(self, name: str, kind: KindInfo) -> None:
        for record in self._core.store.list(kind.resource):
            metadata = record.obj["metadata"]
            if metadata.get("deletionTimestamp"):
                continue
            context = self._core.context(MYSELF)
            try:
                await delete(
                    self._quiet, kind, metadata.get("namespace") or "", metadata["name"], DeleteOptions(), context
                )
            except StatusError as error:
                if error.code != 404:
                    _log.warning("%s of %s: %s", metadata["name"], name, error)

    def _wait(self, name: str, resource: tuple[str, str], current: Stored) -> None:
        """Objects with finalizers are still there: looks again whenever one goes."""
        status = with_condition(current.obj.get("status") or {}, IN_PROGRESS, self._core.now())
        if status != current.obj.get("status"):
            changed = {**current.obj, "metadata": dict(current.obj["metadata"]), "status": status}
            self._core.store.replace(RESOURCE, current, changed)
        if name not in self._unsubscribe:

            def gone(event: Event) -> None:
                if event.type == "DELETED":
                    self._pending.put_nowait(name)

            self._unsubscribe[name] = self._core.store.subscribe(resource, gone)

    def _let_go(self, current: Stored) -> None:
        metadata = current.obj["metadata"]
        others = [each for each in metadata["finalizers"] if each != FINALIZER]
        if others:
            self._core.store.replace(RESOURCE, current, {**current.obj, "metadata": {**metadata, "finalizers": others}})
        else:
            self._core.store.delete(RESOURCE, current)


def _meaning(crd: Object) -> tuple[object, ...]:
    return crd["metadata"].get("uid"), crd["spec"]
