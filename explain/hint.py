"""A hint: one change that is enough, tried on the snapshot before it is told."""

from enum import StrEnum

import msgspec


class HintKind(StrEnum):
    """What would be changed."""

    ADD_NODES = "add-nodes"
    """`count` new nodes like `like`."""
    RESTORE_NODES = "restore-nodes"
    """`nodes` are uncordoned or well again."""
    LOWER_REQUEST = "lower-request"
    """No pod asks for more than `amount` of `resource`."""
    LOWER_DEVICES = "lower-devices"
    """No claim made for one of the pods asks for more than `count` devices of class `key`."""
    LOWER_MIN_COUNT = "lower-min-count"
    """The group starts with `count` pods."""
    TOLERATE = "tolerate"
    """The pods tolerate the taint `key`, `value`, `effect`."""
    REMOVE_NODE_SELECTOR = "remove-node-selector"
    """The pods are not bound to `key` any more."""
    REMOVE_NODE_AFFINITY = "remove-node-affinity"
    """The pods have no required node affinity (and no node selector) any more."""
    REMOVE_TOPOLOGY = "remove-topology"
    """The group need not be inside one value of `key`."""
    PREFER_SPREAD = "prefer-spread"
    """The pods' spread constraints are preferences (ScheduleAnyway)."""
    REMOVE_POD_AFFINITY = "remove-pod-affinity"
    """The pods have no required affinity or anti-affinity to other pods."""
    REMOVE_PORTS = "remove-ports"
    """The pods ask for no host ports."""
    RAISE_PRIORITY = "raise-priority"
    """The pods and their group have the priority class `key`; `pods` leave for them."""
    WAIT_FOR = "wait-for"
    """`pods` have ended or left: those of `what`."""
    HOLDER_GONE = "holder-gone"
    """`what`, for which room is kept, is gone."""
    REMOVE_GATES = "remove-gates"
    """The scheduling gates of its pods are removed."""
    REMOVE_TIMEOUT = "remove-timeout"
    """The group has no time limit any more."""


class Hint(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """What would be enough; which fields are set depends on `kind`.

    Attributes:
        kind: what would be changed.
        message: the same for people.
        count: of nodes, or of pods.
        like: name of the node that new ones are like.
        nodes: names.
        resource: name of a resource.
        amount: a quantity, what each pod may ask for in sum.
        key: of a label or taint, or name of a PriorityClass.
        value: of a taint.
        effect: of a taint.
        what: what ends, as KIND/NAME.
        pods: UIDs of pods that end or leave.
    """

    kind: HintKind
    message: str
    count: int = 0
    like: str = ""
    nodes: tuple[str, ...] = ()
    resource: str = ""
    amount: str = ""
    key: str = ""
    value: str = ""
    effect: str = ""
    what: str = ""
    pods: tuple[str, ...] = ()
