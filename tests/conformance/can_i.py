"""What `kubectl auth can-i --list` says, read as a set of rights."""

import re

from install.rights import Right
from verify.clusters.controlplane import ControlPlane

_LISTS = re.compile(r"\[([^\]]*)\]")


def listed(control_plane: ControlPlane, user: str, namespace: str) -> frozenset[Right]:
    """All that this user may do in this namespace; the namespace itself is left out of the rights."""
    told = control_plane.kubectl("auth", "can-i", "--list", "--no-headers", "--as", user, "-n", namespace)
    assert "incomplete" not in told.err, told.err
    return frozenset(right for line in told.out.splitlines() for right in _rights(line))


def _rights(line: str) -> list[Right]:
    """A line has a resource and three lists: paths that are no resources, names of objects, verbs."""
    resource = line.partition(" ")[0]
    paths, names, verbs = (each.split() for each in _LISTS.findall(line))
    whats = [("", path) for path in paths] or [_of_group(resource)]
    return [Right(verb, group, what, name=name) for verb in verbs for group, what in whats for name in names or [""]]


def _of_group(resource: str) -> tuple[str, str]:
    """`podgroups.tutti.scheduler/status` is `podgroups/status` of the group `tutti.scheduler`."""
    kind, slash, subresource = resource.partition("/")
    plural, _, group = kind.partition(".")
    return group, f"{plural}{slash}{subresource}"
