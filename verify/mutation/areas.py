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
        modules=(
            "scheduler/queue/*.py",
            "scheduler/plugins/gang_scheduling.py",
            "scheduler/cache/pod_group_state.py",
            "scheduler/cache/pod_scheduling_properties.py",
        ),
        tests=(
            "tests/devices/test_claims_of_groups.py",
            "tests/scheduler/core/test_allowance.py",
            "tests/scheduler/core/test_members.py",
            "tests/scheduler/core/test_overdue.py",
            "tests/scheduler/core/test_queue.py",
            "tests/scheduler/core/test_queue_order.py",
            "tests/scheduler/core/test_queue_set_aside.py",
            "tests/scheduler/core/test_gangs.py",
            "tests/scheduler/core/test_giving_up.py",
            "tests/scheduler/core/test_item_errors.py",
            "tests/scheduler/core/test_malformed_objects.py",
            "tests/scheduler/core/test_desired_count.py",
            "tests/scheduler/core/test_random_events.py",
            "tests/scheduler/core/test_relabelled_pods.py",
            "tests/scheduler/core/test_reservations.py",
            "tests/scheduler/core/test_step_budget.py",
            "tests/scheduler/core/test_state.py",
            "tests/scheduler/core/test_status.py",
            "tests/scheduler/core/test_unschedulable.py",
            "tests/scheduler/shell/test_defect_about_one_item.py",
            "tests/scheduler/shell/test_delay_queue.py",
            "tests/scheduler/core/test_queueing_hints.py",
            "tests/scheduler/core/test_trees.py",
            "tests/scheduler/core/test_waits_of_items.py",
            "tests/scheduler/core/test_woken_items.py",
            "tests/scheduler/shell/test_metrics.py",
            "tests/scheduler/shell/test_preemption.py",
            "tests/scheduler/shell/test_profiles.py",
            "tests/scheduler/shell/test_settings.py",
            "tests/scheduler/shell/test_timeouts.py",
            "tests/scheduler/shell/test_what_pods_belong_to.py",
            "tests/recording/test_restoring.py",
        ),
    ),
    "preemption": Area(
        modules=tuple(
            f"scheduler/preemption/{name}.py"
            for name in (
                "claim_releases",
                "context",
                "domain_dry_run",
                "dry_run",
                "evaluator",
                "node_candidates",
                "nominated_items",
                "reprieve",
                "result",
                "victim_choices",
                "victim_topology",
                "victims",
            )
        ),
        tests=(
            "tests/scheduler/preemption",
            "tests/scheduler/core/test_future_pods.py",
            "tests/scheduler/core/test_step_budget.py",
            "tests/scheduler/shell/test_preemption.py",
            "tests/scheduler/shell/test_preemption_after_restart.py",
            "tests/scheduler/shell/test_preemption_faults.py",
            "tests/scheduler/shell/test_preemption_order.py",
            "tests/scheduler/shell/test_preemption_priority.py",
            "tests/scheduler/shell/test_suspensions.py",
            "tests/devices/test_claims_of_groups.py",
            "tests/devices/test_claims_of_victims.py",
            "tests/devices/test_preemption.py",
            "tests/devices/test_preemption_properties.py",
        ),
    ),
    "decision": Area(
        modules=(
            *(
                f"scheduler/algorithm/{name}.py"
                for name in (
                    "attempt",
                    "attempts",
                    "cluster_view",
                    "decision",
                    "heterogeneous",
                    "heterogeneous_in_order",
                    "identical",
                    "overlay",
                    "partition",
                    "pod_by_pod",
                    "schedule_pod_group",
                    "snapshot",
                    "topology_domains",
                    "upper_bound",
                )
            ),
        ),
        tests=(
            *(
                f"tests/scheduler/core/test_{name}.py"
                for name in (
                    "against_plain_scheduler",
                    "declared_features",
                    "desired_count",
                    "exact_search",
                    "filters",
                    "gangs",
                    "heterogeneous",
                    "identical",
                    "known_costs",
                    "like_stock",
                    "mixed",
                    "numbers_out_of_bounds",
                    "overlay",
                    "plain_scores",
                    "pod_by_pod",
                    "reservations",
                    "step_budget",
                    "topology_domains",
                    "topology_rules_of_gangs",
                    "trees",
                    "upper_bounds",
                    "views",
                    "volumes",
                    "ways_of_placing",
                )
            ),
            "tests/scheduler/levels/test_beside_others.py",
            "tests/scheduler/levels/test_places.py",
            "tests/scheduler/levels/test_which_domain.py",
            "tests/scheduler/preemption/test_known_costs.py",
            "tests/scheduler/preemption/test_trees_in_domains.py",
            "tests/devices/test_gangs.py",
        ),
    ),
    "exact": Area(
        modules=("scheduler/algorithm/exact/*.py",),
        tests=(
            *(
                f"tests/scheduler/core/test_{name}.py"
                for name in (
                    "against_plain_scheduler",
                    "exact_search",
                    "heterogeneous",
                    "known_costs",
                    "known_costs_of_exact_search",
                    "mixed",
                    "orders_of_coming",
                    "search_fallback",
                    "search_in_sequence",
                    "topology_domains",
                )
            ),
        ),
    ),
    "room": Area(
        modules=(
            "scheduler/algorithm/free_after_nominations.py",
            "scheduler/algorithm/future_pods.py",
            "scheduler/algorithm/idle_claims.py",
            "scheduler/algorithm/node_fits.py",
            "scheduler/cache/nominator.py",
            "scheduler/cache/disruption_budgets.py",
        ),
        tests=(
            *(
                f"tests/scheduler/core/test_{name}.py"
                for name in (
                    "disruption_budgets",
                    "filters",
                    "free_after_nominations",
                    "future_pods",
                    "identical",
                    "images_of_many_nodes",
                    "known_costs",
                    "nominator",
                    "pod_by_pod",
                    "reservations",
                    "views",
                )
            ),
            "tests/scheduler/preemption/test_evaluator.py",
            "tests/scheduler/preemption/test_known_costs.py",
            "tests/scheduler/shell/test_preemption.py",
            "tests/devices/test_idle_claims.py",
            "tests/devices/test_claims_of_groups.py",
            "tests/devices/test_pods_to_come.py",
        ),
    ),
    "levels": Area(
        modules=tuple(
            f"scheduler/algorithm/{name}.py"
            for name in (
                "fewest_domains",
                "identical_in_levels",
                "level_request",
                "level_tree",
                "levels",
                "member_ranks",
                "mixed_slices",
                "rank_order",
                "slices",
            )
        ),
        tests=(
            "tests/scheduler/levels",
            "tests/scheduler/core/test_desired_count.py",
            "tests/scheduler/core/test_known_costs.py",
        ),
    ),
    "trees": Area(
        modules=tuple(
            f"scheduler/algorithm/{name}.py" for name in ("schedule_tree", "tree_placement", "tree_selections")
        ),
        tests=(
            "tests/scheduler/core/test_known_costs.py",
            "tests/scheduler/core/test_known_costs_of_trees.py",
            "tests/scheduler/core/test_refusals_of_trees.py",
            "tests/scheduler/core/test_tree_placement.py",
            "tests/scheduler/core/test_tree_selections.py",
            "tests/scheduler/core/test_trees.py",
            "tests/scheduler/core/test_tree_properties.py",
            "tests/scheduler/levels/test_trees.py",
            "tests/scheduler/preemption/test_trees.py",
            "tests/scheduler/shell/test_trees.py",
        ),
    ),
    "rules": Area(
        modules=tuple(
            f"scheduler/algorithm/{name}.py"
            for name in ("compile_topology", "term_matching", "topology", "topology_state")
        ),
        tests=(
            "tests/scheduler/core/test_against_plain_scheduler.py",
            "tests/scheduler/core/test_default_topology_spread.py",
            "tests/scheduler/core/test_known_costs.py",
            "tests/scheduler/core/test_label_keys.py",
            "tests/scheduler/core/test_like_stock.py",
            "tests/scheduler/core/test_numbers_out_of_bounds.py",
            "tests/scheduler/core/test_plain_scores.py",
            "tests/scheduler/core/test_pod_by_pod.py",
            "tests/scheduler/core/test_queueing_hints.py",
            "tests/scheduler/core/test_term_matching.py",
            "tests/scheduler/core/test_topology_rules.py",
            "tests/scheduler/core/test_topology_rules_of_gangs.py",
            "tests/scheduler/core/test_upper_bounds.py",
            "tests/scheduler/core/test_views.py",
            "tests/scheduler/preemption/test_known_costs.py",
            "tests/scheduler/preemption/test_victim_topology.py",
            "tests/devices/test_gangs.py",
            "tests/devices/test_preemption.py",
            "tests/devices/test_releases.py",
        ),
    ),
    "volumes": Area(
        modules=("scheduler/algorithm/volume_binder.py", "scheduler/algorithm/volume_claims.py"),
        tests=(
            "tests/scheduler/core/test_alike_volume_claims.py",
            "tests/scheduler/core/test_known_costs.py",
            "tests/scheduler/core/test_like_stock.py",
            "tests/scheduler/core/test_volume_scores.py",
            "tests/scheduler/core/test_volumes.py",
        ),
    ),
}
