"""What pytest's reports of the conformance tests say: the table of all runs, and shortly what went wrong in each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree

PASSED, FAILED, ERROR, SKIPPED = "passed", "FAILED", "ERROR", "skipped"
FORGIVEN = "2nd time"
"""It failed among all others, and passed alone."""

NOT_RUN = "-"
ORDER = (SKIPPED, PASSED, FORGIVEN, FAILED, ERROR)
"""Of two verdicts about one test the later one counts: an error is what a broken promise is reported as, whatever else failed."""

WENT_WRONG = (FAILED, ERROR)
FIRST_LINES, LAST_LINES = 3, 5
EXCERPT_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Result:
    """How one test ended in one run; `reason` is what pytest's report says of it where it did not pass."""

    verdict: str
    seconds: float
    reason: str = ""


def read_report(path: Path) -> dict[str, Result]:
    """The results of a run by test; empty when the run did not get as far as a report."""
    if not path.exists():
        return {}
    results: dict[str, Result] = {}
    for case in ElementTree.parse(path).iter("testcase"):
        test = f"{case.get('classname', '').removeprefix('tests.conformance.')}: {case.get('name', '')}"
        found, known = result_of(case), results.get(test)
        if known is None or ORDER.index(found.verdict) > ORDER.index(known.verdict):
            results[test] = found
    return results


def result_of(case: ElementTree.Element) -> Result:
    seconds = float(case.get("time", 0))
    for tag, verdict in (("failure", FAILED), ("error", ERROR), ("skipped", SKIPPED)):
        found = case.find(tag)
        if found is not None:
            return Result(verdict, seconds, found.text or str(found.get("message")))
    return Result(PASSED, seconds)


def to_run_again(results: Mapping[str, Result], *, at_most: int) -> list[str]:
    """What pytest calls the tests that failed; none when there are too many for chance, or when a promise was broken."""
    wrong = {test: result.verdict for test, result in results.items() if result.verdict in WENT_WRONG}
    if len(wrong) > at_most or ERROR in wrong.values():
        return []
    return [node_id(test) for test in sorted(wrong)]


def node_id(test: str) -> str:
    """What pytest calls it."""
    module, _, name = test.partition(": ")
    return f"tests/conformance/{module.replace('.', '/')}.py::{name}"


def forgiven(first: Mapping[str, Result], second: Mapping[str, Result]) -> dict[str, Result]:
    """The first run's results, with the verdict of the second where that is better; the first one's reason is kept."""
    return {
        test: replace(result, verdict=FORGIVEN)
        if result.verdict in WENT_WRONG and second.get(test, result).verdict == PASSED
        else result
        for test, result in first.items()
    }


def table(runs: Mapping[str, Mapping[str, Result]]) -> list[str]:
    """The results of all runs, one line per test, and one line of sums."""
    tests = sorted({test for results in runs.values() for test in results})
    width = max((len(test) for test in tests), default=4)
    lines = ["", row("test", list(runs), "seconds", width), "-" * (width + 11 * len(runs) + 9)]
    for test in tests:
        ended = [run.get(test, Result(NOT_RUN, 0.0)) for run in runs.values()]
        seconds = "/".join(f"{result.seconds:.0f}" for result in ended)
        lines.append(row(test, [result.verdict for result in ended], seconds, width))
    for api, results in runs.items():
        counts: dict[str, int] = {}
        for result in results.values():
            counts[result.verdict] = counts.get(result.verdict, 0) + 1
        lines.append(f"{api}: " + (", ".join(f"{n} {v}" for v, n in sorted(counts.items())) or "nothing was run"))
    return lines


def failures(runs: Mapping[str, Mapping[str, Result]]) -> list[str]:
    """What went wrong in each run, shortly: where a log is cut, its end is what is left of it."""
    return [
        line
        for api, results in runs.items()
        for test, result in sorted(results.items())
        if result.verdict in (*WENT_WRONG, FORGIVEN)
        for line in (f"{api}: {result.verdict} {test}", *excerpt(result.reason))
    ]


def excerpt(reason: str) -> list[str]:
    """The lines of a report that pytest marks as the error, its first and last ones, and the last of all, which is the place.

    An error may end with the log of a process, which says why only at its end.
    """
    lines = [line.rstrip() for line in reason.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("E  ")] or lines
    told = errors[:FIRST_LINES] + errors[FIRST_LINES:][-LAST_LINES:]
    shown = [*told, *(line for line in lines[-1:] if line not in told)]
    return ["    " + line.removeprefix("E").strip()[:EXCERPT_CHARACTERS] for line in shown]


def row(test: str, verdicts: Sequence[str], seconds: str, width: int) -> str:
    return f"{test:<{width}}" + "".join(f"  {verdict:<9}" for verdict in verdicts) + f"  {seconds}"
