"""The certificate of the webhooks is renewed, lost, out of date, somebody else's: no admission is refused, none fails open.

Each test prints its figures. The processes look after their certificate every second instead of every minute.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conformance.replicas.admissions import Admissions
from tests.conformance.replicas.bundles import Pair, ago, authority, leaf, secret_data
from tests.conformance.replicas.deployments import Deployments
from tests.conformance.replicas.replica import WebhooksReplica
from verify.clusters.eventually import eventually, throughout

pytestmark = [pytest.mark.one_api, pytest.mark.real_only("the embedded server reaches webhooks by URL")]

DAY, HOUR = 86_400.0, 3_600.0
SOON_SECONDS = 20
BEFORE_SECONDS, AFTER_SECONDS = 2, 6
"""So long admissions are watched before something happens, and after it is over."""
LEAST = 100


def stream(deployments: Deployments) -> Admissions:
    return Admissions(deployments.api)


def judge(deployments: Deployments, what: str, admissions: Admissions) -> None:
    sys.stdout.write(f"\n{what}: {admissions.told()}\n")
    assert not admissions.missed, f"{admissions.missed[:3]}: {deployments.failures()[-3:]}"
    assert len(admissions.answers) >= LEAST, "too few admissions to say anything"


def goes_on(deployments: Deployments, seconds: float) -> None:
    throughout(lambda: all(each.server.running for each in deployments.replicas), seconds=seconds)


def shown(*replicas: WebhooksReplica) -> set[int]:
    """The serial numbers of the certificates that they serve with."""
    return {each.certificate().serial_number for each in replicas}


def replaced(before: set[int], *replicas: WebhooksReplica) -> Callable[[], bool]:
    """Whether all of them serve with one certificate, which none of them had before."""

    def is_so() -> bool:
        now = shown(*replicas)
        assert len(now) == 1, f"certificates {now}"
        return not now & before

    return is_so


def begun(deployments: Deployments, count: int) -> list[WebhooksReplica]:
    replicas = [deployments.start_webhooks() for _ in range(count)]
    deployments.serve(*replicas)
    return replicas


def test_the_serving_certificate_is_renewed_under_load(deployments: Deployments) -> None:
    deployments.set_clock(seconds_ago=61 * DAY)
    replicas = begun(deployments, 2)
    with stream(deployments) as admissions:
        goes_on(deployments, BEFORE_SECONDS)
        before = shown(*replicas)
        deployments.set_clock(seconds_ago=0)
        eventually(replaced(before, *replicas), within_seconds=SOON_SECONDS)
        goes_on(deployments, AFTER_SECONDS)
    judge(deployments, "serving certificate renewed", admissions)


def old_authority(deployments: Deployments) -> Pair:
    """An authority that is due at once by the calendar of one day ago, and not yet by that of two days ago."""
    made = authority(ago(days=488))
    deployments.put_secret(secret_data([made], leaf(made, ago(days=3))))
    deployments.set_clock(seconds_ago=2 * DAY)
    return made


def test_the_authority_is_renewed_under_load_and_another_replica_starts_in_the_middle(deployments: Deployments) -> None:
    old_authority(deployments)
    (first,) = begun(deployments, 1)
    with stream(deployments) as admissions:
        goes_on(deployments, BEFORE_SECONDS)
        before = shown(first)
        deployments.set_clock(seconds_ago=DAY)
        eventually(lambda: deployments.authorities() == 2, within_seconds=SOON_SECONDS)
        second = deployments.start_webhooks()
        deployments.serve(second)
        eventually(lambda: len(deployments.trusted()) == 2, within_seconds=SOON_SECONDS)
        goes_on(deployments, BEFORE_SECONDS)
        assert shown(first, second) == before, "nobody signs with an authority that API servers have just been told of"
        third = deployments.start_webhooks()
        deployments.set_clock(seconds_ago=DAY - 2 * HOUR)
        deployments.serve(third)
        eventually(replaced(before, first, second, third), within_seconds=SOON_SECONDS)
        goes_on(deployments, AFTER_SECONDS)
    judge(deployments, "authority renewed, two replicas started meanwhile", admissions)
    assert len(deployments.trusted()) == 2, "the old authority is trusted until it ends"


def test_a_secret_that_is_deleted_is_made_again_under_load(deployments: Deployments) -> None:
    replicas = begun(deployments, 2)
    with stream(deployments) as admissions:
        goes_on(deployments, BEFORE_SECONDS)
        for _ in range(3):
            deployments.delete_secret()
            eventually(deployments.authorities, within_seconds=SOON_SECONDS)
            goes_on(deployments, BEFORE_SECONDS)
        eventually(lambda: len(shown(*replicas)) == 1, within_seconds=SOON_SECONDS)
        goes_on(deployments, AFTER_SECONDS)
    judge(deployments, "Secret deleted three times", admissions)


def test_a_replica_that_starts_without_the_secret_does_not_cut_off_the_one_that_serves(
    deployments: Deployments,
) -> None:
    (first,) = begun(deployments, 1)
    with stream(deployments) as admissions:
        goes_on(deployments, BEFORE_SECONDS)
        second = deployments.start_webhooks()

        def is_ready_without() -> bool:
            # For as long as it takes to start, it finds none whenever it looks.
            deployments.delete_secret()
            return second.ready()

        eventually(is_ready_without, within_seconds=SOON_SECONDS)
        deployments.serve(second)
        eventually(lambda: len(shown(first, second)) == 1, within_seconds=SOON_SECONDS)
        goes_on(deployments, AFTER_SECONDS)
    judge(deployments, "started without a Secret beside one that serves", admissions)


def expired() -> dict[str, str]:
    made = authority(ago(days=800), days=730)
    return secret_data([made], leaf(made, ago(days=160)))


def expired_leaf() -> dict[str, str]:
    made = authority(ago(days=100))
    return secret_data([made], leaf(made, ago(days=95)))


def of_a_backup() -> dict[str, str]:
    made = authority(ago(days=30))
    return secret_data([made], leaf(made, ago(days=20)))


@pytest.mark.parametrize("content", [expired, pytest.param(expired_leaf, marks=pytest.mark.slow)])
def test_out_of_date_at_the_start_it_is_made_anew(
    deployments: Deployments, content: Callable[[], dict[str, str]]
) -> None:
    deployments.put_secret(content())
    replicas = begun(deployments, 2)
    with stream(deployments) as admissions:
        goes_on(deployments, AFTER_SECONDS)
    judge(deployments, f"{content.__name__} in the Secret at the start", admissions)
    assert len(shown(*replicas)) == 1
    assert all(each.certificate().not_valid_after_utc > ago(days=-89) for each in replicas)


@pytest.mark.parametrize("content", [expired, pytest.param(expired_leaf, marks=pytest.mark.slow), of_a_backup])
def test_another_secret_put_there_while_it_runs_cuts_nobody_off(
    deployments: Deployments, content: Callable[[], dict[str, str]]
) -> None:
    replicas = begun(deployments, 2)
    with stream(deployments) as admissions:
        goes_on(deployments, BEFORE_SECONDS)
        deployments.put_secret(content())

        def is_settled() -> bool:
            found = deployments.secret()
            assert found is not None
            return all(each.serves_by(found) for each in replicas)

        eventually(is_settled, within_seconds=SOON_SECONDS)
        goes_on(deployments, AFTER_SECONDS)
    judge(deployments, f"{content.__name__} put into the Secret", admissions)
    assert all(each.certificate().not_valid_after_utc > ago(days=-60) for each in replicas)


def test_files_that_somebody_else_keeps_are_taken_up_as_they_are_replaced(
    deployments: Deployments, tmp_path: Path
) -> None:
    folder = tmp_path / "mounted"
    theirs = authority(ago(days=1), name="somebody-else")
    mount(folder, leaf(theirs, ago(hours=1)))
    deployments.trust(theirs.certificate_pem.decode())
    replicas = [deployments.start_webhooks(given_certificates=str(folder)) for _ in range(2)]
    deployments.serve(*replicas)
    with stream(deployments) as admissions:
        goes_on(deployments, BEFORE_SECONDS)
        for _ in range(3):
            before = shown(*replicas)
            mount(folder, leaf(theirs, ago(minutes=1)))
            eventually(replaced(before, *replicas), within_seconds=SOON_SECONDS)
        goes_on(deployments, AFTER_SECONDS)
    judge(deployments, "mounted certificate replaced three times", admissions)
    assert len(deployments.trusted()) == 1, "who is trusted is not ours to say"
    assert deployments.secret() is None


def mount(folder: Path, pair: Pair) -> None:
    """Puts a certificate there as a kubelet does: another folder, to which one link is turned."""
    folder.mkdir(exist_ok=True)
    content = folder / f"..{pair.certificate.serial_number}"
    content.mkdir()
    (content / "tls.crt").write_bytes(pair.certificate_pem)
    (content / "tls.key").write_bytes(pair.key_pem)
    fresh = folder / "..data_tmp"
    fresh.symlink_to(content.name)
    fresh.replace(folder / "..data")
    for name in ("tls.crt", "tls.key"):
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(f"..data/{name}")
