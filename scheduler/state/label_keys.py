"""Which pod labels the rules in force look at: counted by rule, so that a key is forgotten when its last rule is."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from scheduler.state.selectors import Query


class LabelKeys:
    """Keys that tell pods apart. A key stays known for a while after its last rule: until `outdated` is acted upon."""

    def __init__(self) -> None:
        self.known: Final[set[str]] = set()
        self._rules: Counter[str] = Counter()
        self._unused: dict[str, None] = {}

    def use(self, query: Query) -> None:
        """One rule more asks this."""
        keys = query.keys()
        self._rules.update(keys)
        for key in keys:
            self._unused.pop(key, None)

    def disuse(self, query: Query) -> None:
        """One rule less asks this."""
        keys = query.keys()
        for key in keys:
            self._rules[key] -= 1
            if not self._rules[key]:
                del self._rules[key]
                self._unused[key] = None

    def outdated(self, wanted: Iterable[str]) -> set[str]:
        """Known keys that no rule looks at, nor is about to."""
        return self._unused.keys() - wanted

    def change(self, new: Iterable[str], forgotten: Iterable[str]) -> None:
        """These are known from now on, and those no more."""
        for key in new:
            self.known.add(key)
            if key not in self._rules:
                self._unused[key] = None
        for key in forgotten:
            self.known.discard(key)
            self._unused.pop(key, None)
