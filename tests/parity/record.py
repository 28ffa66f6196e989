"""Records what a real server answers: `python -m tests.parity.record [SCRIPT ...]` with KUBEBUILDER_ASSETS.

One file per script under recorded/, readable and stable, so that a change of an answer shows in a review. The script
`kubectl` is the list of kubectl commands.
"""

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.parity import kubectl as tool
from tests.parity.play import Answer, Server
from tests.parity.scripts import SCRIPTS
from tests.parity.servers import real_server

FOLDER = Path(__file__).parent / "recorded"
KUBECTL = "kubectl"


def recorded(script: str) -> dict[str, Answer]:
    """The recorded answers to a script."""
    answers: dict[str, Answer] = json.loads((FOLDER / f"{script}.json").read_text())
    return answers


def as_text(answers: dict[str, Answer]) -> str:
    """A line for each answer, so that a changed one is one changed line."""
    lines = (f"{json.dumps(step)}: {json.dumps(answer, ensure_ascii=False)}" for step, answer in answers.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def answers_of(server: Server, script: str, kubectl: Path | None = None) -> dict[str, Answer]:
    """What a server answers to a script; `kubectl` is needed for the script of that name only."""
    if script != KUBECTL:
        return server.play(SCRIPTS[script])
    assert kubectl is not None
    with tempfile.TemporaryDirectory(prefix="parity-") as home:
        return tool.run(kubectl, server.kubeconfig, Path(home))


def main(names: Sequence[str]) -> None:
    """Plays the scripts against a real server and writes down its answers."""
    assets = Path(os.environ["KUBEBUILDER_ASSETS"])
    FOLDER.mkdir(exist_ok=True)
    with real_server(assets) as server:
        for name in names or [*SCRIPTS, KUBECTL]:
            answers = answers_of(server, name, assets / "kubectl")
            (FOLDER / f"{name}.json").write_text(as_text(answers))
            sys.stdout.write(f"{name}: {len(answers)} answers\n")


if __name__ == "__main__":
    main(sys.argv[1:])
