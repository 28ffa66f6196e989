"""`tutti` with defects that a test has in force and lifts again. A process of the tests only.

`python planted.py ARGUMENT...` is `tutti ARGUMENT...`, and so are the processes that its `run` starts. One function of each part is
replaced by one that misbehaves while a file of the defect's name is in the folder that the variable TUTTI_DEFECTS names, and
otherwise does what it always did. So metrics, their collection and the alerts are the real ones.
"""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import tutti

FOLDER: Final = "TUTTI_DEFECTS"
FORGETS_NO_POD: Final = "forgets-no-pod"
"""The scheduler overlooks that a pod of this name was deleted: its view of the cluster is wrong from then on."""
RAISES: Final = "raises"
"""Deciding on a group whose name begins so raises."""
TAKES_NOTHING: Final = "takes-nothing"
"""The scheduler takes nothing off its queue."""
DECIDES_LONG: Final = "decides-long"
"""Every decision about a group takes this long."""
ADMITS_LATE: Final = "admits-late"
"""So does every admission of a Job."""
IS_HURRIED: Final = "is-hurried"
"""From the start: a watch that is silent counts as dead fifteen times as soon."""

LONG_SECONDS: Final = 0.4
LATE_SECONDS: Final = 1.5
HURRIED_SILENCE_SECONDS: Final = 5.0

Function = Callable[..., Any]


def is_in_force(defect: str) -> bool:
    """Whether the test wants it now."""
    return (Path(os.environ[FOLDER]) / defect).exists()


def plant(place: object, name: str, defect: str, instead: Callable[[Function], Function]) -> None:
    """What `place` calls `name` becomes what `instead` makes of it while the defect is in force."""
    sound: Function = getattr(place, name)
    defective = instead(sound)

    def planted(*values: Any, **named: Any) -> Any:
        return (defective if is_in_force(defect) else sound)(*values, **named)

    setattr(place, name, planted)


def in_scheduler() -> None:
    """The defects of the scheduler."""
    from scheduler import schedule_one
    from scheduler.eventhandlers.event_handlers import EventHandlers
    from scheduler.queue.scheduling_queue import SchedulingQueue

    def overlooking(sound: Function) -> Function:
        def pod_changed(handlers: object, change: Any) -> None:
            if change.new is not None or not change.old.name.startswith(FORGETS_NO_POD):
                sound(handlers, change)

        return pod_changed

    def raising(sound: Function) -> Function:
        def decide(view: object, key: Any, aim: int) -> Any:
            if key.name.startswith(RAISES):
                raise ZeroDivisionError("a defect that was planted")
            return sound(view, key, aim)

        return decide

    plant(EventHandlers, "pod_changed", FORGETS_NO_POD, overlooking)
    plant(SchedulingQueue, "pop", TAKES_NOTHING, lambda _sound: lambda *_: None)
    plant(schedule_one, "decide", RAISES, raising)
    plant(schedule_one, "decide", DECIDES_LONG, lambda sound: late(sound, LONG_SECONDS))


def in_webhooks() -> None:
    """Those of admission."""
    from webhooks.server import routes

    plant(routes, "default_job", ADMITS_LATE, lambda sound: late(sound, LATE_SECONDS))
    if is_in_force(IS_HURRIED):
        from kube.cache.informer import Informer

        defaults = Informer.__init__.__kwdefaults__
        assert defaults is not None
        defaults["silence_seconds"] = HURRIED_SILENCE_SECONDS


def late(sound: Function, seconds: float) -> Function:
    """The same, with the process held up meanwhile, as by a computation."""

    def held_up(*values: Any, **named: Any) -> Any:
        time.sleep(seconds)
        return sound(*values, **named)

    return held_up


def main() -> int:
    # What `tutti run` starts is the file of its module.
    tutti.__file__ = __file__
    {"scheduler": in_scheduler, "webhooks": in_webhooks}.get(sys.argv[1], lambda: None)()
    return tutti.main()


if __name__ == "__main__":
    # Modules of this folder have the names of others elsewhere.
    sys.path[:] = [path for path in sys.path if path != str(Path(__file__).parent)]
    sys.exit(main())
