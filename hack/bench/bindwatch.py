"""Watches a namespace's pods and notes when each was first seen and first seen bound."""

import asyncio
from time import perf_counter

import msgspec

from kube.client.client import Client
from kube.client.resources import PODS


class _Metadata(msgspec.Struct, rename="camel"):
    uid: str = ""
    resource_version: str = ""


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str = ""


class _Pod(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    spec: _Spec = msgspec.field(default_factory=_Spec)


class _Event(msgspec.Struct):
    type: str
    object: _Pod


class BindWatch:
    """When pods (with these labels) appeared and were bound, in seconds of `perf_counter`. An asynchronous context manager."""

    def __init__(self, client: Client, namespace: str, *, label_selector: str | None = None) -> None:
        self._client = client
        self._namespace = namespace
        self._label_selector = label_selector
        self._decode = msgspec.json.Decoder(_Event).decode
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.seen: dict[str, float] = {}
        self.bound: dict[str, float] = {}

    async def __aenter__(self) -> "BindWatch":
        version = (await self._client.list(PODS, self._namespace))["metadata"]["resourceVersion"]
        self._task = asyncio.create_task(self._run(version))
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self, version: str) -> None:
        while True:
            async for line in self._client.watch(
                PODS,
                self._namespace,
                resource_version=version,
                timeout_seconds=300,
                label_selector=self._label_selector,
            ):
                event = self._decode(line)
                version = event.object.metadata.resource_version or version
                now = perf_counter()
                uid = event.object.metadata.uid
                self.seen.setdefault(uid, now)
                if event.object.spec.node_name and uid not in self.bound:
                    self.bound[uid] = now
                    self._changed.set()

    async def wait_bound(self, count: int, *, within_seconds: float) -> bool:
        """True once so many pods are bound, False when the time is over first."""
        try:
            async with asyncio.timeout(within_seconds):
                while len(self.bound) < count:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return False
        return True
