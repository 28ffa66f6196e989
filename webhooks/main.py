"""The process `tutti webhooks`: puts the parts together and ends them in order.

Every replica serves; none needs a lease. Ready means: certificate in use and trusted, PriorityClasses read, port open. Asked to
stop, it turns unready first, goes on serving for a moment, then finishes what is in flight.
"""

import asyncio
import datetime as dt
import random as randomness
import secrets
import ssl
from collections.abc import Callable, Iterable, Mapping

import msgspec
from prometheus_client import REGISTRY, CollectorRegistry

from api.meta import Metadata
from api.names import new_token
from api.priorityclass import PriorityClass
from kube.cache.decoding import ListDecoder
from kube.cache.informer import Informer
from kube.client.client import Client
from kube.client.credentials import load_credentials
from kube.client.errors import KubeError
from kube.client.resources import NAMESPACES, PODS, PRIORITY_CLASSES
from kube.groups.discovery import choose_group_api
from kube.groups.group_api import GroupAPI
from kube.process.health import Check, HealthServer, split_address
from kube.process.metrics_access import metrics_access
from kube.process.run import EXIT_OK, preflight
from providers.selection import standard_providers
from webhooks.admission.config import AdmissionConfig
from webhooks.admission.gang_defaults import NO_ANNOTATIONS, Namespace
from webhooks.certificates.bundle import CertBundle
from webhooks.certificates.registration import Registration
from webhooks.certificates.rotator import CertRotator
from webhooks.certificates.stores import BundleStore, FolderStore, SecretStore
from webhooks.certificates.tls import server_context
from webhooks.certificates.watcher import CertWatcher
from webhooks.job.scheduling_field import integration_in_force
from webhooks.server.limits import Limits
from webhooks.server.metrics import Metrics
from webhooks.server.routes import Route, routes
from webhooks.server.server import AdmissionServer
from webhooks.settings import WebhooksSettings

USER_AGENT = "tutti-webhooks"
READ_SECONDS = 1.5
"""For the one read that an admission may need: what it does not tell in time is told to the pods later, by the controllers."""


async def main(settings: WebhooksSettings, stop: asyncio.Event, *, registry: CollectorRegistry = REGISTRY) -> int:
    """Serves admission until `stop` is set; the exit code.

    Raises:
        ConfigurationError: it cannot start as asked.
        KubeError: the API server refused something it needs at the start.
    """
    credentials = load_credentials(settings.kubeconfig)
    access = metrics_access(is_asked=settings.metrics_authentication, credentials=credentials, user_agent=USER_AGENT)
    async with Client(credentials, user_agent=USER_AGENT) as client:
        await preflight(client)
        group_api = await choose_group_api(
            client, pinned=settings.group_api, system_namespace=settings.system_namespace
        )
        process = _Process(settings, client, group_api, registry)
        async with HealthServer(
            settings.metrics_address, ready=process.readiness(stop), registry=registry, access=access
        ):
            await process.certificates.refresh()
            await process.server.start()
            try:
                await _serve(process, stop, leave_seconds=settings.shutdown_delay_seconds)
            finally:
                await process.server.stop()
    return EXIT_OK


async def _serve(process: "_Process", stop: asyncio.Event, *, leave_seconds: float) -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(process.classes.run(), name="priorityclasses"),
            group.create_task(process.namespaces.run(), name="namespaces"),
            group.create_task(process.certificates.run(), name="certificates"),
        ]
        if process.registration is not None:
            tasks.append(group.create_task(process.registration.run(), name="registration"))
        await stop.wait()
        process.server.leave()
        await asyncio.sleep(leave_seconds)
        for task in tasks:
            task.cancel()


def _wall_clock() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


class _Process:
    """The parts of the process, wired."""

    def __init__(
        self, settings: WebhooksSettings, client: Client, group_api: GroupAPI, registry: CollectorRegistry
    ) -> None:
        random = randomness.Random()  # noqa: S311 (spreads requests over time, guards nothing)
        self.group_api = group_api
        self._client = client
        self.metrics = Metrics(registry)
        self.classes = Informer(client, PRIORITY_CLASSES, ListDecoder(PriorityClass))
        self.namespaces = Informer(client, NAMESPACES, ListDecoder(Namespace))
        self.metrics.watches.follow(PRIORITY_CLASSES.plural, self.classes.last_heard_seconds)
        self.metrics.watches.follow(NAMESPACES.plural, self.namespaces.last_heard_seconds)
        context = server_context(settings.client_authority)
        self.registration: Registration | None = None
        self.certificates: CertRotator | CertWatcher
        if settings.given_certificates is not None:
            self.certificates = CertWatcher(
                settings.given_certificates, context, random=random, on_change=self._certificate_ends
            )
        else:
            self.registration = Registration(client, base_url=settings.url, random=random, wall_clock=_wall_clock)
            self.certificates = CertRotator(
                _store(settings, client),
                context,
                hosts=settings.hosts,
                wall_clock=_wall_clock,
                random=random,
                introduce=self.registration.introduce,
                on_change=self._certificate_changed,
            )
        # By URL, whoever started this process registers it once it is ready, for its own account may not change where calls go.
        self._registers_itself = self.registration is not None and settings.url is None
        self.server = _server(settings, context, self.metrics, self._routes(settings))

    def _is_registered(self) -> bool:
        return not self._registers_itself or (self.registration is not None and self.registration.is_done)

    def _routes(self, settings: WebhooksSettings) -> dict[str, Route]:
        config = AdmissionConfig(
            providers=standard_providers(
                scheduler_name=settings.scheduler_name,
                profile_names=settings.profile_names,
                default_provider=settings.default_provider,
                options=settings.providers,
                built_in_groups=self.group_api.keeps_pod_field,
            ),
            add_pod_failure_policy=settings.add_pod_failure_policy,
            gang_jobs=settings.feature_gates.gang_jobs,
            gang_sets=settings.feature_gates.gang_leader_worker_sets,
            gang_job_sets=settings.feature_gates.gang_job_sets,
            integration=integration_in_force(settings.job_integration, self.group_api),
            defaults=settings.defaults.annotations,
            namespace=self._namespace_annotations,
            classes=self._classes_now,
        )
        return routes(
            config,
            group_api=self.group_api,
            read_pod=self._read_pod,
            new_token=lambda: new_token(secrets.randbits(64)),
        )

    def _classes_now(self) -> Iterable[PriorityClass] | None:
        return self.classes.store.all() if self.classes.synced.is_set() else None

    async def _read_pod(self, namespace: str, name: str) -> Metadata | None:
        try:
            found = await self._client.get(PODS, name, namespace, timeout_seconds=READ_SECONDS)
        except KubeError:
            return None
        return msgspec.convert(found.get("metadata") or {}, Metadata)

    def _namespace_annotations(self, name: str) -> Mapping[str, str]:
        found = self.namespaces.store.get("", name)
        return (found.metadata.annotations if found is not None else None) or NO_ANNOTATIONS

    def _certificate_changed(self, bundle: CertBundle) -> None:
        self._certificate_ends(bundle.leaf.ends)
        if self.registration is not None:
            self.registration.trust(bundle.ca_bundle)

    def _certificate_ends(self, when: dt.datetime) -> None:
        self.metrics.certificate_expiry.set(when.timestamp())

    def readiness(self, stop: asyncio.Event) -> dict[str, Check]:
        """The checks behind /readyz."""

        def check(fine: Callable[[], bool], reason: str) -> Check:
            return lambda: None if fine() else reason

        return {
            "certificate": check(lambda: self.certificates.is_loaded, "not loaded yet"),
            "namespaces": check(self.namespaces.synced.is_set, "not read yet"),
            "port": check(lambda: self.server.is_listening, "not open yet"),
            "priorityclasses": check(self.classes.synced.is_set, "not read yet"),
            # Nobody is to be sent here who would not trust the certificate.
            "registration": check(self._is_registered, "not written yet"),
            "stopping": check(lambda: not stop.is_set(), "the process was asked to stop"),
        }


def _server(
    settings: WebhooksSettings, context: ssl.SSLContext, metrics: Metrics, served: dict[str, Route]
) -> AdmissionServer:
    host, port = split_address(settings.listen)
    return AdmissionServer(
        served,
        context=context,
        host=host,
        port=port,
        metrics=metrics,
        limits=Limits(
            read_seconds=settings.read_seconds,
            drain_seconds=settings.drain_seconds,
            client_names=frozenset(settings.client_names),
        ),
    )


def _store(settings: WebhooksSettings, client: Client) -> BundleStore:
    if settings.folder is not None:
        return FolderStore(settings.folder)
    return SecretStore(client, settings.system_namespace)
