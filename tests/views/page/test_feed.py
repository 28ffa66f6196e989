"""What a browser is sent: everything once, then what has changed, and everything again when it has missed too much."""

from collections.abc import AsyncIterator
from typing import Any

import orjson

from tests.views.builders import cluster, group, pod, refused
from views.model.objects import Objects
from views.page.feed import KEPT, Feed
from views.page.state import PageState


class Cluster:
    """Pods come to a gang, one a step."""

    def __init__(self, name: str = "run") -> None:
        self.objects: Objects = cluster([group("g", refused())])
        self.state = PageState(self.objects, lambda: 1_000)
        self.state.everything_changed()
        self.feed = Feed(self.state, {"server": "s"}, name)
        self.feed.publish()
        self.pods = 0

    def step(self) -> None:
        self.pods += 1
        new = pod(f"p{self.pods}")
        self.objects.members.put(new)
        self.state.changed("pod", None, new)
        assert self.feed.publish()


async def told(messages: AsyncIterator[bytes]) -> tuple[str, str, dict[str, Any]]:
    lines = dict(line.split(b": ", 1) for line in (await anext(messages)).strip().split(b"\n"))
    return lines[b"id"].decode(), lines[b"event"].decode(), orjson.loads(lines[b"data"])


async def test_who_comes_anew_gets_everything_and_then_the_changes() -> None:
    there = Cluster()
    messages = there.feed.messages("")
    at, kind, body = await told(messages)
    assert (at, kind, body["server"], len(body["gangs"])) == ("run-1", "full", "s", 1)
    there.step()
    there.step()
    assert [(await told(messages))[:2] for _ in range(2)] == [("run-2", "delta"), ("run-3", "delta")]


async def test_who_comes_back_goes_on_where_it_was() -> None:
    there = Cluster()
    for _ in range(3):
        there.step()
    assert [(await told(messages))[:2] for messages in [there.feed.messages("run-3")]] == [("run-4", "delta")]


async def test_who_missed_more_than_is_kept_gets_everything() -> None:
    there = Cluster()
    messages = there.feed.messages("")
    await told(messages)
    for _ in range(KEPT + 1):
        there.step()
    at, kind, body = await told(messages)
    assert (at, kind) == (f"run-{KEPT + 2}", "full")
    assert body["gangs"][0]["pods"][0] == KEPT + 1


async def test_who_was_told_by_another_run_gets_everything() -> None:
    there = Cluster()
    for known in ("before-1", "run-99", "nonsense", "run-"):
        assert (await told(there.feed.messages(known)))[1] == "full"


def test_nothing_is_a_version_when_nothing_has_changed() -> None:
    assert not Cluster().feed.publish()
