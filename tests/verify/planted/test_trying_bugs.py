"""A bug is tried in a copy: the first test that fails is named, the copy is whole again, and the tree is never touched."""

from pathlib import Path

import pytest

from verify.planted.bug import Bug
from verify.planted.main import EXIT_SURVIVED, EXIT_USAGE, main
from verify.planted.tree import SuiteError, Tree, copy_tree

HALF = "def half(amount):\n    return amount // 2\n"
TESTS = "from half import half\n\n\ndef test_half():\n    assert half(4) == 2\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "half.py").write_text(HALF, encoding="utf-8")
    (root / "test_half.py").write_text(TESTS, encoding="utf-8")
    return root


@pytest.fixture
def tree(root: Path, tmp_path: Path) -> Tree:
    return copy_tree(tmp_path / "copy", root)


def bug(new: str, *suites: str) -> Bug:
    return Bug("halves", "half.py", "return amount // 2", new, "It halves wrongly.", suites)


def test_the_test_that_fails_has_found_it(tree: Tree, root: Path, tmp_path: Path) -> None:
    verdict = tree.try_bug(bug("return amount // 3", "test_half.py"), 60)

    assert verdict.found_by == "test_half.py::test_half"
    assert (root / "half.py").read_text(encoding="utf-8") == HALF
    assert (tmp_path / "copy" / "half.py").read_text(encoding="utf-8") == HALF


def test_a_bug_that_no_test_sees_is_found_by_nobody_also_right_after_one_that_was(tree: Tree) -> None:
    # Both are as long as the line itself, so compiled code that was not thrown away would still be the one from before.
    seen, unseen = (tree.try_bug(bug(new, "test_half.py"), 60) for new in ("return amount // 3", "return amount >> 1"))

    assert seen.found_by
    assert unseen.found_by == ""


def test_a_suite_that_does_not_end_has_found_it(tree: Tree) -> None:
    verdict = tree.try_bug(bug("return half(amount) if __import__('time').sleep(600) else 2", "test_half.py"), 3)

    assert verdict.found_by == "test_half.py (no end in 3 s)"


def test_a_suite_that_is_not_there_says_nothing_about_a_bug(tree: Tree) -> None:
    with pytest.raises(SuiteError, match="test_other"):
        tree.try_bug(bug("return amount // 3", "test_other.py"), 60)


def test_a_name_that_no_bug_has_is_a_mistake_of_the_user(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list", "no-such-bug"]) == EXIT_USAGE
    assert capsys.readouterr().err == "planted bugs: no bug is called like no-such-bug\n"


def test_bugs_can_be_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list", "bind-names-no-uid"]) == 0
    assert "scheduler/binding/binder.py" in capsys.readouterr().out


def test_what_is_not_tried_in_time_is_not_counted_and_not_passed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bind-names-no-uid", "--no-sound-run", "--minutes", "1e-9"]) == EXIT_SURVIVED
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("bind-names-no-uid")
    assert first.endswith("NOT TRIED: the time was over")
    assert last.startswith("0 of 0 planted bugs were found, 1 were not tried, in ")
