"""The fields that the server knows are all that Kubernetes has: an unknown one would be dropped from users' objects."""

import pytest

from localcluster.apiserver.discovery.openapi.compact import Type
from localcluster.apiserver.discovery.openapi.fields import TYPES
from localcluster.apiserver.kinds import typed
from localcluster.apiserver.protobuf.messages import MESSAGES

OF_EVERY_KIND = {"apiVersion", "kind"}


def message_of(described: Type) -> str:
    """The message that is the same type on the wire."""
    package = described.package.removeprefix("io.k8s.api.").removeprefix("io.k8s.apimachinery.pkg.apis.")
    return f"{package}.{described.name}"


def fields_of(message: str) -> set[str]:
    """The names of a message's fields; those of inlined ones appear in their place."""
    found: set[str] = set()
    for field in MESSAGES[message].values():
        found |= fields_of(field.type) if field.inlined else {field.name}
    return found


COMPARABLE = [each for each in TYPES.all() if message_of(each) in MESSAGES]


def test_nearly_all_described_types_can_be_compared() -> None:
    assert {each.name for each in TYPES.all()} - {each.name for each in COMPARABLE} == {"ListMeta"}


@pytest.mark.parametrize("described", COMPARABLE, ids=lambda described: described.name)
def test_a_type_has_exactly_the_fields_of_kubernetes(described: Type) -> None:
    known = set(typed._rules(described.name)) | typed._GATED.get(described.name, frozenset())
    assert known - OF_EVERY_KIND == fields_of(message_of(described)) - OF_EVERY_KIND
