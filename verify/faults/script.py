"""Scripts of faults: values that are one line of text, so that the line repeats a run.

    lose-answer @ create pods/binding #2; half-open=3 @ watch pods #1-2 by tutti-scheduler; answer=429,1 @ * * #*

A rule is `FAULT[=NUMBER or WORD,…] @ VERB RESOURCE [#N | #N-M | #*] [by AGENT]`: which fault, for requests with this verb and this
resource (`*` is any), for the n-th of them (1 unless said), counted for each rule from the moment the script is in force, from
clients whose user agent begins like this. The first rule that fits a request is carried out.
"""

import re
from dataclasses import dataclass, field

from verify.faults.asked import Asked
from verify.faults.kinds import FAULTS

ANY = "*"
EVER = 10**9
_RULE = re.compile(
    r"^(?P<fault>[a-z-]+)(?:=(?P<values>[^\s@]+))?\s*@\s*(?P<verb>\S+)\s+(?P<resource>\S+)"
    r"(?:\s+#(?P<count>\*|\d+(?:-\d+)?))?(?:\s+by\s+(?P<agent>\S+))?$"
)


class ScriptError(ValueError):
    """A script says something that no proxy can do; the message is for people."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One fault, and which requests it happens to.

    Attributes:
        fault: one of FAULTS.
        values: what the fault needs to know; their meaning is in FAULTS.
        verb: of Kubernetes, or ANY.
        resource: with subresource, or ANY.
        first: the first request that it happens to, counted from 1.
        last: the last one.
        agent: how the client's user agent begins.
    """

    fault: str
    values: tuple[str, ...] = ()
    verb: str = ANY
    resource: str = ANY
    first: int = 1
    last: int = 1
    agent: str = ""

    def __post_init__(self) -> None:
        kind = FAULTS.get(self.fault)
        if kind is None:
            raise ScriptError(f"there is no fault {self.fault!r}; there are {', '.join(FAULTS)}")
        problem = kind.problem(self.values)
        if problem:
            raise ScriptError(f"{self.fault}: {problem}")
        if kind.is_of_watch and self.verb not in {"watch", ANY}:
            raise ScriptError(f"{self.fault} happens to watches, not to {self.verb}")
        if not 1 <= self.first <= self.last:
            raise ScriptError(f"{self.fault}: requests are counted from 1, so #{self.first}-{self.last} names none")

    def is_about(self, asked: Asked) -> bool:
        """Whether a request is one of those that are counted."""
        kind = FAULTS[self.fault]
        return (
            self.verb in {ANY, asked.verb}
            and self.resource in {ANY, asked.resource}
            and (not kind.is_of_watch or asked.verb == "watch")
            and asked.agent.startswith(self.agent)
        )

    def __str__(self) -> str:
        values = f"={','.join(self.values)}" if self.values else ""
        count = f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"
        count = ANY if (self.first, self.last) == (1, EVER) else count
        agent = f" by {self.agent}" if self.agent else ""
        return f"{self.fault}{values} @ {self.verb} {self.resource} #{count}{agent}"


@dataclass(frozen=True, slots=True)
class Script:
    """Rules in the order in which they are looked at."""

    rules: tuple[Rule, ...] = ()

    def __str__(self) -> str:
        return "; ".join(map(str, self.rules))


@dataclass
class Progress:
    """How far a script has come: how many requests each of its rules has counted."""

    script: Script
    _counts: dict[int, int] = field(default_factory=dict)

    def rule_for(self, asked: Asked) -> Rule | None:
        """The rule that happens to this request; every rule that it is about counts it."""
        found = None
        for number, rule in enumerate(self.script.rules):
            if not rule.is_about(asked):
                continue
            count = self._counts[number] = self._counts.get(number, 0) + 1
            if found is None and rule.first <= count <= rule.last:
                found = rule
        return found


def parse(line: str) -> Script:
    """The script of a line.

    Raises:
        ScriptError: a rule is none, or names a fault that there is not.
    """
    return Script(tuple(_rule(part.strip()) for part in line.split(";") if part.strip()))


def _rule(text: str) -> Rule:
    found = _RULE.match(text)
    if found is None:
        raise ScriptError(f"{text!r} is no rule: FAULT[=VALUE] @ VERB RESOURCE [#N | #N-M | #*] [by AGENT]")
    values = tuple(found["values"].split(",")) if found["values"] else ()
    first, last = 1, 1
    if found["count"] == ANY:
        last = EVER
    elif found["count"]:
        low, _, high = found["count"].partition("-")
        first, last = int(low), int(high or low)
    return Rule(found["fault"], values, found["verb"], found["resource"], first, last, found["agent"] or "")
