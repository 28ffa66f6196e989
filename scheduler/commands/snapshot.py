"""`tutti snapshot`: the inputs of decisions in a file, read from a cluster with the caller's rights or from another recording."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from kube.client.client import Client
from kube.client.credentials import load_credentials
from kube.process.run import EXIT_OK
from scheduler.commands.read_cluster import read_cluster
from scheduler.recording.anonymous import anonymous
from scheduler.recording.file import Recording, lines_of, read, write
from scheduler.recording.inputs import ClusterObjects, DecisionInputs
from scheduler.settings import SchedulerSettings

USER_AGENT: Final = "tutti-snapshot"

Say = Callable[[str], None]


async def from_cluster(
    settings: SchedulerSettings, output: Path, *, is_anonymous: bool, as_json: bool, say: Say
) -> int:
    """Read a cluster and write the file.

    Args:
        settings: how the cluster is reached, and under which settings its scheduler decides.
        output: the file.
        is_anonymous: with made-up names.
        as_json: whether what is said is for programs.
        say: gets the lines that are said.

    Raises:
        ConfigurationError: the cluster cannot be reached, or the file not be written.
        KubeError: the API server refused.
    """
    async with Client(load_credentials(settings.kubeconfig), user_agent=USER_AGENT) as client:
        found = await read_cluster(client, settings, time.time())
    return _written(found.inputs, output, found.unreadable, is_anonymous=is_anonymous, as_json=as_json, say=say)


def from_file(source: Path, output: Path, *, is_anonymous: bool, as_json: bool, say: Say) -> int:
    """Write the inputs in a recording into another file, without the decisions that were recorded; as `from_cluster`."""
    return _written(read(source).inputs, output, (), is_anonymous=is_anonymous, as_json=as_json, say=say)


def _written(
    inputs: DecisionInputs, output: Path, unreadable: tuple[str, ...], *, is_anonymous: bool, as_json: bool, say: Say
) -> int:
    shown = anonymous(inputs) if is_anonymous else inputs
    write(output, lines_of(Recording(shown, is_anonymous=is_anonymous)))
    counts = counts_of(inputs.objects)
    said: dict[str, Any] = {
        "file": str(output),
        "bytes": output.stat().st_size,
        "anonymous": is_anonymous,
        "objects": counts,
        "unreadable": list(unreadable),
    }
    if as_json:
        say(json.dumps(said))
        return EXIT_OK
    size = f"{said['bytes'] / 1_000_000:.1f} MB"
    say(
        f"{output}: {counts.get('nodes', 0)} nodes, {counts.get('pods', 0)} pods, {counts.get('podgroups', 0)} groups, {size}"
    )
    for kind in unreadable:
        say(f"you may not list {kind}: what they say about placing is not in the file")
    return EXIT_OK


def counts_of(objects: ClusterObjects) -> dict[str, int]:
    """How many objects there are of each kind that there are some of."""
    counts = {kind: len(getattr(objects, kind)) for kind in ClusterObjects.__struct_fields__}
    return {kind: count for kind, count in counts.items() if count}
