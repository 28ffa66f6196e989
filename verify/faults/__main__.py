"""The proxy as a process: `python -m verify.faults --server URL --port PORT --script 'drop @ create pods/binding #1'`."""

import argparse
import asyncio
import contextlib
import logging
import ssl
import sys

from verify.faults.kinds import FAULTS
from verify.faults.proxy import FaultProxy
from verify.faults.script import ScriptError, parse

BAD_USE = 2


def main(arguments: list[str] | None = None) -> int:
    """Serves until it is interrupted; its exit code."""
    meanings = "\n".join(f"  {name}: {kind.meaning}" for name, kind in FAULTS.items())
    parser = argparse.ArgumentParser(
        prog="python -m verify.faults",
        description="A proxy before an API server that does to requests what a script says.",
        epilog=f"faults:\n{meanings}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--server", required=True, help="the URL of the API server")
    parser.add_argument("--port", type=int, default=0, help="of the loopback address; a free one unless given")
    parser.add_argument("--script", default="", help="FAULT[=VALUE] @ VERB RESOURCE [#N | #N-M | #*] [by AGENT]; ...")
    parser.add_argument("--ca", help="file with the authority that the server is trusted by")
    parser.add_argument("--certificate", help="file with which clients are answered; plain HTTP without it")
    parser.add_argument("--key", help="its key")
    given = parser.parse_args(arguments)
    try:
        script = parse(given.script)
    except ScriptError as error:
        sys.stderr.write(f"error: {error}\n")
        return BAD_USE
    to_clients = None
    if given.certificate:
        to_clients = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        to_clients.load_cert_chain(given.certificate, given.key)
    to_server = ssl.create_default_context(cafile=given.ca) if given.ca else None
    logging.basicConfig(level=logging.WARNING)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(FaultProxy(given.server, script, to_server=to_server, to_clients=to_clients), given.port))
    return 0


async def _serve(proxy: FaultProxy, port: int) -> None:
    await proxy.start(port)
    sys.stdout.write(f"listens on port {proxy.port}\n")
    sys.stdout.flush()
    try:
        await asyncio.Event().wait()
    finally:
        await proxy.stop()
        for each in proxy.injected:
            sys.stdout.write(f"{each}\n")


if __name__ == "__main__":
    sys.exit(main())
