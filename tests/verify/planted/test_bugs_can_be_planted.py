"""Every planted bug still has its place: its line is there once, the new one is Python, and the tests it names exist."""

from collections import Counter

import pytest

from verify.planted.bug import Bug, BugError, all_bugs, planted
from verify.planted.tree import ROOT, SIMULATE

SOURCE = "def half(amount):\n    if amount < 0:\n        return 0\n    return amount // 2\n"
BUGS = all_bugs()


def bug(old: str, new: str, *, after: str = "") -> Bug:
    return Bug("halves", "half.py", old, new, "It halves wrongly.", ("tests/test_half.py",), after)


@pytest.mark.parametrize("one", BUGS, ids=lambda one: one.name)
def test_the_bug_has_its_place(one: Bug) -> None:
    assert planted(one, (ROOT / one.file).read_text(encoding="utf-8"))


def test_there_are_forty_and_every_part_has_some() -> None:
    parts = Counter(one.file.partition("/")[0] for one in BUGS)

    assert len(BUGS) >= 40
    assert all(parts[part] >= 2 for part in ("api", "controllers", "kube", "scheduler", "webhooks"))


def test_the_suites_that_are_named_exist() -> None:
    suites = {suite for one in BUGS for suite in one.suites if not suite.startswith(SIMULATE)}

    assert [suite for suite in sorted(suites) if not (ROOT / suite.partition("::")[0]).exists()] == []


def test_every_bug_says_what_is_wrong_in_a_sentence_of_its_own() -> None:
    sentences = [one.wrong for one in BUGS]

    assert all(sentence.endswith(".") for sentence in sentences)
    assert len(set(sentences)) == len(sentences)


def test_the_line_keeps_its_indentation() -> None:
    changed = planted(bug("return amount // 2", "return amount // 3"), SOURCE)

    assert changed == SOURCE.replace("// 2", "// 3")


def test_a_line_that_is_gone_is_an_error() -> None:
    with pytest.raises(BugError, match="0 times: return amount / 2"):
        planted(bug("return amount / 2", "return amount"), SOURCE)


def test_a_line_that_is_there_twice_is_an_error_unless_one_of_them_is_meant() -> None:
    twice = SOURCE + SOURCE.replace("half", "other_half")

    with pytest.raises(BugError, match="2 times"):
        planted(bug("return 0", "return 1"), twice)
    changed = planted(bug("return 0", "return 1", after="def other_half(amount):"), twice)

    assert changed == SOURCE + SOURCE.replace("half", "other_half").replace("return 0", "return 1")


def test_a_bug_that_changes_nothing_is_an_error() -> None:
    with pytest.raises(BugError, match="says the same"):
        planted(bug("return amount // 2", "return (amount // 2)"), SOURCE)


def test_a_bug_that_is_no_python_is_an_error() -> None:
    with pytest.raises(BugError, match="no Python"):
        planted(bug("return amount // 2", "return amount //"), SOURCE)
