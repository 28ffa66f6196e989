"""What is dropped from a custom object, and what is filled in."""

from localcluster.apiserver.extension.schema.decode import prune
from localcluster.apiserver.extension.schema.defaults import apply_defaults
from localcluster.apiserver.extension.schema.structural import parse_schema
from tests.localcluster.extension.crds import Object, object_schema

SCHEMA = parse_schema(
    object_schema(
        spec=object_schema(
            i={"type": "integer"},
            nullable={"type": "string", "nullable": True},
            word={"type": "string", "default": "dd"},
            tree={**object_schema(x={"type": "integer", "default": 7}), "default": {}},
            free={"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            map={"type": "object", "additionalProperties": object_schema(a={"type": "integer", "default": 1})},
            items={
                "type": "array",
                "items": object_schema(name={"type": "string"}, n={"type": "integer", "default": 3}),
            },
        )
    )
)


def decoded(spec: Object) -> tuple[Object, list[str]]:
    obj: Object = {"apiVersion": "v1", "kind": "T", "metadata": {"name": "t", "any": 1}, "spec": spec}
    unknown = prune(obj, SCHEMA)
    apply_defaults(obj, SCHEMA)
    assert obj["metadata"] == {"name": "t", "any": 1}
    return obj["spec"], unknown


def test_unknown_fields_are_dropped_and_told_by_their_paths() -> None:
    spec, unknown = decoded({"zz": 1, "tree": {"y": 1}, "items": [{"name": "a", "q": 1}], "map": {"k": {"b": 2}}})
    assert unknown == ["spec.items[0].q", "spec.map.k.b", "spec.tree.y", "spec.zz"]
    assert spec == {"word": "dd", "tree": {"x": 7}, "items": [{"name": "a", "n": 3}], "map": {"k": {"a": 1}}}


def test_what_a_schema_leaves_open_is_kept() -> None:
    spec, unknown = decoded({"free": {"deep": {"er": None}}})
    assert (spec["free"], unknown) == ({"deep": {"er": None}}, [])


def test_a_null_that_says_nothing_is_dropped_or_gives_way_to_the_default() -> None:
    spec, _ = decoded({"i": None, "nullable": None, "word": None})
    assert spec == {"nullable": None, "word": "dd", "tree": {"x": 7}}


def test_a_whole_number_is_written_without_a_point() -> None:
    spec, _ = decoded({"i": 3.0, "free": {"a": [2.0, 2.5]}})
    assert (repr(spec["i"]), repr(spec["free"]["a"])) == ("3", "[2, 2.5]")


def test_a_default_does_not_make_its_parent() -> None:
    obj: Object = {"metadata": {}}
    apply_defaults(obj, SCHEMA)
    assert obj == {"metadata": {}}


def test_two_objects_do_not_share_a_default() -> None:
    one, _ = decoded({})
    other, _ = decoded({})
    one["tree"]["x"] = 8
    assert other["tree"]["x"] == 7
