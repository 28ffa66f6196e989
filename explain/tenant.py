"""The child that finds an answer for somebody who may see one namespace: `python -m explain.tenant NAMESPACE KIND NAME`.

Reads a snapshot from standard input and writes answers as JSON. What is named in other namespaces is made unreadable before
anything is decided, so whatever the answer says, it cannot name it.
"""

import io
import os
import resource
import sys
from typing import Final

import msgspec

from explain.answer import Answer
from explain.targets import Target, items_of
from explain.why import why
from scheduler.recording.anonymous import readable_in
from scheduler.recording.file import read_from
from scheduler.recording.inputs import DecisionInputs
from scheduler.recording.restore import restore

EXIT_NOT_FOUND: Final = 4
MOST_MEMORY_BYTES: Final = 3 << 29
"""1.5 GiB of addresses, threads of libraries included: a child that wants more ends instead of its container."""
MOST_CPU_SECONDS: Final = 120
_NICE: Final = 10
"""The scheduler comes first."""


def answers(inputs: DecisionInputs, target: Target) -> list[Answer]:
    """What somebody is told who may see the target's namespace and no other."""
    restored = restore(readable_in(inputs, target.namespace))
    state, now = restored.core.state, restored.clock.epoch()
    return [why(state, key, now, preempts=restored.core.may_evict) for key in items_of(state, target)]


def main(arguments: list[str]) -> int:
    """Answers one question; 0, or 4 when nothing of that name is scheduled."""
    os.nice(_NICE)
    for limit, most in ((resource.RLIMIT_AS, MOST_MEMORY_BYTES), (resource.RLIMIT_CPU, MOST_CPU_SECONDS)):
        resource.setrlimit(limit, (most, most))
    namespace, kind, name = arguments
    whole = io.BytesIO(sys.stdin.buffer.read())
    found = answers(read_from(whole, "standard input").inputs, Target(kind, namespace, name))
    if not found:
        return EXIT_NOT_FOUND
    sys.stdout.buffer.write(msgspec.json.encode(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
