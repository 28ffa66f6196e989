"""Which form of discovery an Accept header asks for.

Pure. Only the aggregated list has a form of its own; everything else is JSON, whatever else the client also takes.
"""

JSON = "application/json"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_WANTED = {"g": "apidiscovery.k8s.io", "v": "v2", "as": "APIGroupDiscoveryList"}
_ANYTHING = {"", "*/*", "application/*"}


def discovery_type(accept: str, *, aggregated: bool) -> str | None:
    """AGGREGATED (where that exists) or JSON, whichever the header names first; None when it names neither."""
    for entry in accept.split(","):
        media_type, *parameters = [part.strip() for part in entry.split(";")]
        given = dict(part.partition("=")[::2] for part in parameters)
        if media_type in _ANYTHING:
            return JSON
        if media_type != JSON:
            continue
        if "as" not in given:
            return JSON
        if aggregated and all(given.get(key) == value for key, value in _WANTED.items()):
            return AGGREGATED
    return None
