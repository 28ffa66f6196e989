"""All requests, by topic."""

from tests.parity.scripts import (
    access,
    admission,
    apps,
    bad_input,
    batch,
    custom,
    discovery,
    events,
    kinds,
    pods,
    reading,
    writing,
)
from tests.parity.steps import Script

SCRIPTS: dict[str, Script] = {
    script.name: script
    for module in (discovery, pods, batch, apps, writing, reading, bad_input, kinds, access, admission, events, custom)
    for script in module.SCRIPTS
}
