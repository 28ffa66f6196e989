"""Certificates with dates of the test's choice, in the shape in which the webhooks keep theirs. Imports nothing of the product."""

import base64
import datetime as dt
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

SERVICE_HOSTS = (
    "tutti-webhooks.tutti-system.svc",
    "tutti-webhooks.tutti-system.svc.cluster.local",
    "tutti-webhooks",
    "tutti-webhooks.tutti-system",
)
AUTHORITY_DAYS = 730
LEAF_DAYS = 90


def ago(**much: float) -> dt.datetime:
    """That long before now."""
    return dt.datetime.now(dt.UTC) - dt.timedelta(**much)


@dataclass(frozen=True)
class Pair:
    """A certificate with its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def certificate_pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )


def authority(made: dt.datetime, *, days: float = AUTHORITY_DAYS, name: str = "tutti-webhooks-ca-of-a-test") -> Pair:
    """An authority made then, for so many days."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = _name(f"{name}-{made:%Y%m%d%H%M%S}")
    builder = _builder(subject, subject, key, made, days)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    return Pair(builder.sign(key, hashes.SHA256()), key)


def leaf(signer: Pair, made: dt.datetime, *, days: float = LEAF_DAYS) -> Pair:
    """A serving certificate for our Service, made then by this authority, for so many days."""
    key = ec.generate_private_key(ec.SECP256R1())
    builder = _builder(_name("tutti-webhooks"), signer.certificate.subject, key, made, days)
    names = x509.SubjectAlternativeName([x509.DNSName(host) for host in SERVICE_HOSTS])
    builder = builder.add_extension(names, critical=False)
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.key.public_key())
    builder = builder.add_extension(identifier, critical=False)
    return Pair(builder.sign(signer.key, hashes.SHA256()), key)


def secret_data(authorities: list[Pair], serving: Pair) -> dict[str, str]:
    """What the Secret holds: authorities, newest first, and the serving certificate."""
    files = {
        "ca.crt": b"".join(each.certificate_pem for each in authorities),
        "ca.key": b"".join(each.key_pem for each in authorities),
        "tls.crt": serving.certificate_pem,
        "tls.key": serving.key_pem,
    }
    return {name: base64.b64encode(content).decode() for name, content in files.items()}


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, made: dt.datetime, days: float
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(made - dt.timedelta(minutes=5))
        .not_valid_after(made + dt.timedelta(days=days))
    )


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
