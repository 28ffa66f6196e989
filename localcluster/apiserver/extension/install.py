"""Puts the extension into a server: the kind CustomResourceDefinition and its life, and admission."""

from typing import TYPE_CHECKING, Final

from localcluster.apiserver.extension.admission.caller import Caller
from localcluster.apiserver.extension.admission.chain import Chain
from localcluster.apiserver.extension.admission.kinds import check_configurations
from localcluster.apiserver.extension.definitions.lifecycle import Lifecycle
from localcluster.apiserver.extension.definitions.strategy import definition_kind

if TYPE_CHECKING:
    from localcluster.apiserver.server import ApiServer

SERVICES: Final = ("", "services")


def install(server: "ApiServer") -> None:
    """Registers everything with the server; its own tasks begin when it starts."""
    core = server.core
    core.registry.add(definition_kind())
    check_configurations(core.registry)
    lifecycle = Lifecycle(core)
    caller = Caller(lambda namespace, name: core.store.get(SERVICES, namespace, name) is not None)
    core.admission = Chain(core.store, caller, server.authorizer.allows, core.random)

    async def start() -> None:
        lifecycle.serve_present()
        server.spawn(lifecycle.run())
        server.spawn(caller.closed_at_the_end())

    server.on_start(start)
