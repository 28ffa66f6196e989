"""`tutti why`: what is printed and the exit code. Of a file, everything; what a cluster says is read by `live_command`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

import msgspec

from api.errors import ConfigurationError
from explain.answer import Answer
from explain.source import Source, cluster_of_file, given_settings
from explain.targets import Target, items_of, parse_target
from explain.text import screen
from explain.why import why
from scheduler.recording.restore import Restored

Say = Callable[[str], None]


def why_of_file(
    source: Source,
    path: Path,
    text: str,
    namespace: str,
    *,
    as_json: bool,
    say: Say,
    leave: Callable[[int], NoReturn] | None = None,
) -> int:
    """Say why what `text` names waits, in a snapshot; the exit code, with which `leave` is called while the cluster is still there.

    Raises:
        ConfigurationError: there is nothing of that name, or the file cannot be read.
    """
    target = parse_target(text, namespace)
    restored = cluster_of_file(path, given_settings(source))
    code = tell(answers_of(restored, target), target, as_json=as_json, say=say)
    if leave is not None:
        leave(code)
    return code


def answers_of(restored: Restored, target: Target) -> list[Answer]:
    """One for each item behind what is asked about."""
    state, now = restored.core.state, restored.clock.epoch()
    return [why(state, key, now, preempts=restored.core.may_evict) for key in items_of(state, target)]


def tell(answers: Sequence[Answer], target: Target, *, as_json: bool, say: Say) -> int:
    """Print answers; 0 it has started or starts, 3 it waits, 4 it never starts here.

    Raises:
        ConfigurationError: there are none.
    """
    if not answers:
        why_not = (
            "no PodGroup is below it"
            if target.kind == "compositepodgroup"
            else "nothing of that name is scheduled by Tutti"
        )
        raise ConfigurationError(f"{target} in {target.namespace}: {why_not}")
    if as_json:
        say(msgspec.json.format(msgspec.json.encode(answers), indent=2).decode())
    else:
        say("\n\n".join(map(screen, answers)))
    return max(answer.exit_code for answer in answers)
