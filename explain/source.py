"""Where the cluster comes from that is decided on: a file, without a network and what that needs to be loaded."""

import gc
from dataclasses import dataclass
from pathlib import Path

from api.constants import SYSTEM_NAMESPACE
from kube.cache.decoding import cyclic_gc_paused
from kube.process.settings import load_settings
from scheduler.recording.file import read
from scheduler.recording.inputs import DecisionInputs
from scheduler.recording.restore import Restored, restore
from scheduler.settings import SchedulerSettings


@dataclass(frozen=True, slots=True)
class Source:
    """Where the cluster comes from.

    Attributes:
        snapshot: a file; None: the cluster itself, with the caller's rights.
        kubeconfig: how to reach it; None: the usual places.
        config: settings of the scheduler as YAML; None: those of the snapshot, or the defaults.
        context: of the kubeconfig; None: its current one.
        scheduler_namespace: where the scheduler is, which is asked when the caller may not read what decisions read.
    """

    snapshot: Path | None = None
    kubeconfig: str | None = None
    config: str | None = None
    context: str | None = None
    scheduler_namespace: str = SYSTEM_NAMESPACE


def given_settings(source: Source) -> SchedulerSettings | None:
    """The settings that somebody has named.

    Raises:
        ConfigurationError: they cannot be read.
    """
    return load_settings(SchedulerSettings, source.config) if source.config is not None else None


def cluster_of_file(path: Path, settings: SchedulerSettings | None) -> Restored:
    """The cluster in a snapshot.

    Raises:
        ConfigurationError: the file cannot be read.
    """
    # A cluster is half a million objects that stay: looking through them for garbage, even once, takes longer than an answer.
    with cyclic_gc_paused():
        restored = cluster_of(read(path).inputs, settings)
        gc.freeze()
    return restored


def cluster_of(inputs: DecisionInputs, settings: SchedulerSettings | None) -> Restored:
    """The cluster that decisions about these inputs are made on."""
    restored = restore(inputs, settings)
    if inputs.scheduler is None:
        # What a scheduler at work has nominated can be seen on the pods, as after its restart.
        restored.core.evaluator.restore(restored.clock(), may_evict=restored.core.may_evict)
    return restored
