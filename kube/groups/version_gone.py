"""Noticing that the server has stopped serving the version of the group API that this process speaks.

Which version is spoken is settled at the start, and a server may be upgraded after that. As long as it serves both versions
nothing happens. When it serves only another one, the process ends: the next one negotiates anew. Our own kinds and a group API
that is switched off altogether are no affair of ours here; then there is nothing to change to.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from api.errors import TuttiError
from kube.client.client import Client
from kube.client.errors import KubeError
from kube.groups.discovery import served_group_apis
from kube.groups.group_api import GroupAPI, one_version_each
from kube.outside import new_random

ASK_SECONDS: Final = 10.0
"""How often to ask while groups cannot be followed; nothing is asked otherwise."""


class VersionGone(TuttiError):
    """The server serves the group API in another version now; a new process will speak it."""


async def pause() -> None:
    """The time between two questions, spread so that processes do not ask all at once."""
    await asyncio.sleep(ASK_SECONDS * new_random().uniform(0.8, 1.2))


async def end_when_gone(
    client: Client, api: GroupAPI, *, in_trouble: Callable[[], bool], pause: Callable[[], Awaitable[None]] = pause
) -> None:
    """Run until cancelled, or until the version is gone.

    Args:
        client: talks to the cluster in question.
        api: what the process speaks.
        in_trouble: whether groups cannot be followed at the moment.
        pause: waits until the next question.

    Raises:
        VersionGone: the server serves another version of this API, and this one no longer.
    """
    while True:
        await pause()
        if not in_trouble():
            continue
        try:
            served = await served_group_apis(client)
        except KubeError:
            continue
        others = [each for each in one_version_each(served) if each.name == api.name]
        if others and api not in served:
            spoken, now = api.pod_groups.api_version, others[0].pod_groups.api_version
            raise VersionGone(f"the server serves {now} and {spoken} no longer: ending, to start anew with it")
