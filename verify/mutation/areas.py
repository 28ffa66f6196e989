"""What is mutated, and which tests are asked: the parts of the scheduler that decide, without input and output."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple


class Area(NamedTuple):
    """Modules that belong together.

    Attributes:
        modules: patterns of files, relative to the root.
        tests: files and folders whose tests may notice a mutant; those that do not reach its line are not asked.
    """

    modules: tuple[str, ...]
    tests: tuple[str, ...]

    def files(self, root: Path) -> Iterator[str]:
        """The files of the modules."""
        for pattern in self.modules:
            for path in sorted(root.glob(pattern)):
                if path.name != "__init__.py":
                    yield path.relative_to(root).as_posix()


AREAS: Final = {
    "queue": Area(
        modules=("scheduler/queue/*.py", "scheduler/plugins/gang_scheduling.py", "scheduler/cache/pod_group_state.py"),
        tests=(
            "tests/scheduler/core/test_queue.py",
            "tests/scheduler/core/test_queue_order.py",
            "tests/scheduler/core/test_gangs.py",
            "tests/scheduler/core/test_giving_up.py",
            "tests/scheduler/core/test_desired_count.py",
            "tests/scheduler/core/test_random_events.py",
            "tests/scheduler/core/test_reservations.py",
            "tests/scheduler/core/test_step_budget.py",
            "tests/scheduler/core/test_state.py",
            "tests/scheduler/core/test_status.py",
            "tests/scheduler/shell/test_defect_about_one_item.py",
            "tests/scheduler/shell/test_delay_queue.py",
            "tests/scheduler/core/test_queueing_hints.py",
            "tests/scheduler/core/test_waits_of_items.py",
            "tests/scheduler/shell/test_metrics.py",
            "tests/scheduler/shell/test_profiles.py",
            "tests/scheduler/shell/test_settings.py",
            "tests/scheduler/shell/test_timeouts.py",
            "tests/scheduler/shell/test_what_pods_belong_to.py",
        ),
    ),
    "preemption": Area(
        modules=tuple(
            f"scheduler/preemption/{name}.py"
            for name in (
                "claim_releases",
                "context",
                "dry_run",
                "evaluator",
                "node_candidates",
                "reprieve",
                "victim_topology",
                "victims",
            )
        ),
        tests=(
            "tests/scheduler/preemption",
            "tests/scheduler/core/test_future_pods.py",
            "tests/scheduler/shell/test_preemption.py",
            "tests/scheduler/shell/test_preemption_after_restart.py",
            "tests/scheduler/shell/test_preemption_faults.py",
            "tests/scheduler/shell/test_preemption_order.py",
            "tests/scheduler/shell/test_preemption_priority.py",
            "tests/scheduler/shell/test_suspensions.py",
            "tests/devices/test_preemption.py",
            "tests/devices/test_preemption_properties.py",
        ),
    ),
    "decision": Area(
        modules=("scheduler/algorithm/*.py", "scheduler/cache/nominator.py", "scheduler/cache/disruption_budgets.py"),
        tests=(
            "tests/scheduler/core",
            "tests/scheduler/preemption",
            "tests/scheduler/shell/test_preemption.py",
            "tests/devices/test_gangs.py",
            "tests/devices/test_idle_claims.py",
        ),
    ),
}
