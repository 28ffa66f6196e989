"""`tutti fit`: what is printed and the exit code."""

from dataclasses import dataclass
from typing import Any

import msgspec

from api.errors import ConfigurationError
from explain.fit import FitAnswer, add_nodes, fit, fit_lines
from explain.live_command import connected, read_whole
from explain.manifests import read_manifests
from explain.source import Source, cluster_of_file, given_settings
from explain.submitted import Submitter
from explain.text import screen
from explain.why_command import Say
from providers.selection import standard_providers
from scheduler.recording.restore import Restored
from webhooks.admission.config import AdmissionConfig


@dataclass(frozen=True, slots=True)
class FitRequest:
    """What `tutti fit` is asked: the manifests' text, the namespace of those without one, made-up nodes, evictions."""

    text: str
    namespace: str
    evicts: bool = False
    nodes: int = 0
    like: str = ""


async def main_fit(source: Source, request: FitRequest, *, as_json: bool, say: Say) -> int:
    """Say whether what a file describes would start; 0 all of it, 3 some of it waits, 4 some of it never starts here.

    Raises:
        ConfigurationError: the file is wrong, admission would refuse it, or the cluster cannot be read.
    """
    manifests = read_manifests(request.text, request.namespace)
    found = fit_on(await _cluster(source), manifests, request)
    if as_json:
        say(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
    else:
        say("\n".join(fit_lines(found, [screen(one.answer) for one in found.items if one.answer is not None])))
    return found.exit_code


def fit_on(restored: Restored, manifests: list[dict[str, Any]], request: FitRequest) -> FitAnswer:
    """Whether these would start on a restored cluster, which is changed by it.

    Raises:
        ConfigurationError: admission would refuse one of them, or there is no node to make others like.
    """
    state, settings = restored.core.state, restored.settings
    classes = tuple(state.classes)
    names = settings.scheduler_names - {settings.scheduler_name}
    providers = standard_providers(scheduler_name=settings.scheduler_name, profile_names=sorted(names))
    config = AdmissionConfig(providers, classes=lambda: classes)
    now = restored.clock.epoch()
    templates = restored.inputs.objects.resourceclaimtemplates
    submission = Submitter(config, classes, now, templates).submit(manifests)
    if not submission.items:
        raise ConfigurationError("the file holds nothing that is placed on nodes")
    if request.nodes:
        add_nodes(state, request.nodes, request.like)
    return fit(state, submission, now, evicts=request.evicts and restored.core.may_evict)


async def _cluster(source: Source) -> Restored:
    if source.snapshot is not None:
        return cluster_of_file(source.snapshot, given_settings(source))
    async with connected(source) as client:
        return await read_whole(client, source)
