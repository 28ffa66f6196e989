"""The part of the command line that only asks: why, fit, snapshot, replay, page. Nothing here writes to a cluster."""

import argparse
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from api.constants import SYSTEM_NAMESPACE
from kube.process.command_line import KUBECONFIG_HELP, leave, loading, say

if TYPE_CHECKING:
    import asyncio  # takes a tenth of a second, and not every command needs it

_EXPLAIN_SECONDS: Final = 60.0
_EXPLAINED_AT_ONCE: Final = 2


def add_asking_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Their options."""
    _add_why(commands)
    _add_fit(commands)
    _add_snapshot(commands)
    _add_replay(commands)
    _add_page(commands)


def _add_why(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    why = commands.add_parser(
        "why",
        help="say why something waits, and what would help",
        description="Say what an object waits for, which reasons keep it from starting, and one change that would be enough: "
        "tried by deciding on a copy of the cluster. Nothing is written.",
    )
    why.add_argument("target", metavar="KIND/NAME", help="KIND is job, lws, jobset, compositepodgroup, podgroup or pod")
    _add_source(why)
    why.add_argument(
        "--scheduler-namespace",
        default=SYSTEM_NAMESPACE,
        metavar="NAME",
        help="where the scheduler is, which is asked if you may not list nodes and pods of the whole cluster "
        f"(default: {SYSTEM_NAMESPACE})",
    )
    why.set_defaults(command=_why)


def _add_fit(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    fit = commands.add_parser(
        "fit",
        help="say whether a manifest would start, without creating it",
        description="Take the objects of a file through admission and the scheduler's decision on a copy of the cluster, in "
        "order, each seeing the earlier ones. Nothing is written.",
    )
    fit.add_argument("-f", "--filename", required=True, metavar="FILE", help="manifests as YAML; - for standard input")
    fit.add_argument("--evict", action="store_true", help="others may be evicted, as the scheduler would do it")
    fit.add_argument("--nodes", type=int, default=0, metavar="N", help="add so many made-up nodes first (with --like)")
    fit.add_argument("--like", default="", metavar="NODE", help="the node that made-up ones are like")
    _add_source(fit)
    fit.set_defaults(command=_fit)


def _add_source(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", "--namespace", metavar="NAME", help="(default: that of the context)")
    parser.add_argument(
        "--snapshot", type=Path, metavar="FILE", help="look at this snapshot instead of the cluster (`tutti snapshot`)"
    )
    parser.add_argument("--kubeconfig", metavar="FILE", help=KUBECONFIG_HELP)
    parser.add_argument("--context", metavar="NAME", help="the context of the kubeconfig (default: its current one)")
    parser.add_argument(
        "--config", metavar="FILE", help="settings of the scheduler as YAML, if they are not the defaults"
    )
    parser.add_argument(
        "-o", "--output", choices=["text", "json"], default="text", help="for people or programs (default: text)"
    )


def _add_snapshot(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    snapshot = commands.add_parser(
        "snapshot",
        help="write everything that decisions about a cluster read into a file",
        description="Read a cluster with your own rights and write what decides where pods go into one file, for `tutti replay`. "
        "Environment, secrets and other data are never in it. Nothing is written to the cluster.",
    )
    snapshot.add_argument("-o", "--out", type=Path, required=True, metavar="FILE", help="the file to write")
    snapshot.add_argument("--anonymous", action="store_true", help="with made-up names; the same is decided")
    snapshot.add_argument("--kubeconfig", metavar="FILE", help=KUBECONFIG_HELP)
    snapshot.add_argument("--config", metavar="FILE", help="settings of the cluster's scheduler as YAML")
    snapshot.add_argument(
        "--from", dest="source", type=Path, metavar="FILE", help="take it from this recording instead of a cluster"
    )
    _add_output(snapshot)
    snapshot.set_defaults(command=_snapshot)


def _add_replay(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    replay = commands.add_parser(
        "replay",
        help="repeat the decisions in a recording, or decide what waits in it",
        description="Repeat recorded decisions and say whether they are the same, or decide what waits in a snapshot, with "
        "--set under other settings. No cluster is needed.",
        epilog="Exit codes: 0 all the same, 1 something differs, 2 the file or a setting cannot be used.",
    )
    replay.add_argument("file", type=Path, metavar="FILE", help="of `tutti snapshot` or of a scheduler")
    replay.add_argument(
        "--set",
        dest="changes",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="decide under another setting of the scheduler, its value as YAML; may be given more than once",
    )
    _add_output(replay)
    replay.set_defaults(command=_replay)


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output", choices=["text", "json"], default="text", help="for people or programs (default: text)"
    )


def _add_page(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    page = commands.add_parser(
        "page",
        help="see gangs and nodes live, in a browser of this machine",
        description="Serve a page on 127.0.0.1 that shows gangs over time, nodes by use, the queue and evictions. It only reads, "
        "with your own rights; the address that is printed has a token, without which it shows nothing.",
    )
    page.add_argument(
        "--recording",
        type=Path,
        metavar="FILE",
        help="show this recording or snapshot, with a slider for the time, instead of a cluster",
    )
    page.add_argument("-n", "--namespace", metavar="NAME", help="one namespace (default: all)")
    page.add_argument("--kubeconfig", metavar="FILE", help="the kubeconfig (default: $KUBECONFIG, then ~/.kube/config)")
    page.add_argument("--context", metavar="NAME", help="the context of the kubeconfig (default: its current one)")
    page.add_argument("--port", type=int, default=0, metavar="N", help="port to listen on (default: any free one)")
    page.set_defaults(command=_page)


def _why(given: argparse.Namespace) -> int:
    from kube.process.logs import configure_logs  # noqa: PLC0415

    with loading():
        from explain.source import Source  # noqa: PLC0415
        from explain.why_command import why_of_file  # noqa: PLC0415

    as_json, end = given.output == "json", leave if given.is_program else None
    configure_logs("text", "why")
    if given.snapshot is not None:
        source = Source(given.snapshot, config=given.config)
        return why_of_file(source, given.snapshot, given.target, _namespace(given), as_json=as_json, say=say, leave=end)
    with loading():
        from explain.live_command import main_why  # noqa: PLC0415
        from kube.process.run import run_process  # noqa: PLC0415

    where = Source(None, given.kubeconfig, given.config, given.context, given.scheduler_namespace)
    namespace = _namespace(given)
    return run_process(lambda _: main_why(where, given.target, namespace, as_json=as_json, say=say, leave=end))


def _fit(given: argparse.Namespace) -> int:
    with loading():
        from api.errors import ConfigurationError  # noqa: PLC0415
        from explain.fit_command import FitRequest, main_fit  # noqa: PLC0415
        from explain.source import Source  # noqa: PLC0415
        from kube.process.logs import configure_logs  # noqa: PLC0415
        from kube.process.run import run_process  # noqa: PLC0415

    if bool(given.nodes) != bool(given.like) or given.nodes < 0:
        raise ConfigurationError("--nodes N, a whole number from 1 on, and --like NODE belong together")
    try:
        text = sys.stdin.read() if given.filename == "-" else Path(given.filename).read_text("utf-8")
    except (OSError, UnicodeError) as error:
        raise ConfigurationError(f"{given.filename} cannot be read: {error}") from error
    request = FitRequest(text, _namespace(given), evicts=given.evict, nodes=given.nodes, like=given.like)
    source = Source(given.snapshot, given.kubeconfig, given.config, given.context)

    async def work(_: "asyncio.Event") -> int:
        return await main_fit(source, request, as_json=given.output == "json", say=say)

    configure_logs("text", "fit")
    return run_process(work)


def _namespace(given: argparse.Namespace) -> str:
    """The one that is named, else that of the kubeconfig's context; who looks at a file may have none."""
    from api.errors import ConfigurationError  # noqa: PLC0415
    from kube.client.context_namespace import namespace_in_use  # noqa: PLC0415

    if given.namespace:
        return str(given.namespace)
    try:
        return namespace_in_use(given.kubeconfig, given.context)
    except ConfigurationError:
        if given.snapshot is None:
            raise
        return "default"


def _snapshot(given: argparse.Namespace) -> int:
    from kube.process.logs import configure_logs  # noqa: PLC0415
    from kube.process.run import run_process  # noqa: PLC0415
    from kube.process.settings import load_settings  # noqa: PLC0415
    from scheduler.commands.snapshot import from_cluster, from_file  # noqa: PLC0415
    from scheduler.settings import SchedulerSettings  # noqa: PLC0415

    is_anonymous, as_json = given.anonymous, given.output == "json"
    if given.source is not None:
        return from_file(given.source, given.out, is_anonymous=is_anonymous, as_json=as_json, say=say)
    settings = load_settings(SchedulerSettings, given.config, kubeconfig=given.kubeconfig)

    async def work(_: "asyncio.Event") -> int:
        return await from_cluster(settings, given.out, is_anonymous=is_anonymous, as_json=as_json, say=say)

    configure_logs("text", "snapshot")
    return run_process(work)


def _replay(given: argparse.Namespace) -> int:
    from scheduler.commands.replay import main as process  # noqa: PLC0415

    return process(given.file, given.changes, as_json=given.output == "json", say=say)


def _page(given: argparse.Namespace) -> int:
    from kube.process.logs import configure_logs  # noqa: PLC0415
    from kube.process.run import run_process  # noqa: PLC0415
    from views.connection import Target  # noqa: PLC0415
    from views.page.main import main as process  # noqa: PLC0415

    configure_logs("text", "page", level="warning")
    if given.recording is not None:
        return _page_of_recording(given)
    target = Target(given.kubeconfig, given.context, given.namespace, all_namespaces=given.namespace is None)
    return run_process(lambda stop: process(target, stop, say, port=given.port, explain=_explainer(given)))


def _page_of_recording(given: argparse.Namespace) -> int:
    from explain.moments import Moments, began_milliseconds, objects_of  # noqa: PLC0415
    from kube.process.run import run_process  # noqa: PLC0415
    from scheduler.recording.file import read  # noqa: PLC0415
    from views.page.main import show_tape  # noqa: PLC0415
    from views.page.tape import tape_of  # noqa: PLC0415

    recording = read(given.recording)
    tape = tape_of(objects_of(recording), Moments(recording), began_milliseconds(recording))
    # Of a recording that goes on, the answer of its beginning would be told of another moment.
    explain = None if tape.deltas else _explainer(given)
    return run_process(lambda stop: show_tape(tape, str(given.recording), stop, say, port=given.port, explain=explain))


def _explainer(given: argparse.Namespace) -> Callable[[str, str], Awaitable[str]]:
    """Answers why a group waits by `tutti why`, in a process of its own: deciding takes a while, and the page goes on."""
    import asyncio  # noqa: PLC0415

    options = [f"--{name}={value}" for name in ("kubeconfig", "context") if (value := getattr(given, name))]
    if given.recording is not None:
        options = [f"--snapshot={given.recording}"]
    turns = asyncio.Semaphore(_EXPLAINED_AT_ONCE)

    async def explain(namespace: str, group: str) -> str:
        command = [sys.executable, str(Path(__file__).with_name("tutti.py")), "why", f"podgroup/{group}"]
        async with turns:
            process = await asyncio.create_subprocess_exec(
                *command,
                f"--namespace={namespace}",
                *options,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            try:
                out, err = await asyncio.wait_for(process.communicate(), _EXPLAIN_SECONDS)
            finally:
                if process.returncode is None:
                    process.kill()
        return (out or err).decode(errors="replace").strip()

    return explain
