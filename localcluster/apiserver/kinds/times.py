"""Times with six digits of a second, which is the only form in which leases and events take them."""

import re

LAYOUT = "2006-01-02T15:04:05.000000Z07:00"
_MICRO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)")
_FINER = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(?P<rest>\d+(Z|[+-]\d\d:\d\d))")
_SECONDS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")


def micro_time_problem(text: str) -> str:
    """What is wrong with such a time; "" when nothing is."""
    if _MICRO.fullmatch(text):
        return ""
    if match := _FINER.fullmatch(text):
        return f'parsing time "{text}" as "{LAYOUT}": cannot parse "{match["rest"]}" as "Z07:00"'
    layout, rest = "2006", text
    if (match := _SECONDS.match(text)) and match.end() < len(text):
        layout, rest = ".000000", text[match.end() :]
    return f'parsing time "{text}" as "{LAYOUT}": cannot parse "{rest}" as "{layout}"'
