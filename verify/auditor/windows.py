"""How long something may last before it breaks a promise."""

from dataclasses import dataclass, fields


@dataclass
class Windows:
    """How long something may last before it breaks a promise, in seconds; a test that kills processes widens them.

    Attributes:
        bind_seconds: a gang may be partial.
        foreign_race_seconds: what others do, another scheduler or a user, may be unknown to ours.
        start_seconds: a preemptor may take after the last of its victims has gone.
        whole_seconds: the members of a group that leaves whole may be there after the first was asked to leave.
        orphan_seconds: an object may outlive its owner.
        devices_seconds: a pod may hold devices without a node.
        reason_seconds: a gang may wait without a word.
        known_late_seconds: what is said may be of a moment so long before.
        rest_seconds: without a change by others, nothing of ours is written any more.
        allows_members_first: whether members may come before their group, as when somebody else starts a Job of which we could not
            make the group yet.
        server_starts: when the API server was started anew, and from when it was ready; it denies everything to everybody before,
            and knows no roles yet. Seconds since the epoch.
    """

    bind_seconds: float = 2.0
    foreign_race_seconds: float = 1.0
    start_seconds: float = 60.0
    whole_seconds: float = 90.0
    orphan_seconds: float = 60.0
    devices_seconds: float = 60.0
    reason_seconds: float = 60.0
    known_late_seconds: float = 10.0
    rest_seconds: float = 300.0
    allows_members_first: bool = False
    server_starts: tuple[tuple[float, float], ...] = ()

    def widen(self, seconds: float) -> None:
        """Whoever is killed takes so long to come back: nothing is an error that lasts no longer."""
        for name in (each.name for each in fields(self) if each.name.endswith("_seconds")):
            setattr(self, name, max(getattr(self, name), seconds))

    def is_server_starting(self, when: float) -> bool:
        """Whether the API server was not ready at this moment."""
        return any(begin <= when < ready for begin, ready in self.server_starts)

    def reset(self) -> None:
        """As at the beginning."""
        for each in fields(self):
            setattr(self, each.name, each.default)
