"""Log records: one line each, whatever is in them."""

import io
import json
import logging
import re
import warnings
from collections.abc import Iterator
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kube.process.logs import MAX_RECORD_LENGTH, configure_logs, escaped


@pytest.fixture(autouse=True)
def root_logger_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def logged(log_format: Literal["text", "json"], message: str, *, level: str = "info", failing: bool = False) -> str:
    stream = io.StringIO()
    configure_logs(log_format, "scheduler", level=level, stream=stream)
    logger = logging.getLogger("tutti.test")
    if failing:
        try:
            int("bad\nvalue")
        except ValueError:
            logger.exception("%s", message)
    else:
        logger.info("%s", message)
    return stream.getvalue()


def test_a_text_record_is_for_people() -> None:
    line = logged("text", "placed 8 pods")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z INFO    scheduler: placed 8 pods\n", line)


def test_a_json_record_is_one_object() -> None:
    record = json.loads(logged("json", "placed 8 pods"))
    assert record.pop("time").endswith("Z")
    assert record == {"level": "INFO", "component": "scheduler", "logger": "tutti.test", "message": "placed 8 pods"}


@settings(deadline=None)
@given(st.text())
def test_whatever_a_user_names_things_a_record_stays_one_line(text: str) -> None:
    shown = escaped(text)
    assert shown.isprintable()
    assert len(shown.splitlines()) <= 1


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_an_error_with_its_traceback_is_one_line(log_format: Literal["text", "json"]) -> None:
    output = logged(log_format, "first\nsecond\x1b[31m", failing=True)
    assert output.count("\n") == 1
    assert "\x1b" not in output
    assert "ValueError" in output


def test_a_huge_message_is_cut() -> None:
    assert len(escaped("x" * 100_000)) == MAX_RECORD_LENGTH
    assert len(escaped("\x00" * 100_000)) == MAX_RECORD_LENGTH


def test_less_important_records_are_left_out() -> None:
    assert logged("text", "hello", level="warning") == ""


def test_frameworks_are_quiet() -> None:
    stream = io.StringIO()
    configure_logs("text", "controllers", stream=stream)
    logging.getLogger("kopf.objects").info("handler succeeded")
    assert stream.getvalue() == ""


def test_configuring_twice_does_not_log_twice() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        configure_logs("text", "a", stream=io.StringIO())
        assert logged("text", "once").count("once") == 1
