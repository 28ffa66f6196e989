"""The certificate bundle: our own authorities and the serving certificate, and when they are rotated. Pure, but for random keys.

One `CertBundle` holds everything: the authorities, newest first, and the serving certificate. The API server verifies us against
the CA bundle, PEM of *all* authorities. A new authority therefore only joins that at first; it signs from `OVERLAP` later, when
every API server has learnt it. The old one stays in it until it ends by itself, long after the last certificate it signed.
"""

import datetime as dt
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

AUTHORITY_LIFE: Final = dt.timedelta(days=730)
LEAF_LIFE: Final = dt.timedelta(days=90)
OVERLAP: Final = dt.timedelta(hours=1)
BACKDATED: Final = dt.timedelta(minutes=5)
"""Certificates begin this much earlier than they are made, for clocks that run behind."""

COMMON_NAME: Final = "tutti-webhooks"
AUTHORITY_NAME: Final = f"{COMMON_NAME}-ca-"
"""How the names of our authorities begin."""


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate and its private key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey = field(compare=False)

    @property
    def made(self) -> dt.datetime:
        """When it was issued."""
        return self.certificate.not_valid_before_utc + BACKDATED

    @property
    def ends(self) -> dt.datetime:
        """When it ends to be valid."""
        return self.certificate.not_valid_after_utc

    def is_due(self, now: dt.datetime) -> bool:
        """Whether two thirds of its life are over, or it lies in the future."""
        return now >= self.made + (self.ends - self.made) * 2 / 3 or now < self.certificate.not_valid_before_utc


@dataclass(frozen=True, slots=True)
class CertBundle:
    """Authorities, newest first, and the serving certificate signed by one of them."""

    authorities: tuple[KeyPair, ...]
    leaf: KeyPair

    @property
    def ca_bundle(self) -> bytes:
        """PEM of all authorities: what the API server verifies us against."""
        return b"".join(pem_of(authority.certificate) for authority in self.authorities)

    def is_trusted(self, now: dt.datetime) -> bool:
        """Whether somebody who trusts the authorities trusts the serving certificate at this time.

        One that begins later by our clock was made by another whose clock is ahead, and is fine by his.
        """
        return now < self.leaf.ends and any(
            now < authority.ends and _signed_by(self.leaf, authority) for authority in self.authorities
        )


def better(stored: CertBundle | None, in_use: CertBundle | None, now: dt.datetime) -> CertBundle | None:
    """The one to go on with: what is stored, unless only what this process serves with is good for something.

    A store that has lost its content, or got one that is out of date, must not take a certificate away that API servers trust.
    """
    if in_use is None or (stored is not None and stored.is_trusted(now)):
        return stored
    return in_use if stored is None or in_use.is_trusted(now) else stored


def rotated(current: CertBundle | None, *, hosts: Sequence[str], now: dt.datetime) -> CertBundle:
    """The bundle to use from now on; `current` itself when nothing is due.

    Args:
        current: what is in use, None for nothing usable.
        hosts: DNS names and IP addresses the serving certificate must be valid for.
        now: the time, with a time zone.
    """
    if current is None:
        authority = make_authority(now)
        return CertBundle((authority,), make_leaf(authority, hosts, now))
    authorities = tuple(pair for pair in current.authorities if pair.ends > now)
    if not authorities or authorities[0].is_due(now):
        authorities = (make_authority(now), *authorities)
    signer = _signer(authorities, now)
    leaf = current.leaf
    if leaf.is_due(now) or set(hosts_of(leaf.certificate)) != set(hosts) or not _signed_by(leaf, signer):
        leaf = make_leaf(signer, hosts, now)
    if authorities == current.authorities and leaf is current.leaf:
        return current
    return CertBundle(authorities, leaf)


def _signer(authorities: tuple[KeyPair, ...], now: dt.datetime) -> KeyPair:
    return next((pair for pair in authorities if now >= pair.made + OVERLAP), authorities[-1])


def _signed_by(leaf: KeyPair, authority: KeyPair) -> bool:
    try:
        leaf.certificate.verify_directly_issued_by(authority.certificate)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


# --- making --------------------------------------------------------------------------------------------------------------


def make_authority(now: dt.datetime) -> KeyPair:
    """A new certificate authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    # The date tells the authorities of one bundle apart; their key identifiers do so for machines.
    name = _name(f"{AUTHORITY_NAME}{now:%Y%m%d%H%M%S}")
    certificate = (
        _builder(name, name, key, now, AUTHORITY_LIFE)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    return KeyPair(certificate, key)


def make_leaf(authority: KeyPair, hosts: Sequence[str], now: dt.datetime) -> KeyPair:
    """A serving certificate for these DNS names and IP addresses."""
    key = ec.generate_private_key(ec.SECP256R1())
    issuer = authority.certificate
    life = min(LEAF_LIFE, authority.ends - now)
    certificate = (
        _builder(_name(COMMON_NAME), issuer.subject, key, now, life)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName([_general_name(host) for host in hosts]), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key()),
            critical=False,
        )
        .sign(authority.key, hashes.SHA256())
    )
    return KeyPair(certificate, key)


def hosts_of(certificate: x509.Certificate) -> tuple[str, ...]:
    """The DNS names and IP addresses a certificate is valid for."""
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return ()
    return (*names.get_values_for_type(x509.DNSName), *map(str, names.get_values_for_type(x509.IPAddress)))


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, now: dt.datetime, life: dt.timedelta
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BACKDATED)
        .not_valid_after(now + life)
    )


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def pem_of(certificate: x509.Certificate) -> bytes:
    """The certificate as PEM."""
    return certificate.public_bytes(serialization.Encoding.PEM)
