"""Names of Workloads and PodGroups, byte for byte those of the stock Job controller (KEP-5547).

Names are deterministic, so that a create that is repeated after a lost answer meets itself; they are never used to find an
object again. The one departure: upstream's template name is not shortened, so a Job whose name has 58 or more characters
(or a dot) never starts there. Ours is always a DNS label.
"""

import re
from typing import Final

from api.errors import InvalidName

MAX_NAME: Final = 253
MAX_LABEL: Final = 63
ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"
"""Of names that are generated: without vowels and digits that look like some."""
_FNV_OFFSET: Final = 2166136261
_FNV_PRIME: Final = 16777619
_TEMPLATE_SUFFIX: Final = "-pgt-0"
_SUBDOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL_NAME: Final = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")


def fnv1a_32(data: bytes) -> int:
    """The 32-bit FNV-1a hash of some bytes."""
    digest = _FNV_OFFSET
    for byte in data:
        digest = ((digest ^ byte) * _FNV_PRIME) & 0xFFFFFFFF
    return digest


def safe_encode(text: str) -> str:
    """Replaces every byte by a letter that can form neither a word nor a digit taken for a letter."""
    return "".join(ALPHABET[byte % len(ALPHABET)] for byte in text.encode())


def _hash(data: str) -> str:
    return safe_encode(str(fnv1a_32(data.encode())))


def workload_name(owner_name: str, owner_uid: str) -> str:
    """Name of the Workload of an owner: its name, shortened where needed, and a hash of its UID."""
    digest = _hash(f"(types.UID){owner_uid}")
    return f"{_cut(owner_name, MAX_NAME - len(digest) - 1)}-{digest}"


def composite_name(owner_name: str, owner_uid: str) -> str:
    """Name of the CompositePodGroup over all gangs of an owner: its name, shortened where needed, and a hash of its UID."""
    digest = _hash(f"(types.UID){owner_uid}/set")
    tail = f"-set-{digest}"
    return f"{_cut(owner_name, MAX_NAME - len(tail))}{tail}"


def template_name(owner_name: str) -> str:
    """Name of the one PodGroup template of a Job, as a DNS label of at most 63 characters.

    A Job's name that is short and has no dots gives upstream's `<name>-pgt-0`; any other is shortened and made unique by a
    hash of the whole name.
    """
    plain = f"{owner_name}{_TEMPLATE_SUFFIX}"
    if len(plain) <= MAX_LABEL and "." not in owner_name:
        return plain
    digest = _hash(owner_name)
    room = MAX_LABEL - len(_TEMPLATE_SUFFIX) - len(digest) - 1
    stem = owner_name.replace(".", "-")[:room].rstrip("-")
    return f"{stem}-{digest}{_TEMPLATE_SUFFIX}"


def pod_group_name(workload: str, template: str) -> str:
    """Name of the PodGroup that instantiates a template of a Workload: both names, shortened to 253, and a hash."""
    digest = _hash(workload + template)
    room = MAX_NAME - len(digest) - 2
    if len(workload) + len(template) > room:
        half = room // 2
        if len(workload) <= half:
            template = template[: room - len(workload)]
        elif len(template) <= half:
            workload = _cut(workload, room - len(template))
        else:
            workload, template = _cut(workload, room - half), template[:half]
    return f"{workload}-{template}-{digest}"


def replica_group_name(owner_name: str, group_index: int, revision: str, incarnation: str) -> str:
    """Name of the PodGroup of a LeaderWorkerSet replica: whose and which it is, and a hash of its revision and incarnation.

    Args:
        owner_name: the LeaderWorkerSet's name, cut so that the whole has at most 253 characters.
        group_index: which replica.
        revision: hash of the template revision that its leader follows.
        incarnation: token of one leader pod, so that a leader that is created anew never meets its predecessor's group.
    """
    digest = _hash(f"{revision}/{incarnation}")
    tail = f"-{group_index}-{digest}"
    return f"{_cut(owner_name, MAX_NAME - len(tail))}{tail}"


def child_group_name(owner_name: str, owner_uid: str, part: str, attempt: int) -> str:
    """Name of a PodGroup that stands for children of a parent: whose, which of them, which attempt, and a hash of the parent's UID.

    Args:
        owner_name: the parent's name, cut so that the whole has at most 253 characters.
        owner_uid: the parent's UID.
        part: which of its children.
        attempt: how often the parent has been restarted; an attempt never counts the pods of another.
    """
    tail = f"-{part}-{attempt}-{_hash(f'{owner_uid}/{part}/{attempt}')}"
    return f"{_cut(owner_name, MAX_NAME - len(tail))}{tail}"


def new_token(number: int) -> str:
    """A token of ten letters for a random number."""
    letters = ""
    for _ in range(10):
        number, rest = divmod(number, len(ALPHABET))
        letters += ALPHABET[rest]
    return letters


def _cut(name: str, room: int) -> str:
    # A cut right behind a dot would make an illegal name, which upstream's rule does not care for.
    return name if len(name) <= room else name[:room].rstrip(".")


def check_label_key(key: str, *, field: str = "") -> str:
    """The key itself when it is a legal label key (optional DNS prefix, `/`, name of at most 63 characters).

    Raises:
        InvalidName: it is not.
    """
    prefix, slash, name = key.rpartition("/")
    if slash and (len(prefix) > MAX_NAME or _SUBDOMAIN.fullmatch(prefix) is None):
        raise InvalidName(
            f"{key[:MAX_NAME]!r} is not a label key: the part before the slash is no DNS name", field=field
        )
    if len(name) > MAX_LABEL or _LABEL_NAME.fullmatch(name) is None:
        raise InvalidName(f"{key[:MAX_NAME]!r} is not a label key such as topology.kubernetes.io/rack", field=field)
    return key
