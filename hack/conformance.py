"""Runs tests/conformance against a real control plane, once per group API, and prints one table of both runs.

Both run at the same time, each with two workers that have a control plane of their own each: tests mostly wait. Each line says
whose it is.

The servers are those in KUBEBUILDER_ASSETS, or the ones that hack/controlplane builds when Go is there: Kubernetes 1.37, or with
KUBERNETES_VERSION=1.30 the oldest that is supported. That one is run with our own group API alone and judged by fewer suites
(hack/kubernetes_versions.py); others can be named after `--`. With `--cluster embedded` the same tests run once against the
embedded cluster, which needs nothing but Python. The exit code is 0 when everything passed, 1 when a test failed or was not run
in either, 2 when there is no control plane to run against.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import IO
from xml.etree import ElementTree

from hack.kubernetes_versions import BUILT_IN_SINCE, NEWEST, minor_of, suites

REPOSITORY = Path(__file__).resolve().parents[1]
GROUP_APIS = ("own", "built-in")
REAL, EMBEDDED = CLUSTERS = ("real", "embedded")
SERVERS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
NOT_RUN = "-"
FAILURES = ("FAILED", "ERROR")
EXCERPT_LINES = 3
EXCERPT_CHARACTERS = 300
PYTEST = (sys.executable, "-m", "pytest")


@dataclass(frozen=True, slots=True)
class Result:
    """How one test ended in one run; `reason` is what pytest's report says of it where it did not pass."""

    verdict: str
    seconds: float
    reason: str = ""


def main() -> int:
    arguments = parse_arguments(sys.argv[1:])
    is_embedded = arguments.cluster == EMBEDDED
    environment = dict(os.environ)
    minor = NEWEST
    try:
        if not is_embedded:
            assets = find_assets(os.environ)
            environment["KUBEBUILDER_ASSETS"] = str(assets)
            minor = minor_of(assets)
        apis = group_apis(arguments, minor)
    except LookupError as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 2
    begin = time.monotonic()
    extra = [*(["--slow"] if arguments.slow else []), *arguments.pytest]
    if not any(argument.startswith("tests/") for argument in extra):
        extra += suites(minor)
    # A file is one worker's: some of its tests share what they have made.
    workers = ["-n", str(arguments.workers), "--dist", "loadfile"] if arguments.workers else []
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        reports = {api: Path(folder) / f"{api}.xml" for api in apis}
        commands = {
            api: [*PYTEST, *workers, "--cluster", arguments.cluster, "--group-api", api, f"--junitxml={report}", *extra]
            for api, report in reports.items()
        }
        codes = run_side_by_side(commands, environment)
        titles = {api: title(api, is_embedded, minor) for api in apis}
        runs = {titles[api]: read_report(report) for api, report in reports.items()}
    print("\n".join([*table(runs), *failures(runs)]))
    print(f"{time.monotonic() - begin:.0f} s in all")
    return 0 if not any(codes.values()) else 1


def title(api: str, is_embedded: bool, minor: int) -> str:
    """What stands above a run's column."""
    return f"{api}, {EMBEDDED}" if is_embedded else api if minor == NEWEST else f"{api}, 1.{minor}"


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run the conformance tests once per group API.")
    parser.add_argument("--cluster", choices=CLUSTERS, default=REAL, help="which cluster (default: real)")
    parser.add_argument("--group-api", choices=GROUP_APIS, help="only this group API")
    parser.add_argument("--slow", action="store_true", help="also the tests that take minutes each")
    parser.add_argument(
        "--workers",
        type=int,
        default=2,
        metavar="N",
        help="control planes of each run; 0: one, in this order (default: 2)",
    )
    parser.add_argument("pytest", nargs="*", metavar="PYTEST_ARGUMENT", help="after --: handed on, such as -k crash")
    parsed = parser.parse_args(arguments)
    if parsed.cluster == EMBEDDED and parsed.group_api == "built-in":
        parser.error("the embedded cluster serves our own group API only")
    return parsed


def group_apis(arguments: argparse.Namespace, minor: int = NEWEST) -> Sequence[str]:
    """The group APIs to run with; LookupError when these servers lack the one that is asked for."""
    if arguments.cluster == EMBEDDED:
        return ("own",)
    if minor < BUILT_IN_SINCE:
        if arguments.group_api == "built-in":
            raise LookupError(f"Kubernetes 1.{minor} has no built-in group API; it came with 1.{BUILT_IN_SINCE}")
        return ("own",)
    return (arguments.group_api,) if arguments.group_api else GROUP_APIS


def find_assets(environment: Mapping[str, str]) -> Path:
    """The folder with the servers; LookupError with one line for people when there is none."""
    named = environment.get("KUBEBUILDER_ASSETS")
    if named:
        missing = [name for name in SERVERS if not (Path(named) / name).exists()]
        if missing:
            raise LookupError(f"KUBEBUILDER_ASSETS={named} lacks {', '.join(missing)}")
        return Path(named)
    if shutil.which("go") is None:
        raise LookupError(
            "set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver, or install Go to build them"
        )
    built = subprocess.run([REPOSITORY / "hack/controlplane/ensure"], stdout=subprocess.PIPE, text=True, check=False)
    if built.returncode:
        raise LookupError("hack/controlplane/ensure could not build the servers; its output is above")
    return Path(built.stdout.strip())


def run_side_by_side(commands: Mapping[str, Sequence[str]], environment: Mapping[str, str]) -> dict[str, int]:
    """Runs each command by its name until all have ended; their exit codes. An interrupt reaches them all and is waited for."""
    processes = {
        name: subprocess.Popen(
            command, cwd=REPOSITORY, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        for name, command in commands.items()
    }
    width = max(map(len, processes))
    readers = [Thread(target=print_lines, args=(f"{name:<{width}} | ", it.stdout)) for name, it in processes.items()]
    for reader in readers:
        reader.start()
    try:
        return {name: process.wait() for name, process in processes.items()}
    except KeyboardInterrupt:
        # The same signal has reached the processes, which still have to end their servers.
        return {name: process.wait() for name, process in processes.items()}
    finally:
        for reader in readers:
            reader.join()


def print_lines(prefix: str, output: IO[str] | None) -> None:
    assert output is not None
    with output:
        for line in output:
            print(f"{prefix}{line}", end="", flush=True)


def read_report(path: Path) -> dict[str, Result]:
    """The results of a run by test; empty when the run did not get as far as a report."""
    if not path.exists():
        return {}
    results: dict[str, Result] = {}
    for case in ElementTree.parse(path).iter("testcase"):
        test = f"{case.get('classname', '').removeprefix('tests.conformance.')}: {case.get('name', '')}"
        known = results.get(test)
        results[test] = result_of(case) if known is None or known.verdict == "passed" else known
    return results


def result_of(case: ElementTree.Element) -> Result:
    seconds = float(case.get("time", 0))
    for tag, verdict in (("failure", "FAILED"), ("error", "ERROR"), ("skipped", "skipped")):
        found = case.find(tag)
        if found is not None:
            return Result(verdict, seconds, found.text or str(found.get("message")))
    return Result("passed", seconds)


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
        if result.verdict in FAILURES
        for line in (f"{api}: {result.verdict} {test}", *excerpt(result.reason))
    ]


def excerpt(reason: str) -> list[str]:
    """The lines of a report that pytest marks as the error, or else its first ones, and the last, which is the place."""
    lines = [line.rstrip() for line in reason.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("E  ")] or lines
    shown = [*errors[:EXCERPT_LINES], *(line for line in lines[-1:] if line not in errors[:EXCERPT_LINES])]
    return ["    " + line.removeprefix("E").strip()[:EXCERPT_CHARACTERS] for line in shown]


def row(test: str, verdicts: Sequence[str], seconds: str, width: int) -> str:
    return f"{test:<{width}}" + "".join(f"  {verdict:<9}" for verdict in verdicts) + f"  {seconds}"


if __name__ == "__main__":
    sys.exit(main())
