"""Writes allocations and consumers to ResourceClaims, and takes them back; claims for extended resources are made and deleted.

Every patch names the UID and the version of what it changes. When one is refused because something changed meanwhile, or its
answer is lost, the claim is read until an answer comes: what we wanted may be there already, or somebody else was faster.
"""

from collections.abc import Callable
from typing import Any, Final

from kube.client.client import Client
from kube.client.errors import AlreadyExists, BadRequest, Conflict, Forbidden, Invalid, KubeError, NotFound
from kube.client.resources import PODS, RESOURCE_CLAIMS
from scheduler.apicalls.dispatcher import APIDispatcher, Retries
from scheduler.binding.claim_allocation import (
    GONE,
    ClaimSeen,
    ClaimWrite,
    is_meant,
    next_patch,
    obstacle,
    release_patch,
)
from scheduler.binding.extended_claims import creation, told_pod, without_finalizer

Object = dict[str, Any]
Ended = Callable[[str], None]
"""Told once how a write ended: an empty text when it is done, else why it cannot be."""
GivenBack = Callable[[str, str], None]
"""The same of what is given back, and from which version of the claim on it is; empty when it is gone or stays as it is."""

_WRITE: Final = "resourceclaim"
_UNWANTED: Final = "it is wanted no more"
_POD_GONE: Final = "the pod of claim {} is gone"
_NOT_KEPT: Final = (
    "the server does not keep status.extendedResourceClaimStatus of pods, so no kubelet would find claim {}: "
    "its feature gate DRAExtendedResource is off"
)


class ResourceClaimWriter:
    """Hands the writes in as urgent calls: pods wait for them as they wait for their binds."""

    def __init__(self, client: Client, dispatcher: APIDispatcher, retries: Retries) -> None:
        self._client = client
        self._dispatcher = dispatcher
        self._retries = retries

    def submit(self, write: ClaimWrite, ended: Ended, is_wanted: Callable[[], bool]) -> None:
        """Queue a write; it is repeated until it is done, cannot be done, or is wanted no more.

        Args:
            write: what is to be written.
            ended: told once how it ended, also when it is wanted no more.
            is_wanted: asked before every attempt.
        """
        writing = _Writing(write, ended, is_wanted)
        if write.made_for is not None:
            self._queue_creation(writing)
        else:
            self._queue(writing, ClaimSeen.of_record(write.claim))

    def tell_pod(self, write: ClaimWrite, ended: Ended, is_wanted: Callable[[], bool]) -> None:
        """Queue what a pod is told of the claim that was made for it; otherwise as `submit`."""
        self._queue_telling(_Writing(write, ended, is_wanted))

    def give_back(self, write: ClaimWrite, ended: GivenBack) -> None:
        """Queue the opposite, whatever has become of the write; it is repeated until an answer says that it is done."""
        release = self._release if write.made_for is None else self._delete
        self._dispatcher.add_urgent(lambda: release(write, ended))

    # --- writing -----------------------------------------------------------------------------------------------------

    def _queue(self, writing: "_Writing", seen: ClaimSeen | None) -> None:
        """Goes on from what was seen; reads first when nothing is known."""

        async def send() -> str:
            if not writing.is_wanted():
                self._end(writing, _UNWANTED)
                return "overtaken"
            return await (self._read(writing) if seen is None else self._send(writing, seen))

        self._dispatcher.add_urgent(send)

    def _queue_creation(self, writing: "_Writing") -> None:
        async def create() -> str:
            if not writing.is_wanted():
                self._end(writing, _UNWANTED)
                return "overtaken"
            return await self._create(writing)

        self._dispatcher.add_urgent(create)

    async def _create(self, writing: "_Writing") -> str:
        write = writing.write
        try:
            made = await self._client.create(RESOURCE_CLAIMS, creation(write), write.claim.metadata.namespace)
        except AlreadyExists:
            return await self._read(writing)
        except (NotFound, Forbidden, BadRequest, Invalid) as error:
            return self._end(writing, f"create claim for extended resources {write.shown}: {error}")
        except KubeError as error:
            if error.outcome_unknown:
                return await self._read(writing)
            self._retries.add(_key(write), lambda: self._queue_creation(writing), error)
            return "retry"
        writing.is_made = True
        return await self._send(writing, ClaimSeen.of_object(made))

    async def _send(self, writing: "_Writing", seen: ClaimSeen) -> str:
        write = writing.write
        while (step := next_patch(write, seen)) is not None:
            subresource, patch = step
            try:
                answer = await self._patch(write, patch, subresource)
            except NotFound:
                return self._end(writing, GONE.format(write.shown))
            except (Forbidden, BadRequest, Invalid) as error:
                return self._end(writing, f"add allocation and reservation to claim {write.shown}: {error}")
            except Conflict:
                return await self._read(writing)
            except KubeError as error:
                if error.outcome_unknown:
                    return await self._read(writing)
                self._retries.add(_key(write), lambda: self._queue(writing, seen), error)  # noqa: B023 (called later, with what was seen last)
                return "retry"
            seen = ClaimSeen.of_object(answer)
        return self._end(writing, "")

    async def _read(self, writing: "_Writing") -> str:
        write = writing.write
        try:
            found = await self._get(write)
        except NotFound:
            if write.made_for is not None and not writing.is_made:
                # A creation without an answer may arrive yet; it is of this name, as the next one is.
                self._retries.add(_key(write), lambda: self._queue_creation(writing))
                return "retry"
            return self._end(writing, GONE.format(write.shown))
        except KubeError as error:
            self._retries.add(_key(write), lambda: self._queue(writing, None), error)
            return "unknown"
        writing.is_made = True
        problem = obstacle(write, found)
        seen = ClaimSeen.of_object(found)
        if problem or next_patch(write, seen) is None:
            return self._end(writing, problem)
        self._retries.add(_key(write), lambda: self._queue(writing, seen))
        return "retry"

    def _end(self, writing: "_Writing", problem: str) -> str:
        self._retries.forget(_key(writing.write))
        writing.ended(problem)
        return "failed" if problem else "written"

    # --- telling pods ------------------------------------------------------------------------------------------------

    def _queue_telling(self, writing: "_Writing") -> None:
        async def send() -> str:
            if not writing.is_wanted():
                self._end(writing, _UNWANTED)
                return "overtaken"
            return await self._tell(writing)

        self._dispatcher.add_urgent(send)

    async def _tell(self, writing: "_Writing") -> str:
        write = writing.write
        name = write.made_for.name if write.made_for is not None else ""
        try:
            pod = await self._client.patch(
                PODS, told_pod(write), name, write.claim.metadata.namespace, subresource="status"
            )
        except (NotFound, Conflict):
            # Only the UID is asked for, so a conflict means another pod of that name.
            return self._end(writing, _POD_GONE.format(write.shown))
        except (Forbidden, BadRequest, Invalid) as error:
            return self._end(writing, f"tell the pod of claim {write.shown}: {error}")
        except KubeError as error:
            self._retries.add(_key(write), lambda: self._queue_telling(writing), error)
            return "retry"
        is_kept = bool((pod.get("status") or {}).get("extendedResourceClaimStatus"))
        return self._end(writing, "" if is_kept else _NOT_KEPT.format(write.shown))

    # --- giving back -------------------------------------------------------------------------------------------------

    async def _release(self, write: ClaimWrite, ended: GivenBack) -> str:
        version = ""
        again = lambda: self._dispatcher.add_urgent(lambda: self._release(write, ended))  # noqa: E731
        try:
            found = await self._get(write)
            patch = release_patch(write, found)
            if patch is not None:
                found = await self._patch(write, patch, "status")
            version = str(found["metadata"]["resourceVersion"])
        except NotFound:
            pass
        except (Forbidden, BadRequest, Invalid) as error:
            self._retries.forget(_key(write))
            ended(f"claim {write.shown} could not be given back: {error}", "")
            return "failed"
        except KubeError as error:
            self._retries.add(_key(write), again, error)
            return "retry"
        self._retries.forget(_key(write))
        ended("", version)
        return "written"

    async def _delete(self, write: ClaimWrite, ended: GivenBack) -> str:
        """Deletes a claim that we have made, first what keeps it from going."""
        meta = write.claim.metadata
        again = lambda: self._dispatcher.add_urgent(lambda: self._delete(write, ended))  # noqa: E731
        try:
            found = await self._get(write)
            if is_meant(write, found):
                patch = without_finalizer(found)
                if patch is not None:
                    await self._patch(write, patch, None)
                await self._client.delete(RESOURCE_CLAIMS, meta.name, meta.namespace, uid=found["metadata"]["uid"])
        except NotFound:
            pass
        except (Forbidden, BadRequest, Invalid) as error:
            self._retries.forget(_key(write))
            ended(f"claim {write.shown} could not be deleted: {error}", "")
            return "failed"
        except KubeError as error:
            self._retries.add(_key(write), again, error)
            return "retry"
        self._retries.forget(_key(write))
        ended("", "")
        return "written"

    async def _get(self, write: ClaimWrite) -> Object:
        return await self._client.get(RESOURCE_CLAIMS, write.claim.metadata.name, write.claim.metadata.namespace)

    async def _patch(self, write: ClaimWrite, patch: Object, subresource: str | None) -> Object:
        meta = write.claim.metadata
        return await self._client.patch(RESOURCE_CLAIMS, patch, meta.name, meta.namespace, subresource=subresource)


class _Writing:
    """A write under way, and who is told; `is_made` says that the claim has been seen on the server."""

    __slots__ = ("ended", "is_made", "is_wanted", "write")

    def __init__(self, write: ClaimWrite, ended: Ended, is_wanted: Callable[[], bool]) -> None:
        self.write: Final = write
        self.ended: Final = ended
        self.is_wanted: Final = is_wanted
        self.is_made = write.made_for is None


def _key(write: ClaimWrite) -> tuple[str, str]:
    meta = write.claim.metadata
    return (_WRITE, meta.uid or "/".join(meta.key))
