"""Times with six digits of a second, which is the only form in which leases and events take them."""

import re

from localcluster.apiserver import status

LAYOUT = "2006-01-02T15:04:05.000000Z07:00"
_MICRO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)")
_SECONDS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")


def require_micro_time(kind: str, value: object) -> None:
    """Pass over such a time, and over none.

    Raises:
        StatusError: it is something else; `kind` is what the message says cannot be read.
    """
    if value is None or (isinstance(value, str) and _MICRO.fullmatch(value)):
        return
    text = str(value)
    layout, rest = "2006", text
    if (match := _SECONDS.match(text)) and match.end() < len(text):
        layout, rest = ".000000", text[match.end() :]
    told = f'parsing time "{text}" as "{LAYOUT}": cannot parse "{rest}" as "{layout}"'
    raise status.bad_request(f'{kind} in version "v1" cannot be handled as a {kind}: {told}')
