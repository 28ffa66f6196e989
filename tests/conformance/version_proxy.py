"""A made-up next Kubernetes: stands before a real API server and serves some of its kinds in another version.

It renames the version in discovery, in paths and in every object of these kinds that passes, watches included. It serves both
versions, as the first releases with the new one will, or the new one only, or the old one only, as the real server does.

`python -m tests.conformance.version_proxy --port PORT --server URL --ca FILE --certificate FILE --key FILE
--renames groups|composites --serves old|both|new`
"""

import argparse
import json
import os
import ssl
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import aiohttp
from aiohttp import web

from verify.auditor.identities import INSTALLER
from verify.clusters import cluster_files as files
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.ports import free_ports
from verify.clusters.server import Server
from verify.clusters.tutti_process import COMMAND, READY_SECONDS, STOP_SECONDS, environment
from verify.faults.forwarding import MOST_BYTES, lines, open_session, reply_headers, request_headers

REPOSITORY = Path(__file__).parents[2]
START_SECONDS = 30
Serves = Literal["old", "both", "new"]
Renames = Literal["groups", "composites"]
SESSION = web.AppKey("session", aiohttp.ClientSession)


@dataclass(frozen=True)
class Renaming:
    """These kinds are served as `new` and not, or not only, as `old`."""

    old: str
    new: str
    kinds: frozenset[str]


RENAMINGS: dict[Renames, Renaming] = {
    "groups": Renaming("scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1", frozenset({"workloads", "podgroups"})),
    "composites": Renaming(
        "scheduling.k8s.io/v1alpha3", "scheduling.k8s.io/v1beta1", frozenset({"compositepodgroups"})
    ),
}
"""Of the groups nobody has a v1 yet; the composites are so in Kubernetes 1.38.0-beta.0."""


class VersionProxy:
    """Renames what passes."""

    def __init__(self, server: str, *, renames: Renames, serves: Serves) -> None:
        self._server = server
        self._renaming = RENAMINGS[renames]
        self._old, self._new = quoted(self._renaming.old), quoted(self._renaming.new)
        self._is_only = serves == "new"
        self._has_new = serves != "old"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """One request of a client."""
        path = request.raw_path
        old, new = self._renaming.old, self._renaming.new
        if self._is_only and path.startswith(f"/apis/{old}"):
            status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}
            return web.json_response(status, status=404)
        body = await request.read()
        is_new = self._is_renamed(path)
        if is_new:
            path = path.replace(f"/apis/{new}/", f"/apis/{old}/", 1)
            body = body.replace(self._new, self._old)
        headers = request_headers(request.headers)
        session = request.app[SESSION]
        async with session.request(request.method, self._server + path, headers=headers, data=body or None) as answer:
            if request.path == f"/apis/{new}" and self._has_new:
                return web.json_response(await self._discovery(session, headers, await answer.json()))
            reply = web.StreamResponse(status=answer.status, headers=reply_headers(answer.headers))
            await reply.prepare(request)
            async for line in lines(answer):
                # Who asks for the old version where it is still served gets it unchanged.
                await reply.write(line.replace(self._old, self._new) if is_new or self._is_only else line)
            await reply.write_eof()
            return reply

    def _is_renamed(self, path: str) -> bool:
        words = path.partition("?")[0].split("/")
        return (
            self._has_new
            and path.startswith(f"/apis/{self._renaming.new}/")
            and bool(self._renaming.kinds & set(words))
        )

    async def _discovery(
        self, session: aiohttp.ClientSession, headers: dict[str, str], found: dict[str, object]
    ) -> dict[str, object]:
        """The resources of the new version: those it has, and the renamed ones of the old one."""
        async with session.get(f"{self._server}/apis/{self._renaming.old}", headers=headers) as answer:
            served = (await answer.json())["resources"]
        more = [one for one in served if one["name"].partition("/")[0] in self._renaming.kinds]
        return {**found, "resources": [*list(found["resources"]), *more]}  # type: ignore[call-overload]


def quoted(version: str) -> bytes:
    return json.dumps(version).encode()


def version_proxy(
    control_plane: ControlPlane, serves: Serves, *, renames: Renames = "groups", port: int = 0
) -> tuple[Server, str]:
    """The proxy as a process that answers, and its URL; the certificates are those of the server behind it."""
    port = port or free_ports(1)[0]
    name = f"version-proxy-{port}-{serves}"
    folder = control_plane.folder
    command = [sys.executable, "-m", __name__, "--port", str(port), "--server", control_plane.url]
    command += ["--ca", str(control_plane.ca), "--certificate", str(folder / "apiserver.crt")]
    command += ["--key", str(folder / "apiserver.key"), "--renames", renames, "--serves", serves]
    paths = os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH")]))
    server = Server(
        name, command, log=folder / f"{name}.log", environment={"PYTHONPATH": paths, "PYTHONUNBUFFERED": "1"}
    )
    server.start()

    def answers() -> bool:
        server.require_running()
        assert "Running on" in server.last_log_lines(), server.last_log_lines()
        return True

    eventually(answers, within_seconds=START_SECONDS)
    return server, f"https://127.0.0.1:{port}"


def tutti_through(
    control_plane: ControlPlane, serves: Serves, ended: ExitStack, *, renames: Renames = "groups"
) -> tuple[Server, Server, int]:
    """A proxy, `tutti run` that is ready behind it, and the proxy's port; both end with `ended`."""
    proxy, url = version_proxy(control_plane, serves, renames=renames)
    ended.callback(proxy.kill)
    port = int(url.rpartition(":")[2])
    server = Server(
        f"tutti run over an upgrade at {port}",
        [COMMAND, "run", "--kubeconfig", str(kubeconfig_through(control_plane, url, INSTALLER))],
        log=control_plane.folder / f"tutti-over-an-upgrade-{port}.log",
        environment={**environment(control_plane.folder), "KUBECONFIG": ""},
    )
    ended.callback(lambda: server.terminate(within_seconds=STOP_SECONDS))
    server.start()
    eventually(says(server, "Tutti is running"), within_seconds=READY_SECONDS)
    return proxy, server, port


def says(server: Server, text: str) -> Callable[[], bool]:
    """Whether the process is there and has said this."""

    def said() -> bool:
        server.require_running()
        # The shared processes have said it long ago.
        assert text in server.log.read_text(), server.last_log_lines()
        return True

    return said


def kubeconfig_through(control_plane: ControlPlane, url: str, user: str, *, token: str = "") -> Path:
    """A kubeconfig by which this user talks to the proxy."""
    path = control_plane.folder / f"{user}-{url.rpartition(':')[2]}.kubeconfig"
    return files.write_kubeconfig(path, server=url, ca=control_plane.ca, user=user, token=token)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    for name in ("--server", "--ca", "--certificate", "--key"):
        parser.add_argument(name, required=True)
    parser.add_argument("--renames", choices=RENAMINGS, required=True)
    parser.add_argument("--serves", choices=get_args(Serves), required=True)
    given = parser.parse_args()
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(given.certificate, given.key)

    async def session(app: web.Application) -> AsyncIterator[None]:
        async with open_session(ssl.create_default_context(cafile=given.ca)) as opened:
            app[SESSION] = opened
            yield

    app = web.Application(client_max_size=MOST_BYTES)
    app.cleanup_ctx.append(session)
    app.router.add_route(
        "*", "/{path:.*}", VersionProxy(given.server, renames=given.renames, serves=given.serves).handle
    )
    web.run_app(app, host="127.0.0.1", port=given.port, ssl_context=serving)


if __name__ == "__main__":
    main()
