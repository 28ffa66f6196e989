"""StatefulSets on the embedded server: whatever is sent, the answer is an answer. What it says is compared in tests/parity."""

import copy
import random
from collections.abc import Iterator
from typing import Any

from tests.localcluster.apiserver.rest import Rest

SETS = "/apis/apps/v1/namespaces/default/statefulsets"
ODD: list[Any] = [None, True, 0, -1, 1.5, 2**40, "", "x", [], [None], ["x"], [{}], {}, {"a": 1}]
ANSWERS = {201, 400, 409, 422}
SAMPLE: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "StatefulSet",
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 2,
        "serviceName": "web",
        "minReadySeconds": 1,
        "ordinals": {"start": 1},
        "podManagementPolicy": "Parallel",
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1, "maxUnavailable": "50%"}},
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Delete"},
        "selector": {"matchLabels": {"app": "web"}},
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}],
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "containers": [{"name": "main", "image": "x", "volumeMounts": [{"name": "data", "mountPath": "/d"}]}]
            },
        },
    },
}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place below the root."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from places(each, (*path, key))


def changed(place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    body = copy.deepcopy(SAMPLE)
    holder: Any = body
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = value
    return body


async def test_no_value_in_any_place_breaks_the_server(rest: Rest) -> None:
    assert (await rest.ask("POST", f"{SETS}?dryRun=All", SAMPLE)).code == 201
    source, broken = random.Random(7), []
    for place in places(SAMPLE):
        for value in source.sample(ODD, 5):
            answer = await rest.ask("POST", f"{SETS}?dryRun=All", changed(place, value))
            if answer.code not in ANSWERS:
                broken.append(f"{place} = {value!r}: {answer.code} {answer.message}")
    assert not broken, "\n".join(broken)
