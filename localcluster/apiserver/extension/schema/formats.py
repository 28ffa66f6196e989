"""The formats that a CRD may name for strings, as the real server's format registry knows them. An unknown format says nothing."""

import base64
import binascii
import datetime
import ipaddress
import re
from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

_DATE_TIME: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:?\d\d)\Z", re.ASCII
)
_HOST: Final = re.compile(
    r"([a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?)(\.([a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?))*\.?\Z"
)
_EMAIL: Final = re.compile(r"[^@\s<>]+@[^@\s<>]+\Z")
_UUID: Final = re.compile(r"(?i)[0-9A-F]{8}-?[0-9A-F]{4}-?[0-9A-F]{4}-?[0-9A-F]{4}-?[0-9A-F]{12}\Z")
_DURATION: Final = re.compile(
    r"[-+]?(0|(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))*\Z"
)
_WORDY_DURATION: Final = re.compile(
    r"\s*\d+(\.\d+)?\s*(ns|nanos?|us|micros?|µs|ms|millis?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?)\s*\Z"
)
_MAC: Final = re.compile(r"([0-9A-Fa-f]{2}[:-]){5,7}[0-9A-Fa-f]{2}\Z")
_HEX_COLOUR: Final = re.compile(r"#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})\Z")


def is_format(name: str, text: str) -> bool:
    """Whether the text is of that format; True for formats nobody knows."""
    check = _CHECKS.get(name.replace("-", ""))
    return check is None or check(text)


def parse_date_time(text: str) -> datetime.datetime:
    """The moment that an RFC 3339 text names; digits beyond microseconds are cut.

    Raises:
        ValueError: it names none.
    """
    found = _DATE_TIME.match(text)
    if not found:
        raise ValueError(f"{text!r} is no RFC 3339 time")
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    fraction = int((found[7] or ".0")[1:7].ljust(6, "0"))
    zone = found[8].replace(":", "")
    offset = datetime.timedelta()
    if zone not in {"Z", "z"}:
        offset = datetime.timedelta(hours=int(zone[1:3]), minutes=int(zone[3:5])) * (-1 if zone[0] == "-" else 1)
    return datetime.datetime(year, month, day, hour, minute, second, fraction, datetime.timezone(offset))


def _parses(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            parse(text)
        except (ValueError, binascii.Error):
            return False
        return True

    return check


def _is_uri(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return bool(parts.scheme) or text.startswith("/")


def _date(text: str) -> datetime.date:
    return datetime.datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=datetime.UTC).date()


_CHECKS: Final[dict[str, Callable[[str], bool]]] = {
    "datetime": _parses(parse_date_time),
    "date": _parses(_date),
    "duration": lambda text: bool(_DURATION.match(text) or _WORDY_DURATION.match(text)),
    "byte": _parses(lambda text: base64.b64decode(text, validate=True)),
    "email": lambda text: bool(_EMAIL.match(text)),
    "hostname": lambda text: bool(_HOST.match(text)),
    "ipv4": _parses(ipaddress.IPv4Address),
    "ipv6": _parses(ipaddress.IPv6Address),
    "ip": _parses(ipaddress.ip_address),
    "cidr": _parses(lambda text: ipaddress.ip_network(text, strict=False) if "/" in text else ipaddress.ip_address("")),
    "mac": lambda text: bool(_MAC.match(text)),
    "uri": _is_uri,
    "uuid": lambda text: bool(_UUID.match(text)),
    "uuid3": lambda text: bool(_UUID.match(text)),
    "uuid4": lambda text: bool(_UUID.match(text)),
    "uuid5": lambda text: bool(_UUID.match(text)),
    "hexcolor": lambda text: bool(_HEX_COLOUR.match(text)),
}
