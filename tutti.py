"""The command line. Arguments only; the work is done by the component that is named.

Components are imported when they are asked for: `tutti --help` need not load numpy, nor the scheduler the admission server.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from asking import add_asking_commands
from kube.process.command_line import KUBECONFIG_HELP, loading, say

if TYPE_CHECKING:
    import asyncio  # takes a tenth of a second, and not every command needs it

EXIT_CONFIGURATION: Final = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the sub-command of these arguments (default: those of the process); the exit code."""
    # To look for plugins pydantic would go through all that is installed.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    given = parser().parse_args(arguments)
    given.is_program = arguments is None
    if given.end_with_stdin:
        from kube.process.tether import follow_standard_input  # noqa: PLC0415 (only supervised processes need it)

        follow_standard_input()
    try:
        command: Callable[[argparse.Namespace], int] = given.command
        return command(given)
    except Exception as error:
        from api.errors import ConfigurationError  # noqa: PLC0415 (see the module's docstring)

        if not isinstance(error, ConfigurationError):
            raise
        from kube.process.logs import tell_refusal  # noqa: PLC0415

        tell_refusal(str(error))
        return EXIT_CONFIGURATION


def parser() -> argparse.ArgumentParser:
    """All sub-commands and options."""
    top = argparse.ArgumentParser(
        prog="tutti",
        description="Gang scheduling for ordinary Jobs on any Kubernetes cluster: all pods of a gang start, or none does.",
        epilog="Exit codes: 0 done, 1 unexpected trouble, 2 cannot start as asked (the message says why), 3 lease lost; "
        "of why and fit: 0 it starts, 3 it waits, 4 it never starts on this cluster.",
    )
    top.add_argument("--version", action=_Version, help="show program's version number and exit")
    top.set_defaults(end_with_stdin=False)
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_scheduler(commands)
    _add_process(
        commands, "controllers", "make a Workload and a PodGroup for each gang and start its Job", _controllers
    )
    _add_webhooks(commands)
    _add_run(commands)
    _add_cluster(commands)
    add_asking_commands(commands)
    uninstall = commands.add_parser(
        "uninstall",
        help="take Tutti off a cluster",
        description="Remove everything of Tutti from the cluster and let go every Job that it holds. May be run again.",
    )
    uninstall.add_argument("--kubeconfig", metavar="FILE", help=KUBECONFIG_HELP)
    uninstall.set_defaults(command=_uninstall)
    return top


def _add_process(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    purpose: str,
    command: Callable[[argparse.Namespace], int],
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=purpose, description=f"{purpose[0].upper()}{purpose[1:]}.")
    _add_common(parser, command)
    parser.add_argument(
        "--metrics", metavar="ADDRESS", help='HOST:PORT of /livez, /readyz and /metrics, "0" for none (default: :8080)'
    )
    parser.add_argument(
        "--metrics-authentication",
        action="store_true",
        default=None,
        help="show /metrics to those only who may get that path, by the word of the API server",
    )
    parser.add_argument(
        "--log-levels", metavar="FILE", help="levels of single loggers as YAML, followed while the process runs"
    )
    parser.add_argument(
        "--end-with-stdin", action="store_true", help="end when standard input is closed, as `tutti run` needs it"
    )
    return parser


def _add_scheduler(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    purpose = "place gangs whole or not at all, and all other pods that name it"
    scheduler = _add_process(commands, "scheduler", purpose, _scheduler)
    scheduler.add_argument(
        "--why",
        metavar="HOST:PORT",
        help="tell people who may see one namespace why their objects wait, by HTTPS at this address (default: nowhere)",
    )
    scheduler.add_argument(
        "--why-certificates",
        metavar="FOLDER",
        help="serve that with the tls.crt and tls.key of this folder (default: a certificate that nobody can verify)",
    )


def _add_webhooks(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    webhooks = _add_process(commands, "webhooks", "take Jobs in as gangs: the admission server", _webhooks)
    webhooks.add_argument("--listen", metavar="HOST:PORT", help="address of the admission server (default: :9443)")
    webhooks.add_argument(
        "--url",
        metavar="URL",
        help="https://HOST:PORT by which the API server reaches it from a cluster "
        "that it does not run in (default: through its Service)",
    )
    webhooks.add_argument(
        "--certificates",
        metavar="FOLDER",
        help="keep CA and certificate here (default: a Secret in the "
        "system namespace, with --url a folder in the home directory)",
    )
    webhooks.add_argument(
        "--given-certificates",
        metavar="FOLDER",
        help="serve with the tls.crt and tls.key of this folder, which somebody else keeps; nothing is made or registered",
    )


def _add_run(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    run = commands.add_parser(
        "run",
        help="put Tutti on a cluster and run all of it from here",
        description="Install what is needed on the cluster, run scheduler, controllers and webhooks from here, each with the "
        "rights of its own service account, and take the webhook configurations away again at the end.",
    )
    _add_common(run, _run)
    run.add_argument(
        "--listen",
        metavar="HOST:PORT",
        help="address of the admission server (default: a free port on the "
        "address by which this machine reaches the API server)",
    )
    run.add_argument(
        "--webhook-url",
        metavar="URL",
        help="https://HOST:PORT by which the API server reaches it (default: the address it listens on)",
    )
    run.add_argument(
        "--group-api",
        choices=["auto", "built-in", "own"],
        help="where Workloads and PodGroups live (default: "
        "auto, which prefers scheduling.k8s.io where the server has it)",
    )


def _add_cluster(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    cluster = commands.add_parser(
        "cluster",
        help="run a small cluster on this machine, to try things on",
        description="Run an API server with stand-in controllers and hollow nodes on this machine, until Ctrl-C. Its pods run "
        "by the clock, not in containers; any kubectl can talk to it.",
    )
    cluster.add_argument("--nodes", type=int, default=20, metavar="N", help="how many hollow nodes (default: 20)")
    cluster.add_argument(
        "--node-shape",
        default="cpu=8,memory=32Gi,nvidia.com/gpu=8",
        metavar="NAME=AMOUNT,...",
        help="what each node has (default: cpu=8,memory=32Gi,nvidia.com/gpu=8)",
    )
    cluster.add_argument(
        "--devices",
        default="gpu=8",
        metavar="NAME=COUNT,...",
        help="devices of each node, for resource claims, with a DeviceClass of that name; empty for none (default: gpu=8)",
    )
    cluster.add_argument(
        "--keep",
        type=Path,
        metavar="FOLDER",
        help="keep the cluster in this folder, and go on with what is there (default: it goes when it ends)",
    )
    cluster.add_argument(
        "--port", type=int, default=0, metavar="N", help="port of the API server (default: a free one)"
    )
    cluster.set_defaults(command=_cluster)


def _add_common(parser: argparse.ArgumentParser, command: Callable[[argparse.Namespace], int]) -> None:
    parser.add_argument("--kubeconfig", metavar="FILE", help=KUBECONFIG_HELP)
    parser.add_argument("--config", metavar="FILE", help="settings as YAML; options given here come before them")
    parser.add_argument("--log-format", choices=["text", "json"], help="shape of the log (default: text)")
    parser.set_defaults(command=command)


def _scheduler(given: argparse.Namespace) -> int:
    with loading():
        from explain.advice import Advice  # noqa: PLC0415
        from kube.process.log_levels import follow_log_levels  # noqa: PLC0415
        from kube.process.logs import configure_logs  # noqa: PLC0415
        from kube.process.run import run_process  # noqa: PLC0415
        from kube.process.settings import load_settings  # noqa: PLC0415
        from scheduler.main import ExplainCommand  # noqa: PLC0415
        from scheduler.main import main as process  # noqa: PLC0415
        from scheduler.settings import SchedulerSettings  # noqa: PLC0415

    configure_logs(given.log_format or "text", "scheduler")
    own = {"why_address": given.why, "why_certificates": given.why_certificates}
    settings = load_settings(SchedulerSettings, given.config, **_of_every_process(given), **own)
    configure_logs(settings.log_format, "scheduler", level=settings.log_level)
    follow_log_levels(settings.log_levels_file)
    folder = str(Path(__file__).resolve().parent)
    explain = ExplainCommand((sys.executable, "-m", "explain.tenant"), folder)
    return run_process(lambda stop: process(settings, stop, Advice, explain))


def _controllers(given: argparse.Namespace) -> int:
    with loading():
        from controllers.main import main as process  # noqa: PLC0415
        from controllers.settings import ControllersSettings  # noqa: PLC0415
        from kube.process.log_levels import follow_log_levels  # noqa: PLC0415
        from kube.process.logs import configure_logs  # noqa: PLC0415
        from kube.process.run import run_process  # noqa: PLC0415
        from kube.process.settings import load_settings  # noqa: PLC0415

    configure_logs(given.log_format or "text", "controllers")
    settings = load_settings(ControllersSettings, given.config, **_of_every_process(given))
    configure_logs(settings.log_format, "controllers", level=settings.log_level)
    follow_log_levels(settings.log_levels_file)
    return run_process(lambda stop: process(settings, stop))


def _webhooks(given: argparse.Namespace) -> int:
    with loading():
        from kube.process.log_levels import follow_log_levels  # noqa: PLC0415
        from kube.process.logs import configure_logs  # noqa: PLC0415
        from kube.process.run import run_process  # noqa: PLC0415
        from kube.process.settings import load_settings  # noqa: PLC0415
        from webhooks.main import main as process  # noqa: PLC0415
        from webhooks.settings import WebhooksSettings  # noqa: PLC0415

    own = {
        "listen": given.listen,
        "url": given.url,
        "certificates_folder": given.certificates,
        "given_certificates": given.given_certificates,
    }
    configure_logs(given.log_format or "text", "webhooks")
    settings = load_settings(WebhooksSettings, given.config, **_of_every_process(given), **own)
    configure_logs(settings.log_format, "webhooks", level=settings.log_level)
    follow_log_levels(settings.log_levels_file)
    return run_process(lambda stop: process(settings, stop))


def _run(given: argparse.Namespace) -> int:
    from install.run import main as process  # noqa: PLC0415
    from install.settings import RunSettings  # noqa: PLC0415
    from kube.process.logs import configure_logs  # noqa: PLC0415
    from kube.process.run import run_process  # noqa: PLC0415
    from kube.process.settings import load_settings  # noqa: PLC0415

    configure_logs(given.log_format or "text", "run")
    settings = load_settings(
        RunSettings,
        given.config,
        kubeconfig=given.kubeconfig,
        group_api=given.group_api,
        listen=given.listen,
        webhook_url=given.webhook_url,
        log_format=given.log_format,
    )
    configure_logs(settings.log_format, "run")
    tutti_command = [sys.executable, str(Path(__file__).resolve())]
    return run_process(lambda stop: process(settings, stop, tutti_command=tutti_command))


def _cluster(given: argparse.Namespace) -> int:
    _need_local_cluster()
    from kube.process.logs import configure_logs  # noqa: PLC0415
    from kube.process.run import run_process  # noqa: PLC0415
    from localcluster.cluster import ClusterSettings  # noqa: PLC0415
    from localcluster.cluster import main as process  # noqa: PLC0415

    settings = ClusterSettings(
        nodes=given.nodes, shape=given.node_shape, devices=given.devices, folder=given.keep, port=given.port
    )
    configure_logs("text", "cluster")
    return run_process(lambda stop: process(settings, stop, say))


def _uninstall(given: argparse.Namespace) -> int:
    from install.uninstall import main as process  # noqa: PLC0415
    from kube.process.logs import configure_logs  # noqa: PLC0415
    from kube.process.run import run_process  # noqa: PLC0415

    async def work(stop: "asyncio.Event") -> int:
        return await process(given.kubeconfig, stop, say=say)

    configure_logs("text", "uninstall")
    return run_process(work)


def _need_local_cluster() -> None:
    """The image has no folder `localcluster`; an installation without the extra lacks only what that imports."""
    from api.errors import ConfigurationError  # noqa: PLC0415

    if find_spec("localcluster") is None:
        raise ConfigurationError(
            "the local cluster is not part of this installation: install tutti[local], which has it"
        )
    from localcluster.extra import need_extra  # noqa: PLC0415

    need_extra()


def _of_every_process(given: argparse.Namespace) -> dict[str, str | bool | None]:
    return {
        "kubeconfig": given.kubeconfig,
        "metrics_address": given.metrics,
        "metrics_authentication": given.metrics_authentication,
        "log_format": given.log_format,
        "log_levels_file": given.log_levels,
    }


class _Version(argparse.Action):
    """Looks the version up when it is asked for: what that needs takes as long to load as all the rest of this module."""

    def __init__(self, option_strings: Sequence[str], dest: str, **more: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, **more)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        say(f"tutti {own_version()}")
        parser.exit()


def own_version() -> str:
    """The installed version of Tutti."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 (see `_Version`)

    try:
        return version("tutti")
    except PackageNotFoundError:
        return "(not installed)"


if __name__ == "__main__":
    sys.exit(main())
