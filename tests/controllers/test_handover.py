"""What another thread reports arrives, all of it and in its order."""

import asyncio
import threading

import pytest

from api.job import Job
from controllers.handover import handing_over_to
from controllers.owner_store import OwnerStore
from tests.controllers.builders import job


class Diary(OwnerStore[Job]):
    """A store that remembers what was done to it, and fails at one UID."""

    def __init__(self) -> None:
        super().__init__()
        self.versions: list[str] = []
        self.broken_uid = ""

    def put(self, item: Job) -> None:
        if item.metadata.uid == self.broken_uid:
            raise RuntimeError(item.metadata.uid)
        self.versions.append(item.metadata.resource_version)
        super().put(item)


async def until(store: Diary, count: int) -> None:
    async with asyncio.timeout(20):
        while len(store.versions) < count:  # noqa: ASYNC110 (another thread, no event tells)
            await asyncio.sleep(0.001)


async def test_all_that_a_thread_reports_arrives_in_order() -> None:
    store, count = Diary(), 5000
    deliver = handing_over_to(store)
    thread = threading.Thread(target=lambda: [deliver("put", job(version=str(number))) for number in range(count)])
    thread.start()
    await until(store, count)
    thread.join()
    assert store.versions == [str(number) for number in range(count)]


async def test_a_removal_comes_after_what_was_put_before_it() -> None:
    store = Diary()
    deliver = handing_over_to(store)
    deliver("put", job(version="1"))
    deliver("remove", job(version="2"))
    deliver("put", job(uid="successor", version="3"))
    await until(store, 2)
    assert [item.metadata.uid for key in store.keys() if (item := store.get(key))] == ["successor"]  # noqa: SIM118


async def test_one_that_cannot_be_taken_in_keeps_nothing_else_back() -> None:
    store = Diary()
    store.broken_uid = "broken"
    told: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(str(context.get("exception"))))
    deliver = handing_over_to(store)
    for uid in ("broken", "b", "broken", "c"):
        deliver("put", job(uid=uid, version="1"))
    await until(store, 2)
    assert told == ["broken", "broken"]


@pytest.mark.parametrize("pauses", [1, 3])
async def test_what_is_reported_after_a_pause_arrives_as_well(pauses: int) -> None:
    store = Diary()
    deliver = handing_over_to(store)
    for number in range(pauses):
        deliver("put", job(version=str(number)))
        await until(store, number + 1)
