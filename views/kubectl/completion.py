"""What the shell may go on with: kubectl asks `kubectl_complete-gang` with the words typed so far (bash and zsh alike).

The answer is one proposal a line and, last, a directive of cobra's that says not to propose files.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

COMMANDS: Final = ("list", "tree", "watch", "why", "fit")
OUTPUTS: Final = ("wide", "json", "name")
WITH_NAME: Final = frozenset({"tree", "why"})
WITH_VALUE: Final = frozenset({"-n", "--namespace", "--context", "--kubeconfig", "-o", "--output", "-f", "--filename"})
FLAGS: Final = ("--all-namespaces", "--context", "--kubeconfig", "--namespace", "--output")
FILES: Final = ":0"
NO_FILES: Final = ":4"

Gangs = Callable[[Sequence[str]], Iterable[str]]
"""The gangs that a command with these words would see, as KIND/NAME."""


def proposals(words: Sequence[str], gangs: Gangs) -> list[str]:
    """All that can stand where the last word begins, and the directive.

    Args:
        words: what was typed behind `kubectl gang`, the last one unfinished, perhaps empty.
        gangs: asked only where the name of a gang can stand.
    """
    *before, begun = words or [""]
    previous = before[-1] if before else ""
    if previous in {"-f", "--filename", "--kubeconfig"}:
        return [FILES]
    if previous in {"-o", "--output"}:
        return _fitting(OUTPUTS, begun)
    if previous in WITH_VALUE:
        return [NO_FILES]
    if begun.startswith("-"):
        return _fitting(FLAGS, begun)
    given = _positional(before)
    if not given:
        return _fitting(COMMANDS, begun)
    if given[0] in WITH_NAME and len(given) == 1:
        return _fitting(sorted(set(gangs(before))), begun)
    return [NO_FILES]


def _positional(words: Sequence[str]) -> list[str]:
    found: list[str] = []
    is_value = False
    for word in words:
        if not is_value and not word.startswith("-"):
            found.append(word)
        is_value = word in WITH_VALUE
    return found


def _fitting(choices: Iterable[str], begun: str) -> list[str]:
    return [*(choice for choice in choices if choice.startswith(begun)), NO_FILES]
