"""The scheduler's metrics. Labels have few values on purpose: no object's name is ever one.

Names that exist upstream keep their meaning, with our prefix. Gauges that mirror a state are read when somebody asks
(`set_function`), so nothing has to be kept up to date.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import product
from typing import Final, get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Summary
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from api import constants as names
from kube.process.metrics import REQUEST_BUCKETS, RequestMetrics, WatchMetrics
from scheduler.algorithm.decision import Result
from scheduler.cache.records import EntityKind, GroupRecord
from scheduler.queue.item_errors import STAGES

_DECISION_BUCKETS: Final = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0)
_SEARCH_BUCKETS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
_START_BUCKETS: Final = (0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0, 14400.0, 86400.0)
_SIZES: Final = (1, 8, 64, 512)
"""The largest minimum of each class of sizes but the last."""
SIZE_CLASSES: Final = ("1", "2-8", "9-64", "65-512", "513-")
KINDS: Final[tuple[EntityKind, ...]] = get_args(EntityKind)
RESULTS: Final[tuple[Result, ...]] = get_args(Result)
_VICTIM_BUCKETS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096)


class SchedulerMetrics:
    """Counters, gauges and histograms of one scheduler process, in a registry of its own."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.registry = registry
        counter, gauge = partial(Counter, registry=registry), partial(Gauge, registry=registry)
        deciding = partial(Histogram, registry=registry, buckets=_DECISION_BUCKETS)
        self._attempts = counter(
            names.METRIC_ATTEMPTS, "Scheduling attempts of groups and lone pods.", ["type", "result"]
        )
        for kind, result in product(KINDS, RESULTS):
            # One that has tried nobody since it started is told from one of which nothing is known.
            self._attempts.labels(kind, result)
        attempt = "Time of an attempt, from taking it off the queue to handing over its binds."
        self._attempt_seconds = deciding(names.METRIC_ATTEMPT_SECONDS, attempt, ["result"])
        self._algorithm_seconds = deciding(names.METRIC_ALGORITHM_SECONDS, "Time of the decision alone.")
        bind = "Time from the decision on a pod to the server's word that it is bound, or until its bind was given up."
        self._bind_seconds = Histogram(names.METRIC_BIND_SECONDS, bind, buckets=REQUEST_BUCKETS, registry=registry)
        ended = (
            "Decisions, searches for victims and for room to reserve that were ended because they took too many steps."
        )
        self._over_budget = counter(names.METRIC_OVER_BUDGET, ended, ["computation"])
        written = "Writes by lane and by what became of them."
        self._writes = counter(names.METRIC_WRITES, written, ["lane", "outcome"])
        self.request: Final = RequestMetrics(registry).request
        drift = "Differences between the cache and a fresh list, found by the last self-check."
        self._drift = gauge(names.METRIC_CACHE_DRIFT, drift, ["kind"])
        self._watches = WatchMetrics(registry)
        self._queued = gauge(names.METRIC_QUEUED_ENTITIES, "Groups and lone pods in the queue.", ["queue"])
        self._objects = gauge(names.METRIC_CACHE_OBJECTS, "Objects in the cache.", ["kind"])
        self._queued_writes = gauge(names.METRIC_QUEUED_WRITES, "Writes not yet sent.", ["lane"])
        met = "Exceptions about single groups and pods, which were set aside, by what was being done."
        self._item_errors = counter(names.METRIC_ITEM_ERRORS, met, ["stage"])
        for stage in STAGES:
            # A series that begins with 1 has not increased for Prometheus, and the first error would alert nobody.
            self._item_errors.labels(stage)
        spent = "Seconds of the scheduling loop spent on attempts, by what caused them; all but news are retries."
        self._loop = Summary(names.METRIC_LOOP_SECONDS, spent, ["cause"], registry=registry)
        started = "Time from the creation of a group until its minimum is bound."
        self._start_seconds = Histogram(
            names.METRIC_START_SECONDS, started, ["size"], buckets=_START_BUCKETS, registry=registry
        )
        pending = "Groups with pods that want a place, by the reason for which they wait."
        degraded = "Started gangs that fell below the number of members that must run together."
        self._degraded = counter(names.METRIC_DEGRADED, degraded)
        self._restarts = counter(names.METRIC_RESTARTS, "Degraded gangs that left whole to queue again.")
        repaired = "Time from a started gang's falling below its minimum until it had it again."
        self._repair_seconds = Histogram(
            names.METRIC_REPAIR_SECONDS, repaired, buckets=_START_BUCKETS, registry=registry
        )
        self._pending = _Counts(names.METRIC_PENDING_PODGROUPS, pending, "reason", registry)
        spare_pods = "Pods for which room is wanted elsewhere, should their nodes be lost (spare-nodes)."
        self._spare_pods = _Counts(names.METRIC_SPARE_PODS, spare_pods, "room", registry)
        partial_groups = "Gangs of which some members are bound, and fewer than must run together."
        self._partial = _Counts(names.METRIC_PARTIAL_PODGROUPS, partial_groups, "started", registry)

    def attempt(self, kind: str, result: str, attempt_seconds: float, algorithm_seconds: float) -> None:
        """An item went through a cycle.

        Args:
            kind: of the item: group or pod.
            result: as in `Decision.result`.
            attempt_seconds: from taking it off the queue to handing over its binds.
            algorithm_seconds: of the decision in it.
        """
        self._attempts.labels(kind, result).inc()
        self._attempt_seconds.labels(result).observe(attempt_seconds)
        self._algorithm_seconds.observe(algorithm_seconds)

    def spent(self, cause: str, seconds: float) -> None:
        """An attempt that had this cause took so much of the loop's time."""
        self._loop.labels(cause).observe(seconds)

    def started(self, min_count: int, seconds: float) -> None:
        """The minimum of a group is bound, so many seconds after the group was created."""
        self._start_seconds.labels(SIZE_CLASSES[bisect_left(_SIZES, min_count)]).observe(seconds)

    def degraded(self) -> None:
        """A started gang has fallen below its minimum."""
        self._degraded.inc()

    def restarted(self) -> None:
        """A degraded gang leaves whole."""
        self._restarts.inc()

    def repaired(self, seconds: float) -> None:
        """A started gang has its minimum again, so many seconds after it fell below."""
        self._repair_seconds.observe(seconds)

    def follow_pending(self, read: Callable[[], Mapping[str, int]]) -> None:
        """Show how many groups wait, by reason."""
        self._pending.read = read

    def follow_spare_pods(self, read: Callable[[], Mapping[str, int]]) -> None:
        """Show for how many pods on nodes that gangs may lose room is kept, and for how many it is missing."""
        self._spare_pods.read = read

    def follow_partial(self, read: Callable[[], Mapping[str, int]]) -> None:
        """Show how many gangs are bound in part, those apart that had started before."""
        self._partial.read = read

    def over_budget(self, computation: str) -> None:
        """A computation would have taken too many steps."""
        self._over_budget.labels(computation).inc()

    def bound(self, seconds: float) -> None:
        """A pod is bound, or will not be, so many seconds after that was decided."""
        self._bind_seconds.observe(seconds)

    def item_error(self, stage: str) -> None:
        """An exception about one item was met."""
        self._item_errors.labels(stage).inc()

    def write(self, lane: str, outcome: str) -> None:
        """A write of this lane ended so."""
        self._writes.labels(lane, outcome).inc()

    def drift(self, kinds: Mapping[str, int]) -> None:
        """What the self-check found, by kind of difference."""
        for kind, amount in kinds.items():
            self._drift.labels(kind).set(amount)

    def follow_silence(self, resource: str, read: Callable[[], float]) -> None:
        """Show how long a watch has been silent."""
        self._watches.follow(resource, read)

    def follow_queue(self, queues: tuple[str, ...], read: Callable[[], Mapping[str, int]]) -> None:
        """Show how many items each part of the queue holds."""
        for name in queues:
            self._queued.labels(name).set_function(_reader(read, name))

    def follow_objects(self, kind: str, read: Callable[[], float]) -> None:
        """Show how many objects of a kind the cache holds."""
        self._objects.labels(kind).set_function(read)

    def follow_writes(self, lane: str, read: Callable[[], float]) -> None:
        """Show how many writes wait in a lane."""
        self._queued_writes.labels(lane).set_function(read)


class CountedProgress:
    """What is counted of groups' progress; `epoch` gives seconds since 1970."""

    def __init__(self, metrics: SchedulerMetrics, epoch: Callable[[], float]) -> None:
        self._metrics = metrics
        self._epoch = epoch
        self.degraded: Final = metrics.degraded
        self.repaired: Final = metrics.repaired

    def started(self, group: GroupRecord) -> None:
        """The minimum of a group is bound."""
        self._metrics.started(group.min_count, self._epoch() - group.created_seconds)


class PreemptionMetrics:
    """Counters and histograms of preemption; wasted evictions must stay 0 without faults."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._attempts = Counter(
            names.METRIC_PREEMPTION_ATTEMPTS,
            "Searches for victims, by what came of them.",
            ["result"],
            registry=registry,
        )
        self._seconds = Histogram(
            names.METRIC_PREEMPTION_SECONDS, "Time of a search for victims.", buckets=_SEARCH_BUCKETS, registry=registry
        )
        self._victims = Histogram(
            names.METRIC_PREEMPTION_VICTIMS,
            "Pods that leave for one preemptor.",
            buckets=_VICTIM_BUCKETS,
            registry=registry,
        )
        self._violations = Counter(
            names.METRIC_PREEMPTION_VIOLATIONS, "Victims beyond what a disruption budget allows.", registry=registry
        )
        self._evictions = Counter(names.METRIC_EVICTIONS, "Deletes of victims that were accepted.", registry=registry)
        self._wasted = Counter(
            names.METRIC_WASTED_EVICTIONS, "Evictions whose preemptor did not start in their place.", registry=registry
        )

    def searched(self, result: str, seconds: float) -> None:
        """Victims were looked for so long for a refused item; `result` as in `PreemptionResult`."""
        self._attempts.labels(result).inc()
        self._seconds.observe(seconds)

    def candidate_found(self, victims: int, violations: int) -> None:
        """A candidate was found: so many pods leave, of which so many violate a disruption budget."""
        self._victims.observe(victims)
        self._violations.inc(violations)

    def evicted(self) -> None:
        """The server accepted the deletion of a victim."""
        self._evictions.inc()

    def wasted(self, evictions: int) -> None:
        """A nomination was given up after so many evictions."""
        self._wasted.inc(evictions)


class _Counts(Collector):
    """A gauge whose values are counted in one go whenever somebody asks."""

    def __init__(self, name: str, text: str, label: str, registry: CollectorRegistry) -> None:
        self._name: Final = name
        self._text: Final = text
        self._labelnames: Final = (label,)
        self.read: Callable[[], Mapping[str, int]] = dict
        registry.register(self)

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """The values now."""
        family = GaugeMetricFamily(self._name, self._text, labels=self._labelnames)
        for value, count in self.read().items():
            family.add_metric([value], count)
        yield family


def _reader(read: Callable[[], Mapping[str, int]], name: str) -> Callable[[], float]:
    return lambda: float(read().get(name, 0))
