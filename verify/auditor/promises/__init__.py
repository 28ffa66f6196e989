"""The promises of DESIGN §11, one file each, which see the changes of a history and tell what breaks them.

I8 is no property of one history: `verify.auditor.end_state` compares two runs.
"""

from verify.auditor.promises.atomic_start import AtomicStart
from verify.auditor.promises.atomic_trees import AtomicTrees
from verify.auditor.promises.bystanders import Bystanders
from verify.auditor.promises.cache_truth import CacheTruth
from verify.auditor.promises.devices import Devices
from verify.auditor.promises.justified_eviction import JustifiedEviction
from verify.auditor.promises.minimal_victims import MinimalVictims
from verify.auditor.promises.no_orphans import NoOrphans
from verify.auditor.promises.one_writer import OneWriter
from verify.auditor.promises.own_objects_only import OwnObjectsOnly
from verify.auditor.promises.promise import Promise
from verify.auditor.promises.quiet_at_rest import QuietAtRest
from verify.auditor.promises.room_on_nodes import RoomOnNodes
from verify.auditor.promises.tenants_apart import TenantsApart
from verify.auditor.promises.true_reasons import TrueReasons

ALL: tuple[type[Promise], ...] = (
    AtomicStart,
    AtomicTrees,
    RoomOnNodes,
    Devices,
    JustifiedEviction,
    MinimalVictims,
    NoOrphans,
    OwnObjectsOnly,
    OneWriter,
    QuietAtRest,
    TenantsApart,
    Bystanders,
    CacheTruth,
    TrueReasons,
)
"""Every promise that one history can show, in their order."""
