"""The text of docs/configuration.md."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pydantic import BaseModel

from controllers.settings import ControllersSettings
from hack.settings_docs.fields import heading, nested, settings
from install.settings import RunSettings
from kube.process.settings import ProcessSettings
from scheduler.settings import SchedulerSettings
from webhooks.settings import WebhooksSettings

FILE: Final = Path(__file__).resolve().parents[2] / "docs" / "configuration.md"

PROCESSES: Final[dict[str, type[BaseModel]]] = {
    "Every process": ProcessSettings,
    "Scheduler": SchedulerSettings,
    "Controllers": ControllersSettings,
    "Webhooks": WebhooksSettings,
    "`tutti run`": RunSettings,
}
"""Each heading with the class that checks those settings."""

_HEAD: Final = """\
# Configuration

<!-- Written by `make settings-docs` from the classes of the settings, which is where to change it. -->

Nothing has to be set. Each process takes its defaults, then the YAML file of `--config FILE`, then the options of its command line
(`tutti scheduler --help`). A key that nobody knows or a value that cannot be used ends the start with one line that names the key,
and exit code 2. Settings are read at the start only; log levels can also be changed later ([logs](logs.md)).

| installed by | where settings go |
|---|---|
| kustomize | a ConfigMap and `--config`; `config/profiles` is an example for all three processes |
| Helm | `settings.scheduler`, `.controllers`, `.webhooks`; `settings.shared` for the last two; `profiles`, `defaultProvider` |
| `tutti run` | one file with the sections `scheduler:`, `controllers:` and `webhooks:` |

The chart has no value for settings of the webhooks alone. A setting whose text says "the same for all processes" must be the same
in each process that has it. Times are in seconds. A default of "none" means that the setting is not given.

What users set on their objects is in the [users' guide](users-guide.md#settings).
"""


def rendered() -> str:
    """What the file has to hold."""
    return _HEAD + "".join(_sections())


def classes() -> tuple[type[BaseModel], ...]:
    """All classes of settings, nested ones after those that hold them."""
    inner = (each for cls in PROCESSES.values() for each in nested(cls))
    return tuple(dict.fromkeys((*PROCESSES.values(), *inner)))


def _sections() -> Iterator[str]:
    for title, cls in PROCESSES.items():
        yield f"\n## {title}\n\n" + "".join(_rows(cls))
    yield "\n## Settings inside settings\n"
    for cls in classes()[len(PROCESSES) :]:
        yield f"\n### {heading(cls)}\n\n{' '.join((cls.__doc__ or '').split())}\n\n" + "".join(_rows(cls))


def _rows(cls: type[BaseModel]) -> Iterator[str]:
    yield "| setting | values | default | meaning |\n|---|---|---|---|\n"
    for each in settings(cls):
        yield f"| `{each.name}` | {each.values} | {each.default} | {each.text} |\n"
