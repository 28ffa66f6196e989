"""The variable `authorizer`: expressions may ask whether the sender of a request may do something else as well.

The library hands only plain values around. So what is asked is collected in a map, call by call
(`authorizer.group('batch').resource('jobs')`), and `check` turns the map into a decision, which is a map as well.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

Question = Mapping[str, Any]
Decide = Callable[[Question], bool]
"""Whether the sender (or `serviceAccount`, namespace and name) may do what the question says; `verb` is in it."""

Decision = tuple[Question, bool]
"""What was asked, and whether it was allowed."""


class AuthorizerVariable:
    """The value of `authorizer` for one request.

    Args:
        decide: answers questions.
        request_resource: the object of the request itself, as a question.

    Attributes:
        value: what the library is given.
        asked: the decisions asked for so far.
    """

    __slots__ = ("_decide", "asked", "value")

    def __init__(self, decide: Decide, request_resource: Question) -> None:
        self._decide = decide
        self.asked: list[Decision] = []
        self.value: dict[str, Any] = {"requestResource": dict(request_resource)}

    def check(self, question: Question, verb: str) -> dict[str, Any]:
        """The decision."""
        whole = {**question, "verb": verb}
        allowed = self._decide(whole)
        self.asked.append((whole, allowed))
        return {"allowed": allowed, "reason": ""}

    def still_says(self, decisions: Iterable[Decision]) -> bool:
        """Whether it would decide all of this in the same way now, for this sender."""
        return all(self._decide(question) is allowed for question, allowed in decisions)


def _asks(field: str) -> Callable[[Question, str], dict[str, Any]]:
    def collected(question: Question, value: str) -> dict[str, Any]:
        return {**question, field: value}

    return collected


def _service_account(question: Question, namespace: str, name: str) -> dict[str, Any]:
    return {**question, "serviceAccount": [namespace, name]}


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    **{name: _asks(name) for name in ("group", "resource", "subresource", "namespace", "name", "path")},
    "serviceAccount": _service_account,
    "check": AuthorizerVariable.check,
    "allowed": lambda decision: decision["allowed"],
    "reason": lambda decision: decision["reason"],
    "errored": lambda decision: False,  # noqa: ARG005 (this authorizer has no errors)
    "error": lambda decision: "",  # noqa: ARG005
}
"""`check` is replaced by the one of the request's authorizer when an expression is evaluated."""
