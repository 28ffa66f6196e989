"""docs/jobsets.md: its JobSet has the groups that its table says."""

import re
from typing import Any

import msgspec
import pytest
import yaml

from api.constants import SCOPE
from api.jobset import JobSet
from api.parents.jobset import JobSetIntent, job_set_intent
from tests.docs.markdown import DOCS, blocks

TEXT = (DOCS / "jobsets.md").read_text(encoding="utf-8")
COUNTS = {"one": 1, "two": 2}


def shown() -> dict[str, Any]:
    """The JobSet of the page."""
    body: dict[str, Any] = yaml.safe_load(next(block.text for block in blocks(TEXT) if block.language == "yaml"))
    return body


def rows() -> list[tuple[str, list[int]]]:
    """The scope of each row, empty for nothing said, and how many pods each group has."""
    found = re.findall(r"^\| (`[a-z-]+`|nothing said) \|.*\| (one|two) of (\d+)\b[^|]*\|$", TEXT, re.MULTILINE)
    return [(scope.strip("`").replace("nothing said", ""), [int(pods)] * COUNTS[count]) for scope, count, pods in found]


def test_the_table_has_a_row_for_each_scope_and_one_for_none() -> None:
    assert [scope for scope, _ in rows()] == ["set", "replicated-job", "job", ""]


@pytest.mark.parametrize(("scope", "pods"), rows())
def test_its_job_set_has_the_groups_of_the_row(scope: str, pods: list[int]) -> None:
    body = shown()
    body["metadata"]["annotations"] = {SCOPE: scope} if scope else {}
    intent = job_set_intent(msgspec.convert(body, JobSet))
    assert isinstance(intent, JobSetIntent)
    assert [unit.intent.min_count for unit in intent.units] == pods
