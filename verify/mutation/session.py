"""One pytest session that judges mutants: all tests once as they are, which says what each reaches, then forks.

It is a plugin that takes the place of pytest's loop over the tests. An answer of a fork is the first test that failed there, or
nothing. Tests that fail when they are run a second time in one process are left out and named: they would notice everything.
"""

import random
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final, NamedTuple

import coverage
import pytest
from _pytest.runner import runtestprotocol

from verify.mutation.exchange import exchange
from verify.mutation.forks import in_forks
from verify.mutation.mutants import Mutant, MutatedFile

NOTHING: Final = "-"
"""The answer of a fork in which every test passed."""

_LEAST_SECONDS: Final = 20.0
_TIMES: Final = 10.0
"""A mutant may take so many times as long as its tests did; a machine that is busy is no killer."""


class Result(NamedTuple):
    """What became of a mutant.

    Attributes:
        mutant: which.
        tests: how many tests reach it.
        killed_by: the test that noticed it; empty when none did.
    """

    mutant: Mutant
    tests: int
    killed_by: str


class MutationSession:
    """The plugin.

    Args:
        files: with the mutants.
        chosen: which of them are judged.
        workers: forks at once.
        told: hears what goes on.
    """

    def __init__(
        self, files: Sequence[MutatedFile], chosen: Sequence[Mutant], *, workers: int, told: Callable[[str], None]
    ) -> None:
        self._files: Final = {file.mutants[0].file: file for file in files if file.mutants}
        self._chosen: Final = chosen
        self._workers: Final = workers
        self._told: Final = told
        self._seconds: dict[str, float] = {}
        self._failing: set[str] = set()
        self.results: list[Result] = []

    def pytest_configure(self) -> None:
        """Makes hypothesis repeatable, and keeps what it finds in mutants out of the folder of what it found in the code."""
        import hypothesis  # noqa: PLC0415 (pytest wants to be the first to import plugins)

        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
        hypothesis.settings.register_profile("mutation", database=None, derandomize=True, deadline=None, phases=phases)
        hypothesis.settings.load_profile("mutation")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """All of it, instead of running every test once."""
        begun = time.monotonic()
        items = [item for item in session.items if isinstance(item, pytest.Function)]
        reached = self._measure(items)
        self._told(f"{len(items)} tests in {time.monotonic() - begun:.0f} s, {len(self._failing)} of them fail")
        self._leave_out_unrepeatable(items)
        by_id = {item.nodeid: item for item in items if item.nodeid not in self._failing}
        plans = [(mutant, self._tests_of(mutant, reached, by_id)) for mutant in self._chosen]
        self.results = [Result(mutant, 0, "") for mutant, tests in plans if not tests]
        works = [((mutant, tests), self._limit(tests)) for mutant, tests in plans if tests]
        for (mutant, tests), answer in in_forks(works, self._judge, self._workers):
            killed_by = "" if answer == NOTHING else answer
            self.results.append(Result(mutant, len(tests), killed_by))
            if not killed_by:
                self._told(f"  {len(self.results)}/{len(plans)} survived: {mutant}")
        return True

    # --- before any mutant -------------------------------------------------------------------------------------------

    def _measure(self, items: Sequence[pytest.Function]) -> dict[str, dict[int, list[str]]]:
        """Runs everything once; by file and line the tests that come there."""
        measured = coverage.Coverage(data_file=None, include=[str(file.path) for file in self._files.values()])
        measured.start()
        try:
            for number, item in enumerate(items):
                measured.switch_context(item.nodeid)
                begun = time.monotonic()
                if not _passes(item, items[number + 1] if number + 1 < len(items) else None):
                    self._failing.add(item.nodeid)
                self._seconds[item.nodeid] = time.monotonic() - begun
        finally:
            measured.stop()
        data = measured.get_data()
        return {name: data.contexts_by_lineno(str(file.path)) for name, file in self._files.items()}

    def _leave_out_unrepeatable(self, items: Sequence[pytest.Function]) -> None:
        """Runs everything a second time, in forks and in the order in which mutants meet it."""
        left = [item for item in self._by_time(items) if item.nodeid not in self._failing]
        parts = [tuple(left[start :: self._workers]) for start in range(self._workers)]
        works = [(part, self._limit(part)) for part in parts if part]
        while works:
            again = []
            for part, answer in in_forks(works, _first_failing, self._workers):
                if answer != NOTHING:
                    if answer not in self._seconds:
                        raise RuntimeError(f"tests cannot be repeated in a fork: {answer}")
                    self._told(f"left out, it fails when it is repeated: {answer}")
                    self._failing.add(answer)
                    rest = tuple(item for item in part if item.nodeid not in self._failing)
                    again += [(rest, self._limit(rest))] if rest else []
            works = again

    # --- mutants -----------------------------------------------------------------------------------------------------

    def _tests_of(
        self, mutant: Mutant, reached: dict[str, dict[int, list[str]]], by_id: dict[str, pytest.Function]
    ) -> tuple[pytest.Function, ...]:
        first, last = mutant.lines
        lines = reached[mutant.file]
        names = {name for line in range(first, last + 1) for name in lines.get(line, ())}
        return tuple(self._by_time(by_id[name] for name in names if name in by_id))

    def _judge(self, work: tuple[Mutant, tuple[pytest.Function, ...]]) -> str:
        mutant, tests = work
        file = self._files[mutant.file]
        if not exchange(file.path, file.code(mutant)):
            return NOTHING
        return _first_failing(tests)

    def _by_time(self, items: Collection[pytest.Function] | Iterator[pytest.Function]) -> list[pytest.Function]:
        return sorted(items, key=lambda item: (self._seconds[item.nodeid], item.nodeid))

    def _limit(self, tests: Sequence[pytest.Function]) -> float:
        return _LEAST_SECONDS + _TIMES * sum(self._seconds[test.nodeid] for test in tests)


def _first_failing(tests: Sequence[pytest.Function]) -> str:
    random.seed(0)
    for test, following in zip(tests, (*tests[1:], None), strict=True):
        if not _passes(test, following):
            return test.nodeid
    return NOTHING


def _passes(item: pytest.Function, following: pytest.Function | None) -> bool:
    item._initrequest()  # noqa: SLF001 (a test that has run before needs its fixtures anew)
    return not any(report.failed for report in runtestprotocol(item, log=False, nextitem=following))
