"""The command line of the kubectl plugin `kubectl gang`. Arguments only; the work is done in `views`, and by `tutti`.

kubectl finds a plugin by its name on PATH: the wheel brings the programs `kubectl-gang` and `kubectl_complete-gang`.
"""

import argparse
import asyncio
import shutil
import sys
from collections.abc import Sequence
from typing import Final

import tutti
from views.connection import Target

_HANDED_OVER: Final = ("why", "fit")
"""Commands that are those of `tutti`, with the same arguments."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the sub-command of these arguments (default: those of the process); the exit code."""
    given_words = list(sys.argv[1:] if arguments is None else arguments)
    if given_words and given_words[0] in _HANDED_OVER:
        return tutti.main(given_words)
    given = parser().parse_args(given_words)
    from kube.process.logs import configure_logs  # noqa: PLC0415 (`kubectl gang --help` need not load a client)
    from kube.process.run import run_process  # noqa: PLC0415

    configure_logs("text", "kubectl-gang", level="error")
    return run_process(lambda stop: _command(given, stop))


def parser() -> argparse.ArgumentParser:
    """All sub-commands and options."""
    top = argparse.ArgumentParser(
        prog="kubectl gang",
        description="See gangs: what they wait for, what belongs together, as it happens.",
        epilog="Exit codes: 0 done, 1 unexpected trouble, 2 cannot be done as asked (the message says why).",
    )
    top.add_argument("--version", action="version", version=f"kubectl gang {tutti.own_version()}")
    options = _options()
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True, dest="command")
    listing = commands.add_parser("list", aliases=["ls"], parents=[options], help="the gangs of a namespace, or of all")
    listing.add_argument("-o", "--output", choices=["wide", "json", "name"], help="other columns, or for programs")
    kinds = "job/NAME, lws/NAME, jobset/NAME, compositepodgroup/NAME, podgroup/NAME or pod/NAME"
    tree = commands.add_parser("tree", parents=[options], help="a Job, LeaderWorkerSet or JobSet with all its groups")
    tree.add_argument("what", metavar="KIND/NAME", help=kinds)
    tree.add_argument("-o", "--output", choices=["json"], help="for programs")
    watch = commands.add_parser("watch", parents=[options], help="the list, kept up to date until Ctrl-C")
    watch.add_argument("-o", "--output", choices=["wide"], help="other columns")
    for name, purpose in (("why", "what a gang waits for, and what would help"), ("fit", "would this manifest start?")):
        commands.add_parser(name, help=f"{purpose} (as `tutti {name}`)", add_help=False)
    return top


def complete(arguments: Sequence[str] | None = None) -> int:
    """Entry point of `kubectl_complete-gang`: proposals for the words typed so far, on standard output."""
    from views.kubectl.completion import proposals  # noqa: PLC0415

    words = list(sys.argv[1:] if arguments is None else arguments)
    _say("\n".join(proposals(words, _gangs_for)))
    return 0


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(add_help=False)
    where = options.add_mutually_exclusive_group()
    where.add_argument("-n", "--namespace", metavar="NAME", help="the namespace (default: that of the context)")
    where.add_argument("-A", "--all-namespaces", action="store_true", help="all namespaces")
    options.add_argument("--context", metavar="NAME", help="the context of the kubeconfig (default: its current one)")
    options.add_argument(
        "--kubeconfig", metavar="FILE", help="the kubeconfig (default: $KUBECONFIG, then ~/.kube/config)"
    )
    return options


async def _command(given: argparse.Namespace, stop: asyncio.Event) -> int:
    from views.kubectl.commands import list_gangs, show_tree  # noqa: PLC0415
    from views.kubectl.watch import watch_gangs  # noqa: PLC0415

    target = _target(given)
    if given.command == "tree":
        return await show_tree(target, given.what, given.output, _say)
    if given.command == "watch":
        return await watch_gangs(
            target, is_wide=given.output == "wide", stream=sys.stdout, columns=shutil.get_terminal_size, stop=stop
        )
    return await list_gangs(target, given.output, _say, _complain)


def _target(given: argparse.Namespace) -> Target:
    return Target(given.kubeconfig, given.context, given.namespace, all_namespaces=given.all_namespaces)


def _gangs_for(words: Sequence[str]) -> list[str]:
    """Nothing at all when the cluster does not answer: a shell is no place for complaints."""
    from views.kubectl.commands import titles  # noqa: PLC0415

    try:
        given, _ = _options().parse_known_args(list(words))
        return asyncio.run(titles(_target(given)))
    except (Exception, SystemExit):  # noqa: BLE001
        return []


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _complain(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
