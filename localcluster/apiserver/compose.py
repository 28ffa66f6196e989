"""The whole server: its core with what extends it and what shows it to clients."""

from localcluster.apiserver import discovery, extension
from localcluster.apiserver.server import ApiServer, ServerSettings


def build(settings: ServerSettings) -> ApiServer:
    """A server with CRDs, admission, discovery, OpenAPI, tables and events, not started yet."""
    server = ApiServer(settings)
    extension.install(server)
    discovery.install(server)
    return server
