"""What the shell proposes behind `kubectl gang`."""

from collections.abc import Sequence

import pytest

from views.kubectl.completion import proposals


def gangs(words: Sequence[str]) -> list[str]:
    return ["job/b", "job/a", "lws/c"] if "other" not in words else ["job/there"]


@pytest.mark.parametrize(
    ("words", "proposed"),
    [
        ([], ["list", "tree", "watch", "why", "fit", ":4"]),
        (["w"], ["watch", "why", ":4"]),
        (["tree", ""], ["job/a", "job/b", "lws/c", ":4"]),
        (["why", "job/"], ["job/a", "job/b", ":4"]),
        (["tree", "-n", "other", ""], ["job/there", ":4"]),
        (["tree", "job/a", ""], [":4"]),
        (["list", "-o", ""], ["wide", "json", "name", ":4"]),
        (["list", "--n"], ["--namespace", ":4"]),
        (["list", "-n", ""], [":4"]),
        (["list", ""], [":4"]),
        (["fit", "-f", ""], [":0"]),
    ],
)
def test_proposals_fit_what_was_typed(words: list[str], proposed: list[str]) -> None:
    assert proposals(words, gangs) == proposed
