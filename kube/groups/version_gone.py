"""Noticing that the server has stopped serving the version of the group API that this process speaks.

Which version is spoken is settled at the start, and a server may be upgraded after that. As long as it serves both versions
nothing happens. When it serves only another one, the process ends: the next one negotiates anew. Our own kinds and a group API
that is switched off altogether are no affair of ours here; then there is nothing to change to.

CompositePodGroups have versions of their own, and not every process follows them: they are asked about from time to time.
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import Final

from api.errors import TuttiError
from kube.client.client import Client
from kube.client.errors import KubeError
from kube.client.resources import Resource
from kube.groups.composites import first_served
from kube.groups.discovery import served_group_apis
from kube.groups.group_api import BUILT_IN_COMPOSITES, GroupAPI, one_version_each
from kube.outside import new_random

ASK_SECONDS: Final = 10.0
"""How often to ask while groups cannot be followed; nothing is asked about them otherwise."""

PAUSES_BETWEEN_COMPOSITES: Final = 6
"""How many of these go by until CompositePodGroups are asked about: one read a minute."""


class VersionGone(TuttiError):
    """The server serves the group API in another version now; a new process will speak it."""


async def pause() -> None:
    """The time between two questions, spread so that processes do not ask all at once."""
    await asyncio.sleep(ASK_SECONDS * new_random().uniform(0.8, 1.2))


async def end_when_gone(
    client: Client,
    api: GroupAPI,
    composites: Resource | None,
    *,
    in_trouble: Callable[[], bool],
    pause: Callable[[], Awaitable[None]] = pause,
) -> None:
    """Run until cancelled, or until the version is gone.

    Args:
        client: talks to the cluster in question.
        api: what the process speaks.
        composites: where it has CompositePodGroups; None where the server had none.
        in_trouble: whether groups cannot be followed at the moment.
        pause: waits until the next question.

    Raises:
        VersionGone: the server serves another version of this API, or of CompositePodGroups, and this one no longer.
    """
    for turn in itertools.count(1):
        await pause()
        try:
            if in_trouble():
                await _require_groups(client, api)
            if composites in BUILT_IN_COMPOSITES and turn % PAUSES_BETWEEN_COMPOSITES == 0:
                await _require_composites(client, composites)
        except KubeError:
            continue


async def _require_groups(client: Client, api: GroupAPI) -> None:
    served = await served_group_apis(client)
    others = [each for each in one_version_each(served) if each.name == api.name]
    if others and api not in served:
        spoken, now = api.pod_groups.api_version, others[0].pod_groups.api_version
        raise VersionGone(f"the server serves {now} and {spoken} no longer: ending, to start anew with it")


async def _require_composites(client: Client, spoken: Resource) -> None:
    # Asked first: of a server that has two versions the one that is spoken is as good as the other.
    now = await first_served(client, (spoken, *BUILT_IN_COMPOSITES))
    if now is not None and now != spoken:
        raise VersionGone(
            f"the server serves {spoken.plural} in {now.api_version} and in {spoken.api_version} no longer: ending, to start "
            "anew with it"
        )
