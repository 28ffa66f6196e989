"""Documents become slim records, and a misfit costs only itself."""

import gc
import json

import msgspec
import pytest

from api.meta import NO_METADATA, Metadata
from kube.cache.decoding import Converted, ListDecoder, cyclic_gc_paused, event_of, head_of
from tests.kube.cache.builders import Thing, event, page, thing


class Slim(msgspec.Struct):
    metadata: Metadata = NO_METADATA
    node: str = ""


def slim(item: Thing) -> Slim:
    return Slim(item.metadata, item.spec.node_name)


def encoded(document: object) -> bytes:
    return json.dumps(document).encode()


def test_a_page_becomes_records_and_its_version() -> None:
    decoded = ListDecoder(Thing).page(encoded(page(9, thing("a", 1, nodeName="n"), thing("b", 2))))
    assert [item.metadata.name for item in decoded.items] == ["a", "b"]
    assert decoded.items[0].spec.node_name == "n"
    assert (decoded.resource_version, decoded.misfits) == ("9", [])


def test_a_misfit_is_reported_and_the_others_are_kept() -> None:
    decoded = ListDecoder(Thing).page(encoded(page(9, thing("a", 1), thing("b", 2, replicas="x"), thing("c", 3))))
    assert [item.metadata.name for item in decoded.items] == ["a", "c"]
    ((metadata, reason),) = decoded.misfits
    assert metadata.name == "b"
    assert "replicas" in reason


@pytest.mark.parametrize("document", [b"", b"{", b"[]", b'"x"', b'{"items": []}', b'{"metadata": 3}'])
def test_what_is_no_list_is_an_error(document: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        ListDecoder(Thing).page(document)


def test_records_can_be_converted_into_slimmer_ones() -> None:
    decoder = Converted(ListDecoder(Thing), slim)
    decoded = decoder.page(encoded(page(9, thing("a", 1, nodeName="n"), thing("b", 2, replicas="x"))))
    assert [(item.metadata.name, item.node) for item in decoded.items] == [("a", "n")]
    assert [metadata.name for metadata, _ in decoded.misfits] == ["b"]
    line = event_of(encoded(event("ADDED", thing("c", 3, nodeName="m"))))
    assert decoder.item(line.object).node == "m"


def test_the_metadata_of_anything_can_be_asked_for() -> None:
    assert head_of(msgspec.Raw(encoded(thing("a", 1)))).name == "a"
    for nonsense in (b"3", b"{", b'{"metadata": {"labels": 7}}'):
        assert head_of(msgspec.Raw(nonsense)) == NO_METADATA


def test_the_garbage_collector_is_on_again_after_the_pause_and_stays_off_if_it_was() -> None:
    assert gc.isenabled()
    with pytest.raises(msgspec.MsgspecError):
        ListDecoder(Thing).page(b"{")
    assert gc.isenabled()
    with cyclic_gc_paused():
        with cyclic_gc_paused():
            pass
        assert not gc.isenabled()
