"""The lines that tell the way of one gang have one id, and names of their own for what they carry."""

import io
import json
import logging
from collections.abc import Iterator

import pytest

from kube.process.logs import configure_logs
from kube.process.trace import LOGGER, trace


@pytest.fixture(autouse=True)
def loggers_as_before() -> Iterator[None]:
    root, own = logging.getLogger(), logging.getLogger(LOGGER)
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    own.setLevel(logging.NOTSET)


def told(trace_id: str = "uid-1") -> str:
    stream = io.StringIO()
    configure_logs("json", "scheduler", stream=stream)
    trace("decided", trace_id, namespace="ns", group="g\n", pods=4)
    return stream.getvalue()


def test_a_line_can_be_found_by_its_id_and_stage() -> None:
    record = json.loads(told())
    assert (record["trace_id"], record["stage"], record["pods"]) == ("uid-1", "decided", 4)
    assert record["pod_group"] == "g\\n"
    assert record["logger"] == LOGGER


def test_a_gang_that_nobody_owns_has_no_trace() -> None:
    assert told("") == ""


def test_it_can_be_switched_off() -> None:
    logging.getLogger(LOGGER).setLevel(logging.WARNING)
    assert told() == ""
