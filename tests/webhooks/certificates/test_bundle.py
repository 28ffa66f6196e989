"""When certificates are made, renewed and trusted."""

import datetime as dt
import ssl

import pytest
from cryptography import x509

from webhooks.certificates.bundle import AUTHORITY_LIFE, LEAF_LIFE, OVERLAP, CertBundle, hosts_of, rotated
from webhooks.certificates.files import CA_KEYS, CERTIFICATE, KEY, NAMES, from_files, to_files

START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
HOSTS = ("tutti-webhooks.tutti-system.svc", "10.0.0.1", "::1")
SECOND = dt.timedelta(seconds=1)


def at(bundle: CertBundle | None, after: dt.timedelta) -> CertBundle:
    return rotated(bundle, hosts=HOSTS, now=START + after)


def fresh() -> CertBundle:
    return at(None, dt.timedelta())


def is_trusted(bundle: CertBundle, ca_bundle: bytes) -> bool:
    """Whether somebody who knows this bundle accepts the serving certificate."""
    authorities = x509.load_pem_x509_certificates(ca_bundle)
    for authority in authorities:
        try:
            bundle.leaf.certificate.verify_directly_issued_by(authority)
        except Exception:  # noqa: BLE001 (any failure means: not by this one)
            continue
        return True
    return False


def test_the_first_certificate_is_for_all_hosts_and_trusted() -> None:
    bundle = fresh()
    assert set(hosts_of(bundle.leaf.certificate)) == set(HOSTS)
    assert is_trusted(bundle, bundle.ca_bundle)
    assert bundle.leaf.ends == START + LEAF_LIFE
    assert bundle.authorities[0].ends == START + AUTHORITY_LIFE


def test_the_bundle_is_one_the_tls_library_accepts() -> None:
    context = ssl.create_default_context(cadata=fresh().ca_bundle.decode())
    assert len(context.get_ca_certs()) == 1


@pytest.mark.parametrize("age", [dt.timedelta(), LEAF_LIFE / 2, LEAF_LIFE * 2 / 3 - SECOND])
def test_nothing_changes_before_two_thirds_of_the_life(age: dt.timedelta) -> None:
    bundle = fresh()
    assert at(bundle, age) is bundle


def test_the_serving_certificate_is_renewed_at_two_thirds_of_its_life() -> None:
    old = fresh()
    new = at(old, LEAF_LIFE * 2 / 3)
    assert new.authorities == old.authorities
    assert new.leaf != old.leaf
    assert is_trusted(new, old.ca_bundle)


def test_a_new_authority_is_published_before_it_signs() -> None:
    due = AUTHORITY_LIFE * 2 / 3
    old = at(fresh(), due - SECOND)
    both = at(old, due)
    assert len(both.authorities) == 2
    assert both.ca_bundle.endswith(old.ca_bundle)
    assert is_trusted(both, old.ca_bundle)

    signed = at(both, due + OVERLAP)
    assert is_trusted(signed, both.ca_bundle)
    assert not is_trusted(signed, old.ca_bundle)


def test_the_old_authority_leaves_the_bundle_when_it_ends() -> None:
    due = AUTHORITY_LIFE * 2 / 3
    both = at(at(fresh(), due), due + OVERLAP)
    assert len(at(both, AUTHORITY_LIFE - SECOND).authorities) == 2
    assert len(at(both, AUTHORITY_LIFE).authorities) == 1


def test_whoever_was_told_of_one_step_trusts_the_next() -> None:
    """Ten years, looked at every 20 minutes around each change and daily else."""
    bundle, moment = fresh(), dt.timedelta()
    changes = 0
    while moment < dt.timedelta(days=3650):
        after = at(bundle, moment)
        if after is not bundle:
            changes += 1
            assert is_trusted(after, bundle.ca_bundle)
            assert after.leaf.ends > START + moment
        step = dt.timedelta(minutes=20) if after is not bundle or len(after.authorities) > 1 else dt.timedelta(days=1)
        bundle, moment = after, moment + max(step, dt.timedelta(days=1) if changes % 7 else step)
    assert changes > 50


def test_other_hosts_need_another_certificate() -> None:
    old = fresh()
    new = rotated(old, hosts=["localhost"], now=START)
    assert hosts_of(new.leaf.certificate) == ("localhost",)
    assert new.authorities == old.authorities


def test_material_that_has_ended_is_made_anew() -> None:
    old = fresh()
    new = at(old, AUTHORITY_LIFE + SECOND)
    assert not set(new.authorities) & set(old.authorities)
    assert new.leaf.ends > START + AUTHORITY_LIFE


def test_a_certificate_from_the_future_is_made_anew() -> None:
    bundle = at(None, dt.timedelta(days=30))
    assert at(bundle, dt.timedelta()).leaf.ends < bundle.leaf.ends


def test_files_hold_the_whole_material() -> None:
    due = AUTHORITY_LIFE * 2 / 3
    both = at(fresh(), due)
    again = from_files(to_files(both))
    assert again is not None
    assert to_files(again) == to_files(both)
    assert at(again, due) is again


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "broken", [None, b"", b"nonsense", b"-----BEGIN PRIVATE KEY-----\n\n-----END PRIVATE KEY-----"]
)
def test_files_that_are_broken_count_as_nothing(name: str, broken: bytes | None) -> None:
    files = to_files(fresh())
    if broken is None:
        del files[name]
    else:
        files[name] = broken
    assert from_files(files) is None


@pytest.mark.parametrize("name", [KEY, CERTIFICATE, CA_KEYS])
def test_files_that_do_not_belong_together_count_as_nothing(name: str) -> None:
    assert from_files({**to_files(fresh()), name: to_files(fresh())[name]}) is None
