"""Any value anywhere in a body: the server takes or refuses it, and never breaks on it."""

import copy
import random
from collections.abc import Iterator
from typing import Any

import pytest

from tests.localcluster.apiserver.rest import MERGE, STRATEGIC, Rest, job, pod
from tests.localcluster.apiserver.samples import SAMPLES, STAMP, Object

ODD: list[Any] = [None, True, 0, -1, 1.5, 2**40, "", "x", STAMP, [], [None], ["x"], [{}], {}, {"a": 1}]
PER_FIELD = 4
NO_MERGE_KEY = "does not contain declared merge key"
"""How many odd values each field is given; which ones differs from field to field, and is the same in every run."""

WITHIN = [
    (
        pod(container={"env": [{"name": "A", "valueFrom": 5}]}),
        "EnvVar.spec.containers.env.valueFrom of type v1.EnvVarSource",
    ),
    (pod(dnsConfig={"searches": "x"}), "cannot unmarshal string into Go struct field PodDNSConfig"),
    (pod(overhead=[]), "cannot unmarshal array into Go struct field PodSpec.spec.overhead of type map[string]Quantity"),
    (pod(container={"resources": {"limits": {"cpu": True}}}), "quantities must match the regular expression"),
    (pod(activeDeadlineSeconds=1.5), "cannot unmarshal number 1.5 into Go struct field"),
    (
        job(parallelism=2**31),
        "cannot unmarshal number 2147483648 into Go struct field JobSpec.spec.parallelism of type int32",
    ),
]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a body below its root."""
    if path:
        yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in entries:
        yield from places(item, (*path, key))


def changed(body: Object, path: tuple[Any, ...], value: Any) -> Object:
    """The body with another value in one place."""
    copied = copy.deepcopy(body)
    holder: Any = copied
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = copy.deepcopy(value)
    return copied


@pytest.mark.parametrize("kind", SAMPLES)
async def test_no_value_in_any_place_breaks_the_server(rest: Rest, kind: str) -> None:
    path, body = SAMPLES[kind]
    assert (await rest.ask("POST", f"{path}?dryRun=All", body)).code == 201
    source = random.Random(kind)
    broken = []
    for place in places(body):
        for value in source.sample(ODD, PER_FIELD):
            answer = await rest.ask("POST", f"{path}?dryRun=All", changed(body, place, value))
            if answer.code not in {201, 400, 403, 404, 409, 422}:
                broken.append(f"{'.'.join(map(str, place))} = {value!r}: {answer.code} {answer.message}")
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize("content_type", [MERGE, STRATEGIC])
@pytest.mark.parametrize("kind", ["Pod", "Job"])
async def test_no_patch_breaks_it_either(rest: Rest, kind: str, content_type: str) -> None:
    path, body = SAMPLES[kind]
    await rest.create(path, body)
    source = random.Random(kind)
    broken = []
    for place in places(body):
        patch = changed(body, place, source.choice(ODD))
        answer = await rest.patch(f"{path}/{body['metadata']['name']}?dryRun=All", patch, content_type)
        # A real server answers 500 to an item of a list that has not the key by which the list is merged.
        if answer.code not in {200, 400, 403, 404, 409, 422} and NO_MERGE_KEY not in answer.message:
            broken.append(f"{'.'.join(map(str, place))}: {answer.code} {answer.message}")
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize(("body", "words"), WITHIN)
async def test_a_wrong_type_deep_inside_is_named(rest: Rest, body: Object, words: str) -> None:
    path = SAMPLES["Job" if "template" in body["spec"] else "Pod"][0]
    answer = await rest.ask("POST", path, body)
    assert (answer.code, answer.body["reason"]) == (400, "BadRequest")
    assert words in answer.message


async def test_nulls_count_for_nothing_and_in_lists_for_an_empty_item(rest: Rest) -> None:
    made = await rest.create(SAMPLES["Pod"][0], pod(tolerations=None, nodeSelector={"a": None}))
    assert "nodeSelector" in made["spec"]
    answer = await rest.ask("POST", SAMPLES["Pod"][0], {"metadata": {"name": "q"}, "spec": {"containers": [None]}})
    assert answer.code == 422
    assert "spec.containers[0].name" in answer.fields


@pytest.mark.parametrize(
    "patch",
    [
        {"metadata": {"finalizers": [{}]}},
        {"metadata": {"$deleteFromPrimitiveList/finalizers": 5}},
        {"spec": {"$setElementOrder/containers": "x", "containers": []}},
    ],
)
async def test_directives_that_make_no_sense_are_bad_requests(rest: Rest, patch: Object) -> None:
    path, body = SAMPLES["Pod"]
    await rest.create(path, body)
    assert (await rest.patch(f"{path}/p", patch, STRATEGIC)).code == 400


async def test_copies_cannot_make_an_object_grow_without_end(rest: Rest) -> None:
    path, body = SAMPLES["Pod"]
    await rest.create(path, body)
    doubling = [{"op": "copy", "from": "/spec/containers", "path": "/spec/containers/-"}] * 40
    answer = await rest.patch(f"{path}/p", doubling, "application/json-patch+json")
    assert answer.code == 422


async def test_an_object_that_is_nested_too_deeply_is_refused(rest: Rest) -> None:
    deep = b'{"metadata":{"name":"d"},"spec":' + b'{"a":' * 900 + b"1" + b"}" * 900 + b"}"
    answer = await rest.ask("POST", SAMPLES["Pod"][0], deep)
    assert answer.code in {201, 400, 422}
    assert (await rest.ask("GET", SAMPLES["Pod"][0])).code == 200
