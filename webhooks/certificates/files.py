"""A certificate bundle as four named PEM files, the form in which a Secret and a folder keep it.

`ca.crt` and `ca.key` hold the authorities, newest first in both; `tls.crt` and `tls.key` the serving certificate. Whatever
does not fit together counts as nothing, so that a half-written folder or a hand-made Secret heals by being made anew.
"""

from collections.abc import Mapping
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from webhooks.certificates.bundle import CertBundle, KeyPair, pem_of

CA_CERTIFICATES: Final = "ca.crt"
CA_KEYS: Final = "ca.key"
CERTIFICATE: Final = "tls.crt"
KEY: Final = "tls.key"
NAMES: Final = (CA_CERTIFICATES, CA_KEYS, CERTIFICATE, KEY)
PRIVATE: Final = frozenset({CA_KEYS, KEY})

_KEY_END: Final = b"-----END PRIVATE KEY-----"


def to_files(bundle: CertBundle) -> dict[str, bytes]:
    """The bundle as PEM, by file name."""
    return {
        CA_CERTIFICATES: bundle.ca_bundle,
        CA_KEYS: b"".join(_key_pem(authority.key) for authority in bundle.authorities),
        CERTIFICATE: pem_of(bundle.leaf.certificate),
        KEY: _key_pem(bundle.leaf.key),
    }


def from_files(files: Mapping[str, bytes]) -> CertBundle | None:
    """The bundle, None when something is missing, unreadable or does not belong together."""
    try:
        certificates = x509.load_pem_x509_certificates(files[CA_CERTIFICATES])
        keys = [_load_key(part + _KEY_END) for part in files[CA_KEYS].split(_KEY_END) if part.strip()]
        authorities = tuple(_key_pair(*both) for both in zip(certificates, keys, strict=True))
        leaf = _key_pair(x509.load_pem_x509_certificate(files[CERTIFICATE]), _load_key(files[KEY]))
    except (KeyError, ValueError, TypeError):
        return None
    return CertBundle(authorities, leaf)


def _key_pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> KeyPair:
    if certificate.public_key() != key.public_key():
        raise ValueError("the key is not that of the certificate")
    return KeyPair(certificate, key)


def _load_key(pem: bytes) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(pem, password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise TypeError("not a key of ours")
    return key


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
