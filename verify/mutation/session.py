"""One pytest session that judges mutants: all tests once as they are, which says what each reaches, then forks.

It is a plugin that takes the place of pytest's loop over the tests. An answer of a fork is the first test that failed there, or
nothing. Tests that fail when they are run a second time in one process are left out and named: they would notice everything. So
all that ran until a mutant was noticed is run once more without a mutant; what noticed nothing need not be.
"""

import random
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from math import inf
from typing import Final, NamedTuple

import coverage
import pytest
from _pytest.runner import runtestprotocol

from verify.mutation.exchange import exchange
from verify.mutation.forks import in_forks
from verify.mutation.mutants import Mutant, MutatedFile

NOTHING: Final = "-"
"""The answer of a fork in which every test passed."""

MOST_EXAMPLES: Final = 50
"""Examples of a property that a mutant meets at most, however many its test asks for: a survivor meets every test that there is."""
_SETTINGS: Final = "_hypothesis_internal_use_settings"
"""Where hypothesis keeps them on a test; there is no other way to change them after the test was read."""
_LEAST_CPU_SECONDS: Final = 10.0
_TIMES: Final = 10.0
"""A mutant may take so many times as much of a processor as its tests did; a machine that is busy is no killer."""
_LEAST_SECONDS: Final = 240.0
"""A mutant that waits for what does not come takes no processor: it ends after this, and as many times as long as its tests."""


Plan = tuple[Mutant, tuple[pytest.Function, ...]]
"""A mutant with the tests that it is to meet, the fastest first."""


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
        most_seconds: of the tests that reach a mutant the fastest are asked, as many as took so much of a processor together; the
            others are not, so that a score may only be too low.
    """

    def __init__(
        self,
        files: Sequence[MutatedFile],
        chosen: Sequence[Mutant],
        *,
        workers: int,
        told: Callable[[str], None],
        most_seconds: float = inf,
    ) -> None:
        self._files: Final = {file.mutants[0].file: file for file in files if file.mutants}
        self._chosen: Final = chosen
        self._workers: Final = workers
        self._told: Final = told
        self._most_seconds: Final = most_seconds
        self._seconds: dict[str, float] = {}
        """How long each test took; on a machine that is busy that says how long it may take."""
        self._cpu_seconds: dict[str, float] = {}
        """How much of a processor each test took; that is the same on a machine that is busy."""
        self._failing: set[str] = set()
        self._repeated: set[str] = set()
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
        for item in items:
            limit_examples(item.obj)
        reached = self._measure(items)
        self._told(f"{len(items)} tests in {time.monotonic() - begun:.0f} s, {len(self._failing)} of them fail")
        by_id = {item.nodeid: item for item in items if item.nodeid not in self._failing}
        left = [(mutant, self._tests_of(mutant, reached, by_id)) for mutant in self._chosen]
        while left:
            self.results += [Result(mutant, 0, "") for mutant, tests in left if not tests]
            judged = self._judged([plan for plan in left if plan[1]])
            met = {test.nodeid: test for (_, tests), killed_by in judged for test in _up_to(tests, killed_by)}
            self._leave_out_unrepeatable(met.values())
            self.results += [
                Result(mutant, len(tests), killed_by)
                for (mutant, tests), killed_by in judged
                if killed_by not in self._failing
            ]
            left = [
                (mutant, tuple(test for test in tests if test.nodeid not in self._failing))
                for (mutant, tests), killed_by in judged
                if killed_by in self._failing
            ]
        return True

    # --- before any mutant -------------------------------------------------------------------------------------------

    def _measure(self, items: Sequence[pytest.Function]) -> dict[str, dict[int, list[str]]]:
        """Runs everything once; by file and line the tests that come there."""
        measured = coverage.Coverage(data_file=None, include=[str(file.path) for file in self._files.values()])
        measured.start()
        try:
            for number, item in enumerate(items):
                measured.switch_context(item.nodeid)
                begun, cpu_begun = time.monotonic(), time.process_time()
                if not _passes(item, items[number + 1] if number + 1 < len(items) else None):
                    self._failing.add(item.nodeid)
                self._seconds[item.nodeid] = time.monotonic() - begun
                self._cpu_seconds[item.nodeid] = time.process_time() - cpu_begun
        finally:
            measured.stop()
        data = measured.get_data()
        return {name: data.contexts_by_lineno(str(file.path)) for name, file in self._files.items()}

    def _leave_out_unrepeatable(self, items: Iterable[pytest.Function]) -> None:
        """Runs these a second time, in forks and in the order in which mutants meet them."""
        left = self._by_time(item for item in items if item.nodeid not in self._repeated)
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
        self._repeated.update(item.nodeid for item in left)

    # --- mutants -----------------------------------------------------------------------------------------------------

    def _tests_of(
        self, mutant: Mutant, reached: dict[str, dict[int, list[str]]], by_id: dict[str, pytest.Function]
    ) -> tuple[pytest.Function, ...]:
        first, last = mutant.lines
        lines = reached[mutant.file]
        names = {name for line in range(first, last + 1) for name in lines.get(line, ())}
        found = self._by_time(by_id[name] for name in names if name in by_id)
        ends = accumulate(self._cpu_seconds[test.nodeid] for test in found)
        return tuple(
            test for test, end in zip(found, ends, strict=True) if test is found[0] or end <= self._most_seconds
        )

    def _judged(self, plans: Sequence[Plan]) -> list[tuple[Plan, str]]:
        """Each plan with the test that noticed its mutant; empty when none did."""
        found: list[tuple[Plan, str]] = []
        for plan, answer in in_forks([(plan, self._limit(plan[1])) for plan in plans], self._judge, self._workers):
            found.append((plan, "" if answer == NOTHING else answer))
            if answer == NOTHING:
                self._told(f"  {len(found)}/{len(plans)} survived: {plan[0]}")
        return found

    def _judge(self, plan: Plan) -> str:
        mutant, tests = plan
        file = self._files[mutant.file]
        if not exchange(file.path, file.code(mutant)):
            return NOTHING
        # What comes then ends this process.
        signal.setitimer(signal.ITIMER_PROF, _LEAST_CPU_SECONDS + _TIMES * self._cpu_seconds_of(tests))
        return _first_failing(tests)

    def _by_time(self, items: Iterable[pytest.Function]) -> list[pytest.Function]:
        return sorted(items, key=lambda item: (self._cpu_seconds[item.nodeid], item.nodeid))

    def _cpu_seconds_of(self, tests: Sequence[pytest.Function]) -> float:
        return sum(self._cpu_seconds[test.nodeid] for test in tests)

    def _limit(self, tests: Sequence[pytest.Function]) -> float:
        return _LEAST_SECONDS + _TIMES * sum(self._seconds[test.nodeid] for test in tests)


def _up_to(tests: Sequence[pytest.Function], killed_by: str) -> Sequence[pytest.Function]:
    """The tests that were run until one noticed; none when none did, all when the fork ended in another way."""
    if not killed_by:
        return ()
    last = next((at for at, test in enumerate(tests) if test.nodeid == killed_by), len(tests))
    return tests[: last + 1]


def limit_examples(test: Callable[..., object]) -> None:
    """Makes a property test content with `MOST_EXAMPLES`; others stay as they are."""
    import hypothesis  # noqa: PLC0415 (as above)

    function = getattr(test, "__func__", test)
    asked = getattr(function, _SETTINGS, None)
    if isinstance(asked, hypothesis.settings) and asked.max_examples > MOST_EXAMPLES:
        setattr(function, _SETTINGS, hypothesis.settings(asked, max_examples=MOST_EXAMPLES))


def _first_failing(tests: Sequence[pytest.Function]) -> str:
    random.seed(0)
    for test, following in zip(tests, (*tests[1:], None), strict=True):
        if not _passes(test, following):
            return test.nodeid
    return NOTHING


def _passes(item: pytest.Function, following: pytest.Function | None) -> bool:
    item._initrequest()  # noqa: SLF001 (a test that has run before needs its fixtures anew)
    return not any(report.failed for report in runtestprotocol(item, log=False, nextitem=following))
