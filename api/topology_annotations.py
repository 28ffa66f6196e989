"""What annotations say of the topology, on an owner and on its PodGroup: read, checked, written.

The PodGroup carries what its Job or LeaderWorkerSet says, since its own field has room for one required level; a PodGroup made by
hand says it itself.
"""

from typing import Final

from api.constants import SLICE_SIZE, SLICE_TOPOLOGY, TOPOLOGY
from api.errors import InvalidGangSettings, InvalidName
from api.meta import Metadata
from api.names import check_label_key
from api.topology import ANYWHERE, MOST_LEVELS, TopologyLevel, TopologyRequest

PREFERRED: Final = "preferred:"
"""Before a key: as few values of it as possible, instead of exactly one."""

_SAID: Final = (TOPOLOGY, SLICE_SIZE, SLICE_TOPOLOGY)
_MOST_DIGITS: Final = 10
_MOST_SHOWN: Final = 64


def says_topology(metadata: Metadata) -> bool:
    """Whether an object says anything of the topology in annotations of ours."""
    return any(metadata.annotation(key) is not None for key in _SAID)


def topology_request(metadata: Metadata) -> TopologyRequest:
    """What the annotations of an object say, `ANYWHERE` for nothing. How many members there are is not looked at.

    Raises:
        InvalidGangSettings: one has a value that cannot be used; the message says which and what would do.
    """
    levels, size = metadata.annotation(TOPOLOGY), metadata.annotation(SLICE_SIZE)
    key = metadata.annotation(SLICE_TOPOLOGY)
    found = topology_levels(levels, field=annotation_path(TOPOLOGY)) if levels is not None else ()
    if size is None and key is None:
        return TopologyRequest(found)
    if key is None:
        raise InvalidGangSettings(
            f"it needs {SLICE_TOPOLOGY} beside it: the node label inside one value of which each slice runs",
            field=annotation_path(SLICE_SIZE),
        )
    if size is None:
        raise InvalidGangSettings(
            f"it needs {SLICE_SIZE} beside it: how many members with consecutive ranks are a slice",
            field=annotation_path(SLICE_TOPOLOGY),
        )
    return TopologyRequest(
        found,
        slice_size=slice_size(size, field=annotation_path(SLICE_SIZE)),
        slice_key=label_key(key, field=annotation_path(SLICE_TOPOLOGY)),
    )


def topology_levels(text: str, *, field: str) -> tuple[TopologyLevel, ...]:
    """The levels that a list names, widest first.

    Args:
        text: separated by commas, each a label key (required) or `preferred:` and a label key.
        field: where it stands, for messages.

    Raises:
        InvalidGangSettings: it is no such list, or its levels contradict each other.
    """
    levels = tuple(_level(entry.strip(), field) for entry in text.split(","))
    keys = [level.key for level in levels]
    repeated = next((key for place, key in enumerate(keys) if key in keys[:place]), None)
    if repeated is not None:
        raise InvalidGangSettings(f"it names {repeated} twice; each level stands there once, widest first", field=field)
    if len(levels) > MOST_LEVELS:
        raise InvalidGangSettings(f"it names {len(levels)} levels; up to {MOST_LEVELS} work", field=field)
    _check_order(levels, field)
    return levels


def label_key(text: str, *, field: str) -> str:
    """The key of a node label, without blanks around it.

    Raises:
        InvalidGangSettings: it is none.
    """
    try:
        return check_label_key(text.strip(), field=field)
    except InvalidName as error:
        raise InvalidGangSettings(str(error)) from error


def slice_size(text: str, *, field: str) -> int:
    """How many members a slice has.

    Raises:
        InvalidGangSettings: it is no whole number from 1.
    """
    size = int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else 0
    if size < 1:
        raise InvalidGangSettings(f"{_shown(text)} is not a whole number from 1", field=field)
    return size


def check_slices(
    request: TopologyRequest, *, members: int, minimum: int, field: str = "", minimum_field: str = ""
) -> None:
    """Checks that members and minimum come in whole slices.

    Args:
        request: what is asked for.
        members: pods that run at once; 0 while nobody is to run.
        minimum: of them, those that must start together.
        field: where the size of slices stands; ours by default.
        minimum_field: where the minimum stands; ours by default.

    Raises:
        InvalidGangSettings: they do not.
    """
    size = request.slice_size
    if not size or not members:
        return
    field = field or annotation_path(SLICE_SIZE)
    if size > members:
        raise InvalidGangSettings(
            f"'{size}' is not a whole number from 1 to {members}, the pods that run at once", field=field
        )
    if members % size:
        raise InvalidGangSettings(
            f"{members} pods are no whole number of slices of {size}; use a size that divides {members}", field=field
        )
    if minimum % size:
        raise InvalidGangSettings(
            f"a minimum of {minimum} is no whole number of slices of {size}; use a multiple of {size}",
            field=minimum_field or field,
        )


def check_group_topology(metadata: Metadata, *, spec_key: str | None, minimum: int | None) -> None:
    """Checks what a PodGroup says.

    Args:
        metadata: of the PodGroup.
        spec_key: the key in its `spec.schedulingConstraints`, None for none.
        minimum: its minCount, None for a basic group.

    Raises:
        InvalidGangSettings: one of the annotations has a value that cannot be used, or contradicts the field.
    """
    if not says_topology(metadata):
        return
    request = topology_request(metadata)
    if spec_key is not None and metadata.annotation(TOPOLOGY) is not None and request.required_key != spec_key:
        raise InvalidGangSettings(
            f"spec.schedulingConstraints.topology keeps the group inside one {spec_key}, so the narrowest level that the "
            "annotation requires has to be the same; leave one of the two out otherwise",
            field=annotation_path(TOPOLOGY),
        )
    if not request.slice_size:
        return
    if minimum is None:
        raise InvalidGangSettings("slices need a gang, and the policy is basic", field=annotation_path(SLICE_SIZE))
    if minimum % request.slice_size:
        raise InvalidGangSettings(
            f"minCount {minimum} is no whole number of slices of {request.slice_size}",
            field=annotation_path(SLICE_SIZE),
        )


def group_topology(metadata: Metadata, *, spec_key: str | None, is_gang: bool) -> TopologyRequest:
    """What a PodGroup asks for: its annotations where they are usable and keep to its field, else the field.

    Args:
        metadata: of the PodGroup.
        spec_key: the key in its `spec.schedulingConstraints`, None for none.
        is_gang: whether it has a minimum; a basic group has no slices.
    """
    by_field = TopologyRequest((TopologyLevel(spec_key),)) if spec_key is not None else ANYWHERE
    if not says_topology(metadata):
        return by_field
    try:
        said = topology_request(metadata)
    except InvalidGangSettings:
        # Admission may have been away.
        return by_field
    levels = said.levels if spec_key is None or said.required_key == spec_key else by_field.levels
    return TopologyRequest(levels, said.slice_size, said.slice_key) if is_gang else TopologyRequest(levels)


def topology_annotations(request: TopologyRequest) -> dict[str, str]:
    """The annotations of a PodGroup that asks for this; none where its field says it all."""
    said: dict[str, str] = {}
    if len(request.levels) > 1 or any(not level.is_required for level in request.levels):
        said[TOPOLOGY] = written_levels(request.levels)
    if request.slice_size:
        said |= {SLICE_SIZE: str(request.slice_size), SLICE_TOPOLOGY: request.slice_key}
    return said


def written_levels(levels: tuple[TopologyLevel, ...]) -> str:
    """The levels as an annotation has them."""
    return ", ".join(level.key if level.is_required else f"{PREFERRED}{level.key}" for level in levels)


def annotation_path(key: str) -> str:
    """Where an annotation stands, for messages."""
    return f"metadata.annotations[{key}]"


def _level(entry: str, field: str) -> TopologyLevel:
    is_preferred = entry.startswith(PREFERRED)
    return TopologyLevel(label_key(entry.removeprefix(PREFERRED), field=field), is_required=not is_preferred)


def _check_order(levels: tuple[TopologyLevel, ...], field: str) -> None:
    wider = ""
    for level in levels:
        if level.is_required and wider:
            raise InvalidGangSettings(
                f"whoever is inside one {level.key} is inside one {wider} too, which is only preferred: write {wider}, or "
                f"{PREFERRED}{level.key}; levels stand there widest first",
                field=field,
            )
        wider = wider or ("" if level.is_required else level.key)


def _shown(value: str) -> str:
    return repr(value if len(value) <= _MOST_SHOWN else value[:_MOST_SHOWN] + "…")
