"""Protobuf bodies become the objects that JSON bodies would have been."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from localcluster.apiserver.protobuf.decode import MAGIC, BadMessage, decode
from localcluster.apiserver.protobuf.messages import MESSAGES, Shape

SCALARS = {
    *("string", "bool", "int32", "int64", "double", "bytes", "Time", "MicroTime", "Quantity", "IntOrString"),
    *("RawExtension", "FieldsV1", "JSON"),
    *("JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrStringArray"),
}


def varint(value: int) -> bytes:
    """A number as protobuf writes it; negative ones take ten bytes."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def field(number: int, value: int | bytes | str) -> bytes:
    """One field."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def message(*fields: tuple[int, int | bytes | str]) -> bytes:
    """A message of these fields."""
    return b"".join(field(number, value) for number, value in fields)


def body(api_version: str, kind: str, raw: bytes) -> bytes:
    """A whole body."""
    return MAGIC + message((1, message((1, api_version), (2, kind))), (2, raw))


def job(*spec: tuple[int, int | bytes | str]) -> dict[str, Any]:
    """The spec of a Job of these fields, decoded."""
    found: dict[str, Any] = decode(body("batch/v1", "Job", message((2, message(*spec)))))["spec"]
    return found


def test_an_object_has_version_kind_and_fields() -> None:
    metadata = message((1, "made"), (11, message((1, "a"), (2, "b"))), (11, message((1, "c"), (2, "d"))))
    raw = message((1, metadata), (2, message((1, "key"), (2, "value"))))
    assert decode(body("v1", "ConfigMap", raw)) == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "made", "labels": {"a": "b", "c": "d"}},
        "data": {"key": "value"},
    }


def test_the_zero_of_a_pointer_is_a_value_and_that_of_another_field_is_none() -> None:
    assert job((1, 0), (10, 0), (9, "")) == {"parallelism": 0, "suspend": False, "completionMode": ""}
    metadata = decode(body("v1", "ConfigMap", message((1, message((1, "x"), (3, ""), (7, 0), (8, b""))))))["metadata"]
    assert metadata == {"name": "x"}


def test_negative_numbers_keep_their_sign() -> None:
    assert job((1, -3)) == {"parallelism": -3}


def test_inlined_fields_lie_beside_the_others() -> None:
    volume = message((1, "v"), (2, message((2, message((1, "Memory"))))))
    pod = decode(body("v1", "Pod", message((2, message((1, volume))))))
    assert pod["spec"]["volumes"] == [{"name": "v", "emptyDir": {"medium": "Memory"}}]


def test_an_empty_message_behind_a_pointer_stays() -> None:
    volume = message((1, "v"), (2, message((2, message()))))
    pod = decode(body("v1", "Pod", message((2, message((1, volume))))))
    assert pod["spec"]["volumes"] == [{"name": "v", "emptyDir": {}}]


def test_quantities_times_and_numbers_or_texts_are_told_as_in_json() -> None:
    limits = message((1, "cpu"), (2, message((1, "500m"))))
    container = message((1, "c"), (8, message((1, limits))))
    pod = decode(body("v1", "Pod", message((2, message((2, container))))))
    assert pod["spec"]["containers"] == [{"name": "c", "resources": {"limits": {"cpu": "500m"}}}]
    port = message((3, 80), (4, message((1, 1), (3, "http"))))
    other = message((3, 81), (4, message((1, 0), (2, 8081))))
    service = decode(body("v1", "Service", message((2, message((1, port), (1, other))))))
    assert [each["targetPort"] for each in service["spec"]["ports"]] == ["http", 8081]
    lease = decode(
        body("coordination.k8s.io/v1", "Lease", message((2, message((4, message((1, 1), (2, 500_000_000)))))))
    )
    assert lease["spec"] == {"renewTime": "1970-01-01T00:00:01.500000Z"}
    dated = decode(body("v1", "ConfigMap", message((1, message((9, message((1, 60))))))))
    assert dated["metadata"] == {"deletionTimestamp": "1970-01-01T00:01:00Z"}


def test_bytes_are_base64() -> None:
    secret = decode(body("v1", "Secret", message((2, message((1, "k"), (2, b"\x00\xff"))))))
    assert secret["data"] == {"k": "AP8="}


def test_extra_values_are_lists() -> None:
    spec = message((5, message((1, "scopes"), (2, message((1, "a"), (1, "b"))))))
    review = decode(body("authorization.k8s.io/v1", "SubjectAccessReview", message((2, spec))))
    assert review["spec"] == {"extra": {"scopes": ["a", "b"]}}


def test_options_are_read_whatever_version_they_name() -> None:
    options = decode(body("policy/v1", "DeleteOptions", message((1, 0), (4, "Background"))))
    assert (options["gracePeriodSeconds"], options["propagationPolicy"]) == (0, "Background")


def test_unknown_fields_are_passed_over() -> None:
    assert job((1, 2), (999, "x"), (998, 5)) == {"parallelism": 2}


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"{}",
        body("v1", "Nothing", b""),
        body("batch/v1", "Job", b"\x12\x7f"),
        body("batch/v1", "Job", b"\xff" * 11),
        body("batch/v1", "Job", b"\x13"),
        body("batch/v1", "Job", message((2, 5))),
    ],
)
def test_what_is_no_message_is_refused(bad: bytes) -> None:
    with pytest.raises(BadMessage):
        decode(bad)


@given(some.binary(max_size=64))
def test_garbage_never_does_anything_else(garbage: bytes) -> None:
    try:
        decode(body("v1", "Pod", garbage))
    except BadMessage:
        return


def test_the_tables_are_complete() -> None:
    used = {field.type for fields in MESSAGES.values() for field in fields.values()}
    assert used <= set(MESSAGES) | SCALARS
    assert {field.shape for field in MESSAGES["meta.v1.ObjectMeta"].values()} == {Shape.ONE, Shape.LIST, Shape.MAP}
