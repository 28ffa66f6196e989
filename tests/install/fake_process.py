"""Stands in for a process of Tutti when `tutti run` is tested: a script of its own, run by the same Python.

It answers /readyz at its --metrics address, writes a CA into its --certificates folder, appends its settings and what happens
to it to the file named by FAKE_LOG, and ends by SIGTERM or when its standard input ends. FAKE_EXIT=name:code makes one of them
fail at once.
"""

import os
import signal
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path


def note(what: str) -> None:
    with Path(os.environ["FAKE_LOG"]).open("a") as log:
        log.write(f"{what}\n")


class Ready(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


def main() -> None:
    name = sys.argv[1]
    options = dict(each.partition("=")[::2] for each in sys.argv[2:])
    failing, _, code = os.environ.get("FAKE_EXIT", "").partition(":")
    if failing == name:
        sys.exit(int(code))

    # Waited for below: a handler would not run when the signal comes just before a blocking read begins.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})

    def wait_for_end() -> None:
        sys.stdin.read()
        note(f"{name} orphaned")
        os._exit(1)

    if "--certificates" in options:
        Path(options["--certificates"]).mkdir()
        (Path(options["--certificates"]) / "ca.crt").write_text("the CA")
    note(f"{name} was told {' '.join(Path(options['--config']).read_text().split())}")
    host, _, port = options["--metrics"].rpartition(":")
    server = HTTPServer((host, int(port)), Ready)
    note(f"{name} {os.getpid()}")  # before it serves: who finds it ready finds its process id noted
    threading.Thread(target=server.serve_forever, daemon=True).start()
    threading.Thread(target=wait_for_end, daemon=True).start()
    signal.sigwait({signal.SIGTERM})
    note(f"{name} stopped")
    os._exit(0)


if __name__ == "__main__":
    main()
