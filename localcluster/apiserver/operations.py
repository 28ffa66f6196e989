"""The verbs for use inside the server, with admission and validation as for every other request.

Kinds that come and go need them: the objects of a CRD are deleted with it, through their finalizers.
"""

from localcluster.apiserver import status
from localcluster.apiserver.core import Core
from localcluster.apiserver.kinds.kind import KindInfo, Object, RequestContext, User
from localcluster.apiserver.store.memory import Stored
from localcluster.apiserver.verbs.create import create
from localcluster.apiserver.verbs.delete import delete
from localcluster.apiserver.verbs.options import DeleteOptions, WriteOptions
from localcluster.apiserver.verbs.update import Target, update

SYSTEM = User("system:apiserver", ("system:masters",))


class Operations:
    """Writes of the server itself. All raise StatusError when they are refused."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def context(self) -> RequestContext:
        """A request of the server's own."""
        return self._core.context(SYSTEM)

    async def create(self, kind: KindInfo, namespace: str, obj: Object) -> Stored:
        """Create the object, which belongs to the store afterwards."""
        return await create(self._core, kind, namespace, obj, WriteOptions(), self.context())

    async def update(self, kind: KindInfo, namespace: str, name: str, obj: Object, subresource: str = "") -> Stored:
        """Put the object in its place."""
        target = Target(kind, namespace, name, subresource)
        return await update(self._core, target, obj, WriteOptions("UpdateOptions"), self.context())

    async def delete(self, kind: KindInfo, namespace: str, name: str, options: DeleteOptions | None = None) -> bool:
        """Delete the object; whether it is gone. One that is not there is."""
        try:
            return (await delete(self._core, kind, namespace, name, options or DeleteOptions(), self.context()))[1]
        except status.StatusError as refusal:
            if refusal.code == 404:
                return True
            raise
