"""The command line: `python -m localcluster.apiserver --port 0 --folder DIR`."""

import argparse
import asyncio
import gc
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import uvloop

from localcluster.apiserver.compose import build
from localcluster.apiserver.files import admin_token, prepare, write_kubeconfig
from localcluster.apiserver.server import ServerSettings

_GC_THRESHOLDS: Final = (50_000, 20, 1_000)
"""The objects kept are many small dictionaries that make no cycles: looking for cycles among them often is lost time."""


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m localcluster.apiserver", description="An embedded API server.")
    parser.add_argument("--folder", type=Path, required=True, help="for certificates, keys, users and admin.kubeconfig")
    parser.add_argument("--port", type=int, default=0, help="0 (default): any free one")
    parser.add_argument("--tokens", type=Path, help='token file with other users: token,name,uid,"groups"')
    parser.add_argument("--certificate", type=Path, help="serving certificate; with --key and --ca")
    parser.add_argument("--key", type=Path, help="its key")
    parser.add_argument("--ca", type=Path, help="the CA that signed it")
    parser.add_argument("--service-account-key", type=Path, help="RSA key that signs tokens of service accounts")
    parser.add_argument("--audit-log", type=Path, help="log requests to this file")
    parser.add_argument("--audit-policy", type=Path, help="which; a JSON file; default: all, without bodies")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="keep the objects in this file for the next start")
    return parser.parse_args(arguments)


def settings_of(arguments: argparse.Namespace) -> ServerSettings:
    """The settings; missing files are made."""
    files = prepare(arguments.folder)
    given = {
        "ca": arguments.ca,
        "certificate": arguments.certificate,
        "key": arguments.key,
        "tokens": arguments.tokens,
        "service_account_key": arguments.service_account_key,
    }
    return ServerSettings(
        files=replace(files, **{name: path for name, path in given.items() if path is not None}),
        port=arguments.port,
        audit_log=arguments.audit_log,
        audit_policy=arguments.audit_policy,
        keep=arguments.keep,
    )


async def serve(arguments: argparse.Namespace) -> None:
    """Serve until SIGTERM or SIGINT."""
    settings = settings_of(arguments)
    server = build(settings)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    await server.start()
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)
    token = admin_token(settings.files.tokens)
    write_kubeconfig(arguments.folder / "admin.kubeconfig", server=server.url, ca=settings.files.ca, token=token)
    sys.stdout.write(server.url + "\n")
    sys.stdout.flush()
    try:
        await stop.wait()
    finally:
        await server.stop()


def main() -> int:
    """Entry point."""
    uvloop.run(serve(parse_arguments(sys.argv[1:])))
    return 0
