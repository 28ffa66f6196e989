"""Which kinds are served now; kinds come and go with their CRDs."""

from collections.abc import Callable

from localcluster.apiserver.kinds.kind import KindInfo


class Registry:
    """The kinds by path and by name. Adding a kind that is there replaces it in its place."""

    def __init__(self) -> None:
        self._by_path: dict[tuple[str, str, str], KindInfo] = {}
        self._by_kind: dict[tuple[str, str, str], KindInfo] = {}
        self._listeners: list[Callable[[], None]] = []

    def add(self, kind: KindInfo) -> None:
        """Serve the kind from now on."""
        self._by_path[kind.group, kind.version, kind.plural] = kind
        self._by_kind[kind.group, kind.version, kind.kind] = kind
        self._changed()

    def remove(self, kind: KindInfo) -> None:
        """Serve the kind no more."""
        self._by_path.pop((kind.group, kind.version, kind.plural), None)
        self._by_kind.pop((kind.group, kind.version, kind.kind), None)
        self._changed()

    def find(self, group: str, version: str, plural: str) -> KindInfo | None:
        """The kind served at this path."""
        return self._by_path.get((group, version, plural))

    def find_kind(self, group: str, version: str, kind: str) -> KindInfo | None:
        """The kind of this name."""
        return self._by_kind.get((group, version, kind))

    def all(self) -> list[KindInfo]:
        """All kinds, in the order in which they were added."""
        return list(self._by_path.values())

    def on_change(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call this after every change, until the function returned is called."""
        self._listeners.append(callback)

        def unsubscribe() -> None:
            if callback in self._listeners:
                self._listeners.remove(callback)

        return unsubscribe

    def _changed(self) -> None:
        for callback in tuple(self._listeners):
            callback()
