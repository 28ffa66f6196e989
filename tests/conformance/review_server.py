"""An admission webhook of somebody else's: an HTTPS server in this process, and what the API server is told of it."""

import base64
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.kube.certificates import make_certificates
from verify.clusters.client import Object

Review = Callable[[Object], Object]
"""From the request of an AdmissionReview to what its response says beside the UID; called in a thread of the request's own."""


@contextmanager
def review_server(folder: Path, review: Review) -> Iterator[Object]:
    """Answers as `review` does inside; the `clientConfig` by which it is reached. `folder` is for certificates."""
    made = make_certificates(folder)
    server = _Server(("127.0.0.1", 0), _handler(review))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.certificate, made.key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, name="review server", daemon=True)
    thread.start()
    try:
        url = f"https://127.0.0.1:{server.server_address[1]}/"
        yield {"url": url, "caBundle": base64.b64encode(made.ca.read_bytes()).decode()}
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Who has stopped waiting is not there any more."""


def _handler(review: Review) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked = question.pop("request")
            body = json.dumps({**question, "response": {"uid": asked["uid"], **review(asked)}}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing is written."""

    return Handler
