"""Runs tests/conformance against a real control plane, once per group API, and prints one table of both runs.

Both run at the same time, with workers that have a control plane of their own each. Our own group API has more tests, so it has
two of the three, and both end at about the same time. Each line says whose it is. With `--in-turn` one ends before the other
begins, for tests that measure times.

The servers are those in KUBEBUILDER_ASSETS, or the ones that hack/controlplane builds when Go is there: Kubernetes 1.37, or with
KUBERNETES_VERSION=1.30 the oldest that is supported, with 1.38 an alpha of the next. The oldest is run with our own group API alone
and judged by fewer suites (hack/kubernetes_versions.py); others can be named after `--`. With `--cluster embedded` the same tests
run once against the embedded cluster, which needs nothing but Python. With `--again` the few that failed are run once more, alone;
the table and the end say so. The exit code is 0 when everything passed, 1 when a test failed or was not run in either, 2 when there
is no control plane to run against.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Thread
from typing import IO, NamedTuple

from hack.conformance_report import WENT_WRONG, Result, failures, forgiven, read_report, table, to_run_again
from hack.kubernetes_versions import suites
from verify.clusters.versions import BUILT_IN_SINCE, NEWEST, minor_of

REPOSITORY = Path(__file__).resolve().parents[1]
GROUP_APIS = ("own", "built-in")
REAL, EMBEDDED = CLUSTERS = ("real", "embedded")
SERVERS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
WORKERS = {"own": 2, "built-in": 1}
GO_GARBAGE_PERCENT = "400"
"""How much the servers' heaps grow before garbage is collected: four times as rarely as usual; a sixth of their time went to it."""
AGAIN_AT_MOST = 3
ENDED = (0, 1)
"""Exit codes of pytest that got to its end: all is well, or tests failed."""

PYTEST = (sys.executable, "-m", "pytest")


def main() -> int:
    arguments = parse_arguments(sys.argv[1:])
    is_embedded = arguments.cluster == EMBEDDED
    environment = {"GOGC": GO_GARBAGE_PERCENT, **os.environ}
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
    workers = WORKERS if arguments.workers is None else dict.fromkeys(apis, arguments.workers)
    first: dict[str, Run] = {}
    for together in at_once(apis, in_turn=arguments.in_turn):
        first |= run_tests(together, arguments.cluster, extra, environment, workers)
    results = {api: run.results for api, run in first.items()}
    if arguments.again:
        results = run_again(results, arguments.cluster, environment)
    titles = {api: title(api, is_embedded, minor) for api in apis}
    runs = {titles[api]: found for api, found in results.items()}
    print("\n".join([*table(runs), *failures(runs)]))
    print(f"{time.monotonic() - begin:.0f} s in all")
    return 0 if all(is_right(first[api].code, results[api]) for api in apis) else 1


def at_once(apis: Sequence[str], *, in_turn: bool) -> Sequence[Sequence[str]]:
    """The group APIs that are run side by side, then the next."""
    return [[api] for api in apis] if in_turn else [apis]


class Run(NamedTuple):
    """How pytest ended, and what it found."""

    code: int
    results: Mapping[str, Result]


def run_tests(
    apis: Sequence[str],
    cluster: str,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    workers: Mapping[str, int],
) -> dict[str, Run]:
    """Runs tests with each group API, side by side, with so many workers each."""
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        reports = {api: Path(folder) / f"{api}.xml" for api in apis}
        common = [*PYTEST, "--cluster", cluster]
        commands = {
            api: [*common, "--group-api", api, f"--junitxml={report}", *side_by_side(workers[api]), *arguments]
            for api, report in reports.items()
        }
        codes = run_side_by_side(commands, environment)
        return {api: Run(codes[api], read_report(report)) for api, report in reports.items()}


def side_by_side(workers: int) -> Sequence[str]:
    """Arguments of pytest for so many workers. A file is one worker's: some of its tests share what they have made."""
    return ("-n", str(workers), "--dist", "loadfile") if workers else ()


def run_again(
    first: Mapping[str, Mapping[str, Result]], cluster: str, environment: Mapping[str, str]
) -> dict[str, Mapping[str, Result]]:
    """Runs the few that failed once more, with nothing beside them; what each run has in the end."""
    last = dict(first)
    for api, results in first.items():
        suspects = to_run_again(results, at_most=AGAIN_AT_MOST)
        if suspects:
            print(f"{api}: once more, alone: {', '.join(suspects)}", flush=True)
            second = run_tests([api], cluster, ["--slow", *suspects], environment, {api: 0})
            last[api] = forgiven(results, second[api].results)
    return last


def is_right(code: int, results: Mapping[str, Result]) -> bool:
    """Whether pytest got to its end, and nothing is left that went wrong."""
    return code in ENDED and bool(results) and not any(result.verdict in WENT_WRONG for result in results.values())


def title(api: str, is_embedded: bool, minor: int) -> str:
    """What stands above a run's column."""
    return f"{api}, {EMBEDDED}" if is_embedded else api if minor == NEWEST else f"{api}, 1.{minor}"


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    told = ", ".join(f"{api} {workers}" for api, workers in WORKERS.items())
    parser = argparse.ArgumentParser(description="Run the conformance tests once per group API.")
    parser.add_argument("--cluster", choices=CLUSTERS, default=REAL, help="which cluster (default: real)")
    parser.add_argument("--group-api", choices=GROUP_APIS, help="only this group API")
    parser.add_argument("--slow", action="store_true", help="also the tests that take minutes each")
    parser.add_argument(
        "--again",
        action="store_true",
        help=f"up to {AGAIN_AT_MOST} tests that failed have another try, alone; a broken promise has not",
    )
    parser.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help=f"control planes of each run; 0: one, in this order (default: {told})",
    )
    parser.add_argument("--in-turn", action="store_true", help="one group API after the other, not side by side")
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


if __name__ == "__main__":
    sys.exit(main())
