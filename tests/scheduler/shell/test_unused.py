"""What nobody asks for any more does not stay until a bound is reached, in a scheduler at work."""

import asyncio

from scheduler.algorithm.node_fits import fits_of
from scheduler.cache.pod_signature import PodSignature
from scheduler.unused import UNUSED_SECONDS, forget_unused
from tests.scheduler.core import build
from tests.scheduler.core.world import World
from tests.scheduler.shell.virtual_time import run_virtually


def test_what_was_not_asked_for_in_two_minutes_goes_within_four() -> None:
    world = World()
    world.node("n0", cpu=4)
    for name, cpu in (("often", 1), ("seldom", 2)):
        world.pod(name, cpu=cpu)
    fits = fits_of(world.state)

    async def story() -> None:
        forgetting = asyncio.ensure_future(forget_unused(world.state))
        kept, gone = fits.of(shape(world, "often")), fits.of(shape(world, "seldom"))
        for _ in range(4):
            await asyncio.sleep(UNUSED_SECONDS / 2)
            assert fits.of(shape(world, "often")) is kept
        await asyncio.sleep(1)
        assert fits.of(shape(world, "seldom")) is not gone
        forgetting.cancel()

    run_virtually(story())


def shape(world: World, name: str) -> PodSignature:
    """What a waiting pod looks like to the scheduler."""
    members = world.state.item(build.pod_key(name))
    assert members is not None
    (found,) = members.pending
    return found
