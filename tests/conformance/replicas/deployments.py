"""The Deployments of Tutti without a cluster that runs them: the test starts, hurts and ends the replicas itself."""

import base64
import ssl
from pathlib import Path

from tests.conformance.replicas.replica import Replica, WebhooksReplica
from tests.conformance.replicas.service import Service, own_address
from verify.clusters.client import Object
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.jobs import indexed_job, is_gang
from verify.clusters.tutti_process import READY_SECONDS, SYSTEM_NAMESPACE

END = "\n-----END CERTIFICATE-----"
SECRET = "tutti-webhooks-certificates"
CONFIGURATIONS = {
    "mutatingwebhookconfigurations": "tutti-mutating",
    "validatingwebhookconfigurations": "tutti-validating",
}


class Deployments:
    """What runs of Tutti in one cluster."""

    def __init__(self, control_plane: ControlPlane, folder: Path, *, prefix: str) -> None:
        self.api = control_plane.admin
        self.service = Service(self.api)
        self.host = own_address()
        self._control_plane = control_plane
        self._prefix = prefix
        self._clock = folder / "clock"
        self._clock.write_text("0")
        self.replicas: list[Replica] = []

    # --- processes ---------------------------------------------------------------------------------------------------

    def start(self, component: str, *, through: int = 0, settings: dict[str, object] | None = None) -> Replica:
        """One more replica of scheduler or controllers."""
        made = Replica(self._control_plane, component, self._name(component), settings=settings, through=through)
        self.replicas.append(made)
        return made.start()

    def leader(self, component: str) -> Replica | None:
        """The replica that holds the lease; None when nobody of this test does."""
        lease = self.api.find("leases", f"tutti-{component}", SYSTEM_NAMESPACE)
        holder = lease["spec"].get("holderIdentity") if lease else None
        return next((each for each in self.replicas if each.name == holder), None)

    def start_webhooks(self, **settings: object) -> WebhooksReplica:
        """One more replica of the webhooks, which nobody is sent to yet."""
        name = self._name("webhooks")
        made = WebhooksReplica(self._control_plane, name, host=self.host, clock=self._clock, settings=settings)
        self.replicas.append(made)
        made.start()
        return made

    def serve(self, *replicas: WebhooksReplica) -> None:
        """Waits until these are ready, as a kubelet does, and has the API server ask them."""
        for each in replicas:
            each.wait_until_ready()
            self.service.offer(each.host, each.port)
        eventually(self.admits, within_seconds=READY_SECONDS)

    def admits(self) -> bool:
        """Whether a Job would be taken in."""
        return is_gang(self.api.create("jobs", indexed_job("probe", 2), "default", dry_run=True))

    def end(self) -> None:
        """Ends all processes, and what would make the next test begin elsewhere: endpoints, certificates, whom to trust."""
        self.service.withdraw_all()
        for each in self.replicas:
            each.end()
        self.delete_secret()
        self.trust("")

    def _name(self, component: str) -> str:
        return f"{self._prefix}-{component}-{len(self.replicas)}"

    def set_clock(self, *, seconds_ago: float) -> None:
        """The calendar by which the webhooks judge the life of certificates; the API server goes by the machine's."""
        fresh = self._clock.with_suffix(".new")
        fresh.write_text(str(-seconds_ago))
        fresh.replace(self._clock)

    def failures(self) -> list[str]:
        """Why the API server went on without admission, in its own words."""
        log = (self._control_plane.folder / "kube-apiserver.log").read_text(errors="replace")
        return [line for line in log.splitlines() if "failing open" in line]

    # --- certificates ------------------------------------------------------------------------------------------------

    def secret(self) -> Object | None:
        """The Secret of the certificates."""
        return self.api.find("secrets", SECRET, SYSTEM_NAMESPACE)

    def put_secret(self, data: dict[str, str]) -> None:
        """Writes the Secret, whatever it was before."""
        if self.secret() is None:
            self.api.create("secrets", {"metadata": {"name": SECRET}, "data": data}, SYSTEM_NAMESPACE)
        else:
            self.api.patch("secrets", SECRET, {"data": data}, SYSTEM_NAMESPACE)

    def delete_secret(self) -> None:
        """Deletes it if it is there."""
        self.api.delete("secrets", SECRET, SYSTEM_NAMESPACE)

    def authorities(self) -> int:
        """How many authorities the Secret has."""
        found = self.secret()
        return base64.b64decode(found["data"]["ca.crt"]).count(b"BEGIN CERTIFICATE") if found else 0

    def trusted(self) -> set[bytes]:
        """The authorities, DER, that the API server is told to trust in every entry of both configurations."""
        bundles = {
            frozenset(_certificates(base64.b64decode(entry["clientConfig"].get("caBundle", "")).decode()))
            for resource, name in CONFIGURATIONS.items()
            for entry in self.api.get(resource, name)["webhooks"]
        }
        assert len(bundles) == 1, "entries trust different authorities"
        return set(*bundles)

    def trust(self, pem: str) -> None:
        """Tells the API server whom to trust; nobody with an empty text."""
        encoded = base64.b64encode(pem.encode()).decode()
        for resource, name in CONFIGURATIONS.items():
            count = len(self.api.get(resource, name)["webhooks"])
            paths = [f"/webhooks/{index}/clientConfig/caBundle" for index in range(count)]
            self.api.patch(
                resource, name, [{"op": "add", "path": path, "value": encoded} for path in paths], kind="json"
            )


def _certificates(pem: str) -> set[bytes]:
    return {ssl.PEM_cert_to_DER_cert(part.strip() + END) for part in pem.split(END) if part.strip()}
