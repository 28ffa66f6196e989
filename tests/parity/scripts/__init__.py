"""All requests, by topic."""

from tests.parity.scripts import (
    access,
    admission,
    apps,
    bad_input,
    batch,
    config,
    coordination,
    custom,
    deleting,
    device_claims,
    device_rules,
    discovery,
    drivers,
    events,
    gangs,
    gates,
    identities,
    kinds,
    lives_cluster,
    lives_core,
    lives_custom,
    placing,
    pods,
    reading,
    storage,
    writing,
)
from tests.parity.steps import Script

SCRIPTS: dict[str, Script] = {
    script.name: script
    for module in (
        *(discovery, pods, batch, apps, writing, reading, bad_input, kinds, access, admission, events, custom),
        *(
            lives_core,
            lives_cluster,
            lives_custom,
            storage,
            drivers,
            device_rules,
            device_claims,
            coordination,
            config,
            placing,
        ),
        *(gates, identities, gangs, deleting),
    )
    for script in module.SCRIPTS
}
