"""VolumeZone: volumes with labels of zones and regions."""

from typing import Any

from tests.placement.case import Machine, Object
from tests.placement.storage import SC, bound, mounts, stored_case
from tests.placement.volume_binding import ELSEWHERE

REGION_LABEL, ZONE_LABEL = "topology.kubernetes.io/region", "topology.kubernetes.io/zone"
OLD_ZONE_LABEL = "failure-domain.beta.kubernetes.io/zone"
WRONG_ZONE = "node(s) had no available volume zone"


def _zoned(key: str, *values: str) -> tuple[Machine, ...]:
    return tuple(Machine({key: value} if value else {}) for value in values)


def _labelled(key: str, value: str, **more: Any) -> tuple[Object, ...]:
    return (SC, *bound(labels={key: value}, **more))


ZONES = (
    stored_case("the zone of the volume", _zoned(ZONE_LABEL, "x", "y"), _labelled(ZONE_LABEL, "y"), mounts("c"), 1),
    stored_case(
        "no node in the zone",
        _zoned(ZONE_LABEL, "x", "y"),
        _labelled(ZONE_LABEL, "z"),
        mounts("c"),
        None,
        f"2 {WRONG_ZONE}",
    ),
    stored_case(
        "the region of the volume", _zoned(REGION_LABEL, "x", "y"), _labelled(REGION_LABEL, "y"), mounts("c"), 1
    ),
    stored_case("several zones", _zoned(ZONE_LABEL, "x", "y"), _labelled(ZONE_LABEL, "y__z"), mounts("c"), 1),
    stored_case(
        "the old label of both", _zoned(OLD_ZONE_LABEL, "x", "y"), _labelled(OLD_ZONE_LABEL, "y"), mounts("c"), 1
    ),
    stored_case(
        "the old label of the volume only", _zoned(ZONE_LABEL, "x", "y"), _labelled(OLD_ZONE_LABEL, "y"), mounts("c"), 1
    ),
    stored_case(
        "the old label of the node only",
        _zoned(OLD_ZONE_LABEL, "y"),
        _labelled(ZONE_LABEL, "y"),
        mounts("c"),
        None,
        f"1 {WRONG_ZONE}",
    ),
    stored_case("a node that names no zone", _zoned(ZONE_LABEL, "x", ""), _labelled(ZONE_LABEL, "y"), mounts("c"), 1),
    stored_case(
        "a node with a region but no zone",
        _zoned(REGION_LABEL, "y"),
        _labelled(ZONE_LABEL, "y"),
        mounts("c"),
        None,
        f"1 {WRONG_ZONE}",
    ),
    stored_case("a volume without a zone", _zoned(ZONE_LABEL, "x"), (SC, *bound()), mounts("c"), 0),
    stored_case(
        "volumes in different zones",
        _zoned(ZONE_LABEL, "x", "y"),
        (SC, *bound(labels={ZONE_LABEL: "x"}), *bound("d", "@pw", labels={ZONE_LABEL: "y"})),
        mounts("c", "d"),
        None,
        f"2 {WRONG_ZONE}",
    ),
    stored_case(
        "zone and affinity",
        _zoned(ZONE_LABEL, "x", "y"),
        _labelled(ZONE_LABEL, "x", on=(1,)),
        mounts("c"),
        None,
        f"1 {ELSEWHERE}, 1 {WRONG_ZONE}",
    ),
    stored_case("another label is no zone", _zoned("zone", "x"), _labelled("zone", "y"), mounts("c"), 0),
)
