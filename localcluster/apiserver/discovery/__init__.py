"""How clients find out what the server has and what it looks like: discovery, OpenAPI, tables, the two forms of events."""

from typing import TYPE_CHECKING

from localcluster.apiserver.discovery.event_kinds import core_events, new_events
from localcluster.apiserver.discovery.handlers import Discovery
from localcluster.apiserver.discovery.tables.render import Tables

if TYPE_CHECKING:
    from localcluster.apiserver.server import ApiServer


def install(server: "ApiServer") -> None:
    """Make the server answer discovery, draw tables and serve events in both forms."""
    server.registry.add(core_events())
    server.registry.add(new_events())
    discovery = Discovery(server.registry, lambda: server.url.removeprefix("https://"))
    for prefix in ("/api", "/apis"):
        server.routes.add(prefix, discovery.discover, prefix=True)
    server.routes.add("/", discovery.root)
    server.routes.add("/version", discovery.version)
    server.routes.add("/openapi", discovery.openapi, prefix=True)
    server.tables = Tables(lambda: server.clock().timestamp())
