"""Every watch holds a connection for as long as it lasts; with fewer connections than watches the caches never fill."""

from scheduler.eventhandlers.devices import DEVICES
from scheduler.main import FOLLOWED, READ_CONNECTIONS
from tests.scheduler.shell.cluster import Cluster


async def test_there_is_a_connection_for_every_watch_and_some_to_spare() -> None:
    cluster = Cluster()
    cluster.follows_devices = True
    async with cluster.scheduler() as scheduler:
        watches = len(scheduler.informers.all)
    assert watches == len(FOLLOWED) + 2 + len(DEVICES)
    assert watches + 4 <= READ_CONNECTIONS
