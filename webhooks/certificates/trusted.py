"""Whom the API server is to trust: our authorities, and for a while those that another replica may still serve by.

A replica that starts with a lost Secret makes an authority that the others do not know yet, and a Secret that somebody put there
has one that nobody knew. If each replica wrote only what it knows itself, it would cut the others off.
"""

import datetime as dt
from collections.abc import Iterable
from typing import Final

from cryptography import x509
from cryptography.x509.oid import NameOID

from webhooks.certificates.bundle import AUTHORITY_NAME, OVERLAP, pem_of

KEPT: Final = OVERLAP
"""So long an authority of ours that is in no bundle any more stays trusted, from when this process first saw it so."""


class Trusted:
    """Remembers since when which authority is nobody's."""

    def __init__(self) -> None:
        self._strangers: dict[x509.Certificate, dt.datetime] = {}

    def wanted(self, ca_bundle: bytes, current: Iterable[bytes], now: dt.datetime) -> bytes:
        """PEM of all that are to be trusted; one of `current` as it is if it says the same.

        Args:
            ca_bundle: PEM of the authorities in use.
            current: what is trusted now, PEM, by several entries; text that is no PEM counts as nothing.
            now: the time, with a time zone.
        """
        ours = _authorities(ca_bundle)
        named = list(current)
        others = {
            certificate: self._strangers.get(certificate, now)
            for pem in named
            for certificate in _authorities(pem)
            if certificate not in ours and _is_own(certificate) and now < certificate.not_valid_after_utc
        }
        self._strangers = others
        kept = [certificate for certificate, since in others.items() if now < since + KEPT]
        wanted = {*ours, *kept}
        same = (pem for pem in named if set(_authorities(pem)) == wanted)
        return next(same, ca_bundle + b"".join(map(pem_of, kept)))


def _authorities(pem: bytes) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(pem)
    except ValueError:
        return []


def _is_own(certificate: x509.Certificate) -> bool:
    names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return any(str(name.value).startswith(AUTHORITY_NAME) for name in names)
