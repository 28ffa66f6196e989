"""The embedded API server answers as a real one does, but for the differences that docs/localcluster.md lists."""

from collections.abc import Iterable

import pytest

from tests.parity import normal
from tests.parity.conftest import Answers
from tests.parity.differences import DOCUMENT, Difference, Known, differences, known, unknown
from tests.parity.play import missing_files
from tests.parity.record import KUBECTL, recorded
from tests.parity.scripts import SCRIPTS

NAMES = [*SCRIPTS, KUBECTL]


def told(found: list[Difference]) -> str:
    """The differences, for people."""
    return "\n".join(map(str, found))


@pytest.mark.parametrize("name", NAMES)
def test_the_embedded_server_answers_as_a_real_one_was_recorded_to(embedded_answers: Answers, name: str) -> None:
    undocumented = unknown(differences(name, recorded(name), embedded_answers(name)), known())
    assert not undocumented, told(undocumented)


@pytest.mark.conformance
@pytest.mark.parametrize("name", NAMES)
def test_the_recording_is_what_a_real_server_answers(real_answers: Answers, name: str) -> None:
    found = differences(name, recorded(name), real_answers(name))
    assert not found, told(found)


def stale(rows: list[Known], names: Iterable[str], answers: Answers) -> list[Known]:
    """The rows that speak of no difference in the answers to these scripts."""
    found = [each for name in names for each in differences(name, recorded(name), answers(name))]
    return [row for row in rows if not any(row.covers(each) for each in found)]


def test_every_documented_difference_is_there(embedded_answers: Answers) -> None:
    playable = [name for name, script in SCRIPTS.items() if not missing_files(script)]
    assert stale([row for row in known() if not row.requests.startswith(KUBECTL)], playable, embedded_answers) == []


def test_every_documented_difference_of_kubectl_is_there(embedded_answers: Answers) -> None:
    assert stale([row for row in known() if row.requests.startswith(KUBECTL)], [KUBECTL], embedded_answers) == []


def test_what_is_not_compared_is_documented() -> None:
    section = DOCUMENT.read_text().partition("## Not compared")[2].partition("\n## ")[0]
    assert not [name for name in normal.DROPPED if f"`{name}`" not in section]
