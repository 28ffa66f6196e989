"""What somebody asks about, and what he must be allowed to. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

WHY_PATH: Final = "/why/namespaces/{namespace}/{kind}/{name}"

_KINDS: Final = frozenset({"job", "lws", "jobset", "compositepodgroup", "podgroup", "pod"})
_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")


class Question(NamedTuple):
    """Why something waits; `kind` is one of `_KINDS`."""

    namespace: str
    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.name} in {self.namespace}"

    def rights(self, groups_api: str) -> Iterator[Mapping[str, str]]:
        """All of what whoever asks must be allowed to, as `resourceAttributes`.

        Of a group that is named: to get it. Otherwise the answer is about whichever group is behind it: to get any of the
        namespace; and a pod without a group is told of to who may get it.

        Args:
            groups_api: the API group that has the PodGroups.
        """
        get_groups = {"verb": "get", "namespace": self.namespace, "group": groups_api, "resource": "podgroups"}
        yield {**get_groups, "name": self.name} if self.kind == "podgroup" else get_groups
        if self.kind == "pod":
            yield {"verb": "get", "namespace": self.namespace, "resource": "pods", "name": self.name}


def parse_question(path: Mapping[str, str]) -> Question | None:
    """The question in the parts of a path, None when nothing can have such a name."""
    question = Question(path["namespace"], path["kind"], path["name"])
    is_possible = question.kind in _KINDS and all(map(_NAME.fullmatch, (question.namespace, question.name)))
    return question if is_possible else None
