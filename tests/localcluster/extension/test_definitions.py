"""CRDs themselves: what a correct one is, which names it gets, and its life in a server."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from localcluster.apiserver.core import Core
from localcluster.apiserver.extension.definitions.correctness import definition_errors, update_errors
from localcluster.apiserver.extension.definitions.document import FINALIZER, RESOURCE, is_true, version_priority
from localcluster.apiserver.extension.definitions.lifecycle import MYSELF, Lifecycle
from localcluster.apiserver.extension.definitions.naming import accepted_status
from localcluster.apiserver.extension.definitions.strategy import DefinitionStrategy, definition_kind
from localcluster.apiserver.kinds.registry import Registry
from localcluster.apiserver.store.memory import Store
from localcluster.apiserver.verbs.create import create
from localcluster.apiserver.verbs.delete import delete
from localcluster.apiserver.verbs.options import DeleteOptions, WriteOptions
from tests.localcluster.extension.crds import Object, definition, object_schema

NOW = "2026-01-01T00:00:00Z"
AT = "spec.validation.openAPIV3Schema"
TEXT: Object = {"type": "string"}


def defaulted(crd: Object) -> Object:
    DefinitionStrategy().default(crd)
    return crd


def schema_complaints(schema: Object) -> list[str]:
    return [str(each) for each in definition_errors(defaulted(definition(schema)))]


def test_a_definition_gets_the_names_that_follow_and_no_conversion() -> None:
    crd = defaulted(definition(object_schema()))
    assert crd["spec"]["names"] == {"kind": "Thing", "plural": "things", "singular": "thing", "listKind": "ThingList"}
    assert crd["spec"]["conversion"] == {"strategy": "None"}
    assert definition_errors(crd) == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda crd: crd["spec"].pop("scope"), "spec.scope: Required value"),
        (
            lambda crd: crd["spec"].update(scope="X"),
            'spec.scope: Unsupported value: "X": supported values: "Cluster", "Namespaced"',
        ),
        (
            lambda crd: crd["metadata"].update(name="x"),
            'metadata.name: Invalid value: "x": must be spec.names.plural+"."+spec.group',
        ),
        (
            lambda crd: crd["spec"]["versions"][0].pop("schema"),
            "spec.versions[0].schema.openAPIV3Schema: Required value",
        ),
        (lambda crd: crd["spec"]["names"].pop("kind"), "spec.names.kind: Required value"),
    ],
)
def test_what_a_definition_lacks_is_told(change: Callable[[Object], object], told: str) -> None:
    crd = defaulted(definition(object_schema()))
    change(crd)
    assert told in [str(each) for each in definition_errors(crd)]


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"properties": {}}, f"{AT}.type: Required value: must not be empty at the root"),
        ({"type": "string"}, f'{AT}.type: Invalid value: "string": must be object at the root'),
        (
            object_schema(a={}),
            f"{AT}.properties[a].type: Required value: must not be empty for specified object fields",
        ),
        (object_schema(a={"type": "array"}), f"{AT}.properties[a].items: Required value: must be specified"),
        (
            object_schema(a={"type": "foo"}),
            (
                f'{AT}.properties[a].type: Unsupported value: "foo": supported values: "array", "boolean", "integer", '
                '"number", "object", "string"'
            ),
        ),
        (
            object_schema(a={**object_schema(x=TEXT), "additionalProperties": TEXT}),
            f"{AT}.properties[a].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive",
        ),
        (
            object_schema(a={"type": "array", "x-kubernetes-list-type": "map", "items": object_schema(n=TEXT)}),
            (
                f"{AT}.properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type "
                "is map"
            ),
        ),
        (
            object_schema(a={"type": "string", "default": 5}),
            f'{AT}.properties[a].default: Invalid value: "integer":  in body must be of type string: "integer"',
        ),
        (
            object_schema(a={**object_schema(x=TEXT), "default": {"y": 1}}),
            f'{AT}.properties[a].default: Invalid value: {{"y":1}}: must not have unknown fields',
        ),
        (
            object_schema(a={"type": "string", "$ref": "#/x"}),
            f"{AT}.properties[a].$ref: Forbidden: $ref is not supported",
        ),
    ],
)
def test_what_is_no_structural_schema_is_refused(schema: Object, told: str) -> None:
    assert told in schema_complaints(schema)


@pytest.mark.parametrize(
    ("rule", "field", "words"),
    [
        ({"rule": "self.nope == 1"}, "rule", "undefined field 'nope'\n | self.nope == 1\n | ....^"),
        ({"rule": "has(self.nope)"}, "rule", "undefined field 'nope'\n | has(self.nope)\n | ...^"),
        ({"rule": "nope"}, "rule", "undeclared reference to 'nope'"),
        ({"rule": ""}, "rule", "rule is not specified"),
        ({"rule": "self.a == 1", "fieldPath": ".nope"}, "fieldPath", "must be a valid path"),
        ({"rule": "self.a == 1", "reason": "Bad"}, "reason", "Unsupported value"),
        ({"rule": "self.a == 1\n|| true"}, "message", "message must be specified if rule contains line breaks"),
        ({"rule": "self.a == 1", "optionalOldSelf": True}, "optionalOldSelf", "may not be set if oldSelf is not used"),
    ],
)
def test_a_rule_that_cannot_be_looked_at_is_refused(rule: Object, field: str, words: str) -> None:
    schema = object_schema(spec={**object_schema(a={"type": "integer"}), "x-kubernetes-validations": [rule]})
    (told,) = schema_complaints(schema)
    assert told.startswith(f"{AT}.properties[spec].x-kubernetes-validations[0].{field}: ")
    assert words in told


def test_a_misspelt_keyword_of_a_schema_is_told() -> None:
    crd = definition(object_schema(a={"type": "string", "maxLenght": 1}))
    at = "spec.versions[0].schema.openAPIV3Schema.properties.a.maxLenght"
    assert DefinitionStrategy().decode(crd) == [f'unknown field "{at}"']


def test_names_that_another_definition_has_are_not_accepted() -> None:
    first = defaulted(definition(object_schema()))
    first["status"] = accepted_status(first, [], NOW)
    assert is_true(first, "Established")
    second = defaulted(definition(object_schema(), plural="others"))
    second["status"] = accepted_status(second, [first], NOW)
    assert not is_true(second, "Established")
    (names,) = (each for each in second["status"]["conditions"] if each["type"] == "NamesAccepted")
    assert (names["reason"], names["message"]) == ("ListKindConflict", '"ThingList" is already in use')
    assert second["status"]["acceptedNames"] == {"plural": "others", "kind": ""}


def test_what_an_established_definition_is_about_cannot_change() -> None:
    old = defaulted(definition(object_schema()))
    old["status"] = accepted_status(old, [], NOW)
    new = {**old, "spec": {**old["spec"], "scope": "Cluster"}}
    assert [str(each) for each in update_errors(new, old)] == [
        'spec.scope: Invalid value: "Cluster": field is immutable'
    ]


def test_versions_are_preferred_as_kubernetes_does() -> None:
    names = ["v1alpha1", "foo", "v2", "v1beta2", "v1", "v1beta10", "bar"]
    preferred = sorted(names, key=version_priority, reverse=True)
    assert preferred == ["v2", "v1", "v1beta10", "v1beta2", "v1alpha1", "bar", "foo"]


# --- life in a server ----------------------------------------------------------------------------------------------------


@pytest.fixture
async def core() -> AsyncIterator[Core]:
    core = Core(Registry(), Store(), lambda: datetime(2026, 1, 1, tzinfo=UTC), random.Random(1))
    core.registry.add(definition_kind())
    core.store.put(("", "namespaces"), {"metadata": {"name": "here"}})
    task = asyncio.create_task(Lifecycle(core).run())
    yield core
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def settled(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110 (the conditions are about a store, which has no event to wait for)
            await asyncio.sleep(0)


async def define(core: Core) -> None:
    crd = definition(object_schema(spec=object_schema(a={"type": "integer"})))
    await create(core, definition_kind(), "", crd, WriteOptions(), core.context(MYSELF))
    await settled(lambda: core.registry.find("example.com", "v1", "things"))


async def make(core: Core, name: str, *finalizers: str) -> None:
    kind = core.registry.find("example.com", "v1", "things")
    assert kind is not None
    obj = {"metadata": {"name": name, "finalizers": list(finalizers)}, "spec": {"a": 1}}
    await create(core, kind, "here", obj, WriteOptions(), core.context(MYSELF))


def stored(core: Core) -> Object | None:
    found = core.store.get(RESOURCE, "", "things.example.com")
    return None if found is None else found.obj


async def test_a_new_definition_is_established_and_its_kind_served(core: Core) -> None:
    await define(core)
    crd = stored(core)
    assert crd is not None
    assert crd["status"]["storedVersions"] == ["v1"]
    assert [each["type"] for each in crd["status"]["conditions"]] == ["NamesAccepted", "Established"]


async def test_a_changed_schema_takes_effect(core: Core) -> None:
    await define(core)
    before = core.registry.find("example.com", "v1", "things")
    found = core.store.get(RESOURCE, "", "things.example.com")
    assert found is not None
    spec = definition(object_schema(spec=object_schema(b={"type": "integer"})))["spec"]
    names = found.obj["spec"]["names"]
    core.store.replace(
        RESOURCE, found, {**found.obj, "metadata": dict(found.obj["metadata"]), "spec": {**spec, "names": names}}
    )
    await settled(lambda: core.registry.find("example.com", "v1", "things") is not before)
    after = core.registry.find("example.com", "v1", "things")
    assert after is not None
    assert after.strategy.decode({"metadata": {}, "spec": {"a": 1, "b": 2}}) == ['unknown field "spec.a"']


async def test_a_deleted_definition_takes_its_objects_along_and_waits_for_their_finalizers(core: Core) -> None:
    await define(core)
    await make(core, "free")
    await make(core, "held", "example.com/held")
    await delete(core, definition_kind(), "", "things.example.com", DeleteOptions(), core.context(MYSELF))
    things = ("example.com", "things")
    await settled(lambda: core.store.get(things, "here", "free") is None)
    await settled(lambda: "InstanceDeletionInProgress" in str(stored(core)))
    crd = stored(core)
    assert crd is not None
    assert crd["metadata"]["finalizers"] == [FINALIZER]
    assert core.registry.find("example.com", "v1", "things") is not None
    held = core.store.get(things, "here", "held")
    assert held is not None
    core.store.delete(things, held)
    await settled(lambda: stored(core) is None and core.registry.find("example.com", "v1", "things") is None)
