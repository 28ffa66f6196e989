"""Which faults there are, what each of them needs to know, and whether it happens to watches only."""

from collections.abc import Callable
from dataclasses import dataclass

CODES = {
    401: "Unauthorized",
    403: "Forbidden",
    409: "Conflict",
    410: "Expired",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
}
"""Refusals, with the reason in the Status that Kubernetes answers with."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A fault.

    Attributes:
        meaning: for people.
        values: what it needs to know, in order, each with its check; those with a question mark may be left out.
        is_of_watch: it happens to the events of watches.
    """

    meaning: str
    values: tuple[tuple[str, Callable[[str], bool]], ...] = ()
    is_of_watch: bool = False

    def problem(self, given: tuple[str, ...]) -> str:
        """What is wrong with these values, empty when nothing is."""
        least = sum(not name.endswith("?") for name, _ in self.values)
        if not least <= len(given) <= len(self.values):
            names = ", ".join(name for name, _ in self.values) or "no value"
            return f"it needs {names}, not {', '.join(given) or 'nothing'}"
        wrong = [
            f"{value!r} is no {name.rstrip('?')}"
            for (name, check), value in zip(self.values, given, strict=False)
            if not check(value)
        ]
        return "; ".join(wrong)


def _is_seconds(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal()


def _is_code(text: str) -> bool:
    return text.isdecimal() and int(text) in CODES


def _is_bytes(text: str) -> bool:
    return text.isdecimal() and int(text) > 0


COUNT = ("number of events", str.isdecimal)
NTH = ("place of an event", _is_bytes)
SECONDS = ("seconds", _is_seconds)

FAULTS: dict[str, Kind] = {
    "drop": Kind("the request is lost: the server never sees it, the connection is closed"),
    "delay": Kind("the request arrives later", (SECONDS,)),
    "duplicate": Kind("the server gets the request twice; the client gets the first answer"),
    "lose-answer": Kind("the server carries the request out, the connection is closed without an answer"),
    "hang": Kind("nothing comes back and the connection stays open; the server never sees the request"),
    "answer": Kind(
        f"refused by the proxy with one of {', '.join(map(str, CODES))}, and with Retry-After where seconds are given",
        (("code", _is_code), ("seconds?", _is_seconds)),
    ),
    "stale": Kind("a list is answered as the first time it was asked for: an older resourceVersion, older objects"),
    "slow": Kind("the answer is read from the server slowly", (("bytes a second", _is_bytes),)),
    "half-open": Kind("after so many events no byte comes any more, and no end", (COUNT,), is_of_watch=True),
    "cut": Kind("after so many events the connection breaks", (COUNT,), is_of_watch=True),
    "end": Kind("after so many events the watch ends as when its time is over", (COUNT,), is_of_watch=True),
    "gone": Kind("after so many events an ERROR event with 410, then the end", (COUNT,), is_of_watch=True),
    "lose-event": Kind("the n-th event is lost", (NTH,), is_of_watch=True),
    "repeat-event": Kind("the n-th event comes twice", (NTH,), is_of_watch=True),
    "hold": Kind("every event comes later, so those of other kinds come before it", (SECONDS,), is_of_watch=True),
    "behind": Kind(
        "every event waits until the same client's watch of another resource has got one more, or for seconds (2)",
        (("resource", lambda text: text.replace("/", "").isalpha()), ("seconds?", _is_seconds)),
        is_of_watch=True,
    ),
}
